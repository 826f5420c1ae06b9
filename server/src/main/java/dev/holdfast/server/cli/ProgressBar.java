package dev.holdfast.server.cli;

import java.io.PrintWriter;

/** A line that shows how far something is, and is drawn again and again; only on a terminal. */
final class ProgressBar {
  private static final int CELLS = 30;

  private final PrintWriter err;
  private final Screen screen;
  private int drawn;

  ProgressBar(PrintWriter err, Screen screen) {
    this.err = err;
    this.screen = screen;
  }

  /**
   * @param share from 0 to 1; less than 0 when nobody knows
   */
  void show(double share, String note) {
    if (!screen.isTerminal()) {
      return;
    }
    String line = Printable.text(bar(share) + note, screen.width() - 1);
    err.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
    err.flush();
    drawn = line.length();
  }

  private static String bar(double share) {
    if (share < 0) {
      return "";
    }
    int full = (int) Math.clamp(Math.floor(share * CELLS), 0, CELLS);
    int percent = (int) Math.clamp(Math.floor(share * 100), 0, 100);
    return "[%s%s] %3d %%  ".formatted("#".repeat(full), "-".repeat(CELLS - full), percent);
  }

  /** Leaves the line, so that what comes next stands below it. */
  void end() {
    if (drawn > 0) {
      err.println();
      err.flush();
      drawn = 0;
    }
  }
}
