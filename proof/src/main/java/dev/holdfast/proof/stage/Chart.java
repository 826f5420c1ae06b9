package dev.holdfast.proof.stage;

import static dev.holdfast.proof.stage.Markup.at;
import static dev.holdfast.proof.stage.Markup.escape;

import dev.holdfast.proof.stage.Axis.Tick;
import dev.holdfast.proof.stage.Report.Figure;
import dev.holdfast.proof.stage.Report.Point;
import dev.holdfast.proof.stage.Report.Series;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Draws charts as SVG within a page, whose style gives them their colours.
 *
 * <p>A drawing is as wide as two fit beside each other on a screen and one on a phone, so that its
 * text can be read on both. What may be long, the legend, is text below it and wraps.
 */
final class Chart {
  /** What a line's {@link Series#across} says when it is to be drawn as percentiles. */
  private static final String PERCENTILE = "percentile";

  private static final int WIDTH = 480;
  private static final int HEIGHT = 250;
  private static final int LEFT = 62;
  private static final int RIGHT = 20;
  private static final int TOP = 12;
  private static final int BOTTOM = 44;
  private static final int BAR_ROW = 46;
  private static final int COLOURS = 6;

  /** More points than this are too dense to be pointed at one by one. */
  private static final int MOST_HINTS = 130;

  private Chart() {}

  /** The lines of one chart; nothing when there is no point at all. */
  static String lines(List<Series> given) {
    List<Series> lines =
        given.stream().map(Chart::drawable).filter(line -> !line.points().isEmpty()).toList();
    if (lines.isEmpty()) {
      return "";
    }
    Series first = lines.getFirst();
    boolean percentiles = first.across().equals(PERCENTILE);
    Axis across = across(lines, percentiles);
    Axis up = Axis.linear(Math.min(0, least(lines)), most(lines), 5);
    StringBuilder svg = new StringBuilder();
    svg.append(open(HEIGHT, first.chart()));
    grid(svg, across, up, percentiles ? "percentile" : first.across());
    for (int i = 0; i < lines.size(); i++) {
      line(svg, lines.get(i), across, up, i % COLOURS);
    }
    svg.append("</svg>\n");
    return figure(title(first.chart(), first.unit()), svg + legend(lines));
  }

  /** Figures of the same unit as bars below each other; the largest is as long as there is room. */
  static String bars(String title, List<Figure> figures) {
    double most = figures.stream().mapToDouble(Figure::value).max().orElse(0);
    StringBuilder svg = new StringBuilder();
    svg.append(open(figures.size() * BAR_ROW, title));
    for (int i = 0; i < figures.size(); i++) {
      Figure figure = figures.get(i);
      int y = i * BAR_ROW;
      svg.append("<text x=\"0\" y=\"%d\">%s</text>".formatted(y + 16, escape(figure.name())));
      svg.append(
          "<text class=\"value\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
              .formatted(WIDTH, y + 16, escape(Report.number(figure.value()))));
      svg.append(bar("bar-ground", y + 23, WIDTH));
      svg.append(bar("bar", y + 23, most > 0 ? Math.max(0, figure.value() / most) * WIDTH : 0));
    }
    svg.append("</svg>\n");
    return figure(title, svg.toString());
  }

  private static String bar(String style, int y, double width) {
    return "<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%s\" height=\"12\" rx=\"3\"/>\n"
        .formatted(style, y, at(width));
  }

  /** A chart's title, with its unit unless the title says it already. */
  private static String title(String chart, String unit) {
    boolean said = unit.isEmpty() || unit.equals("/s") || chart.contains(unit);
    return said ? chart : chart + ", " + unit;
  }

  private static String figure(String title, String content) {
    return "<figure class=\"chart\">\n<figcaption>%s</figcaption>\n%s</figure>\n"
        .formatted(escape(title), content);
  }

  private static String open(int height, String title) {
    return "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n"
        .formatted(WIDTH, height, escape(title));
  }

  private static void grid(StringBuilder svg, Axis across, Axis up, String acrossName) {
    int bottom = HEIGHT - BOTTOM;
    for (Tick tick : up.ticks()) {
      double y = y(up, tick.value());
      svg.append("<path class=\"grid\" d=\"M%d %sH%d\"/>".formatted(LEFT, at(y), WIDTH - RIGHT));
      svg.append(
          "<text x=\"%d\" y=\"%s\" text-anchor=\"end\">%s</text>\n"
              .formatted(LEFT - 8, at(y + 4), tick.text()));
    }
    for (Tick tick : across.ticks()) {
      String x = at(x(across, tick.value()));
      svg.append("<path class=\"grid\" d=\"M%s %dV%d\"/>".formatted(x, TOP, bottom + 5));
      svg.append(
          "<text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
              .formatted(x, bottom + 20, tick.text()));
    }
    svg.append("<path class=\"axis\" d=\"M%d %dH%d\"/>".formatted(LEFT, bottom, WIDTH - RIGHT));
    svg.append(
        "<text class=\"across\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
            .formatted(WIDTH - RIGHT, HEIGHT - 6, escape(acrossName)));
  }

  private static void line(StringBuilder svg, Series line, Axis across, Axis up, int colour) {
    StringBuilder path = new StringBuilder();
    StringBuilder hints = new StringBuilder();
    boolean single = line.points().size() == 1;
    for (Point point : line.points()) {
      String x = at(x(across, point.x()));
      String y = at(y(up, point.y()));
      path.append(path.isEmpty() ? "M" : "L").append(x).append(' ').append(y);
      if (line.points().size() <= MOST_HINTS) {
        hints.append(
            "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"4\"><title>%s</title></circle>\n"
                .formatted(single ? "dot" : "hint", x, y, escape(hint(line, point))));
      }
    }
    svg.append("<g class=\"line-%d\">".formatted(colour));
    if (!single) {
      svg.append("<path class=\"line\" d=\"%s\"/>\n".formatted(path));
    }
    svg.append(hints).append("</g>\n");
  }

  private static String hint(Series line, Point point) {
    return "%s: %s %s at %s %s"
        .formatted(
            line.name(),
            Report.number(point.y()),
            line.unit(),
            line.across(),
            // Enough digits to tell 99.9 from 99.99, and none where there are none.
            new BigDecimal(point.x())
                .setScale(3, RoundingMode.HALF_UP)
                .stripTrailingZeros()
                .toPlainString());
  }

  private static String legend(List<Series> lines) {
    StringBuilder list = new StringBuilder("<ul class=\"legend\">\n");
    for (int i = 0; i < lines.size(); i++) {
      list.append(
          "<li class=\"line-%d\"><svg viewBox=\"0 0 26 8\" aria-hidden=\"true\"><path class=\"line\" d=\"M1 4H25\"/></svg>%s</li>\n"
              .formatted(i % COLOURS, escape(lines.get(i).name())));
    }
    return list.append("</ul>\n").toString();
  }

  private static Axis across(List<Series> lines, boolean percentiles) {
    double most = allX(lines).max().orElse(1);
    return percentiles
        ? Axis.percentiles(most)
        : Axis.linear(Math.min(0, allX(lines).min().orElse(0)), most, 6);
  }

  private static DoubleStream allX(List<Series> lines) {
    return lines.stream().flatMap(line -> line.points().stream()).mapToDouble(Point::x);
  }

  private static double most(List<Series> lines) {
    return allY(lines).max().orElse(1);
  }

  private static double least(List<Series> lines) {
    return allY(lines).min().orElse(0);
  }

  private static DoubleStream allY(List<Series> lines) {
    return lines.stream().flatMap(line -> line.points().stream()).mapToDouble(Point::y);
  }

  private static double x(Axis axis, double value) {
    return LEFT + axis.at(value) * (WIDTH - LEFT - RIGHT);
  }

  private static double y(Axis axis, double value) {
    return HEIGHT - BOTTOM - axis.at(value) * (HEIGHT - TOP - BOTTOM);
  }

  /** Without the points that no number was found for. */
  private static Series drawable(Series line) {
    List<Point> points =
        line.points().stream()
            .filter(point -> Double.isFinite(point.x()) && Double.isFinite(point.y()))
            .toList();
    return new Series(
        line.scenario(), line.chart(), line.name(), line.across(), line.unit(), points);
  }
}
