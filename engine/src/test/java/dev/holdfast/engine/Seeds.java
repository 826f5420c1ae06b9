package dev.holdfast.engine;

import java.util.SplittableRandom;

/**
 * Runs a property over many random cases. A failure names its seed, and {@code
 * -Dholdfast.seed=<seed>} runs that case alone; {@code -Dholdfast.fuzz=<n>} runs n times as many.
 */
public final class Seeds {
  private static final String ONLY = "holdfast.seed";
  private static final String TIMES = "holdfast.fuzz";

  private Seeds() {}

  /** What must hold, whatever is drawn. */
  @FunctionalInterface
  public interface Property {
    void holds(SplittableRandom random) throws Exception;
  }

  public static void each(int cases, Property property) {
    Long only = Long.getLong(ONLY);
    if (only != null) {
      run(only, property);
      return;
    }
    long all = (long) cases * Integer.getInteger(TIMES, 1);
    for (long seed = 0; seed < all; seed++) {
      run(seed, property);
    }
  }

  /** Whether all cases are run, so that together they must have met everything. */
  public static boolean areAllRun() {
    return Long.getLong(ONLY) == null;
  }

  private static void run(long seed, Property property) {
    try {
      property.holds(new SplittableRandom(seed));
    } catch (Exception | AssertionError | StackOverflowError | OutOfMemoryError e) {
      throw new AssertionError(
          "seed " + seed + " (run it alone with -D" + ONLY + "=" + seed + "): " + e.getMessage(),
          e);
    }
  }
}
