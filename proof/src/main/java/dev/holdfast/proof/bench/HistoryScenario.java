package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.time.InstantSource;
import java.util.OptionalLong;

/** What very many finished messages in the store cost: nothing, if nobody has to look there. */
final class HistoryScenario implements Scenario {
  static final String NAME = "history";

  private final InstantSource clock;

  HistoryScenario(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "messages delivered per second with very many finished ones in the store, against an"
        + " empty one, in turns";
  }

  @Override
  public void run(Rig rig) throws IOException {
    ReceiverProcess receiver = rig.startReceiver();
    long started = System.nanoTime();
    Archive archive =
        rig.stores().areShared()
            ? DatabaseArchive.make(rig, receiver, clock)
            : EmbeddedArchive.make(rig, receiver, clock);
    double seconds = (System.nanoTime() - started) / 1e9;
    Report report = rig.report();
    report.count(NAME, "finished messages", rig.settings().history);
    report.add(NAME, "finished messages, written in", seconds, "s");
    report.add(NAME, "size of the " + archive.word(), archive.megabytes(), "MB");
    new Course(rig, archive, new Runs(rig, receiver, rig.startLoad(), Rig.EVENTS)).run();
    archive.drop(archive.full());
  }

  /** The turns of one run, and what they have measured so far. */
  private static final class Course {
    private final Rig rig;
    private final Archive archive;
    private final Runs runs;
    private final Median removedPerSecond = new Median();
    private long removed;

    Course(Rig rig, Archive archive, Runs runs) {
      this.rig = rig;
      this.archive = archive;
      this.runs = runs;
    }

    void run() throws IOException {
      Median empty = new Median();
      Median full = new Median();
      for (int round = 0; round < rig.settings().rounds; round++) {
        Place fresh = archive.newEmpty();
        empty.add(turn(fresh, "empty " + archive.word(), false));
        archive.drop(fresh);
        full.add(turn(archive.full(), "full " + archive.word(), true));
      }
      Report report = rig.report();
      report.add(NAME, "delivered per second, empty " + archive.word(), empty.value(), "/s");
      report.add(NAME, "delivered per second, full " + archive.word(), full.value(), "/s");
      report.add(NAME, "full / empty", full.per(empty), "", Target.atLeast(0.9));
      if (archive.events().isPresent()) {
        report.count(NAME, "finished messages removed in its turns", removed);
        report.add(NAME, "removed per second beside it", removedPerSecond.value(), "/s");
        if (removedPerSecond.value() == 0) {
          report.note(
              NAME + ": nothing was left to be removed while it was measured; take more messages");
        }
      }
      runs.settle();
    }

    /** What a server delivers that has just started, as its neighbour in the other turn has. */
    private double turn(Place place, String what, boolean isFull) throws IOException {
      rig.progress().step(what);
      OptionalLong atFirst = isFull ? archive.events() : OptionalLong.empty();
      long acceptedBefore = runs.accepted();
      ServerProcess server = rig.startServer(place, archive.settings().toArray(String[]::new));
      runs.start(runs.batches(server), what);
      rig.watch("warming up", rig.settings().warmUp);
      OptionalLong before = isFull ? archive.events() : OptionalLong.empty();
      Window window = runs.window(server, Math.max(1, rig.settings().seconds / 3));
      OptionalLong after = isFull ? archive.events() : OptionalLong.empty();
      runs.stop();
      runs.awaitAll();
      rig.stop(server.child());
      if (before.isPresent() && after.isPresent()) {
        double more = (before.getAsLong() - after.getAsLong()) / window.seconds();
        removedPerSecond.add(Math.max(0, more + window.acceptedPerSecond()));
      }
      OptionalLong atLast = isFull ? archive.events() : OptionalLong.empty();
      if (atFirst.isPresent() && atLast.isPresent()) {
        removed += atFirst.getAsLong() + runs.accepted() - acceptedBefore - atLast.getAsLong();
      }
      return window.deliveredPerSecond();
    }
  }
}
