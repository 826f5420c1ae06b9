package dev.holdfast.proof.simulation;

import dev.holdfast.proof.stage.Progress;
import java.time.Duration;
import java.util.Locale;

/** Shows how many worlds have been lived through, from whatever thread. */
final class ProgressBar {
  private static final int WIDTH = 40;
  private static final long BETWEEN_NANOS = Duration.ofMillis(100).toNanos();

  private final Progress progress = Progress.onStandardError();
  private final long startedNanos = System.nanoTime();
  private final long worlds;
  private long shownNanos = startedNanos;

  ProgressBar(long worlds) {
    this.worlds = worlds;
    progress.scenario("simulate");
  }

  synchronized void show(long done) {
    long now = System.nanoTime();
    if (now - shownNanos < BETWEEN_NANOS) {
      return;
    }
    shownNanos = now;
    double rate = done / ((now - startedNanos) / 1e9);
    int filled = (int) (WIDTH * done / worlds);
    progress.tick(
        String.format(
            Locale.ROOT,
            "[%s%s] %,d of %,d worlds, %,.0f a second, %,.0f s left",
            "#".repeat(filled),
            ".".repeat(WIDTH - filled),
            done,
            worlds,
            rate,
            (worlds - done) / Math.max(rate, 0.001)));
  }

  /** Leaves no line behind. */
  synchronized void end() {
    progress.end();
  }
}
