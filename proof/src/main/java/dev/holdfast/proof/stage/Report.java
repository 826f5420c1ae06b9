package dev.holdfast.proof.stage;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** What was measured, and what was hoped for. */
public final class Report {
  private final Instant startedAt;
  private final String machine;
  private final List<Figure> figures = new ArrayList<>();
  private final List<Comparison> comparisons = new ArrayList<>();
  private final List<Series> series = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  public Report(Instant startedAt, String machine) {
    this.startedAt = startedAt;
    this.machine = machine;
  }

  /** What a figure is compared with. */
  public record Target(boolean atLeast, double value) {
    public static Target atLeast(double value) {
      return new Target(true, value);
    }

    public static Target atMost(double value) {
      return new Target(false, value);
    }

    boolean isMetBy(double figure) {
      return atLeast ? figure >= value : figure <= value;
    }
  }

  /** One thing that was measured. */
  public record Figure(
      String scenario, String name, double value, String unit, @Nullable Target target) {

    String result() {
      return target == null ? "" : target.isMetBy(value) ? "pass" : "miss";
    }
  }

  /**
   * One line of a chart.
   *
   * @param chart what the chart shows, such as {@code delivered per second}; lines of the same
   *     scenario and chart are drawn together
   * @param across what is counted from left to right, with its unit, such as {@code seconds}
   */
  public record Series(
      String scenario, String chart, String name, String across, String unit, List<Point> points) {
    public Series {
      points = List.copyOf(points);
    }
  }

  /** One value of a line. */
  public record Point(double x, double y) {}

  public void add(String scenario, String name, double value, String unit) {
    add(scenario, name, value, unit, null);
  }

  public void add(
      String scenario, String name, double value, String unit, @Nullable Target target) {
    figures.add(new Figure(scenario, name, value, unit, target));
  }

  public void count(String scenario, String name, long count) {
    add(scenario, name, (double) count, "");
  }

  public void compare(Comparison comparison) {
    comparisons.add(comparison);
  }

  /** A report of the same machine and time without anything in it. */
  public Report empty() {
    return new Report(startedAt, machine);
  }

  /** Adds a line to a chart. */
  public void line(Series line) {
    series.add(line);
  }

  /** A figure from before in the same run, such as one to compare with. */
  public OptionalDouble find(String scenario, String name) {
    return figures.stream()
        .filter(figure -> figure.scenario().equals(scenario) && figure.name().equals(name))
        .mapToDouble(Figure::value)
        .findFirst();
  }

  /** Something that a reader of the figures should know. */
  public void note(String text) {
    notes.add(text);
  }

  /** Something that must not happen, whatever the figures. */
  public void fail(String text) {
    failures.add(text);
  }

  Instant startedAt() {
    return startedAt;
  }

  String machine() {
    return machine;
  }

  public List<Figure> figures() {
    return List.copyOf(figures);
  }

  List<Comparison> comparisons() {
    return List.copyOf(comparisons);
  }

  /** The lines of all charts. */
  public List<Series> lines() {
    return List.copyOf(series);
  }

  public List<String> notes() {
    return List.copyOf(notes);
  }

  public List<String> failures() {
    return List.copyOf(failures);
  }

  public boolean hasFailures() {
    return !failures.isEmpty();
  }

  public boolean hasMisses() {
    return figures.stream().anyMatch(figure -> figure.result().equals("miss"));
  }

  public void print(PrintStream out) {
    out.println();
    out.println(machine);
    out.println();
    if (comparisons.isEmpty()) {
      printFigures(out);
    } else {
      printComparisons(out);
    }
    notes.forEach(note -> out.println("note: " + note));
    failures.forEach(failure -> out.println("FAILED: " + failure));
    out.flush();
  }

  private void printFigures(PrintStream out) {
    int width = figures.stream().mapToInt(figure -> figure.name().length()).max().orElse(10);
    int first = figures.stream().mapToInt(figure -> figure.scenario().length()).max().orElse(0);
    String row = "%-" + Math.max(11, first) + "s %-" + width + "s %14s %-5s %14s  %s%n";
    out.printf(Locale.ROOT, row, "scenario", "figure", "value", "", "target", "");
    String before = "";
    for (Figure figure : figures) {
      Target target = figure.target();
      out.printf(
          Locale.ROOT,
          row,
          figure.scenario().equals(before) ? "" : figure.scenario(),
          figure.name(),
          number(figure.value()),
          figure.unit(),
          target == null ? "" : (target.atLeast() ? ">= " : "<= ") + number(target.value()),
          figure.result());
      before = figure.scenario();
    }
  }

  private void printComparisons(PrintStream out) {
    int width = comparisons.stream().mapToInt(each -> each.name().length()).max().orElse(10);
    String row = "%-11s %-" + width + "s %12s %12s %-5s  %6s  %-16s  %s%n";
    out.printf(
        Locale.ROOT, row, "scenario", "figure", "base", "this", "", "ratio", "95 % interval", "");
    String before = "";
    for (Comparison each : comparisons) {
      out.printf(
          Locale.ROOT,
          row,
          each.scenario().equals(before) ? "" : each.scenario(),
          each.name(),
          number(each.baseMedian()),
          number(each.currentMedian()),
          each.unit(),
          String.format(Locale.ROOT, "%.3f", each.ratio()),
          each.intervalText(),
          each.verdict().words());
      before = each.scenario();
    }
  }

  public void write(Path file) throws IOException {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("startedAt", startedAt.toString());
    root.put("machine", machine);
    root.put("figures", figures.stream().map(Report::json).toList());
    if (!comparisons.isEmpty()) {
      root.put("comparisons", comparisons.stream().map(Report::json).toList());
    }
    root.put("series", series);
    root.put("notes", notes);
    root.put("failures", failures);
    JsonMapper mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    Files.writeString(file, mapper.writeValueAsString(root) + "\n");
  }

  private static Map<String, Object> json(Figure figure) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("scenario", figure.scenario());
    object.put("figure", figure.name());
    object.put("value", Math.round(figure.value() * 1_000) / 1_000.0);
    object.put("unit", figure.unit());
    Target target = figure.target();
    if (target != null) {
      object.put(target.atLeast() ? "atLeast" : "atMost", target.value());
      object.put("result", figure.result());
    }
    return object;
  }

  private static Map<String, Object> json(Comparison comparison) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("scenario", comparison.scenario());
    object.put("figure", comparison.name());
    object.put("unit", comparison.unit());
    object.put("base", comparison.baseMedian());
    object.put("this", comparison.currentMedian());
    object.put("ratio", comparison.ratio());
    Comparison.Interval interval = comparison.interval();
    if (interval != null) {
      object.put("low", interval.low());
      object.put("high", interval.high());
    }
    object.put("verdict", comparison.verdict().words());
    object.put("baseValues", comparison.base());
    object.put("thisValues", comparison.current());
    return object;
  }

  /** A number as people read it: as many digits as say something. */
  static String number(double value) {
    double size = Math.abs(value);
    String format =
        size >= 1_000 || size == Math.rint(size) ? "%,.0f" : size >= 100 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
