package dev.holdfast.proof.stage;

import static dev.holdfast.proof.stage.Markup.at;
import static dev.holdfast.proof.stage.Markup.escape;

import dev.holdfast.proof.stage.Comparison.Interval;
import dev.holdfast.proof.stage.Comparison.Verdict;
import java.util.List;
import java.util.Locale;

/** A table of comparisons, each with its interval drawn: those that cross the line show nothing. */
final class ComparisonTable {
  private static final int WIDTH = 150;
  private static final int MIDDLE = WIDTH / 2;
  private static final int REACH = MIDDLE - 6;

  /** A drawing reaches at least from 10 % less to as much more, so that noise looks small. */
  private static final double LEAST_REACH = Math.log(1.1);

  /** And at most from half to twice: what is wider is cut off, so that the others can be seen. */
  private static final double MOST_REACH = Math.log(2);

  private ComparisonTable() {}

  static String of(List<Comparison> comparisons) {
    double farthest =
        comparisons.stream().mapToDouble(ComparisonTable::farthest).max().orElse(LEAST_REACH);
    double scale = REACH / Math.clamp(farthest, LEAST_REACH, MOST_REACH);
    StringBuilder table = new StringBuilder("<div class=\"tables\">\n<table>\n<thead><tr>");
    table.append("<th>figure</th><th class=\"number\">base</th><th class=\"number\">this</th>");
    table.append("<th></th><th class=\"number\">ratio</th><th class=\"number\">95 % interval</th>");
    table.append("<th class=\"interval\"></th><th></th></tr></thead>\n<tbody>\n");
    comparisons.forEach(comparison -> table.append(row(comparison, scale)));
    return table.append("</tbody>\n</table>\n</div>\n").toString();
  }

  private static String row(Comparison comparison, double scale) {
    Verdict verdict = comparison.verdict();
    String colour = verdict.isGood() ? "good" : verdict.isBad() ? "bad" : "quiet";
    return """
    <tr><th scope="row">%s</th><td class="number">%s</td><td class="number">%s</td>\
    <td class="unit">%s</td><td class="number">%s</td><td class="number">%s</td>\
    <td class="interval">%s</td><td class="verdict %s">%s</td></tr>
    """
        .formatted(
            escape(comparison.name()),
            Report.number(comparison.baseMedian()),
            Report.number(comparison.currentMedian()),
            escape(comparison.unit()),
            String.format(Locale.ROOT, "%.3f", comparison.ratio()),
            comparison.intervalText(),
            drawing(comparison, colour, scale),
            colour,
            verdict.words());
  }

  private static String drawing(Comparison comparison, String colour, double scale) {
    Interval interval = comparison.interval();
    if (interval == null) {
      return "";
    }
    return """
    <svg viewBox="0 0 %d 16" aria-hidden="true"><path class="one" d="M%d 0V16"/>\
    <g class="%s"><path class="span" d="M%s 8H%s"/><circle class="dot" cx="%s" cy="8" r="3.5"/></g></svg>"""
        .formatted(
            WIDTH,
            MIDDLE,
            colour,
            at(x(interval.low(), scale)),
            at(x(interval.high(), scale)),
            at(x(comparison.ratio(), scale)));
  }

  private static double x(double ratio, double scale) {
    return Math.clamp(MIDDLE + Math.log(ratio) * scale, 0, WIDTH);
  }

  private static double farthest(Comparison comparison) {
    Interval interval = comparison.interval();
    return interval == null
        ? 0
        : Math.max(Math.abs(Math.log(interval.low())), Math.abs(Math.log(interval.high())));
  }
}
