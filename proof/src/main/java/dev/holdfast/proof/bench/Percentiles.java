package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Report.Point;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The whole of a distribution as a line: how long the fastest so many percent took at most. */
final class Percentiles {
  /** What a chart of such lines counts from left to right. */
  static final String ACROSS = "percentile";

  private static final double NANOS_PER_MILLI = 1e6;

  /** Points for each ten times fewer that took longer. */
  private static final int POINTS_PER_DECADE = 10;

  private Percentiles() {}

  /**
   * The points, evenly spread on an axis on which 90 %, 99 % and 99.9 % are equally far apart. They
   * end where less than one value is left beyond, because nothing was measured there.
   *
   * @param histogram in nanoseconds
   * @return percentiles from 0 to below 100, and milliseconds; none when nothing was counted
   */
  static List<Point> of(Histogram histogram) {
    long count = histogram.getTotalCount();
    List<Point> points = new ArrayList<>();
    for (int i = 0; beyond(i) * count >= 1; i++) {
      double percentile = 100 * (1 - beyond(i));
      points.add(
          new Point(percentile, histogram.getValueAtPercentile(percentile) / NANOS_PER_MILLI));
    }
    return points;
  }

  private static double beyond(int point) {
    return Math.pow(10, -(double) point / POINTS_PER_DECADE);
  }
}
