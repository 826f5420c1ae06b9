package dev.holdfast.server.cli;

import dev.holdfast.engine.store.postgres.Move;
import java.time.Duration;
import java.util.Locale;

/** Shows how far a move is, how fast it goes and how long it will take. */
final class MoveProgress implements Move.Observer {
  private static final long LEAST_NANOS = Duration.ofSeconds(1).toNanos();

  private final ProgressBar bar;
  private String doing = "";
  private long began;
  private long first;

  MoveProgress(ProgressBar bar) {
    this.bar = bar;
  }

  @Override
  public synchronized void checking() {
    bar.show(-1, "reading the embedded store from end to end ...");
  }

  @Override
  public synchronized void moved(String table, long rows, long ofRows) {
    show("moving " + table, "moving", rows, ofRows);
  }

  @Override
  public synchronized void compared(long rows, long ofRows) {
    show("comparing", "comparing", rows, ofRows);
  }

  private void show(String what, String phase, long rows, long ofRows) {
    long now = System.nanoTime();
    if (!doing.equals(phase)) {
      doing = phase;
      began = now;
      first = rows;
    }
    bar.show(
        ofRows == 0 ? 1 : (double) rows / ofRows,
        String.format(Locale.ROOT, "%s: %,d of %,d rows", what, rows, ofRows)
            + rate(rows - first, ofRows - rows, now - began));
  }

  /** How fast it goes, as soon as that can be told. */
  private static String rate(long done, long left, long nanos) {
    if (nanos < LEAST_NANOS || done <= 0) {
      return "";
    }
    double perSecond = done * 1e9 / nanos;
    return String.format(
        Locale.ROOT, ", %,.0f rows/s, %s left", perSecond, time((long) (left / perSecond)));
  }

  private static String time(long seconds) {
    return seconds < 100
        ? seconds + " s"
        : seconds < 6_000 ? seconds / 60 + " min" : seconds / 3_600 + " h";
  }

  synchronized void end() {
    bar.end();
  }
}
