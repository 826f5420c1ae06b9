package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Secret.Signature;
import dev.holdfast.core.port.Delivery;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SlowSignaturesTest {
  private final EventLoop eventLoop = new DefaultEventLoop();
  private final BlockingQueue<Sending> begun = new LinkedBlockingQueue<>();
  private final SlowSignatures signatures = new SlowSignatures(eventLoop, begun::add);
  private final Targets targets = new Targets("Holdfast/test", 100, _ -> {});

  private final Form slow = signed(Signature.V1A.prefix(), Ed25519.make());
  private final Form quick = signed(Signature.V1.prefix(), new byte[32]);

  @AfterEach
  void stop() {
    signatures.close();
    var _ = eventLoop.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  private static Form signed(String prefix, byte[] key) {
    Secret secret =
        new Secret(prefix + Base64.getEncoder().encodeToString(key), Senders.STARTED_AT, null);
    return new Form(
        Form.Format.HOLDFAST, false, null, Collections.emptyNavigableMap(), List.of(secret));
  }

  private Sending sending(String url, long message, Form form, int bytes) {
    var event = Senders.event("\"" + "x".repeat(bytes) + "\"");
    return new Sending(
        new Delivery(
            Message.pending(message, event.id(), 1, 1, event.size()),
            event,
            Senders.subscription(1, form),
            url,
            Senders.STARTED_AT),
        (_, _) -> {},
        Objects.requireNonNull(targets.of(url, null)),
        new Letterhead(form),
        null);
  }

  private void ask(List<Sending> sendings) throws Exception {
    eventLoop.submit(() -> sendings.forEach(signatures::make)).get();
  }

  private @Nullable Sending next() throws InterruptedException {
    return begun.poll(30, TimeUnit.SECONDS);
  }

  @Test
  void attempts_to_one_endpoint_begin_in_their_order_however_long_each_is_signed()
      throws Exception {
    List<Sending> asked = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      boolean isQuick = i % 3 == 2;
      asked.add(
          sending("http://one.example/", i, isQuick ? quick : slow, i % 3 == 0 ? 300_000 : 1));
    }
    ask(asked);
    for (Sending expected : asked) {
      Sending came = next();
      assertThat(came).isSameAs(expected);
    }
    eventLoop.submit(() -> {}).get();
    assertThat(asked.getFirst().target.unsigned).as("nobody waits any more").isNull();
  }
}
