package dev.holdfast.proof.stage;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The same figure of two builds, measured several times in turns: is there a difference?
 *
 * <p>The method: values that were measured one after the other are a pair, so that a machine that
 * gets slower or faster over the whole run changes both alike. Of each pair the logarithm of the
 * ratio is taken, since speeds differ by factors. The mean of these, turned back, is the ratio that
 * is told: the geometric mean of the pairs' ratios. Its interval is Student's with a confidence of
 * 95 %, for as many pairs as there are, which assumes that the logarithms scatter about normally. A
 * difference is shown when the interval excludes 1.
 *
 * <p>One in twenty such intervals excludes 1 by chance though nothing differs. Who compares many
 * figures will see some of those, and should measure again what surprises.
 *
 * @param base the base's values, in the order of the pairs
 * @param current the values of the build that is compared with it, in the same order
 * @param ratio of current to base
 * @param interval of the ratio; null when there are too few pairs for one
 */
public record Comparison(
    String scenario,
    String name,
    String unit,
    List<Double> base,
    List<Double> current,
    double ratio,
    @Nullable Interval interval,
    Verdict verdict) {

  /** With fewer pairs, the interval is so wide that it says nothing. */
  public static final int FEWEST_PAIRS = 3;

  private static final Set<String> LARGER_IS_BETTER = Set.of("/s");
  private static final Set<String> SMALLER_IS_BETTER = Set.of("ms", "s", "µs", "bytes", "MB");

  /** Units of speed; of the others one says that they are better. */
  private static final Set<String> FAST_OR_SLOW = Set.of("/s", "ms", "s");

  /** Student's t for 95 %, two-sided, from 2 degrees of freedom on. */
  private static final double[] STUDENT = {
    4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
    2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860
  };

  private static final double NORMAL = 1.959964;

  public Comparison {
    base = List.copyOf(base);
    current = List.copyOf(current);
  }

  /** Where the true ratio is, most likely. */
  public record Interval(double low, double high) {}

  /** What the interval says. */
  public enum Verdict {
    FASTER("faster"),
    SLOWER("slower"),
    BETTER("better"),
    WORSE("worse"),
    NO_DIFFERENCE("no difference shown"),
    TOO_FEW_ROUNDS("too few rounds to show anything");

    private final String words;

    Verdict(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }

    boolean isGood() {
      return this == FASTER || this == BETTER;
    }

    boolean isBad() {
      return this == SLOWER || this == WORSE;
    }
  }

  /** Whether figures of a unit can be compared: speeds and costs can, counts and shares cannot. */
  public static boolean isFor(String unit) {
    return LARGER_IS_BETTER.contains(unit) || SMALLER_IS_BETTER.contains(unit);
  }

  /** Compares values above 0, of which those at the same place are pairs. */
  public static Comparison of(
      String scenario, String name, String unit, List<Double> base, List<Double> current) {
    int pairs = base.size();
    if (pairs == 0 || current.size() != pairs) {
      throw new IllegalArgumentException(name + ": as many of both are needed, and at least one");
    }
    double[] logarithms =
        IntStream.range(0, pairs)
            .mapToDouble(i -> Math.log(current.get(i) / base.get(i)))
            .toArray();
    double mean = IntStream.range(0, pairs).mapToDouble(i -> logarithms[i]).average().orElse(0);
    Interval interval = pairs < FEWEST_PAIRS ? null : interval(logarithms, mean);
    return new Comparison(
        scenario, name, unit, base, current, Math.exp(mean), interval, verdict(unit, interval));
  }

  private static Interval interval(double[] logarithms, double mean) {
    int pairs = logarithms.length;
    double squares = 0;
    for (double logarithm : logarithms) {
      squares += (logarithm - mean) * (logarithm - mean);
    }
    double error = Math.sqrt(squares / (pairs - 1) / pairs);
    double reach = student(pairs - 1) * error;
    return new Interval(Math.exp(mean - reach), Math.exp(mean + reach));
  }

  /** From a table, and where that ends from the first terms of the series around the normal one. */
  static double student(int degrees) {
    if (degrees - 2 < STUDENT.length) {
      return STUDENT[degrees - 2];
    }
    double cube = Math.pow(NORMAL, 3);
    return NORMAL
        + (cube + NORMAL) / (4 * degrees)
        + (5 * Math.pow(NORMAL, 5) + 16 * cube + 3 * NORMAL) / (96.0 * degrees * degrees);
  }

  private static Verdict verdict(String unit, @Nullable Interval interval) {
    if (interval == null) {
      return Verdict.TOO_FEW_ROUNDS;
    }
    if (interval.low() <= 1 && interval.high() >= 1) {
      return Verdict.NO_DIFFERENCE;
    }
    boolean better = interval.low() > 1 == LARGER_IS_BETTER.contains(unit);
    if (FAST_OR_SLOW.contains(unit)) {
      return better ? Verdict.FASTER : Verdict.SLOWER;
    }
    return better ? Verdict.BETTER : Verdict.WORSE;
  }

  double baseMedian() {
    return median(base);
  }

  double currentMedian() {
    return median(current);
  }

  /** The interval in words, empty when there is none. */
  String intervalText() {
    return interval == null
        ? ""
        : String.format(Locale.ROOT, "%.3f to %.3f", interval.low(), interval.high());
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
