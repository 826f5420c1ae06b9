package dev.holdfast.proof.stage;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Tells the person who waits what is going on: one line that changes, or one now and then. */
public final class Progress {
  private static final long BETWEEN_LINES_NANOS = Duration.ofSeconds(5).toNanos();
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintStream out;
  private final boolean terminal;
  private String scenario = "";
  private long lastNanos;
  private boolean open;

  /** On standard error, apart from what a command prints. */
  public static Progress onStandardError() {
    return new Progress(
        new PrintStream(System.err, true, StandardCharsets.UTF_8),
        Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false));
  }

  public Progress(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  public void scenario(String name) {
    scenario = name;
    lastNanos = 0;
  }

  public String currentScenario() {
    return scenario;
  }

  /** Something new begins. */
  public void step(String text) {
    end();
    out.println(line(text));
    out.flush();
  }

  /** How far it is. */
  public void tick(String text) {
    long now = System.nanoTime();
    if (terminal) {
      out.print(CLEAR_LINE + line(text));
      out.flush();
      open = true;
    } else if (lastNanos == 0 || now - lastNanos >= BETWEEN_LINES_NANOS) {
      lastNanos = now;
      out.println(line(text));
      out.flush();
    }
  }

  /** Leaves the line that changes. */
  public void end() {
    if (open) {
      out.print(CLEAR_LINE);
      out.flush();
      open = false;
    }
  }

  private String line(String text) {
    return String.format(Locale.ROOT, "%-10s ", scenario) + text;
  }
}
