package dev.holdfast.engine.store;

import java.time.Duration;

/**
 * How much of everything there may be in the store.
 *
 * @param backlogRows waiting messages that a backlog or the choice of a probe looks at
 * @param historyRead the time that one read of history may take
 * @param historyReaders reads of history at once
 * @param historyRows messages that one read of history looks at
 * @param checkpointEvery the pause between two checkpoints
 * @param longLogBytes a log longer than this is begun anew as soon as that is possible
 * @param tooLongLogBytes a log longer than this interrupts whoever reads history
 */
public record StoreLimits(
    int backlogRows,
    Duration historyRead,
    int historyReaders,
    int historyRows,
    Duration checkpointEvery,
    long longLogBytes,
    long tooLongLogBytes) {

  /** Bytes of events that one read of what was before a subscription looks at. */
  public static final long PAST_BYTES = 16L << 20;

  /** Unfinished messages that a start looks at; more are looked at while the store is in use. */
  static final int INSPECTED_AT_START = 1_000_000;

  public static final StoreLimits DEFAULT =
      new StoreLimits(
          10_000, Duration.ofSeconds(5), 2, 10_000, Duration.ofMillis(100), 32L << 20, 256L << 20);
}
