package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.bench.ServerProcess.EndpointStatus;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.time.Duration;
import org.HdrHistogram.Histogram;

/**
 * What healthy endpoints notice when the others never answer.
 *
 * <p>Half of the endpoints stay healthy. The other half takes turns: it answers, then it hangs. The
 * two are compared within one run, turn by turn, so that a machine that gets slower or faster
 * meanwhile does not decide. After each turn what the hanging half missed is delivered, so that
 * every turn begins alike and nothing may be missing at the end.
 */
final class IsolationScenario implements Scenario {
  private static final String NAME = "isolation";

  /** The group of those that hang. */
  private static final char HANGING = 'h';

  /** Much longer than an attempt can take. */
  private static final int LONGEST_ATTEMPT_SECONDS = 30;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "p99 of the healthy half of all endpoints while the other half never answers, compared"
        + " with all healthy";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    ServerProcess server = rig.startServer(rig.newPlace());
    rig.progress()
        .step("subscribing %,d endpoints, half of which will hang".formatted(settings.endpoints));
    for (int i = 0; i < settings.endpoints; i++) {
      server.subscribe(receiver.url(i % 2 == 0 ? Rig.EVENTS : HANGING, i), LoadPlan.type(i));
    }

    Turns turns = new Turns(rig, server, load, receiver);
    turns.warmUp();
    int seconds = Math.max(1, settings.seconds / settings.rounds);
    for (int round = 1; round <= settings.rounds; round++) {
      turns.healthy(round, seconds);
      turns.hanging(round, seconds);
    }
    turns.report();
  }

  /** The turns of one run, and what they have measured so far. */
  private static final class Turns {
    private final Rig rig;
    private final ServerProcess server;
    private final LoadProcess load;
    private final ReceiverProcess receiver;
    private final Histogram whenHealthy = Control.histogram();
    private final Histogram whenHanging = Control.histogram();
    private long sent;
    private long accepted;
    private LoadProcess.Counts last;

    Turns(Rig rig, ServerProcess server, LoadProcess load, ReceiverProcess receiver) {
      this.rig = rig;
      this.server = server;
      this.load = load;
      this.receiver = receiver;
      this.last = load.counts();
    }

    void warmUp() {
      start();
      rig.watch("warming up", rig.settings().warmUp);
      stop();
    }

    void healthy(int round, int seconds) {
      start();
      receiver.mark();
      rig.watch("round " + round + ", all healthy", seconds);
      whenHealthy.add(receiver.counts().latency(Rig.EVENTS));
      stop();
      awaitAll();
    }

    void hanging(int round, int seconds) {
      receiver.answer(HANGING, "hang");
      start();
      receiver.mark();
      rig.watch("round " + round + ", half hanging", seconds);
      whenHanging.add(receiver.counts().latency(Rig.EVENTS));
      stop();
      receiver.answer(HANGING, "200");
      awaitTimeouts();
      for (EndpointStatus endpoint : server.endpoints()) {
        if (endpoint.url().contains("/" + HANGING + "/")) {
          server.restart(endpoint);
        }
      }
      awaitAll();
    }

    void report() {
      Latency healthy = Latency.of(whenHealthy);
      Latency hanging = Latency.of(whenHanging);
      Report report = rig.report();
      report.add(NAME, "POST to arrival, all healthy, p50", healthy.p50(), "ms");
      report.add(NAME, "POST to arrival, all healthy, p99", healthy.p99(), "ms");
      report.add(NAME, "POST to arrival, half hanging, p50", hanging.p50(), "ms");
      report.add(NAME, "POST to arrival, half hanging, p99", hanging.p99(), "ms");
      double ratio = healthy.p99() == 0 ? 0 : hanging.p99() / healthy.p99();
      report.add(NAME, "p99, half hanging / all healthy", ratio, "", Target.atMost(1.5));
      report.count(NAME, "attempts that hung", receiver.counts().hung(HANGING));
      rig.settle(receiver, last, accepted, Rig.EVENTS, HANGING);
    }

    private void start() {
      Settings settings = rig.settings();
      load.start(
          LoadPlan.of(Kind.OPEN_LOOP, server.port(), server.key())
              .with(Setting.CONNECTIONS, LatencyScenario.CONNECTIONS)
              .with(Setting.ENDPOINTS, settings.endpoints)
              .with(Setting.RATE, settings.rate)
              .with(Setting.FIRST_NUMBER, Math.toIntExact(sent)));
    }

    private void stop() {
      last = load.stop();
      sent += last.sent();
      accepted += last.accepted();
    }

    /** Until the server has given up every attempt that hangs. */
    private void awaitTimeouts() {
      for (int i = 0; i < LONGEST_ATTEMPT_SECONDS * 10; i++) {
        long hanging = receiver.counts().hanging(HANGING);
        if (hanging == 0) {
          break;
        }
        rig.progress().tick("waiting until %,d attempts time out".formatted(hanging));
        Rig.pause(Duration.ofMillis(100));
      }
      rig.progress().end();
    }

    private void awaitAll() {
      rig.awaitArrival(receiver, accepted, Rig.EVENTS, HANGING);
      rig.progress().end();
      Rig.pause(Duration.ofSeconds(1));
    }
  }
}
