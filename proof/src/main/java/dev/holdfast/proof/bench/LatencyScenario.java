package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Series;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;

/**
 * How long a message takes from the moment its event should be sent until it arrives, at several
 * parts of the throughput that single events reach.
 */
final class LatencyScenario implements Scenario {
  /** More than are ever needed, so that the load does not wait for itself. */
  static final int CONNECTIONS = 256;

  private static final String NAME = "latency";

  /** Percentages of the throughput; what is hoped for is said of the one in the middle. */
  private static final int[] PARTS = {10, 50, 80};

  private static final int PART_WITH_TARGETS = 50;
  private static final int PART_WITH_SYNCS = 80;
  private static final int SEARCH_SECONDS = 5;
  private static final int SYNC_SECONDS = 3;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "time from POST to arrival at 10, 50 and 80 % of what single reaches, at a rate that"
        + " does not wait for the server";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Runs runs = new Runs(rig, Rig.EVENTS);
    ServerProcess server = rig.startServer(rig.newPlace());
    rig.subscribe(server, runs.receiver(), rig.settings().endpoints);
    Course course = new Course(rig, runs, server);
    if (rig.settings().chosenRate().isPresent()) {
      int rate = rig.settings().rate();
      runs.warmUp(runs.atRate(server, rate), "%,d/s".formatted(rate), rig.settings().warmUp);
      course.measure("%,d/s".formatted(rate), rate, true, true);
    } else {
      double most = throughput(rig, runs, server);
      rig.report().add(NAME, "single events per second, of which", most, "/s");
      for (int part : PARTS) {
        int rate = Math.max(1, (int) (most * part / 100));
        course.measure(part + " %", rate, part == PART_WITH_TARGETS, part == PART_WITH_SYNCS);
      }
    }
    runs.settle();
    rig.stopAll();
    course.compare();
  }

  /** What single events reach: as measured before, or in a short search. */
  static double throughput(Rig rig, Runs runs, ServerProcess server) {
    OptionalDouble known =
        rig.report().find(ThroughputScenario.SINGLE, ThroughputScenario.DELIVERED);
    int seconds = Math.min(SEARCH_SECONDS, rig.settings().seconds);
    double found =
        runs.measure(server, runs.singles(server), "single events", seconds).deliveredPerSecond();
    return known.isPresent() && known.getAsDouble() > 0 ? known.getAsDouble() : found;
  }

  /** The rates of one run, and what was measured at them. */
  private static final class Course {
    private final Rig rig;
    private final Runs runs;
    private final ServerProcess server;
    private final Map<String, Integer> rates = new LinkedHashMap<>();
    private final Map<String, Latency> arrivals = new HashMap<>();

    Course(Rig rig, Runs runs, ServerProcess server) {
      this.rig = rig;
      this.runs = runs;
      this.server = server;
    }

    void measure(String part, int rate, boolean hasTargets, boolean countSyncs) throws IOException {
      rig.progress().step("%s: %,d events per second".formatted(part, rate));
      runs.begin(runs.atRate(server, rate), part);
      long commitsBefore = server.commits();
      long from = System.nanoTime();
      Window window = runs.window(server, rig.settings().seconds);
      Histogram taken = runs.arrivals(Rig.EVENTS);
      Latency answer = Latency.of(runs.answers());
      double commits = (server.commits() - commitsBefore) * 1e9 / (System.nanoTime() - from);
      if (countSyncs) {
        syncs(part, commits);
      }
      runs.stop();
      runs.awaitAll();
      rates.put(part, rate);
      report(part, window, taken, answer, hasTargets);
    }

    private void syncs(String part, double commits) throws IOException {
      if (rig.stores().areShared()) {
        return;
      }
      rig.report().add(NAME, part + ", commits per second", commits, "/s");
      new Syncs(rig)
          .perCommit(server, Math.min(SYNC_SECONDS, rig.settings().seconds))
          .ifPresent(
              syncs ->
                  rig.report()
                      .add(
                          NAME,
                          part + ", fsyncs per second",
                          commits * syncs,
                          "/s",
                          Target.atMost(1_000)));
    }

    private void report(
        String part, Window window, Histogram taken, Latency answer, boolean hasTargets) {
      Latency arrival = Latency.of(taken);
      arrivals.put(part, arrival);
      Report report = rig.report();
      boolean shared = rig.stores().areShared();
      report.add(NAME, part + ", delivered per second", window.deliveredPerSecond(), "/s");
      report.add(NAME, part + ", POST to arrival, p50", arrival.p50(), "ms");
      report.add(
          NAME,
          part + ", POST to arrival, p99",
          arrival.p99(),
          "ms",
          hasTargets ? Target.atMost(shared ? 50 : 10) : null);
      report.add(
          NAME,
          part + ", POST to arrival, p99.9",
          arrival.p999(),
          "ms",
          hasTargets && !shared ? Target.atMost(50) : null);
      report.add(NAME, part + ", POST to arrival, largest", arrival.max(), "ms");
      report.add(NAME, part + ", POST to 202, p50", answer.p50(), "ms");
      report.add(NAME, part + ", POST to 202, p99", answer.p99(), "ms");
      report.add(NAME, part + ", server, CPU per message", window.cpuMicros(server.child()), "µs");
      report.add(NAME, part + ", machine busy", 100 * window.busy(), "%");
      report.add(
          NAME, part + ", machine kept from running by its host", 100 * window.stolen(), "%");
      line(report, part, taken);
    }

    /** How many times as long as a bare server takes to answer, at the same rate. */
    void compare() throws IOException {
      for (var entry : rates.entrySet()) {
        Histogram bare = rig.reference().answers(entry.getValue());
        Latency answer = Latency.of(bare);
        Latency arrival = arrivals.get(entry.getKey());
        line(rig.report(), entry.getKey() + ", bare server to 202", bare);
        if (arrival != null && answer.p99() > 0) {
          rig.report()
              .add(
                  NAME,
                  entry.getKey() + ", p99 to arrival / bare server's p99 to 202",
                  arrival.p99() / answer.p99(),
                  "");
        }
      }
    }
  }

  private static void line(Report report, String name, Histogram histogram) {
    report.line(
        new Series(
            NAME, "POST to arrival", name, Percentiles.ACROSS, "ms", Percentiles.of(histogram)));
  }
}
