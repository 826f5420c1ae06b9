package dev.holdfast.engine;

import dev.holdfast.core.path.Delays;
import dev.holdfast.core.path.Delays.Percentiles;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How long deliveries of the last minute took, in slices of ten seconds, of which the oldest is
 * forgotten for a new one. For one thread.
 */
final class RecentDelays {
  private static final int SLICES = 6;
  private static final long SLICE_SECONDS = Duration.ofMinutes(1).toSeconds() / SLICES;

  private final @Nullable Delays[] slices = new @Nullable Delays[SLICES];

  /** The number of the latest slice, counted from the epoch. */
  private long latest = Long.MIN_VALUE;

  void add(Delays delays, Instant now) {
    move(now);
    int index = (int) Math.floorMod(latest, (long) SLICES);
    Delays slice = slices[index];
    if (slice == null) {
      slice = new Delays();
      slices[index] = slice;
    }
    slice.add(delays);
  }

  private void move(Instant now) {
    long slice = Math.floorDiv(now.getEpochSecond(), SLICE_SECONDS);
    if (slice <= latest) {
      return;
    }
    long from = Math.max(latest + 1, slice - SLICES + 1);
    for (long passed = from; passed <= slice; passed++) {
      slices[(int) Math.floorMod(passed, (long) SLICES)] = null;
    }
    latest = slice;
  }

  @Nullable Percentiles percentiles(Instant now) {
    move(now);
    Delays all = new Delays();
    for (Delays slice : slices) {
      if (slice != null) {
        all.add(slice);
      }
    }
    return all.percentiles();
  }

  /** Whether nothing of the last minute is left. */
  boolean isOver(Instant now) {
    return Math.floorDiv(now.getEpochSecond(), SLICE_SECONDS) - latest >= SLICES;
  }
}
