package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many messages a second are accepted and delivered, and keep being so. */
final class ThroughputScenario implements Scenario {
  static final String BATCH = "batch";
  static final String SINGLE = "single";
  static final String DELIVERED = "delivered per second";

  private static final int LARGE_BYTES = 10_240;

  /** What a batch may have, less what surrounds its data. */
  private static final int BATCH_BYTES = 15 << 20;

  private static final int BRANCHES = 10;

  /** The groups of a fan-out, one for each of the subscriptions that want the same event. */
  private static final char FIRST_BRANCH = 'a';

  private final Shape shape;

  private ThroughputScenario(Shape shape) {
    this.shape = shape;
  }

  /**
   * What is sent.
   *
   * @param branches how many subscriptions want each event
   * @param share the percentage of the bare client that is hoped for, if there is a hope
   * @param sharedTarget the messages per second that are hoped for with a database, likewise
   */
  private record Shape(
      String name,
      String about,
      boolean inBatches,
      int dataBytes,
      int branches,
      @Nullable Double share,
      @Nullable Integer sharedTarget) {}

  static ThroughputScenario batch() {
    return new ThroughputScenario(
        new Shape(BATCH, "events sent in batches", true, LoadPlan.DATA_BYTES, 1, 50.0, 5_000));
  }

  static ThroughputScenario single() {
    return new ThroughputScenario(
        new Shape(SINGLE, "events sent one by one", false, LoadPlan.DATA_BYTES, 1, 30.0, 2_500));
  }

  static ThroughputScenario large() {
    return new ThroughputScenario(
        new Shape("large", "batches of events of 10 KB", true, LARGE_BYTES, 1, null, null));
  }

  static ThroughputScenario fanOut() {
    return new ThroughputScenario(
        new Shape(
            "fan-out",
            "batches of events that 10 subscriptions on 10 endpoints want",
            true,
            LoadPlan.DATA_BYTES,
            BRANCHES,
            null,
            null));
  }

  @Override
  public String name() {
    return shape.name;
  }

  @Override
  public String about() {
    return "messages delivered per second, %s, with a limit on what is undelivered"
        .formatted(shape.about);
  }

  @Override
  public void run(Rig rig) throws IOException {
    double posts = rig.reference().posts(shape.dataBytes);
    double takes = shape.inBatches ? 0 : rig.reference().takes();
    Place place = rig.newPlace();
    ServerProcess server = rig.startServer(place);
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    subscribe(rig, server, receiver);
    Database database = place.database();
    long before = database == null ? 0 : database.transactions();
    double delivered = measure(rig, server, load, receiver);
    if (database != null) {
      long numbers = Math.max(1, receiver.counts().numbers(Rig.ALL));
      double transactions = 100.0 * (database.transactions() - before) / numbers;
      rig.report().add(shape.name, "transactions per 100 messages", transactions, "");
    }
    Double least = database == null ? shape.share : null;
    rig.reference().share(shape.name, "share of the bare client", delivered, posts, least);
    rig.reference().share(shape.name, "share of the bare server", delivered, takes, null);
  }

  /** How many types there are: each has as many endpoints as branches. */
  private int types(Settings settings) {
    return Math.max(1, settings.endpoints / shape.branches);
  }

  private void subscribe(Rig rig, ServerProcess server, ReceiverProcess receiver) {
    if (shape.branches == 1) {
      rig.subscribe(server, receiver, rig.settings().endpoints);
      return;
    }
    int types = types(rig.settings());
    rig.progress().step("subscribing %,d endpoints".formatted(types * shape.branches));
    for (char group : groups()) {
      for (int type = 0; type < types; type++) {
        server.subscribe(receiver.url(group, type), LoadPlan.type(type));
      }
    }
  }

  /** In each group every event arrives once. */
  private char[] groups() {
    if (shape.branches == 1) {
      return new char[] {Rig.EVENTS};
    }
    char[] groups = new char[shape.branches];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = (char) (FIRST_BRANCH + i);
    }
    return groups;
  }

  private LoadPlan plan(Rig rig, ServerProcess server, ReceiverProcess receiver) {
    Settings settings = rig.settings();
    int batch = Math.clamp(BATCH_BYTES / shape.dataBytes, 1, settings.batch);
    return LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
        .with(Setting.RECEIVER_PORT, receiver.port())
        .with(
            Setting.CONNECTIONS, shape.inBatches ? settings.batchConnections : settings.connections)
        .with(Setting.BATCH, shape.inBatches ? batch : 1)
        .with(Setting.DATA_BYTES, shape.dataBytes)
        .with(Setting.ENDPOINTS, types(settings))
        .with(Setting.GROUP, Rig.ALL)
        .with(Setting.COPIES, shape.branches)
        .with(
            Setting.MAX_UNDELIVERED,
            Math.max(settings.batch, settings.maxUndelivered / shape.branches));
  }

  /** Measures with a server that has its subscriptions; what it delivers in a second. */
  private double measure(
      Rig rig, ServerProcess server, LoadProcess load, ReceiverProcess receiver) {
    Settings settings = rig.settings();
    load.start(plan(rig, server, receiver));
    rig.watch("warming up", settings.warmUp);
    load.mark();
    receiver.mark();
    List<Child> children = rig.withDatabase(server.child(), load.child(), receiver.child());
    Window window = Window.measure(rig, load, receiver, Rig.ALL, children, settings.seconds);
    Latency arrival = Latency.of(receiver.counts().latency(Rig.EVENTS));
    LoadProcess.Counts counts = load.stop();

    Report report = rig.report();
    String scenario = shape.name;
    Integer least = rig.stores().areShared() ? shape.sharedTarget : null;
    report.add(
        scenario,
        DELIVERED,
        window.deliveredPerSecond(),
        "/s",
        least == null ? null : Target.atLeast(least));
    report.add(scenario, "accepted per second", window.acceptedPerSecond(), "/s");
    report.add(scenario, "server, CPU per message", window.cpuMicros(server.child()), "µs");
    rig.stores().process().ifPresent(database -> ofDatabase(rig, window, database));
    report.add(scenario, "machine busy", 100 * window.busy(), "%");
    report.add(scenario, "load generator, CPU per message", window.cpuMicros(load.child()), "µs");
    report.add(scenario, "receiver, CPU per message", window.cpuMicros(receiver.child()), "µs");
    report.add(scenario, "written per message", window.writtenBytes(server.child()), "bytes");
    report.add(scenario, "POST to arrival under this load, p50", arrival.p50(), "ms");
    report.add(scenario, "POST to arrival under this load, p99", arrival.p99(), "ms");
    rig.settle(receiver, counts, counts.accepted() * shape.branches, groups());
    return window.deliveredPerSecond();
  }

  private static void ofDatabase(Rig rig, Window window, Child database) {
    String scenario = rig.progress().currentScenario();
    rig.report().add(scenario, "database, CPU per message", window.cpuMicros(database), "µs");
    rig.report()
        .add(scenario, "database, written per message", window.writtenBytes(database), "bytes");
  }
}
