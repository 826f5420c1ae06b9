package dev.holdfast.engine;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The system's time, except that it never runs backwards.
 *
 * <p>When the system's clock jumps forward, so does this one. When it is set back, this one goes on
 * at half the speed of the monotonic clock until the system's has caught up: time-ordered things
 * stay in order, and what is due still becomes due.
 */
public final class SteadyClock implements InstantSource {
  private final InstantSource wall;
  private final LongSupplier nanos;
  private Instant last;
  private long lastNanos;

  /**
   * @param wall the time of day, which somebody may change
   * @param nanos nanoseconds from any origin, which nobody can
   * @param notBefore what it was before, in another process: it does not run backwards from there
   */
  public SteadyClock(InstantSource wall, LongSupplier nanos, Instant notBefore) {
    this.wall = wall;
    this.nanos = nanos;
    Instant system = wall.instant();
    this.last = system.isBefore(notBefore) ? notBefore : system;
    this.lastNanos = nanos.getAsLong();
  }

  @Override
  public synchronized Instant instant() {
    Instant system = wall.instant();
    long nanosNow = nanos.getAsLong();
    // Whole steps of two nanoseconds; an odd one is left for the next reading, so that a clock that
    // is read all the time does not stand still.
    long steps = Math.max(0, (nanosNow - lastNanos) / 2);
    Instant slow = last.plusNanos(steps);
    if (system.isBefore(slow)) {
      last = slow;
      lastNanos += 2 * steps;
    } else {
      last = system;
      lastNanos = nanosNow;
    }
    return last;
  }
}
