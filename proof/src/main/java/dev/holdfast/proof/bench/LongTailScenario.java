package dev.holdfast.proof.bench;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Series;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * Very many endpoints that get an event now and then, and as many subscriptions as one likes that
 * want none of them.
 *
 * <p>A server with one subscription for each endpoint and one with very many more take turns. At a
 * rate of one event a minute for each endpoint a message is alone: nothing is shared with others,
 * neither an fsync nor what was looked up for an endpoint.
 */
final class LongTailScenario implements Scenario {
  private static final String NAME = "long-tail";
  private static final int SECONDS_BETWEEN_EVENTS = 60;

  /** Each takes a kilobyte and some. */
  private static final int MOST_IN_USUAL_HEAP = 200_000;

  private static final int WRITTEN_AT_ONCE = 5_000;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "very many endpoints that get an event a minute: how long it takes and what it costs,"
        + " also with very many subscriptions that want none of them";
  }

  /** What is written to disk, and how soon a server is ready, is the embedded store's. */
  @Override
  public boolean runsOn(boolean shared) {
    return !shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Runs runs = new Runs(rig, Rig.EVENTS);
    List<Stock> stocks =
        List.of(
            Stock.make(rig, runs, 1),
            Stock.make(rig, runs, Math.max(2, settings.subscriptions / settings.manyEndpoints)));
    List<Tail> tails = new ArrayList<>();
    for (Stock stock : stocks) {
      tails.add(Tail.start(rig, runs, stock));
    }
    for (Tail tail : tails) {
      runs.warmUp(tail.batches(), tail.text, settings.warmUp);
    }
    for (int round = 0; round < settings.rounds; round++) {
      tails.forEach(Tail::measureThroughput);
    }
    tails.forEach(Tail::measureLatency);
    Tail few = tails.getFirst();
    Tail many = tails.getLast();
    rig.report()
        .add(
            NAME,
            "delivered, %s / %s".formatted(many.text, few.text),
            many.delivered.per(few.delivered),
            "");
    runs.settle();
  }

  /** The usual server, with a heap that all subscriptions fit into. */
  private static ServerProcess startServer(Rig rig, Path data) throws IOException {
    Settings settings = rig.settings();
    boolean fit = settings.subscriptions <= MOST_IN_USUAL_HEAP;
    List<String> flags = new ArrayList<>();
    flags.add("-Xmx" + (fit ? settings.serverHeap : settings.largeHeap()));
    flags.addAll(settings.serverFlags);
    return rig.startServer("server", settings.serverMain, flags, Place.in(data));
  }

  /** A store with subscriptions and no messages, made by a server. */
  private record Stock(Path data, String text) {

    /**
     * Makes a store.
     *
     * @param each how many subscriptions an endpoint has, one of which wants the load's events
     */
    static Stock make(Rig rig, Runs runs, int each) throws IOException {
      int endpoints = rig.settings().manyEndpoints;
      String text = "%,d subscriptions".formatted(endpoints * each);
      Path data = rig.newDirectory();
      ServerProcess server = startServer(rig, data);
      rig.subscribeMany(server, runs.receiver(), endpoints);
      rig.stop(server.child());
      multiply(rig, data, each);
      return new Stock(data, text);
    }

    /**
     * Adds subscriptions to the store that differ from those that are there in their type: straight
     * into it, since a million calls, or hundreds of imports, take minutes.
     */
    private static void multiply(Rig rig, Path data, int each) {
      try (SqliteStore store = SqliteStore.open(data)) {
        Snapshot snapshot = store.snapshot();
        IdSource ids = new IdSource(0, snapshot.highestId());
        int more = snapshot.subscriptions().size() * (each - 1);
        List<Write> writes = new ArrayList<>();
        for (int i = 0; i < more; i++) {
          Subscription like = snapshot.subscriptions().get(i / (each - 1));
          writes.add(new Write.Subscribe(unlike(like, i, ids.next(like.createdAt())), null));
          if (writes.size() == WRITTEN_AT_ONCE || i == more - 1) {
            store.write(new Batch(List.copyOf(writes), List.of()));
            writes.clear();
            rig.progress().tick("writing subscription %,d of %,d".formatted(i + 1, more));
          }
        }
      } catch (StoreRefused | StoreException e) {
        throw new ProofException("the store could not be filled: " + e.getMessage(), e);
      } finally {
        rig.progress().end();
      }
    }

    private static Subscription unlike(Subscription like, int number, long id) {
      TypePattern type = new TypePattern(String.format(Locale.ROOT, "tail.%07d", number));
      Interest interest = new Interest(List.of(type), null, Filters.NONE);
      return new Subscription(
          id, like.tenant(), like.endpoint(), interest, like.form(), like.createdAt());
    }
  }

  /** A server with its subscriptions, and what was measured of it. */
  private static final class Tail {
    private final Rig rig;
    private final Runs runs;
    private final String text;
    private final ServerProcess server;
    private final Median delivered = new Median();

    private Tail(Rig rig, Runs runs, String text, ServerProcess server) {
      this.rig = rig;
      this.runs = runs;
      this.text = text;
      this.server = server;
    }

    static Tail start(Rig rig, Runs runs, Stock stock) throws IOException {
      rig.progress().step("starting with " + stock.text);
      ServerProcess server = startServer(rig, stock.data);
      double seconds = server.timeToReady().toMillis() / 1_000.0;
      rig.report().add(NAME, stock.text + ", from start to ready", seconds, "s");
      rig.report().add(NAME, stock.text + ", heap after start", server.heapAfterCollection(), "MB");
      return new Tail(rig, runs, stock.text, server);
    }

    LoadPlan batches() {
      return runs.batches(server).with(Setting.ENDPOINTS, rig.settings().manyEndpoints);
    }

    void measureThroughput() {
      int seconds = Math.max(1, rig.settings().seconds / rig.settings().rounds);
      delivered.add(runs.measure(server, batches(), text, seconds).deliveredPerSecond());
    }

    void measureLatency() {
      int endpoints = rig.settings().manyEndpoints;
      int rate = Math.max(1, endpoints / SECONDS_BETWEEN_EVENTS);
      String what = "%s, %,d events per second".formatted(text, rate);
      rig.progress().step(what);
      runs.begin(runs.atRate(server, rate).with(Setting.ENDPOINTS, endpoints), what);
      Window window = runs.window(server, rig.settings().seconds);
      Histogram taken = runs.arrivals(Rig.EVENTS);
      runs.stop();
      runs.awaitAll();
      Latency arrival = Latency.of(taken);
      Report report = rig.report();
      report.add(NAME, text + ", delivered per second in batches", delivered.value(), "/s");
      report.add(NAME, text + ", a minute apart, per second", window.deliveredPerSecond(), "/s");
      report.add(NAME, text + ", POST to arrival, p50", arrival.p50(), "ms");
      report.add(NAME, text + ", POST to arrival, p99", arrival.p99(), "ms");
      report.add(NAME, text + ", POST to arrival, p99.9", arrival.p999(), "ms");
      report.add(NAME, text + ", POST to arrival, largest", arrival.max(), "ms");
      report.add(NAME, text + ", CPU per message", window.cpuMicros(server.child()), "µs");
      report.add(
          NAME, text + ", written per message", window.writtenBytes(server.child()), "bytes");
      report.line(
          new Series(
              NAME,
              "POST to arrival, a minute apart",
              text,
              Percentiles.ACROSS,
              "ms",
              Percentiles.of(taken)));
    }
  }
}
