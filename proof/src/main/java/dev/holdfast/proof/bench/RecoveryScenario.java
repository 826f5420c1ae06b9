package dev.holdfast.proof.bench;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.proof.bench.ServerProcess.EndpointStatus;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Point;
import dev.holdfast.proof.stage.Report.Series;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What happens when an endpoint comes back that very many messages are parked for: how fast it gets
 * them, and what others notice of it.
 *
 * <p>Others get events at a rate that does not wait for the server, before the endpoint is enabled
 * and until it has got everything.
 */
final class RecoveryScenario implements Scenario {
  private static final String NAME = "recovery";

  /** The group of the endpoint that comes back. */
  private static final char BACK = 'p';

  private static final String TYPE = "parked.UPDATE";
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final int LOOKS_PER_SECOND = 10;

  private final InstantSource clock;

  RecoveryScenario(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "an endpoint comes back that very many messages are parked for: how fast it gets them,"
        + " and the p99 of others meanwhile";
  }

  /** Its messages are written straight into the embedded store. */
  @Override
  public boolean runsOn(boolean shared) {
    return !shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Runs runs = new Runs(rig, Rig.EVENTS, BACK);
    Path data = rig.newDirectory();
    ServerProcess maker = rig.startServer(Place.in(data));
    rig.subscribe(maker, runs.receiver(), rig.settings().endpoints);
    maker.subscribe(runs.receiver().url(BACK, 0), TYPE);
    EndpointStatus back = find(maker);
    maker.freeze(back);
    rig.stop(maker.child());
    park(rig, data);

    ServerProcess server = rig.startServer(Place.in(data));
    runs.warmUp(runs.singles(server), "healthy endpoints alone", rig.settings().warmUp);
    runs.add(rig.settings().parked);
    runs.begin(runs.atRate(server, rig.settings().rate()), "healthy endpoints alone");
    rig.watch("healthy endpoints alone", rig.settings().seconds);
    Histogram before = runs.arrivals(Rig.EVENTS);
    if (runs.receiver().counts().numbers(BACK) > 0) {
      rig.report().fail(NAME + ": messages arrived at an endpoint that was frozen");
    }

    runs.mark();
    long enabled = System.nanoTime();
    server.enable(back);
    drain(rig, runs.receiver());
    Histogram during = runs.arrivals(Rig.EVENTS);
    ReceiverProcess.Counts counts = runs.receiver().counts();
    runs.stop();

    double seconds = (counts.lastAtNanos(BACK) - enabled) / 1e9;
    Report report = rig.report();
    report.count(NAME, "parked messages", rig.settings().parked);
    report.add(NAME, "from enabling to the last of them", seconds, "s");
    report.add(NAME, "drained per second", counts.numbers(BACK) / seconds, "/s");
    others(rig, before, during);
    runs.awaitAll();
    runs.settle();
  }

  private static EndpointStatus find(ServerProcess server) {
    return server.endpoints().stream()
        .filter(endpoint -> endpoint.url().contains("/" + BACK + "/"))
        .findFirst()
        .orElseThrow(() -> new ProofException("the endpoint that comes back is not there"));
  }

  private void park(Rig rig, Path data) {
    int count = rig.settings().parked;
    Instant now = clock.instant();
    try (SqliteStore store = SqliteStore.open(data)) {
      StoredMessages.ofNow(store, BACK, LoadPlan.DATA_BYTES)
          .write(
              count,
              _ -> now,
              StoredMessages.parked(),
              written ->
                  rig.progress().tick("parking message %,d of %,d".formatted(written, count)));
    } catch (StoreRefused | StoreException e) {
      throw new ProofException("the store could not be filled: " + e.getMessage(), e);
    } finally {
      rig.progress().end();
    }
  }

  /** Waits until the endpoint has got everything, or nothing more for too long. */
  private static void drain(Rig rig, ReceiverProcess receiver) {
    int parked = rig.settings().parked;
    List<Point> arrived = new ArrayList<>();
    long last = 0;
    int looksInVain = 0;
    int most = rig.settings().longestDrain * LOOKS_PER_SECOND;
    for (int look = 1; last < parked && looksInVain < most; look++) {
      Rig.pause(LOOK_EVERY);
      long now = receiver.counts().numbers(BACK);
      looksInVain = now > last ? 0 : looksInVain + 1;
      last = now;
      if (look % LOOKS_PER_SECOND == 0 || last == parked) {
        arrived.add(new Point((double) look / LOOKS_PER_SECOND, last));
      }
      rig.progress().tick("it has got %,d of %,d messages".formatted(last, parked));
    }
    rig.progress().end();
    if (arrived.size() > 1) {
      rig.report()
          .line(new Series(NAME, "arrived at what came back", "messages", "seconds", "", arrived));
    }
  }

  private static void others(Rig rig, Histogram before, Histogram during) {
    Report report = rig.report();
    line(report, "before", before);
    line(report, "while it drains", during);
    Latency alone = Latency.of(before);
    Latency beside = Latency.of(during);
    report.add(NAME, "others, events per second", (double) rig.settings().rate(), "/s");
    report.add(NAME, "others, POST to arrival before, p50", alone.p50(), "ms");
    report.add(NAME, "others, POST to arrival before, p99", alone.p99(), "ms");
    report.add(NAME, "others, POST to arrival while it drains, p50", beside.p50(), "ms");
    report.add(NAME, "others, POST to arrival while it drains, p99", beside.p99(), "ms");
    if (alone.p99() > 0) {
      report.add(NAME, "others, p50, while it drains / before", beside.p50() / alone.p50(), "");
      report.add(NAME, "others, p99, while it drains / before", beside.p99() / alone.p99(), "");
    }
  }

  private static void line(Report report, String name, Histogram histogram) {
    report.line(
        new Series(
            NAME,
            "POST to arrival at others",
            name,
            Percentiles.ACROSS,
            "ms",
            Percentiles.of(histogram)));
  }
}
