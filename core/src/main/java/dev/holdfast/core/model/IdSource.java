package dev.holdfast.core.model;

import java.time.Instant;

/**
 * Gives out ids that only ever grow, even when the clock does not.
 *
 * <p>It starts above the highest id that the store has seen, so that a clock that was set back
 * cannot repeat an id.
 */
public final class IdSource {
  private final long node;
  private long last;

  public IdSource(int node, long highestUsed) {
    if (node < 0 || node >= Id.STRIDE) {
      throw new IllegalArgumentException("node must be 0 to " + (Id.STRIDE - 1) + ": " + node);
    }
    this.node = node;
    this.last = Math.max(0, highestUsed) & -Id.STRIDE;
  }

  /** Keeps the next {@code count} ids from being given out: they follow the last one. */
  public void reserve(int count) {
    last += count * Id.STRIDE;
  }

  /** Not below any id that was given out. */
  public long last() {
    return last | node;
  }

  public long next(Instant now) {
    last = Math.max(last + Id.STRIDE, Id.floor(now));
    return last | node;
  }
}
