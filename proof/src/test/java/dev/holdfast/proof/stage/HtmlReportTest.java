package dev.holdfast.proof.stage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.stage.Report.Point;
import dev.holdfast.proof.stage.Report.Series;
import dev.holdfast.proof.stage.Report.Target;
import java.io.StringReader;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class HtmlReportTest {
  private static final String HOSTILE = "<script>alert('1')</script>\"&%s\u0007";
  private static final String HARMLESS =
      "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;%s\ufffd";

  private final Report report =
      new Report(Instant.parse("2026-03-04T05:06:07Z"), "a machine with 2 processors");

  @Test
  void the_headline_names_machine_and_time() {
    assertThat(html()).contains("a machine with 2 processors", "4 March 2026, 05:06 UTC");
  }

  @Test
  void all_figures_are_there_and_targets_are_met_or_missed() {
    report.add("batch", "delivered per second", 16_123.4, "/s", Target.atLeast(15_000));
    report.add("latency", "p99", 31.25, "ms", Target.atMost(25));
    report.add("latency", "machine busy", 42, "%");

    assertThat(html())
        .contains("1 of 2 targets met")
        .contains(
            "batch · delivered per second", "16,123 <small>/s</small>", "≥ 15,000 /s", "✓ met")
        .contains("latency · p99", "31.25 <small>ms</small>", "≤ 25 ms", "✗ missed")
        .contains("<th scope=\"row\">machine busy</th>", "<td class=\"number\">42</td>")
        .contains("what batch is about");
    assertThat(html().split("<h2>", -1)).hasSize(4);
  }

  @Test
  void rates_of_a_scenario_are_bars_and_a_single_one_is_not() {
    report.add("reference", "bare client", 40_000, "/s");
    report.add("batch", "delivered per second", 20_000, "/s");
    assertThat(html()).doesNotContain("class=\"bar\"");

    report.add("batch", "accepted per second", 10_000, "/s");

    assertThat(html())
        .contains("<rect class=\"bar\" x=\"0\" y=\"23\" width=\"480.0\"")
        .contains("<rect class=\"bar\" x=\"0\" y=\"69\" width=\"240.0\"");
  }

  @Test
  void lines_of_a_chart_are_drawn_together_with_a_legend() {
    report.line(line("batch", "rates", "accepted", new Point(0, 0), new Point(10, 100)));
    report.line(line("batch", "rates", "delivered", new Point(0, 50), new Point(10, 50)));
    report.line(line("batch", "other", "third", new Point(0, 1), new Point(1, 1)));

    assertThat(html().split("<figure", -1)).hasSize(3);
    assertThat(html())
        .contains("<path class=\"line\" d=\"M62.0 206.0L460.0 12.0\"/>")
        .contains("<path class=\"line\" d=\"M62.0 109.0L460.0 109.0\"/>")
        .contains("</svg>accepted</li>", "</svg>delivered</li>", "</svg>third</li>");
  }

  @Test
  void percentiles_have_an_axis_of_their_own() {
    report.line(
        new Series(
            "latency",
            "POST to arrival",
            "all",
            "percentile",
            "ms",
            List.of(new Point(0, 1), new Point(90, 2), new Point(99, 10))));

    assertThat(html())
        .contains("POST to arrival, ms</figcaption>")
        .contains(">50 %</text>", ">90 %</text>", ">99 %</text>")
        .contains("d=\"M62.0 186.6L261.0 167.2L460.0 12.0\"");
  }

  @Test
  void a_single_point_is_a_dot_and_no_point_is_no_chart() {
    report.line(line("batch", "nothing", "empty"));
    report.line(line("batch", "nothing", "no number", new Point(1, Double.NaN)));
    assertThat(html()).doesNotContain("<figure").doesNotContain("NaN");

    report.line(line("batch", "one", "single", new Point(3, 0)));

    assertThat(html()).contains("<figcaption>one", "class=\"dot\"").doesNotContain("NaN");
  }

  @Test
  void comparisons_are_told_with_their_intervals_and_verdicts() {
    report.compare(
        Comparison.of(
            "batch",
            "delivered per second",
            "/s",
            List.of(100.0, 100.0, 100.0),
            List.of(120.0, 121.0, 119.0)));
    report.compare(
        Comparison.of("batch", "p99", "ms", List.of(4.0, 5.0, 6.0), List.of(5.0, 4.0, 6.0)));

    assertThat(html())
        .contains("1 better", "0 worse", "1 without a difference shown")
        .contains("<td class=\"number\">1.200</td><td class=\"number\">1.175 to 1.225</td>")
        .contains("<td class=\"verdict good\">faster</td>")
        .contains("<td class=\"verdict quiet\">no difference shown</td>");
  }

  @Test
  void notes_and_failures_are_told() {
    report.note("something was busy");
    report.fail("3 were lost");

    assertThat(html())
        .contains("<li class=\"note\">something was busy</li>")
        .contains("<li class=\"failure\">3 were lost</li>", "1 failed");
  }

  @Test
  void hostile_text_is_text_wherever_it_stands() throws Exception {
    Report hostile = new Report(Instant.EPOCH, HOSTILE);
    hostile.add(HOSTILE, HOSTILE, 1, HOSTILE, Target.atLeast(1));
    hostile.add(HOSTILE, HOSTILE, 1, "/s");
    hostile.add(HOSTILE, HOSTILE, 1, "/s");
    hostile.line(new Series(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, List.of(new Point(1, 1))));
    hostile.compare(Comparison.of(HOSTILE, HOSTILE, HOSTILE, List.of(1.0), List.of(1.0)));
    hostile.note(HOSTILE);
    hostile.fail(HOSTILE);

    String html = HtmlReport.of(hostile, Map.of(HOSTILE, HOSTILE));

    assertThat(html).contains(HARMLESS).doesNotContain("<script", "alert('", "\u0007");
    assertWellFormed(html);
  }

  @Test
  void the_page_loads_and_runs_nothing() {
    report.add("batch", "delivered per second", 1, "/s", Target.atLeast(15_000));
    report.line(line("batch", "rates", "accepted", new Point(0, 0), new Point(10, 100)));

    assertThat(html())
        .contains("default-src 'none'", "prefers-color-scheme: dark")
        .doesNotContain("<script", "<link", "<img", "http:", "https:", "url(", "@import");
  }

  private String html() {
    return HtmlReport.of(report, Map.of("batch", "what batch is about"));
  }

  private static Series line(String scenario, String chart, String name, Point... points) {
    return new Series(scenario, chart, name, "seconds", "/s", List.of(points));
  }

  /** What stands between the style and the end closes all that it opens, as XML has to. */
  private static void assertWellFormed(String html) throws Exception {
    String body = html.substring(html.indexOf("<body>"), html.indexOf("</html>"));
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(body)));
  }
}
