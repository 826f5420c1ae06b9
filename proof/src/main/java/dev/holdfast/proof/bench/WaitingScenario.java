package dev.holdfast.proof.bench;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.IntFunction;

/**
 * What a million waiting messages cost: when the server starts, in its heap, in what it delivers
 * beside them, and when some of them become due.
 */
final class WaitingScenario implements Scenario {
  private static final String NAME = "waiting";

  /** The group of those that wait and of which few become due. */
  private static final char WAITING = 'w';

  /** The group of those that become due at once. */
  private static final char CLAIMED = 'c';

  private static final int WAITING_PER_ENDPOINT = 1_000;
  private static final Duration FIRST_DUE = Duration.ofMinutes(2);
  private static final Duration LAST_DUE = Duration.ofHours(40);

  private final InstantSource clock;

  WaitingScenario(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "a store with very many waiting messages: start, heap, throughput beside them, and how"
        + " fast those that are due are found";
  }

  /** Its messages are written straight into the embedded store. */
  @Override
  public boolean runsOn(boolean shared) {
    return !shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();

    int waitingEndpoints = Math.max(1, settings.waiting / WAITING_PER_ENDPOINT);
    Path full = newStore(rig, receiver, waitingEndpoints);
    fill(rig, full);
    startAndThroughput(rig, full, load, receiver);

    Path empty = newStore(rig, receiver, 0);
    double[] alone = new double[settings.rounds];
    double[] beside = new double[settings.rounds];
    for (int round = 0; round < settings.rounds; round++) {
      alone[round] = claims(rig, empty, load, receiver, "nothing else");
      beside[round] = claims(rig, full, load, receiver, "%,d others".formatted(settings.waiting));
    }
    Report report = rig.report();
    report.add(NAME, "due retries per second, nothing else waiting", median(alone), "/s");
    report.add(NAME, "due retries per second, beside the others", median(beside), "/s");
    double ratio = median(alone) == 0 ? 0 : median(beside) / median(alone);
    report.add(NAME, "due retries, beside the others / alone", ratio, "", Target.atLeast(0.8));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** A store with subscriptions and no messages, made by a server. */
  private static Path newStore(Rig rig, ReceiverProcess receiver, int waitingEndpoints)
      throws IOException {
    Path data = rig.newDirectory();
    ServerProcess server = rig.startServer(Place.in(data));
    int endpoints = rig.settings().endpoints;
    rig.subscribe(server, receiver, endpoints);
    for (int i = 0; i < endpoints; i++) {
      server.subscribe(receiver.url(CLAIMED, i), type("claimed", i));
    }
    for (int i = 0; i < waitingEndpoints; i++) {
      rig.progress().tick("subscribing endpoint %,d of %,d".formatted(i, waitingEndpoints));
      server.subscribe(receiver.url(WAITING, i), type("waiting", i));
    }
    rig.progress().end();
    rig.stop(server.child());
    return data;
  }

  private static String type(String kind, int endpoint) {
    return String.format(Locale.ROOT, "%s.%05d", kind, endpoint);
  }

  /** Writes the messages that wait, due evenly over the time in which retries are due. */
  private void fill(Rig rig, Path data) {
    int waiting = rig.settings().waiting;
    Instant now = clock.instant();
    long span = LAST_DUE.minus(FIRST_DUE).toMillis();
    write(
        rig, data, WAITING, waiting, now, i -> now.plus(FIRST_DUE).plusMillis(span * i / waiting));
  }

  private static void write(
      Rig rig, Path data, char group, int count, Instant now, IntFunction<Instant> due) {
    try (SqliteStore store = SqliteStore.open(data)) {
      new Backlog(store, group)
          .write(
              count,
              now,
              due,
              written ->
                  rig.progress().tick("writing message %,d of %,d".formatted(written, count)));
    } catch (StoreRefused | StoreException e) {
      throw new ProofException("the store could not be filled: " + e.getMessage(), e);
    } finally {
      rig.progress().end();
    }
  }

  private static void startAndThroughput(
      Rig rig, Path data, LoadProcess load, ReceiverProcess receiver) throws IOException {
    rig.progress().step("starting with %,d messages".formatted(rig.settings().waiting));
    ServerProcess server = rig.startServer(Place.in(data));
    Report report = rig.report();
    report.count(NAME, "waiting messages", rig.settings().waiting);
    report.add(
        NAME,
        "from start to ready",
        server.timeToReady().toMillis() / 1_000.0,
        "s",
        Target.atMost(5));
    report.add(NAME, "heap after start and collection", server.heapAfterCollection(), "MB");
    receiver.reset();
    int seconds = Math.max(1, rig.settings().seconds / 3);
    ThroughputScenario.batch().measure(rig, server, load, receiver, seconds, null);
    OptionalDouble alone = report.find(ThroughputScenario.BATCH, ThroughputScenario.DELIVERED);
    OptionalDouble beside = report.find(NAME, ThroughputScenario.DELIVERED);
    if (alone.isPresent() && beside.isPresent() && alone.getAsDouble() > 0) {
      double share = 100 * beside.getAsDouble() / alone.getAsDouble();
      report.add(NAME, "share of what batch delivers", share, "%");
    }
    report.add(NAME, "heap after load and collection", server.heapAfterCollection(), "MB");
    rig.stop(server.child());
  }

  /** How many retries a second are delivered when very many are due at the same moment. */
  private double claims(
      Rig rig, Path data, LoadProcess load, ReceiverProcess receiver, String beside)
      throws IOException {
    Settings settings = rig.settings();
    int claims = settings.claims;
    rig.progress().step("%,d retries due at once, %s waiting".formatted(claims, beside));
    receiver.reset();
    Instant now = clock.instant();
    Instant due = now.plus(timeToPrepare(settings));
    long dueNanos = System.nanoTime() + Duration.between(now, due).toNanos();
    write(rig, data, CLAIMED, claims, now, _ -> due);
    ServerProcess server = rig.startServer(Place.in(data));
    warmUp(rig, server, load, receiver);
    long wait = dueNanos - System.nanoTime();
    if (wait < 0) {
      rig.report()
          .note(
              "%s: retries were due %.1f s before the server was ready for them, %s waiting"
                  .formatted(NAME, -wait / 1e9, beside));
    }
    Rig.pause(Duration.ofNanos(Math.max(0, wait)));

    long arrived = rig.awaitArrival(receiver, claims, CLAIMED);
    ReceiverProcess.Counts counts = receiver.counts();
    long startNanos = wait < 0 ? counts.firstAtNanos(CLAIMED) : dueNanos;
    if (arrived < claims) {
      rig.report()
          .fail(
              "%s: %,d of %,d due retries did not arrive within %d s, %s waiting"
                  .formatted(NAME, claims - arrived, claims, settings.longestDrain, beside));
    }
    rig.stop(server.child());
    return arrived * 1e9 / Math.max(1, counts.lastAtNanos(CLAIMED) - startNanos);
  }

  /** Enough for a store of this size to be opened, and for the server to warm up. */
  private static Duration timeToPrepare(Settings settings) {
    int start = settings.quick ? 3 : 10;
    return Duration.ofSeconds(start + settings.warmUp + settings.waiting / 50_000);
  }

  private static void warmUp(
      Rig rig, ServerProcess server, LoadProcess load, ReceiverProcess receiver) {
    load.start(
        LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
            .with(Setting.RECEIVER_PORT, receiver.port())
            .with(Setting.CONNECTIONS, rig.settings().batchConnections)
            .with(Setting.BATCH, rig.settings().batch)
            .with(Setting.ENDPOINTS, rig.settings().endpoints)
            .with(Setting.MAX_UNDELIVERED, rig.settings().maxUndelivered));
    rig.watch("warming up", rig.settings().warmUp);
    rig.awaitArrival(receiver, load.stop().accepted(), Rig.EVENTS);
  }
}
