package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What a message costs: CPU time, bytes on disk and fsyncs, with loads that differ in what makes
 * the store write much or little.
 *
 * <p>No more than a few thousand events are on the way at any time, so that over a measurement as
 * much is delivered as accepted. Bytes are those that the system counts as caused by the server:
 * the log and, when that is moved into it, the file.
 */
final class CostScenario implements Scenario {
  private static final String NAME = "cost";
  private static final double MOST_TIMES_THE_PAYLOAD = 3;
  private static final double MOST_SYNCS_PER_SECOND = 1_000;
  private static final int SYNC_SECONDS = 3;
  private static final int PART_OF_SINGLES = 80;

  /** Above this share of difference, what is accepted is not what is delivered. */
  private static final double OUT_OF_STEP = 0.05;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "CPU time, bytes on disk and fsyncs of a message: in batches to some and to many"
        + " endpoints, with ids that the caller gives, and one by one";
  }

  /** With a database, the server itself writes nothing. */
  @Override
  public boolean runsOn(boolean shared) {
    return !shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Course course = new Course(rig, new Runs(rig, Rig.EVENTS));
    course.batches("batches", settings.endpoints, false, Target.atMost(MOST_TIMES_THE_PAYLOAD));
    course.batches(
        "batches to %,d endpoints".formatted(settings.manyEndpoints),
        settings.manyEndpoints,
        false,
        null);
    course.batches("batches, caller-given ids", settings.endpoints, true, null);
    course.singles();
    course.runs.settle();
  }

  /** One load after the other, each on a new store. */
  private static final class Course {
    private final Rig rig;
    private final Runs runs;

    Course(Rig rig, Runs runs) {
      this.rig = rig;
      this.runs = runs;
    }

    void batches(String what, int endpoints, boolean callerIds, @Nullable Target written)
        throws IOException {
      Path data = rig.newDirectory();
      ServerProcess server = start(data, endpoints);
      LoadPlan plan =
          runs.batches(server)
              .with(Setting.ENDPOINTS, endpoints)
              .with(Setting.CALLER_IDS, callerIds ? 1 : 0);
      measure(what, server, plan, written, null);
      end(server, data);
    }

    /** Single events at a part of what they reach, or at the rate that was chosen. */
    void singles() throws IOException {
      Path data = rig.newDirectory();
      ServerProcess server = start(data, rig.settings().endpoints);
      int rate = rig.settings().rate();
      String what = "one by one, %,d/s".formatted(rate);
      if (rig.settings().chosenRate().isEmpty()) {
        double most = LatencyScenario.throughput(rig, runs, server);
        rate = Math.max(1, (int) (most * PART_OF_SINGLES / 100));
        what = "one by one, at %d %%".formatted(PART_OF_SINGLES);
      }
      measure(what, server, runs.atRate(server, rate), null, Target.atMost(MOST_SYNCS_PER_SECOND));
      end(server, data);
    }

    private ServerProcess start(Path data, int endpoints) throws IOException {
      ServerProcess server = rig.startServer(Place.in(data));
      rig.subscribeMany(server, runs.receiver(), endpoints);
      return server;
    }

    private void end(ServerProcess server, Path data) {
      runs.stop();
      runs.awaitAll();
      rig.stop(server.child());
      rig.delete(data);
    }

    /**
     * Measures a load, which goes on.
     *
     * @param written how many times the payload may be written
     * @param synced how many fsyncs there may be in a second
     */
    private void measure(
        String what,
        ServerProcess server,
        LoadPlan plan,
        @Nullable Target written,
        @Nullable Target synced)
        throws IOException {
      rig.progress().step(what);
      runs.start(plan, what);
      rig.watch(what + ", warming up", rig.settings().warmUp);
      long commits = server.commits();
      Window window = runs.window(server, Math.max(1, rig.settings().seconds * 2 / 3));
      commits = server.commits() - commits;
      double bytes = window.writtenBytes(server.child());
      Report report = rig.report();
      report.add(NAME, what + ", delivered per second", window.deliveredPerSecond(), "/s");
      report.add(NAME, what + ", CPU per message", window.cpuMicros(server.child()), "µs");
      report.add(NAME, what + ", written per message", bytes, "bytes");
      report.add(
          NAME, what + ", written, times the payload", bytes / LoadPlan.DATA_BYTES, "", written);
      OptionalDouble perCommit =
          new Syncs(rig).perCommit(server, Math.clamp(rig.settings().seconds / 3, 1, SYNC_SECONDS));
      if (perCommit.isPresent() && window.delivered() > 0) {
        double each = commits * perCommit.getAsDouble() / window.delivered();
        report.add(NAME, what + ", fsyncs per 1,000 messages", 1_000 * each, "");
        report.add(
            NAME, what + ", fsyncs per second", each * window.deliveredPerSecond(), "/s", synced);
      }
      tellWhenOutOfStep(what, window);
    }

    private void tellWhenOutOfStep(String what, Window window) {
      double difference = Math.abs(window.acceptedPerSecond() - window.deliveredPerSecond());
      if (difference > OUT_OF_STEP * window.deliveredPerSecond()) {
        rig.report()
            .note(
                "%s: %s, %,.0f were accepted and %,.0f delivered in a second: what was written is"
                        .formatted(
                            NAME, what, window.acceptedPerSecond(), window.deliveredPerSecond())
                    + " not that of whole messages");
      }
    }
  }
}
