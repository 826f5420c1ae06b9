package dev.holdfast.engine.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The database's time, as far as a node knows it: all nodes go by the same, whatever their own
 * clocks say. It is measured now and then and goes on with the monotonic clock in between.
 *
 * <p>A measurement says where the database's time is within half of its round trip. As long as what
 * was known before lies in there it stays, so that slow answers do not make the time jump. It may
 * run backwards when the database's does: {@link dev.holdfast.engine.SteadyClock} goes by it.
 */
public final class DatabaseClock implements InstantSource {
  private final LongSupplier nanos;
  private Instant base;
  private long baseNanos;

  /**
   * @param nanos nanoseconds from any origin, which nobody can change
   * @param now the database's time, just read
   */
  public DatabaseClock(LongSupplier nanos, Instant now) {
    this.nanos = nanos;
    this.base = now;
    this.baseNanos = nanos.getAsLong();
  }

  /**
   * Takes in what the database has said.
   *
   * @param sentNanos when it was asked
   * @param receivedNanos when the answer was there
   */
  synchronized void measured(Instant said, long sentNanos, long receivedNanos) {
    long half = (receivedNanos - sentNanos) / 2;
    long middle = sentNanos + half;
    Duration off = Duration.between(at(middle), said);
    if (off.abs().toNanos() > half) {
      base = said;
      baseNanos = middle;
    }
  }

  @Override
  public synchronized Instant instant() {
    return at(nanos.getAsLong());
  }

  private Instant at(long when) {
    return base.plusNanos(when - baseNanos);
  }
}
