package dev.holdfast.engine;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Decides when the log tells of something that happens again and again: at first, and then once a
 * minute with a count. For one thread.
 */
final class Seldom {
  static final Duration EVERY = Duration.ofMinutes(1);

  private @Nullable Instant toldAt;
  private long untold;

  /** It has happened. Returns how often since it was last told; 0 when it is not to be told now. */
  long happened(Instant now) {
    untold++;
    return isTime(now) ? tell(now) : 0;
  }

  /**
   * Some time has passed. Returns how often it has happened untold, when that is to be told now.
   */
  long sweep(Instant now) {
    return untold > 0 && isTime(now) ? tell(now) : 0;
  }

  /** Whether it has not happened for so long that the next time is a first one. */
  boolean isOver(Instant now) {
    return untold == 0 && isTime(now);
  }

  private boolean isTime(Instant now) {
    return toldAt == null || !now.isBefore(toldAt.plus(EVERY));
  }

  private long tell(Instant now) {
    long told = untold;
    untold = 0;
    toldAt = now;
    return told;
  }
}
