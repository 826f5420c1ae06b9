package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.Senders.Ending;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Several attempts at once to a server that means harm, and what they must keep whatever it does:
 * each ends once and in time, none holds more than its share of memory, nothing stays behind, and a
 * server that is well does not notice.
 */
final class Siege implements AutoCloseable {
  /** For servers that take all the time there is. */
  static final long BRIEF_MILLIS = 1_000;

  /** For those whose attempts end before, also on a loaded machine. */
  static final long PATIENT_MILLIS = 20_000;

  /** For a loaded machine. */
  private static final long SLACK_MILLIS = 15_000;

  private static final int ATTEMPTS = 8;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private final Receiver healthy = Receiver.answering(OK);
  private final long timeoutMillis;
  private final Senders senders;

  Siege(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
    this.senders = Senders.with().timeoutMillis(timeoutMillis).build();
  }

  Siege(long timeoutMillis, SslContext trusting) {
    this.timeoutMillis = timeoutMillis;
    this.senders = Senders.with().timeoutMillis(timeoutMillis).tls(trusting).build();
  }

  /** How the attempts ended. Everything else has been checked. */
  List<Ending> of(String scheme, Receiver.Script script, String data) throws Exception {
    awaitNothing();
    long before = pinnedBytes();
    long most = before;
    List<Ending> ended = new ArrayList<>();
    try (Receiver receiver = Receiver.start(script)) {
      String url = scheme + "://127.0.0.1:" + receiver.port() + "/hook";
      Delivery delivery = Senders.delivery(url, Senders.event(data));
      List<CompletableFuture<Ending>> endings = new ArrayList<>();
      for (int i = 0; i < ATTEMPTS; i++) {
        endings.add(senders.start(delivery));
      }
      assertThat(senders.send(healthy.url()).response()).isEqualTo("ok");
      CompletableFuture<Void> all =
          CompletableFuture.allOf(endings.toArray(CompletableFuture[]::new));
      while (!all.isDone()) {
        most = Math.max(most, pinnedBytes());
        Thread.onSpinWait();
      }
      for (CompletableFuture<Ending> ending : endings) {
        ended.add(Senders.await(ending));
      }
    }
    assertThat(ended)
        .allMatch(ending -> ending.millis() <= timeoutMillis + SLACK_MILLIS)
        .allMatch(ending -> ending.outcome().response().length <= Sending.KEPT_BYTES);
    long share = (long) Ration.ATTEMPT_BYTES + data.length();
    assertThat(most - before).as("held by all").isLessThanOrEqualTo(ATTEMPTS * share);
    awaitNothing();
    assertThat(pinnedBytes()).as("held afterwards").isLessThanOrEqualTo(before);
    return ended;
  }

  /** Bytes in buffers that somebody has and has not given back. */
  private static long pinnedBytes() {
    return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory()
        + PooledByteBufAllocator.DEFAULT.pinnedHeapMemory();
  }

  /** Until only the connection to the healthy server is left. */
  private void awaitNothing() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLACK_MILLIS);
    while (senders.onLoop(senders.sender::openConnections) > 1 && System.nanoTime() < until) {
      Thread.sleep(5);
    }
    assertThat(senders.onLoop(senders.sender::openConnections)).isLessThanOrEqualTo(1);
    assertThat(senders.onLoop(() -> senders.sender.deadlines.isEmpty())).isTrue();
  }

  @Override
  public void close() {
    senders.close();
    healthy.close();
  }
}
