package dev.holdfast.server.cli;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Help.Ansi;

/**
 * What output goes to: a terminal with a width, or a file or pipe, which gets neither colours nor
 * texts that are cut.
 */
final class Screen {
  static final Screen NONE = new Screen(false, false, () -> Integer.MAX_VALUE);

  private static final int USUAL_WIDTH = 100;
  private static final int NARROWEST = 40;

  private final boolean terminal;
  private final boolean colours;
  private final Supplier<Integer> width;

  Screen(boolean terminal, boolean colours, Supplier<Integer> width) {
    this.terminal = terminal;
    this.colours = colours;
    this.width = width;
  }

  /** This process's. {@code NO_COLOR} and {@code TERM=dumb} turn colours off. */
  static Screen of(Map<String, String> environment) {
    if (Optional.ofNullable(System.console()).filter(Console::isTerminal).isEmpty()) {
      return NONE;
    }
    boolean colours =
        environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !"dumb".equals(environment.get("TERM"));
    return new Screen(true, colours, () -> width(environment));
  }

  private static int width(Map<String, String> environment) {
    String columns = environment.getOrDefault("COLUMNS", "");
    String found = columns.matches("\\d{1,4}") ? columns : askTerminal();
    return found.isEmpty() ? USUAL_WIDTH : Math.max(NARROWEST, Integer.parseInt(found));
  }

  /** Java does not know how wide a terminal is. */
  private static String askTerminal() {
    try {
      Process stty = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty")).start();
      String answer =
          new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
      if (stty.waitFor(1, TimeUnit.SECONDS) && answer.matches("\\d{1,4} [1-9]\\d{0,3}")) {
        return answer.substring(answer.indexOf(' ') + 1);
      }
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return "";
  }

  boolean isTerminal() {
    return terminal;
  }

  /** In characters. */
  int width() {
    return width.get();
  }

  /**
   * Not by picocli's markup, which text from outside could contain; and not by its way to end a
   * style, since what it takes for the end of bold underlines on many terminals.
   */
  String styled(Ansi.Style style, String text) {
    return colours ? style.on() + text + Ansi.Style.reset.on() : text;
  }
}
