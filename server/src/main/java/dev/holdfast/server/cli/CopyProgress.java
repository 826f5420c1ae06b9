package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreBackup;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;

/** Shows a person at a terminal how far a copy is, in one line that changes. Else it is silent. */
final class CopyProgress implements StoreBackup.Observer, AutoCloseable {
  private static final int WIDTH = 40;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean isTerminal;

  CopyProgress(PrintWriter err) {
    this(err, Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false));
  }

  CopyProgress(PrintWriter err, boolean isTerminal) {
    this.err = err;
    this.isTerminal = isTerminal;
  }

  @Override
  public void copied(long bytes, long ofAbout) {
    int filled = ofAbout == 0 ? WIDTH : (int) (WIDTH * bytes / ofAbout);
    show(
        String.format(
            Locale.ROOT,
            "[%s%s] %s of about %s",
            "#".repeat(filled),
            ".".repeat(WIDTH - filled),
            size(bytes),
            size(ofAbout)));
  }

  @Override
  public void checking() {
    show("reading the copy from end to end ...");
  }

  private void show(String text) {
    if (isTerminal) {
      err.print(CLEAR_LINE + text);
      err.flush();
    }
  }

  /** A number of bytes as people say it. */
  static String size(long bytes) {
    if (bytes < 1 << 20) {
      return String.format(Locale.ROOT, "%,d KB", (bytes + 1_023) >> 10);
    }
    return bytes < 10L << 30
        ? String.format(Locale.ROOT, "%,d MB", bytes >> 20)
        : String.format(Locale.ROOT, "%,d GB", bytes >> 30);
  }

  /** Leaves no line behind. */
  @Override
  public void close() {
    if (isTerminal) {
      err.print(CLEAR_LINE);
      err.flush();
    }
  }
}
