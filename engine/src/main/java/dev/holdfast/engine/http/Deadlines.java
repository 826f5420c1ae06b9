package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempts in flight, in the order of their start.
 *
 * <p>All have the same time limit, so the oldest is the next to run out of it, and one timer set to
 * the oldest serves them all: starting and ending an attempt touches no timer.
 */
final class Deadlines {

  /** The timer does not run more often than this, however many attempts there are. */
  private static final long GRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final EventLoop eventLoop;
  private final long timeoutNanos;
  private final Consumer<Sending> expired;
  private @Nullable Sending oldest;
  private @Nullable Sending newest;
  private boolean timerSet;
  private long timerAtNanos;

  Deadlines(EventLoop eventLoop, long timeoutNanos, Consumer<Sending> expired) {
    this.eventLoop = eventLoop;
    this.timeoutNanos = timeoutNanos;
    this.expired = expired;
  }

  boolean isEmpty() {
    return oldest == null;
  }

  boolean isPast(Sending sending, long nowNanos) {
    return nowNanos - sending.startedNanos >= timeoutNanos;
  }

  void add(Sending sending) {
    sending.timed = true;
    sending.older = newest;
    if (newest == null) {
      oldest = sending;
    } else {
      newest.newer = sending;
    }
    newest = sending;
    if (!timerSet) {
      setTimer(timeoutNanos);
    }
  }

  void remove(Sending sending) {
    if (!sending.timed) {
      return;
    }
    sending.timed = false;
    if (sending.older == null) {
      oldest = sending.newer;
    } else {
      sending.older.newer = sending.newer;
    }
    if (sending.newer == null) {
      newest = sending.older;
    } else {
      sending.newer.older = sending.older;
    }
    sending.older = null;
    sending.newer = null;
  }

  /** Ends what has run out of time, if the timer is late because the event loop is busy. */
  void look() {
    if (timerSet && System.nanoTime() - timerAtNanos >= GRAIN_NANOS) {
      timerAtNanos = System.nanoTime();
      expire(timerAtNanos);
    }
  }

  private void setTimer(long afterNanos) {
    timerSet = true;
    timerAtNanos = System.nanoTime() + afterNanos;
    var _ = eventLoop.schedule(this::sweep, afterNanos, TimeUnit.NANOSECONDS);
  }

  private void sweep() {
    timerSet = false;
    long now = System.nanoTime();
    expire(now);
    if (oldest != null && !timerSet) {
      setTimer(Math.max(GRAIN_NANOS, timeoutNanos - (now - oldest.startedNanos)));
    }
  }

  private void expire(long nowNanos) {
    while (oldest != null && isPast(oldest, nowNanos)) {
      expired.accept(oldest);
    }
  }
}
