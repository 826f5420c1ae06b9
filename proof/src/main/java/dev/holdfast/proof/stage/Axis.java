package dev.holdfast.proof.stage;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;

/**
 * One axis of a chart.
 *
 * @param place where a value is on it, from 0 to 1
 * @param ticks the values that are written beside it, all of them within the axis
 */
record Axis(DoubleUnaryOperator place, List<Tick> ticks) {
  private static final double[] ROUND = {1, 2, 5, 10};
  private static final double[] PERCENTILES = {0, 50, 90, 99, 99.9, 99.99, 99.999};

  /** From here on, 0 % and 50 % are too near to each other for both to be written. */
  private static final double LONG_DECADES = 3.5;

  /** A value with its text. */
  record Tick(double value, String text) {}

  double at(double value) {
    return Math.clamp(place.applyAsDouble(value), 0.0, 1.0);
  }

  /** From round number to round number, with about {@code parts} parts between. */
  static Axis linear(double least, double most, int parts) {
    double span = most > least ? most - least : Math.max(1, Math.abs(most));
    double step = roundUp(span / parts);
    long first = (long) Math.floor(least / step);
    long last = Math.max(first + 1, (long) Math.ceil(Math.max(most, least) / step));
    int decimals = Math.max(0, (int) -Math.floor(Math.log10(step) + 1e-9));
    List<Tick> ticks = new ArrayList<>();
    for (long i = first; i <= last; i++) {
      String text = String.format(Locale.ROOT, "%,." + decimals + "f", i * step);
      ticks.add(new Tick(i * step, text));
    }
    return new Axis(value -> (value / step - first) / (last - first), ticks);
  }

  /**
   * From 0 % to a percentile below 100, as histograms of latency are drawn: the fewer are beyond,
   * the more room there is, so that 90 %, 99 % and 99.9 % are equally far apart.
   */
  static Axis percentiles(double most) {
    double end = Math.max(1, decades(Math.min(most, 99.9999)));
    List<Tick> ticks = new ArrayList<>();
    for (double percentile : PERCENTILES) {
      boolean isClear = percentile > 0 || end < LONG_DECADES;
      if (isClear && decades(percentile) <= end + 1e-9) {
        String text = Double.toString(percentile).replaceFirst("\\.0$", "");
        ticks.add(new Tick(percentile, text + " %"));
      }
    }
    return new Axis(value -> decades(value) / end, ticks);
  }

  private static double decades(double percentile) {
    return -Math.log10(1 - Math.min(percentile, 99.999999) / 100);
  }

  private static double roundUp(double step) {
    double power = Math.pow(10, Math.floor(Math.log10(step)));
    for (double round : ROUND) {
      if (step <= round * power * (1 + 1e-9)) {
        return round * power;
      }
    }
    return 10 * power;
  }
}
