package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * How long a message takes when one node accepts its event and, for half of the endpoints, another
 * one delivers it.
 */
final class ClusterScenario implements Scenario {
  private static final String NAME = "cluster";
  private static final int MOST_RATE = 500;
  private static final Duration LONGEST_BALANCE = Duration.ofMinutes(1);
  private static final Duration ASK_EVERY = Duration.ofMillis(100);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "two nodes: time from POST to one of them to arrival, endpoints owned by both";
  }

  @Override
  public boolean runsOn(boolean shared) {
    return shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Database database = rig.stores().newDatabase();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    ServerProcess one = rig.startNode("node 1", database.place());
    ServerProcess other = rig.startNode("node 2", database.place());
    rig.subscribe(one, receiver, settings.endpoints);
    awaitBalance(rig, database);

    int rate = Math.min(MOST_RATE, settings.rate());
    rig.progress().step("%,d events per second".formatted(rate));
    LoadPlan plan =
        LoadPlan.of(Kind.OPEN_LOOP, one.port(), one.key())
            .with(Setting.CONNECTIONS, LatencyScenario.CONNECTIONS)
            .with(Setting.ENDPOINTS, settings.endpoints)
            .with(Setting.RATE, rate);
    load.start(plan);
    rig.watch("warming up", settings.warmUp);
    LoadProcess.Counts warmUp = load.stop();
    rig.awaitArrival(receiver, warmUp.accepted(), Rig.EVENTS);

    receiver.mark();
    load.start(plan.with(Setting.FIRST_NUMBER, Math.toIntExact(warmUp.sent())));
    List<Child> children =
        rig.withDatabase(one.child(), other.child(), load.child(), receiver.child());
    Window window = Window.measure(rig, load, receiver, Rig.EVENTS, children, settings.seconds);
    Latency arrival = Latency.of(receiver.counts().latency(Rig.EVENTS));
    Latency answer = Latency.of(load.counts().latency());
    LoadProcess.Counts counts = load.stop();

    Report report = rig.report();
    report.add(NAME, "delivered per second", window.deliveredPerSecond(), "/s");
    report.add(NAME, "endpoints of the other node", 100 * foreign(database), "%");
    report.add(NAME, "POST to arrival, p50", arrival.p50(), "ms");
    report.add(NAME, "POST to arrival, p99", arrival.p99(), "ms", Target.atMost(50));
    report.add(NAME, "POST to arrival, p99.9", arrival.p999(), "ms");
    report.add(NAME, "POST to arrival, largest", arrival.max(), "ms");
    report.add(NAME, "POST to 202, p50", answer.p50(), "ms");
    report.add(NAME, "POST to 202, p99", answer.p99(), "ms");
    for (Child child : children) {
      report.add(NAME, child.name() + ", CPU per message", window.cpuMicros(child), "µs");
    }
    report.add(NAME, "machine busy", 100 * window.busy(), "%");
    rig.settle(receiver, counts, warmUp.accepted() + counts.accepted(), Rig.EVENTS);
  }

  /** Waits until each node has about half of the shards. */
  static void awaitBalance(Rig rig, Database database) {
    long deadline = System.nanoTime() + LONGEST_BALANCE.toNanos();
    while (Math.abs(foreign(database) - 0.5) > 0.25) {
      if (System.nanoTime() > deadline) {
        throw new ProofException("the nodes do not share the endpoints");
      }
      rig.progress().tick("waiting until the nodes share the endpoints");
      Rig.pause(ASK_EVERY);
    }
    rig.progress().end();
  }

  /** The share of the endpoints that the second node decides for. */
  private static double foreign(Database database) {
    return database.number(
            "SELECT 1000 * count(*) FILTER (WHERE node = (SELECT max(id) FROM nodes)) / greatest(1,"
                + " count(*)) FROM endpoints JOIN shards USING (shard)")
        / 1_000.0;
  }
}
