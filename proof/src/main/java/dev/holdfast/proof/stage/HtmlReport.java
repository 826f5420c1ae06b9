package dev.holdfast.proof.stage;

import static dev.holdfast.proof.stage.Markup.at;

import dev.holdfast.proof.stage.Comparison.Verdict;
import dev.holdfast.proof.stage.Report.Figure;
import dev.holdfast.proof.stage.Report.Series;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A report as a page for people: what was aimed at and reached, then each scenario with its figures
 * and charts.
 *
 * <p>The page is one file that loads nothing and runs nothing, so that it can be kept, attached to
 * a message and opened anywhere.
 */
public final class HtmlReport {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("d MMMM uuuu, HH:mm 'UTC'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private final Report report;
  private final Map<String, String> abouts;
  private final StringBuilder page = new StringBuilder();

  private HtmlReport(Report report, Map<String, String> abouts) {
    this.report = report;
    this.abouts = abouts;
  }

  /**
   * Writes the page.
   *
   * @param abouts what each scenario measures, by its name
   */
  public static void write(Report report, Map<String, String> abouts, Path file)
      throws IOException {
    Files.writeString(file, of(report, abouts));
  }

  static String of(Report report, Map<String, String> abouts) {
    return new HtmlReport(report, abouts).page();
  }

  private String page() {
    page.append(
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>Holdfast benchmark</title>
        <style>
        """);
    page.append(style())
        .append("</style>\n</head>\n<body>\n<header>\n<h1>Holdfast benchmark</h1>\n");
    line("<p>%s</p>", report.machine());
    line("<p class=\"quiet\">%s</p>", TIME.format(report.startedAt()));
    page.append("</header>\n<main>\n");
    summary();
    scenarios().forEach(this::scenario);
    page.append("</main>\n</body>\n</html>\n");
    return page.toString();
  }

  private void summary() {
    List<Figure> aimed = report.figures().stream().filter(each -> each.target() != null).toList();
    long met = aimed.stream().filter(each -> each.result().equals("pass")).count();
    page.append("<section>\n<div class=\"result\">\n<h2>Result</h2>\n");
    if (!aimed.isEmpty()) {
      String colour = met == aimed.size() ? "good" : "bad";
      line("<b class=\"" + colour + "\">%s</b>", met + " of " + aimed.size() + " targets met");
    }
    if (!report.comparisons().isEmpty()) {
      verdicts();
    }
    if (report.hasFailures()) {
      line("<b class=\"bad\">%s</b>", report.failures().size() + " failed");
    }
    page.append("</div>\n");
    remarks("failure", report.failures());
    if (!aimed.isEmpty()) {
      page.append("<ul class=\"targets\">\n");
      aimed.forEach(this::target);
      page.append("</ul>\n");
    }
    remarks("note", report.notes());
    page.append("</section>\n");
  }

  private void verdicts() {
    List<Verdict> verdicts = report.comparisons().stream().map(Comparison::verdict).toList();
    long good = verdicts.stream().filter(Verdict::isGood).count();
    long bad = verdicts.stream().filter(Verdict::isBad).count();
    line("<b class=\"good\">%s</b>", good + " better");
    line("<b class=\"bad\">%s</b>", bad + " worse");
    line("<b class=\"quiet\">%s</b>", verdicts.size() - good - bad + " without a difference shown");
  }

  private void target(Figure figure) {
    Target target = figure.target();
    if (target == null) {
      return;
    }
    String result = figure.result();
    page.append("<li class=\"").append(result).append("\">");
    line("<span class=\"name\">%s</span>", figure.scenario() + " · " + figure.name());
    line("<span class=\"value\">%s <small>%s</small></span>", number(figure), figure.unit());
    meter(figure.value(), target.value(), result);
    line("<span class=\"against\"><span class=\"quiet\">target %s</span>", aim(target, figure));
    page.append(result(figure)).append("</span></li>\n");
  }

  /** How far a value is from its target, which is marked. */
  private void meter(double value, double target, String result) {
    double whole = Math.max(Math.max(value, target) * 1.05, Double.MIN_NORMAL);
    page.append(
        """
        <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
        <rect class="ground" width="100" height="8"/><rect class="%s" width="%s" height="8"/>\
        <rect class="mark" x="%s" y="-2" width="1" height="12"/></svg>
        """
            .formatted(result, at(Math.max(0, 100 * value / whole)), at(100 * target / whole)));
  }

  private void remarks(String kind, List<String> texts) {
    if (texts.isEmpty()) {
      return;
    }
    page.append("<ul class=\"remarks\">\n");
    texts.forEach(text -> line("<li class=\"" + kind + "\">%s</li>", text));
    page.append("</ul>\n");
  }

  /** All that something is known about, in the order in which they ran. */
  private Set<String> scenarios() {
    Set<String> names = new LinkedHashSet<>();
    report.figures().forEach(figure -> names.add(figure.scenario()));
    report.comparisons().forEach(comparison -> names.add(comparison.scenario()));
    report.lines().forEach(line -> names.add(line.scenario()));
    return names;
  }

  private void scenario(String name) {
    page.append("<section>\n");
    line("<h2>%s</h2>", name);
    if (abouts.containsKey(name)) {
      line("<p class=\"quiet\">%s</p>", abouts.getOrDefault(name, ""));
    }
    List<Figure> figures =
        report.figures().stream().filter(figure -> figure.scenario().equals(name)).toList();
    if (!figures.isEmpty()) {
      table(figures);
    }
    List<Comparison> comparisons =
        report.comparisons().stream().filter(each -> each.scenario().equals(name)).toList();
    if (!comparisons.isEmpty()) {
      page.append(ComparisonTable.of(comparisons));
    }
    charts(name, figures);
    page.append("</section>\n");
  }

  private void table(List<Figure> figures) {
    boolean aimed = figures.stream().anyMatch(figure -> figure.target() != null);
    page.append("<div class=\"tables\">\n<table>\n<thead><tr><th>figure</th>");
    page.append("<th class=\"number\">value</th><th></th>");
    page.append(aimed ? "<th class=\"number\">target</th><th></th>" : "");
    page.append("</tr></thead>\n<tbody>\n");
    for (Figure figure : figures) {
      Target target = figure.target();
      page.append(target == null ? "<tr>" : "<tr class=\"aimed\">");
      line("<th scope=\"row\">%s</th>", figure.name());
      line("<td class=\"number\">%s</td><td class=\"unit\">%s</td>", number(figure), figure.unit());
      if (aimed) {
        line("<td class=\"number\">%s</td>", target == null ? "" : aim(target, figure));
        page.append("<td>").append(result(figure)).append("</td>");
      }
      page.append("</tr>\n");
    }
    page.append("</tbody>\n</table>\n</div>\n");
  }

  private void charts(String scenario, List<Figure> figures) {
    StringBuilder charts = new StringBuilder();
    List<Figure> rates = figures.stream().filter(figure -> figure.unit().equals("/s")).toList();
    if (rates.size() > 1) {
      charts.append(Chart.bars("per second", rates));
    }
    Map<String, List<Series>> byChart =
        report.lines().stream()
            .filter(line -> line.scenario().equals(scenario))
            .collect(Collectors.groupingBy(Series::chart, LinkedHashMap::new, Collectors.toList()));
    byChart.values().forEach(lines -> charts.append(Chart.lines(lines)));
    if (!charts.isEmpty()) {
      page.append("<div class=\"charts\">\n").append(charts).append("</div>\n");
    }
  }

  private static String number(Figure figure) {
    return Report.number(figure.value());
  }

  private static String aim(Target target, Figure figure) {
    return "%s %s %s"
        .formatted(target.atLeast() ? "≥" : "≤", Report.number(target.value()), figure.unit())
        .strip();
  }

  private static String result(Figure figure) {
    return switch (figure.result()) {
      case "pass" -> "<span class=\"good\">✓ met</span>";
      case "miss" -> "<span class=\"bad\">✗ missed</span>";
      default -> "";
    };
  }

  /** Adds markup with texts in it, which are escaped. */
  private void line(String markup, String... texts) {
    Object[] safe = List.of(texts).stream().map(Markup::escape).toArray();
    page.append(String.format(Locale.ROOT, markup, safe)).append('\n');
  }

  private static String style() {
    try (InputStream style = HtmlReport.class.getResourceAsStream("report.css")) {
      if (style == null) {
        throw new IllegalStateException("report.css is missing");
      }
      return new String(style.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
