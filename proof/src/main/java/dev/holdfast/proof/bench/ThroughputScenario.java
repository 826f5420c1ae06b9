package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
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
    double takes = shape.inBatches ? 0 : rig.reference().takes();
    BarePosts bare = new BarePosts(rig, shape.dataBytes);
    Place place = rig.newPlace();
    ServerProcess server = rig.startServer(place);
    ReceiverProcess receiver = rig.startReceiver();
    subscribe(rig, server, receiver);
    Database database = place.database();
    long before = database == null ? 0 : database.transactions();
    Turns turns = new Turns(rig, server, receiver, rig.startLoad());
    turns.warmUp();
    Median posts = new Median();
    Median shares = new Median();
    int rounds = rig.settings().rounds;
    int seconds = Math.max(1, rig.settings().seconds / rounds);
    for (int round = 1; round <= rounds; round++) {
      double post = bare.perSecond(Math.max(1, seconds / 2));
      posts.add(post);
      shares.add(100 * turns.take("round " + round, seconds) / post);
    }
    double delivered = turns.report();
    if (database != null) {
      long numbers = Math.max(1, receiver.counts().numbers(Rig.ALL));
      double transactions = 100.0 * (database.transactions() - before) / numbers;
      rig.report().add(shape.name, "transactions per 100 messages", transactions, "");
    }
    rig.report().add(shape.name, "bare client in turns with it", posts.value(), "/s");
    Target target = database == null && shape.share != null ? Target.atLeast(shape.share) : null;
    rig.report().add(shape.name, "share of the bare client", shares.value(), "%", target);
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
    int most = Math.max(1, settings.batch / shape.branches);
    int batch = Math.clamp(BATCH_BYTES / shape.dataBytes, 1, most);
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

  /** The turns of one server, whose events are numbered on, and what was measured in them. */
  private final class Turns {
    private final Rig rig;
    private final ServerProcess server;
    private final ReceiverProcess receiver;
    private final LoadProcess load;
    private final List<Window> windows = new ArrayList<>();
    private final Histogram arrivals = Control.histogram();
    private LoadProcess.Counts last;
    private long sent;
    private long accepted;

    Turns(Rig rig, ServerProcess server, ReceiverProcess receiver, LoadProcess load) {
      this.rig = rig;
      this.server = server;
      this.receiver = receiver;
      this.load = load;
      this.last = load.counts();
    }

    private void start() {
      load.start(plan(rig, server, receiver).with(Setting.FIRST_NUMBER, Math.toIntExact(sent)));
    }

    private void stop() {
      last = load.stop();
      sent += last.sent();
      accepted += last.accepted();
      rig.awaitArrival(receiver, accepted * shape.branches, groups());
    }

    void warmUp() {
      start();
      rig.watch("warming up", rig.settings().warmUp);
      stop();
    }

    /** Runs the load, waits until what its beginning stirs up is over, and measures. */
    double take(String turn, int seconds) {
      long before = accepted * shape.branches;
      start();
      rig.watch(turn + ", settling", Math.min(Runs.SETTLING_SECONDS, rig.settings().warmUp));
      load.mark();
      receiver.mark();
      List<Child> children = rig.withDatabase(server.child(), load.child(), receiver.child());
      Window window = Window.measure(rig, load, receiver, Rig.ALL, children, seconds, before, turn);
      arrivals.add(receiver.counts().latency(Rig.EVENTS));
      windows.add(window);
      stop();
      return window.deliveredPerSecond();
    }

    private double median(ToDoubleFunction<Window> figure) {
      Median median = new Median();
      windows.forEach(window -> median.add(figure.applyAsDouble(window)));
      return median.value();
    }

    /** What was delivered in a second. */
    double report() {
      Report report = rig.report();
      String scenario = shape.name;
      Integer least = rig.stores().areShared() ? shape.sharedTarget : null;
      double delivered = median(Window::deliveredPerSecond);
      report.add(
          scenario, DELIVERED, delivered, "/s", least == null ? null : Target.atLeast(least));
      report.add(scenario, "accepted per second", median(Window::acceptedPerSecond), "/s");
      cpu("server", server.child());
      rig.stores().process().ifPresent(this::ofDatabase);
      report.add(scenario, "machine busy", 100 * median(Window::busy), "%");
      cpu("load generator", load.child());
      cpu("receiver", receiver.child());
      report.add(
          scenario,
          "written per message",
          median(window -> window.writtenBytes(server.child())),
          "bytes");
      Latency arrival = Latency.of(arrivals);
      report.add(scenario, "POST to arrival under this load, p50", arrival.p50(), "ms");
      report.add(scenario, "POST to arrival under this load, p99", arrival.p99(), "ms");
      rig.settle(receiver, last, accepted * shape.branches, groups());
      return delivered;
    }

    private void cpu(String whose, Child child) {
      rig.report()
          .add(
              shape.name,
              whose + ", CPU per message",
              median(window -> window.cpuMicros(child)),
              "µs");
    }

    private void ofDatabase(Child database) {
      cpu("database", database);
      rig.report()
          .add(
              shape.name,
              "database, written per message",
              median(window -> window.writtenBytes(database)),
              "bytes");
    }
  }
}
