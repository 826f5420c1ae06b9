package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.SubscriptionIndex;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long it takes to find the ten subscriptions that want an event, among ever more. No server is
 * started: what is measured is the loop's own index, on one thread, reading the event included.
 */
final class MatchScenario implements Scenario {
  private static final String NAME = "match";
  private static final int[] SIZES = {1_000, 10_000, 100_000, 1_000_000};
  private static final int MATCHES = 10;
  private static final int TYPES = 100;
  private static final int EVENTS = 1_000;
  private static final int EVENT_BYTES = 1_024;
  private static final int SLICES = 5;
  private static final int BARRED_SIZE = 100_000;
  private static final double BAR_MICROS = 50;

  /** More than a subscription with five filters takes. */
  private static final int BYTES_EACH = 1_500;

  private static final String TENANT = "default";

  /** What tells subscriptions apart: of each ten the same, of others something else. */
  private enum Shape {
    SPREAD("many types and subjects"),
    EQUAL("one type, told apart by an eq filter"),
    RANGES("one type, range filters only");

    private final String text;

    Shape(String text) {
      this.text = text;
    }

    /** Whether there is something to find subscriptions by; else each one is asked. */
    boolean isIndexed() {
      return this != RANGES;
    }

    Interest interest(int group) {
      Filters filters = Filters.parse(Connector.AND, filters(group));
      return new Interest(List.of(new TypePattern(type(group))), subject(group), filters);
    }

    String type(int group) {
      return this == SPREAD ? "order.type" + group % TYPES : "order.paid";
    }

    @Nullable String subject(int group) {
      return this == SPREAD ? "subject-" + group : null;
    }

    private String filters(int group) {
      return switch (this) {
        case SPREAD, EQUAL ->
            """
            [{"fieldName":"state","fieldValue":"open","comparison":"eq"},
             {"fieldName":"customer","fieldValue":"customer-%d","comparison":"eq"},
             {"fieldName":"total","fieldValue":10,"comparison":"gt"},
             {"fieldName":"tags","fieldValue":"red","comparison":"contains"},
             {"fieldName":"region","fieldValue":"north","comparison":"ne"}]
            """
                .formatted(group);
        case RANGES ->
            """
            [{"fieldName":"place","fieldValue":%d,"comparison":"gte"},
             {"fieldName":"place","fieldValue":%d,"comparison":"lt"},
             {"fieldName":"total","fieldValue":10,"comparison":"gt"},
             {"fieldName":"region","fieldValue":"north","comparison":"gt"},
             {"fieldName":"paidAt","fieldValue":"2026-01-01T00:00Z","comparison":"gt"}]
            """
                .formatted(group, group + 1);
      };
    }
  }

  /** An event that the subscriptions of one group want. */
  private record Sample(String type, @Nullable String subject, byte[] data) {
    static Sample of(Shape shape, int group) {
      String data =
          """
          {"order":"ord-%d","state":"open","customer":"customer-%d","place":%d.5,"currency":"EUR",\
          "total":129.90,"tax":20.74,"tags":["new","red","gift"],"region":"south","paidAt":\
          "2026-05-04T11:30:00+02:00","lines":[{"article":"A-1","count":2,"price":49.95},\
          {"article":"B-7","count":1,"price":30.00}],"address":{"street":"Main Street 1",\
          "city":"Springfield","zip":"12345","country":"US"},"note":\
          """
              .formatted(group, group, group);
      String note = "\"" + "n".repeat(EVENT_BYTES - data.length() - 3) + "\"}";
      return new Sample(shape.type(group), shape.subject(group), (data + note).getBytes(UTF_8));
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "time to find the 10 subscriptions that want an event, each with 5 filters";
  }

  @Override
  public void run(Rig rig) {
    for (Shape shape : Shape.values()) {
      for (int size : SIZES) {
        if (size <= rig.settings().subscriptions) {
          measure(rig, shape, size);
        }
      }
    }
    rig.report()
        .note(
            NAME
                + ": range filters give nothing to find subscriptions by, so each one of the type"
                + " is asked, and the time grows with their number.");
  }

  private static void measure(Rig rig, Shape shape, int size) {
    if ((long) size * BYTES_EACH > Runtime.getRuntime().maxMemory()) {
      rig.report().note("%s: %,d subscriptions do not fit into this heap".formatted(NAME, size));
      return;
    }
    rig.progress().step("%s, %,d subscriptions".formatted(shape.text, size));
    SubscriptionIndex index = new SubscriptionIndex();
    for (int i = 0; i < size; i++) {
      index.add(
          new Subscription(i, TENANT, i, shape.interest(i / MATCHES), Form.PLAIN, Instant.EPOCH));
    }
    Sample[] samples = new Sample[EVENTS];
    int groups = size / MATCHES;
    for (int i = 0; i < EVENTS; i++) {
      samples[i] = Sample.of(shape, (int) ((long) i * groups / EVENTS));
    }
    Duration slice = Duration.ofSeconds(Math.max(1, rig.settings().seconds / 12)).dividedBy(SLICES);
    for (int i = 0; i < SLICES; i++) {
      micros(index, samples, slice);
    }
    double[] micros = new double[SLICES];
    for (int i = 0; i < SLICES; i++) {
      micros[i] = micros(index, samples, slice);
    }
    Arrays.sort(micros);
    rig.report()
        .add(
            NAME,
            "%s, %,d".formatted(shape.text, size),
            micros[SLICES / 2],
            "µs",
            shape.isIndexed() && size == BARRED_SIZE ? Target.atMost(BAR_MICROS) : null);
  }

  /** Finds who wants events for some time, and says how long one took. */
  private static double micros(SubscriptionIndex index, Sample[] samples, Duration time) {
    long started = System.nanoTime();
    long events = 0;
    long elapsed;
    do {
      Sample sample = samples[(int) (events++ * 7 % samples.length)];
      int matches =
          index.matching(TENANT, sample.type(), sample.subject(), sample.data(), null).size();
      if (matches != MATCHES) {
        throw new ProofException("%d subscriptions wanted an event".formatted(matches));
      }
      elapsed = System.nanoTime() - started;
    } while (elapsed < time.toNanos());
    return elapsed / 1_000.0 / events;
  }
}
