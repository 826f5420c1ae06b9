package dev.holdfast.proof.bench;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * What millions of waiting messages cost: when the server starts, in its heap, in what it delivers
 * beside them, and when some of them become due.
 */
final class WaitingScenario implements Scenario {
  private static final String NAME = "waiting";

  /** The group of those that wait and of which few become due. */
  private static final char WAITING = 'w';

  /** The group of those that become due at once. */
  private static final char CLAIMED = 'c';

  private static final int WAITING_PER_ENDPOINT = 1_000;
  private static final int MOST_WAITING_ENDPOINTS = 5_000;

  /** Of the data of each: ten million of a kilobyte would take a disk's hour to write. */
  private static final int WAITING_BYTES = 256;

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
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    Path empty = newStore(rig, receiver, 0);
    for (int waiting : rig.settings().waiting) {
      receiver.reset();
      Course course =
          new Course(
              rig, "%,d".formatted(waiting), waiting, new Runs(rig, receiver, load, Rig.EVENTS));
      course.run(empty);
    }
  }

  /** All that is measured with one number of waiting messages. */
  private final class Course {
    private final Rig rig;
    private final String many;
    private final int waiting;
    private final Runs runs;

    Course(Rig rig, String many, int waiting, Runs runs) {
      this.rig = rig;
      this.many = many;
      this.waiting = waiting;
      this.runs = runs;
    }

    void run(Path empty) throws IOException {
      int endpoints = Math.clamp(waiting / WAITING_PER_ENDPOINT, 1, MOST_WAITING_ENDPOINTS);
      Path full = newStore(rig, runs.receiver(), endpoints);
      fill(full);
      beside(empty, full);

      Median alone = new Median();
      Median beside = new Median();
      for (int round = 0; round < rig.settings().rounds; round++) {
        alone.add(claims(empty, "nothing else"));
        beside.add(claims(full, many + " others"));
      }
      Report report = rig.report();
      report.add(NAME, "due retries per second, nothing else waiting", alone.value(), "/s");
      report.add(NAME, "due retries per second, beside " + many, beside.value(), "/s");
      report.add(
          NAME,
          "due retries, beside %s / alone".formatted(many),
          beside.per(alone),
          "",
          Target.atLeast(0.8));
      rig.delete(full);
    }

    /** Writes the messages that wait, due evenly over the time in which retries are due. */
    private void fill(Path data) {
      Instant now = clock.instant();
      long span = LAST_DUE.minus(FIRST_DUE).toMillis();
      long started = System.nanoTime();
      write(
          rig,
          data,
          WAITING,
          WAITING_BYTES,
          waiting,
          now,
          i -> now.plus(FIRST_DUE).plusMillis(span * i / waiting));
      double seconds = (System.nanoTime() - started) / 1e9;
      rig.report().add(NAME, many + " waiting, written per second", waiting / seconds, "/s");
    }

    /** What is delivered beside them, in turns with a server that has nothing waiting. */
    private void beside(Path empty, Path full) throws IOException {
      rig.progress().step("starting with %s messages".formatted(many));
      ServerProcess beside = rig.startServer(Place.in(full));
      Report report = rig.report();
      report.add(
          NAME,
          many + " waiting, from start to ready",
          beside.timeToReady().toMillis() / 1_000.0,
          "s",
          Target.atMost(5));
      report.add(NAME, many + " waiting, heap after start", beside.heapAfterCollection(), "MB");
      ServerProcess alone = rig.startServer(Place.in(empty));
      Median withNone = new Median();
      Median withMany = new Median();
      int seconds = Math.max(1, rig.settings().seconds / rig.settings().rounds);
      for (ServerProcess server : List.of(alone, beside)) {
        runs.warmUp(runs.batches(server), "first turn", rig.settings().warmUp);
      }
      for (int round = 0; round < rig.settings().rounds; round++) {
        withNone.add(delivered(alone, "nothing waiting", seconds));
        withMany.add(delivered(beside, many + " waiting", seconds));
      }
      report.add(NAME, "delivered per second, nothing waiting", withNone.value(), "/s");
      report.add(NAME, "delivered per second, %s waiting".formatted(many), withMany.value(), "/s");
      report.add(
          NAME,
          "delivered, %s waiting / nothing".formatted(many),
          withMany.per(withNone),
          "",
          Target.atLeast(0.9));
      report.add(NAME, many + " waiting, heap after load", beside.heapAfterCollection(), "MB");
      rig.stop(alone.child());
      rig.stop(beside.child());
      runs.settle();
    }

    private double delivered(ServerProcess server, String what, int seconds) {
      return runs.measure(server, runs.batches(server), what, seconds).deliveredPerSecond();
    }

    /** How many retries a second are delivered when very many are due at the same moment. */
    private double claims(Path data, String beside) throws IOException {
      Settings settings = rig.settings();
      int claims = settings.claims;
      rig.progress().step("%,d retries due at once, %s waiting".formatted(claims, beside));
      ReceiverProcess receiver = runs.receiver();
      receiver.reset();
      Instant now = clock.instant();
      Instant due = now.plus(timeToPrepare());
      long dueNanos = System.nanoTime() + Duration.between(now, due).toNanos();
      write(rig, data, CLAIMED, LoadPlan.DATA_BYTES, claims, now, _ -> due);
      ServerProcess server = rig.startServer(Place.in(data));
      Runs warmUp = new Runs(rig, receiver, runs.load(), Rig.EVENTS);
      warmUp.warmUp(warmUp.batches(server), beside, settings.warmUp);
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
    private Duration timeToPrepare() {
      int start = rig.settings().quick ? 3 : 8;
      return Duration.ofSeconds(start + rig.settings().warmUp + waiting / 400_000);
    }
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

  private static void write(
      Rig rig,
      Path data,
      char group,
      int dataBytes,
      int count,
      Instant now,
      IntFunction<Instant> due) {
    try (SqliteStore store = SqliteStore.open(data)) {
      StoredMessages.ofNow(store, group, dataBytes)
          .write(
              count,
              _ -> now,
              StoredMessages.waiting(due),
              written ->
                  rig.progress().tick("writing message %,d of %,d".formatted(written, count)));
    } catch (StoreRefused | StoreException e) {
      throw new ProofException("the store could not be filled: " + e.getMessage(), e);
    } finally {
      rig.progress().end();
    }
  }
}
