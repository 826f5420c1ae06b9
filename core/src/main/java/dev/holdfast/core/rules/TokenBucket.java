package dev.holdfast.core.rules;

import dev.holdfast.core.model.RateLimit;
import java.time.Duration;
import java.time.Instant;

/**
 * Lets things happen at a steady rate, and a few of them at once.
 *
 * <p>A bucket fills with one token every {@code nanosPerToken} until it is full; whatever happens
 * takes a token. All that has to be remembered of it is when it is full again: then it was or will
 * be full, and what is missing until then has been taken. So there is nothing to be updated while
 * time passes, and nothing that rounding could make drift.
 *
 * @param nanosPerToken the time in which one token comes
 * @param capacityNanos the time in which an empty bucket becomes full
 */
public record TokenBucket(long nanosPerToken, long capacityNanos) {

  /**
   * By how much attempts to an endpoint may be nearer to each other than evenly. A clock that wakes
   * somebody up a little late does not lower the rate that way, and a rate of thousands a second
   * does not need thousands of wake-ups.
   */
  public static final Duration LEEWAY = Duration.ofMillis(10);

  /** When a bucket that nobody has taken from was full. */
  public static final Instant FULL = Instant.EPOCH;

  private static final double NANOS_PER_SECOND = 1e9;

  public TokenBucket {
    if (nanosPerToken < 1 || capacityNanos < nanosPerToken) {
      throw new IllegalArgumentException(
          "a bucket holds at least one token: " + nanosPerToken + ", " + capacityNanos);
    }
  }

  /** For attempts to an endpoint: one at a time, {@link #LEEWAY} apart from that. */
  public static TokenBucket spaced(RateLimit limit) {
    long nanos = (long) Math.ceil(NANOS_PER_SECOND / limit.perSecond());
    return new TokenBucket(nanos, nanos + LEEWAY.toNanos());
  }

  /** For so many a second, of which as many may come at once as come in {@code burst}. */
  public static TokenBucket perSecond(long rate, Duration burst) {
    long nanos = (long) Math.ceil(NANOS_PER_SECOND / rate);
    long most = Math.max(1, (long) (rate * (burst.toNanos() / NANOS_PER_SECOND)));
    return new TokenBucket(nanos, most * nanos);
  }

  /** How many tokens a full bucket has. */
  public long most() {
    return capacityNanos / nanosPerToken;
  }

  /** Whether so many tokens can be taken now. */
  public boolean has(long tokens, Instant fullAt, Instant now) {
    return !hasAt(tokens, fullAt, now).isAfter(now);
  }

  /** When so many tokens can be taken, if nobody takes one before; never before {@code now}. */
  public Instant hasAt(long tokens, Instant fullAt, Instant now) {
    Instant at = taken(tokens, fullAt, now).minusNanos(capacityNanos);
    return at.isAfter(now) ? at : now;
  }

  /** When the bucket is full again after tokens were taken from it now. */
  public Instant taken(long tokens, Instant fullAt, Instant now) {
    return (fullAt.isAfter(now) ? fullAt : now).plusNanos(tokens * nanosPerToken);
  }

  /** When the bucket is full again after tokens were given back. */
  public Instant givenBack(long tokens, Instant fullAt) {
    return fullAt.minusNanos(tokens * nanosPerToken);
  }
}
