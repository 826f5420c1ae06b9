package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.port.Delivery;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Measures by hand what it takes to write a request, for each format and with signatures; not a
 * test. Connections are not part of it.
 */
final class SendingRates {
  private static final Instant NOW = Instant.parse("2026-03-04T05:06:07.890Z");
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int ROUNDS = 9;
  private static final int[] SIZES = {200, 1_024, 10_240, 1_000_000};

  private final SplittableRandom random = new SplittableRandom(1);
  private final RequestWriter writer = new RequestWriter();
  private final Letterheads letterheads = new Letterheads(16_384);
  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
  private final Target target;

  private SendingRates() {
    Target found =
        new Targets("Holdfast/rates", 10, origin -> {})
            .of("https://example.com/hooks/orders", null);
    if (found == null) {
      throw new AssertionError("no target");
    }
    target = found;
  }

  public static void main(String[] arguments) {
    SendingRates rates = new SendingRates();
    for (int size : SIZES) {
      rates.measure("holdfast", form(Format.HOLDFAST, false, List.of()), size, false);
      rates.measure("holdfast, token, 2 headers", withHeaders(), size, false);
      rates.measure("holdfast, signed", rates.signed(Format.HOLDFAST, false, 1), size, false);
      rates.measure("holdfast, 2 secrets", rates.signed(Format.HOLDFAST, false, 2), size, false);
      rates.measure("cloudevents", form(Format.CLOUDEVENTS, false, List.of()), size, false);
      rates.measure("workfront", form(Format.WORKFRONT, false, List.of()), size, false);
      rates.measure("workfront, v1", inVersion1(), size, false);
      rates.measure("workfront, base64", form(Format.WORKFRONT, true, List.of()), size, false);
      rates.measure("holdfast, previous", form(Format.HOLDFAST, false, List.of()), size, true);
      rates.measure(
          "cloudevents, previous", form(Format.CLOUDEVENTS, false, List.of()), size, true);
    }
  }

  /** Prints the median of several rounds by the time of the processor; the first only warm up. */
  private void measure(String what, Form form, int size, boolean previous) {
    ChannelHandlerContext context = channel.pipeline().firstContext();
    Delivery delivery = delivery(form, size, previous);
    int times = Math.max(200, 100_000_000 / (size + 500));
    List<Long> nanos = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < times; i++) {
        writer.write(context, sending(delivery));
        drain();
      }
      if (round >= ROUNDS / 2) {
        nanos.add((THREADS.getCurrentThreadCpuTime() - start) / times);
      }
    }
    nanos.sort(null);
    System.out.printf(
        Locale.ROOT, "%,9d B  %-28s %,9d ns%n", size, what, nanos.get(nanos.size() / 2));
  }

  private Sending sending(Delivery delivery) {
    return new Sending(
        delivery, (_, _) -> {}, target, letterheads.of(delivery.subscription()), null);
  }

  private void drain() {
    for (Object written = channel.readOutbound();
        written != null;
        written = channel.readOutbound()) {
      ReferenceCountUtil.release(written);
    }
  }

  private Delivery delivery(Form form, int size, boolean withPrevious) {
    byte[] data = state(size);
    Event event =
        new Event(
            Id.floor(NOW),
            "default",
            "order.paid",
            "order-77",
            NOW,
            data,
            withPrevious ? data : null,
            null,
            null);
    return new Delivery(
        Message.pending(42, event.id(), 1, 1, event.size()),
        event,
        Senders.subscription(1, form),
        "https://example.com/hooks/orders",
        NOW);
  }

  /** An object of texts, half of them alone in an array. */
  private byte[] state(int size) {
    StringBuilder state = new StringBuilder("{\"last\":\"\"");
    for (int i = 0; state.length() < size - 60; i++) {
      state.append(",\"field").append(i % 10).append("\":").append(i % 2 == 0 ? "[\"" : "\"");
      for (int letters = random.nextInt(30); letters > 0; letters--) {
        state.append((char) ('a' + random.nextInt(26)));
      }
      state.append(i % 2 == 0 ? "\"]" : "\"");
    }
    state.append('}');
    return state.append(" ".repeat(size - state.length())).toString().getBytes(US_ASCII);
  }

  private Form signed(Format format, boolean base64, int secrets) {
    List<Secret> made = new ArrayList<>();
    for (int i = 0; i < secrets; i++) {
      byte[] key = new byte[24];
      random.nextBytes(key);
      made.add(new Secret("whsec_" + Base64.getEncoder().encodeToString(key), NOW, null));
    }
    return form(format, base64, made);
  }

  private static Form withHeaders() {
    return new Form(
        Format.HOLDFAST,
        false,
        "token-token-token",
        new TreeMap<>(Map.of("x-shop", "one", "x-zone", "two")),
        List.of());
  }

  private static Form inVersion1() {
    return new Form(
        Format.WORKFRONT, new Edition(Version.V1, null), false, null, new TreeMap<>(), List.of());
  }

  private static Form form(Format format, boolean base64, List<Secret> secrets) {
    return new Form(format, base64, null, new TreeMap<>(), secrets);
  }
}
