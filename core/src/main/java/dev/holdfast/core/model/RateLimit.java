package dev.holdfast.core.model;

/**
 * How many attempts a second an endpoint is sent at most. It may be a fraction: 0.5 is one in two
 * seconds.
 */
public record RateLimit(double perSecond) {
  public static final double LEAST = 0.001;
  public static final double MOST = 10_000;

  public RateLimit {
    if (!isAllowed(perSecond)) {
      throw new IllegalArgumentException("a rate limit is %s to %s".formatted(LEAST, MOST));
    }
  }

  public static boolean isAllowed(double perSecond) {
    return perSecond >= LEAST && perSecond <= MOST;
  }
}
