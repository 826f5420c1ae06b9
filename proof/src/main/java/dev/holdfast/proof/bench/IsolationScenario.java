package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.ServerProcess.EndpointStatus;
import dev.holdfast.proof.stage.Machine;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Series;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What healthy endpoints notice when the others never answer, fail, or do so now and then.
 *
 * <p>Half of the endpoints stay healthy. The other half takes turns: it is well, it hangs, it
 * fails, it flaps. All are compared within one run, turn by turn, and by the turn in the middle, so
 * that a machine that gets slower, faster or stands still meanwhile does not decide; and each has a
 * turn before that is not counted, so that what is compiled then is not what is measured. After
 * each turn what the bad half missed is delivered, so that every turn begins alike and nothing may
 * be missing at the end.
 */
final class IsolationScenario implements Scenario {
  private static final String NAME = "isolation";

  /** The group of those that are bad. */
  private static final char BAD = 'h';

  /** Much longer than an attempt can take. */
  private static final int LONGEST_ATTEMPT_SECONDS = 30;

  private static final double MOST_RATIO = 1.2;

  /** One slow fsync can make the hundredth of a turn; it takes many turns to tell who is slow. */
  private static final int TURNS_PER_ROUND = 2;

  /** What the bad half does. */
  private enum Kind {
    HEALTHY("200"),
    HANGING("hang"),
    FAILING("500"),
    FLAPPING("flap");

    private final String answer;

    Kind(String answer) {
      this.answer = answer;
    }

    String text() {
      return (this == HEALTHY ? "all " : "half ") + name().toLowerCase(Locale.ROOT);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "p99 of the healthy half of all endpoints while the other half never answers, fails or"
        + " flaps, compared with all healthy";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Runs runs = new Runs(rig, Rig.EVENTS, BAD);
    ServerProcess server = rig.startServer(rig.newPlace());
    rig.progress()
        .step("subscribing %,d endpoints, half of which will be bad".formatted(settings.endpoints));
    for (int i = 0; i < settings.endpoints; i++) {
      server.subscribe(runs.receiver().url(i % 2 == 0 ? Rig.EVENTS : BAD, i), LoadPlan.type(i));
    }

    Turns turns = new Turns(rig, server, runs);
    for (Kind kind : Kind.values()) {
      turns.take(kind, kind.text() + ", not counted", Math.max(1, settings.warmUp));
    }
    int seconds = Math.max(1, settings.seconds / settings.rounds);
    for (int round = 1; round <= TURNS_PER_ROUND * settings.rounds; round++) {
      for (Kind kind : Kind.values()) {
        turns.count(kind, "round %d, %s".formatted(round, kind.text()), seconds);
      }
    }
    turns.report();
    runs.settle();
  }

  /** The turns of one run, and what they have measured so far. */
  private static final class Turns {
    private final Rig rig;
    private final ServerProcess server;
    private final Runs runs;
    private final Map<Kind, Taken> taken = new EnumMap<>(Kind.class);

    Turns(Rig rig, ServerProcess server, Runs runs) {
      this.rig = rig;
      this.server = server;
      this.runs = runs;
    }

    void count(Kind kind, String what, int seconds) {
      taken.computeIfAbsent(kind, _ -> new Taken()).add(take(kind, what, seconds));
    }

    Turn take(Kind kind, String what, int seconds) {
      ReceiverProcess receiver = runs.receiver();
      receiver.answer(BAD, kind.answer);
      runs.begin(runs.atRate(server, rig.settings().rate()), what);
      Machine before = Machine.now();
      rig.watch(what, seconds);
      Machine after = Machine.now();
      Turn turn = new Turn(runs.arrivals(Rig.EVENTS), after.stolenSince(before));
      runs.stop();
      if (kind != Kind.HEALTHY) {
        heal();
      }
      runs.awaitAll();
      return turn;
    }

    private void heal() {
      runs.receiver().answer(BAD, Kind.HEALTHY.answer);
      awaitTimeouts();
      for (EndpointStatus endpoint : server.endpoints()) {
        if (endpoint.url().contains("/" + BAD + "/")) {
          server.restart(endpoint);
        }
      }
    }

    void report() {
      Report report = rig.report();
      taken.forEach(
          (kind, turns) -> {
            String name = "POST to arrival, " + kind.text();
            report.add(NAME, name + ", p50", turns.p50.value(), "ms");
            report.add(NAME, name + ", p99", turns.p99.value(), "ms");
            report.add(NAME, name + ", p99 of the slowest turn", turns.p99.largest(), "ms");
            report.add(
                NAME,
                kind.text() + ", machine kept from running by its host, most of all turns",
                100 * turns.stolen.largest(),
                "%");
            report.line(
                new Series(
                    NAME,
                    "POST to arrival at the healthy half",
                    kind.text(),
                    Percentiles.ACROSS,
                    "ms",
                    Percentiles.of(turns.all)));
          });
      Taken healthy = taken.getOrDefault(Kind.HEALTHY, new Taken());
      taken.forEach(
          (kind, turns) -> {
            if (kind != Kind.HEALTHY && healthy.p99.value() > 0) {
              String name = kind.text() + " / all healthy";
              report.add(NAME, "p50, " + name, turns.p50.per(healthy.p50), "");
              report.add(
                  NAME, "p99, " + name, turns.p99.per(healthy.p99), "", Target.atMost(MOST_RATIO));
            }
          });
      ReceiverProcess.Counts counts = runs.receiver().counts();
      report.count(NAME, "attempts that hung", counts.hung(BAD));
      report.count(NAME, "attempts that failed", counts.failed(BAD));
    }

    /** Until the server has given up every attempt that hangs. */
    private void awaitTimeouts() {
      for (int i = 0; i < LONGEST_ATTEMPT_SECONDS * 10; i++) {
        long hanging = runs.receiver().counts().hanging(BAD);
        if (hanging == 0) {
          break;
        }
        rig.progress().tick("waiting until %,d attempts time out".formatted(hanging));
        Rig.pause(Duration.ofMillis(100));
      }
      rig.progress().end();
    }
  }

  /**
   * What was measured in a turn.
   *
   * @param healthyHalf how long its messages took
   * @param stolen the share of the machine that its host took away
   */
  private record Turn(Histogram healthyHalf, double stolen) {}

  /** What was measured in the turns of one kind: the one in the middle tells, and all are drawn. */
  private static final class Taken {
    private final Histogram all = Control.histogram();
    private final Median p50 = new Median();
    private final Median p99 = new Median();
    private final Median stolen = new Median();

    void add(Turn turn) {
      Latency latency = Latency.of(turn.healthyHalf);
      all.add(turn.healthyHalf);
      p50.add(latency.p50());
      p99.add(latency.p99());
      stolen.add(turn.stolen);
    }
  }
}
