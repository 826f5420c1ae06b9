package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * One load after the other for the same receiver, whose events are numbered on: so that at the end
 * everything that was accepted can be accounted for.
 */
final class Runs {
  /** Much less than a second's worth, so that there is little to wait for between two runs. */
  private static final int MAX_UNDELIVERED = 5_000;

  /** Until all processes have compiled again what new connections made them give up. */
  static final int SETTLING_SECONDS = 5;

  private final Rig rig;
  private final LoadProcess load;
  private final ReceiverProcess receiver;
  private final char[] groups;
  private long sent;
  private long accepted;
  private String what = "";
  private LoadProcess.Counts last;

  /**
   * Starts a receiver and a load generator.
   *
   * @param groups those that events of the load go to
   */
  Runs(Rig rig, char... groups) throws IOException {
    this(rig, rig.startReceiver(), rig.startLoad(), groups);
  }

  /** Takes over a receiver that has counted nothing. */
  Runs(Rig rig, ReceiverProcess receiver, LoadProcess load, char... groups) {
    this.rig = rig;
    this.receiver = receiver;
    this.load = load;
    this.groups = groups.clone();
    this.last = load.counts();
  }

  ReceiverProcess receiver() {
    return receiver;
  }

  LoadProcess load() {
    return load;
  }

  /** Batches as fast as they are delivered. */
  LoadPlan batches(ServerProcess server) {
    Settings settings = rig.settings();
    return LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
        .with(Setting.RECEIVER_PORT, receiver.port())
        .with(Setting.CONNECTIONS, settings.batchConnections)
        .with(Setting.BATCH, settings.batch)
        .with(Setting.ENDPOINTS, settings.endpoints)
        .with(Setting.MAX_UNDELIVERED, Math.min(MAX_UNDELIVERED, settings.maxUndelivered));
  }

  /** Single events as fast as they are delivered. */
  LoadPlan singles(ServerProcess server) {
    return batches(server)
        .with(Setting.BATCH, 1)
        .with(Setting.CONNECTIONS, rig.settings().connections);
  }

  /** Single events at a rate that does not wait for the server. */
  LoadPlan atRate(ServerProcess server, int perSecond) {
    return LoadPlan.of(Kind.OPEN_LOOP, server.port(), server.key())
        .with(Setting.CONNECTIONS, LatencyScenario.CONNECTIONS)
        .with(Setting.ENDPOINTS, rig.settings().endpoints)
        .with(Setting.RATE, perSecond);
  }

  /**
   * Starts a load.
   *
   * @param text what it is, among others of the same scenario
   */
  void start(LoadPlan plan, String text) {
    what = text;
    load.start(plan.with(Setting.FIRST_NUMBER, Math.toIntExact(sent)));
  }

  /**
   * Starts a load and lets it run until what its beginning stirs up is over: new connections have
   * all processes give up compiled code, and make it anew. What comes after is counted.
   */
  void begin(LoadPlan plan, String text) {
    start(plan, text);
    rig.watch(text + ", settling", Math.min(SETTLING_SECONDS, rig.settings().warmUp));
    mark();
  }

  void stop() {
    last = load.stop();
    sent += last.sent();
    accepted += last.accepted();
  }

  /** Sends for some time and waits until all has arrived, and nobody counts. */
  void warmUp(LoadPlan plan, String text, int seconds) {
    start(plan, text);
    rig.watch(text + ", warming up", seconds);
    stop();
    awaitAll();
  }

  /** The load that was started, for {@code seconds} more. */
  Window window(ServerProcess server, int seconds) {
    return window(server, Rig.EVENTS, seconds);
  }

  Window window(ServerProcess server, char group, int seconds) {
    List<Child> children = rig.withDatabase(server.child(), load.child(), receiver.child());
    return Window.measure(rig, load, receiver, group, children, seconds, accepted, what);
  }

  /** A whole run: warm up, measure, and wait until all has arrived. */
  Window measure(ServerProcess server, LoadPlan plan, String text, int seconds) {
    start(plan, text);
    rig.watch(text + ", warming up", rig.settings().warmUp);
    Window window = window(server, seconds);
    stop();
    awaitAll();
    return window;
  }

  /** Forgets how long things took until now. */
  void mark() {
    load.mark();
    receiver.mark();
  }

  /** How long arrivals took since {@link #mark}. */
  Histogram arrivals(char group) {
    return receiver.counts().latency(group);
  }

  /** How long answers to the load took since {@link #mark}. */
  Histogram answers() {
    return load.counts().latency();
  }

  long accepted() {
    return accepted;
  }

  /** Counts events that came into the server by another way. */
  void add(long events) {
    accepted += events;
  }

  void awaitAll() {
    rig.awaitArrival(receiver, accepted, groups);
    // What the last arrivals leave to be written does not belong to what comes next.
    Rig.pause(Duration.ofMillis(500));
  }

  void settle() {
    rig.settle(receiver, last, accepted, groups);
  }
}
