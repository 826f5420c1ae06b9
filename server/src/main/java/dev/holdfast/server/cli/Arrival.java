package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Verifier.Verdict;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/**
 * A request that reached a {@link Receiver}, and what it was answered with.
 *
 * @param id its {@code webhook-id}, if it has one
 * @param times how often this id has arrived by now
 * @param verdict what is known of its signature
 * @param status what it is answered with
 */
record Arrival(
    LocalTime at,
    String method,
    String path,
    @Nullable String id,
    int times,
    Content content,
    Verdict verdict,
    int status) {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

  /** One line for a person. */
  String line(Ansi ansi) {
    StringBuilder line = new StringBuilder();
    line.append(styled(ansi, Ansi.Style.faint, TIME.format(at))).append("  ");
    line.append(method).append(' ').append(Printable.text(path, 100)).append("  ");
    line.append(id == null ? "(no webhook-id)" : Printable.text(id, 60)).append("  ");
    if (content.type() != null) {
      line.append(styled(ansi, Ansi.Style.bold, Printable.text(content.type(), 60)));
      if (content.subject() != null) {
        line.append(' ').append(Printable.text(content.subject(), 60));
      }
      line.append("  ");
    }
    line.append(size(content.size())).append("  ");
    switch (verdict) {
      case UNKNOWN -> {}
      case GOOD -> line.append(styled(ansi, Ansi.Style.fg_green, verdict.text())).append("  ");
      case WRONG, OUTDATED ->
          line.append(styled(ansi, Ansi.Style.fg_red, verdict.text())).append("  ");
      case UNSIGNED -> line.append(styled(ansi, Ansi.Style.fg_yellow, verdict.text())).append("  ");
    }
    line.append(
        styled(ansi, status < 300 ? Ansi.Style.fg_green : Ansi.Style.fg_red, "-> " + status));
    if (times > 1) {
      line.append(styled(ansi, Ansi.Style.fg_yellow, "  again (" + ordinal(times) + " time)"));
    }
    return line.toString();
  }

  /** Not by picocli's markup, which text from outside could contain. */
  private static String styled(Ansi ansi, Ansi.Style style, String text) {
    return ansi.enabled() ? style.on() + text + style.off() : text;
  }

  private static String size(long bytes) {
    if (bytes < 1_024) {
      return bytes + " B";
    }
    double kilobytes = bytes / 1_024.0;
    return kilobytes < 1_024
        ? String.format(Locale.ROOT, "%.1f KB", kilobytes)
        : String.format(Locale.ROOT, "%.1f MB", kilobytes / 1_024);
  }

  static String ordinal(int number) {
    if (number % 100 >= 11 && number % 100 <= 13) {
      return number + "th";
    }
    return switch (number % 10) {
      case 1 -> number + "st";
      case 2 -> number + "nd";
      case 3 -> number + "rd";
      default -> number + "th";
    };
  }
}
