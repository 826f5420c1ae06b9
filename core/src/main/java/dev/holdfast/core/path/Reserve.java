package dev.holdfast.core.path;

import dev.holdfast.core.path.Effect.Space;

/**
 * Room on the store's disk that is left for the outcomes of attempts.
 *
 * <p>When less is free, nothing new is accepted, and what was accepted goes on being delivered and
 * recorded. When nearly all of it is gone, no attempt starts: the rest is for those under way.
 */
final class Reserve {
  /** The part of the reserve that is for the outcomes of attempts under way. */
  private static final int LAST_PART = 8;

  private final long bytes;
  private Space space = Space.ENOUGH;

  Reserve(long bytes) {
    this.bytes = bytes;
  }

  /** So much is free now. */
  void left(long freeBytes, Turn turn) {
    Space before = space;
    if (freeBytes >= bytes) {
      space = Space.ENOUGH;
    } else {
      space = freeBytes >= bytes / LAST_PART ? Space.LOW : Space.GONE;
    }
    if (space != before) {
      turn.effect(new Effect.SpaceChanged(space, freeBytes));
    }
  }

  boolean allowsEvents() {
    return space == Space.ENOUGH;
  }

  boolean allowsAttempts() {
    return space != Space.GONE;
  }
}
