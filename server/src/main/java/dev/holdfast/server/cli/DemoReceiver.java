package dev.holdfast.server.cli;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A receiver of the demo: who it plays, what it is sent, and how it answers.
 *
 * @param name the path of its URL, which tells how it is
 * @param does how it is, for a person
 * @param types the types of events that it subscribes to
 * @param filters what it asks of an event's data, as the API takes it
 * @param joins when it subscribes, after the start
 */
record DemoReceiver(
    String name,
    String does,
    List<String> types,
    String filters,
    Duration joins,
    Behaviour behaviour) {

  /** What a request is answered with. */
  sealed interface Answer {
    /** A status, after a while. */
    record Status(int status, Duration after) implements Answer {}

    /** Too many requests: the next one not before so many seconds. */
    record Later(int seconds) implements Answer {}

    /** None. */
    record Never() implements Answer {}
  }

  /** How a receiver answers, by the time since the start. Used by one thread. */
  @FunctionalInterface
  interface Behaviour {
    Answer to(Duration sinceStart, SplittableRandom random);
  }

  private static final Answer OK = new Answer.Status(200, Duration.ZERO);

  /** Slow enough to let a person see how a backlog drains. */
  private static final Answer UNHURRIED = new Answer.Status(200, Duration.ofMillis(300));

  /** When the receiver that dies does so, and when somebody has repaired it. */
  static final Duration DIES = Duration.ofSeconds(50);

  static final Duration REPAIRED = Duration.ofSeconds(200);
  private static final Duration MISTYPED = Duration.ofSeconds(20);

  /** Where nobody listens. */
  static final String REFUSED = "old-shop-refuses";

  static final String DYING = "partner-dies-later";

  /** All of them, in the order in which they are told. */
  static List<DemoReceiver> cast() {
    return List.of(
        healthy("crm-healthy", "user.*", "order.created"),
        healthy("data-lake-healthy", "*"),
        healthy("search-healthy", "project.*", "task.*"),
        healthy("accounting-healthy", "invoice.*", "payment.*"),
        healthy("payroll-healthy", "timesheet.approved"),
        now(
                "large-orders-healthy",
                "answers at once; wants only orders of 500 or more (a filter)",
                constantly(OK),
                "order.*")
            .asking("[{\"fieldName\":\"amount\",\"fieldValue\":500,\"comparison\":\"gte\"}]"),
        now("erp-slow", "takes 0.2 to 0.6 seconds", slow(200, 600), "order.paid"),
        now(
            "reports-too-slow-at-times",
            "takes 0.2 to 1.05 seconds, and has one: what is late is tried again",
            slow(200, 1_050),
            "invoice.paid"),
        now(
            "maps-unreliable",
            "fails three times in ten: retries deliver everything",
            (_, random) -> random.nextInt(10) < 3 ? failure(503) : OK,
            "order.shipped"),
        now(
            "mail-rate-limits",
            "takes 10 requests a second, and answers 429 with Retry-After to others",
            new RateLimited(10),
            "user.*",
            "invoice.issued"),
        now(
            "chat-flaps",
            "works for 12 seconds, fails for 12, and so on",
            (time, _) -> time.toSeconds() % 24 < 12 ? OK : failure(502),
            "task.*"),
        now(
            "legacy-answers-500",
            "answers 500, but for five seconds in each minute",
            (time, _) ->
                time.toSeconds() % 60 >= 35 && time.toSeconds() % 60 < 40 ? OK : failure(500),
            "timesheet.*"),
        now(
            "warehouse-down-and-back",
            "is down from 0:15 to 0:55 (16 hours), then back; every 100 seconds",
            (time, _) -> within(time, 15, 55) ? failure(503) : UNHURRIED,
            "order.*"),
        now(
            "planning-hangs",
            "never answers from 0:25 to 1:15; every 100 seconds",
            (time, _) -> within(time, 25, 75) ? new Answer.Never() : OK,
            "project.*"),
        now(
            DYING,
            "dies at 0:50; is repaired at 3:20, but frozen by then: enable it by hand",
            (time, _) ->
                time.compareTo(DIES) >= 0 && time.compareTo(REPAIRED) < 0 ? failure(500) : OK,
            "order.created",
            "payment.*"),
        now(
            REFUSED,
            "is gone: every connection is refused",
            constantly(failure(503)),
            "order.created"),
        new DemoReceiver(
            "typo-never-works",
            "subscribes at 0:20 with a typing error in its URL: 404, always",
            List.of("invoice.*"),
            "[]",
            MISTYPED,
            constantly(failure(404))));
  }

  private static DemoReceiver healthy(String name, String... types) {
    return now(name, "answers at once", constantly(OK), types);
  }

  private static DemoReceiver now(String name, String does, Behaviour behaviour, String... types) {
    return new DemoReceiver(name, does, List.of(types), "[]", Duration.ZERO, behaviour);
  }

  private DemoReceiver asking(String these) {
    return new DemoReceiver(name, does, types, these, joins, behaviour);
  }

  private static Behaviour constantly(Answer answer) {
    return (_, _) -> answer;
  }

  private static Behaviour slow(int fromMillis, int toMillis) {
    return (_, random) ->
        new Answer.Status(200, Duration.ofMillis(random.nextInt(fromMillis, toMillis)));
  }

  private static Answer failure(int status) {
    return new Answer.Status(status, Duration.ZERO);
  }

  /** Whether it is one of these seconds of the first hundred, of the second hundred, and so on. */
  private static boolean within(Duration time, int fromSecond, int toSecond) {
    long second = time.toSeconds() % 100;
    return second >= fromSecond && second < toSecond;
  }

  /** Takes so many requests in each second. */
  private static final class RateLimited implements Behaviour {
    private final int most;
    private long second;
    private int taken;

    RateLimited(int most) {
      this.most = most;
    }

    @Override
    public Answer to(Duration sinceStart, SplittableRandom random) {
      if (sinceStart.toSeconds() != second) {
        second = sinceStart.toSeconds();
        taken = 0;
      }
      taken++;
      return taken <= most ? OK : new Answer.Later(1 + random.nextInt(3));
    }
  }
}
