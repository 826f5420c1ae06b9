package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.List;

/** How long a message takes from the moment its event should be sent until it arrives. */
final class LatencyScenario implements Scenario {
  private static final String NAME = "latency";

  /** More than are ever needed, so that the load does not wait for itself. */
  static final int CONNECTIONS = 64;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "time from POST to arrival, at a fixed rate that does not wait for the server";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    ServerProcess server = rig.startServer(rig.newPlace());
    rig.subscribe(server, receiver, settings.endpoints);

    rig.progress().step("%,d events per second".formatted(settings.rate));
    LoadPlan plan =
        LoadPlan.of(Kind.OPEN_LOOP, server.port(), server.key())
            .with(Setting.CONNECTIONS, CONNECTIONS)
            .with(Setting.ENDPOINTS, settings.endpoints)
            .with(Setting.RATE, settings.rate);
    load.start(plan);
    rig.watch("warming up", settings.warmUp);
    LoadProcess.Counts warmUp = load.stop();
    rig.awaitArrival(receiver, warmUp.accepted(), Rig.EVENTS);

    // The load starts anew, so that what it could not send to a cold server does not count.
    receiver.mark();
    load.start(plan.with(Setting.FIRST_NUMBER, Math.toIntExact(warmUp.sent())));
    List<Child> children = rig.withDatabase(server.child(), load.child(), receiver.child());
    Window window = Window.measure(rig, load, receiver, Rig.EVENTS, children, settings.seconds);
    LoadProcess.Counts counts = load.counts();
    Latency arrival = Latency.of(receiver.counts().latency(Rig.EVENTS));
    Latency answer = Latency.of(counts.latency());
    counts = load.stop();

    Report report = rig.report();
    report.add(NAME, "delivered per second", window.deliveredPerSecond(), "/s");
    // A commit elsewhere takes longer than one of our own.
    boolean shared = rig.stores().areShared();
    report.add(NAME, "POST to arrival, p50", arrival.p50(), "ms", shared ? null : Target.atMost(5));
    report.add(NAME, "POST to arrival, p99", arrival.p99(), "ms", Target.atMost(shared ? 50 : 25));
    report.add(NAME, "POST to arrival, p99.9", arrival.p999(), "ms");
    report.add(NAME, "POST to arrival, largest", arrival.max(), "ms");
    report.add(NAME, "POST to 202, p50", answer.p50(), "ms");
    report.add(NAME, "POST to 202, p99", answer.p99(), "ms");
    report.add(NAME, "server, CPU per message", window.cpuMicros(server.child()), "µs");
    report.add(NAME, "machine busy", 100 * window.busy(), "%");
    rig.settle(receiver, counts, warmUp.accepted() + counts.accepted(), Rig.EVENTS);
  }
}
