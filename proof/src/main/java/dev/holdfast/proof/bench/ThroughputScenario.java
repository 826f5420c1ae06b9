package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** How many messages a second are accepted and delivered, and keep being so. */
final class ThroughputScenario implements Scenario {
  static final String BATCH = "batch";
  static final String DELIVERED = "delivered per second";

  private final String name;
  private final boolean inBatches;
  private final int target;
  private final int sharedTarget;

  private ThroughputScenario(String name, boolean inBatches, int target, int sharedTarget) {
    this.name = name;
    this.inBatches = inBatches;
    this.target = target;
    this.sharedTarget = sharedTarget;
  }

  static ThroughputScenario batch() {
    return new ThroughputScenario(BATCH, true, 15_000, 5_000);
  }

  static ThroughputScenario single() {
    return new ThroughputScenario("single", false, 8_000, 2_500);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String about() {
    return "messages delivered per second, events sent "
        + (inBatches ? "in batches" : "one by one")
        + ", with a limit on what is undelivered";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Place place = rig.newPlace();
    ServerProcess server = rig.startServer(place);
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    rig.subscribe(server, receiver, rig.settings().endpoints);
    Database database = place.database();
    Target least = Target.atLeast(database == null ? target : sharedTarget);
    long before = database == null ? 0 : database.transactions();
    measure(rig, server, load, receiver, rig.settings().seconds, least);
    if (database != null) {
      long delivered = Math.max(1, receiver.counts().numbers(Rig.EVENTS));
      double transactions = 100.0 * (database.transactions() - before) / delivered;
      rig.report().add(name, "transactions per 100 messages", transactions, "");
    }
  }

  /**
   * Measures with a server that has its subscriptions and a load generator that is free.
   *
   * @param least how many deliveries per second are hoped for, if there is a hope
   */
  void measure(
      Rig rig,
      ServerProcess server,
      LoadProcess load,
      ReceiverProcess receiver,
      int seconds,
      @Nullable Target least) {
    Settings settings = rig.settings();
    load.start(
        LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
            .with(Setting.RECEIVER_PORT, receiver.port())
            .with(Setting.CONNECTIONS, inBatches ? settings.batchConnections : settings.connections)
            .with(Setting.BATCH, inBatches ? settings.batch : 1)
            .with(Setting.ENDPOINTS, settings.endpoints)
            .with(Setting.MAX_UNDELIVERED, settings.maxUndelivered));
    rig.watch("warming up", settings.warmUp);
    load.mark();
    receiver.mark();
    List<Child> children = rig.withDatabase(server.child(), load.child(), receiver.child());
    Window window = Window.measure(rig, load, receiver, Rig.EVENTS, children, seconds);
    Latency arrival = Latency.of(receiver.counts().latency(Rig.EVENTS));
    LoadProcess.Counts counts = load.stop();

    Report report = rig.report();
    String scenario = rig.progress().currentScenario();
    report.add(scenario, DELIVERED, window.deliveredPerSecond(), "/s", least);
    report.add(scenario, "accepted per second", window.acceptedPerSecond(), "/s");
    ratio(rig, scenario, window.deliveredPerSecond());
    report.add(scenario, "server, CPU per message", window.cpuMicros(server.child()), "µs");
    rig.stores().process().ifPresent(database -> ofDatabase(rig, window, database));
    report.add(scenario, "machine busy", 100 * window.busy(), "%");
    report.add(scenario, "load generator, CPU per message", window.cpuMicros(load.child()), "µs");
    report.add(scenario, "receiver, CPU per message", window.cpuMicros(receiver.child()), "µs");
    report.add(scenario, "written per message", window.writtenBytes(server.child()), "bytes");
    report.add(scenario, "POST to arrival under this load, p50", arrival.p50(), "ms");
    report.add(scenario, "POST to arrival under this load, p99", arrival.p99(), "ms");
    rig.settle(receiver, counts, counts.accepted(), Rig.EVENTS);
  }

  private static void ofDatabase(Rig rig, Window window, Child database) {
    String scenario = rig.progress().currentScenario();
    rig.report().add(scenario, "database, CPU per message", window.cpuMicros(database), "µs");
    rig.report()
        .add(scenario, "database, written per message", window.writtenBytes(database), "bytes");
  }

  private void ratio(Rig rig, String scenario, double delivered) {
    OptionalDouble posts = rig.report().find(ReferenceScenario.NAME, ReferenceScenario.POSTS);
    if (posts.isPresent() && posts.getAsDouble() > 0) {
      rig.report()
          .add(scenario, "share of the bare client", 100 * delivered / posts.getAsDouble(), "%");
    }
    OptionalDouble takes = rig.report().find(ReferenceScenario.NAME, ReferenceScenario.TAKES);
    if (!inBatches && takes.isPresent() && takes.getAsDouble() > 0) {
      rig.report()
          .add(scenario, "share of the bare server", 100 * delivered / takes.getAsDouble(), "%");
    }
  }
}
