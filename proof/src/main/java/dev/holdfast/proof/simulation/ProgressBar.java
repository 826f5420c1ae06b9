package dev.holdfast.proof.simulation;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Shows on the terminal how much is done, and now and then in a log. */
final class ProgressBar {
  private static final int WIDTH = 40;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintStream err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
  private final boolean terminal =
      Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  private final long betweenNanos = Duration.ofMillis(terminal ? 100 : 5_000).toNanos();
  private final long startedNanos = System.nanoTime();
  private final long all;
  private final String what;
  private long shownNanos = startedNanos;

  ProgressBar(long all, String what) {
    this.all = all;
    this.what = what;
  }

  synchronized void show(long done) {
    long now = System.nanoTime();
    if (now - shownNanos < betweenNanos) {
      return;
    }
    shownNanos = now;
    double rate = done / ((now - startedNanos) / 1e9);
    int filled = (int) (WIDTH * done / all);
    String line =
        String.format(
            Locale.ROOT,
            "[%s%s] %,d of %,d %s, %,.0f a second, %,.0f s left",
            "#".repeat(filled),
            ".".repeat(WIDTH - filled),
            done,
            all,
            what,
            rate,
            (all - done) / Math.max(rate, 0.001));
    if (terminal) {
      err.print(CLEAR_LINE + line);
      err.flush();
    } else {
      err.println(line);
    }
  }

  /** Leaves no line behind. */
  synchronized void end() {
    if (terminal) {
      err.print(CLEAR_LINE);
      err.flush();
    }
  }
}
