package dev.holdfast.proof.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What happened, a line each; ids are replaced by short names. */
final class Trace {
  private final @Nullable StringBuilder lines;
  private final Map<Long, String> names = new HashMap<>();
  private final Map<Character, Integer> named = new HashMap<>();

  /** The last two lines, so that what goes on and on is not written again and again. */
  private String last = "";

  private String lastButOne = "";
  private int leftOut;

  private Trace(@Nullable StringBuilder lines) {
    this.lines = lines;
  }

  /** Keeps nothing, and costs nothing. */
  static Trace off() {
    return new Trace(null);
  }

  static Trace on() {
    return new Trace(new StringBuilder());
  }

  void line(Instant now, Supplier<String> what) {
    if (lines == null) {
      return;
    }
    String text = what.get();
    if (text.equals(lastButOne)) {
      leftOut++;
    } else {
      sayWhatIsLeftOut(lines);
      lines.append(time(now)).append("  ").append(text).append('\n');
    }
    lastButOne = last;
    last = text;
  }

  private void sayWhatIsLeftOut(StringBuilder to) {
    if (leftOut > 0) {
      to.append("                    (and so on, ").append(leftOut).append(" lines)\n");
      leftOut = 0;
    }
  }

  /** Since the start of the world. */
  static String time(Instant now) {
    Duration since = Duration.between(World.START, now);
    return String.format(
        "%dd %02d:%02d:%02d.%06d",
        since.toDays(),
        since.toHoursPart(),
        since.toMinutesPart(),
        since.toSecondsPart(),
        since.toNanosPart() / 1_000);
  }

  String endpoint(long id) {
    return name('e', id);
  }

  String message(long id) {
    return name('m', id);
  }

  String subscription(long id) {
    return name('s', id);
  }

  String event(long id) {
    return name('v', id);
  }

  private String name(char kind, long id) {
    return names.computeIfAbsent(id, _ -> kind + "" + named.merge(kind, 1, Integer::sum));
  }

  /** Replaces every id in a text by its name. */
  String named(String text) {
    StringBuilder out = new StringBuilder();
    int i = 0;
    while (i < text.length()) {
      int end = i;
      while (end < text.length() && Character.isDigit(text.charAt(end))) {
        end++;
      }
      if (end == i) {
        out.append(text.charAt(i++));
        continue;
      }
      String digits = text.substring(i, end);
      String name = digits.length() > 15 ? names.get(Long.parseLong(digits)) : null;
      out.append(name == null ? digits : name);
      i = end;
    }
    return out.toString();
  }

  String text() {
    if (lines == null) {
      return "";
    }
    sayWhatIsLeftOut(lines);
    return lines.toString();
  }
}
