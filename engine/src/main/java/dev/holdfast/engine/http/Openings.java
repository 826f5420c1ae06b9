package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Attempts that need a new connection, and when they get it.
 *
 * <p>To open a connection is dear, with TLS a hundred times as dear as to use one that is open. So
 * the event loop opens connections for a while and then does what else there is to do, which may be
 * the handshakes of those just opened. Thousands of attempts that come at once, such as to
 * endpoints that never answer, begin one after the other, and those who have a connection do not
 * wait for them. An attempt's time begins when its turn has come.
 */
final class Openings {

  /** How long connections are opened at a stretch. */
  private static final long STRETCH_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How long it is left to others then. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final EventLoop eventLoop;
  private final Consumer<Sending> begin;
  private final ArrayDeque<Sending> waiting = new ArrayDeque<>();
  private long stretchBegan;
  private long spentNanos;
  private boolean timerSet;

  /**
   * @param begin begins an attempt whose turn has come
   */
  Openings(EventLoop eventLoop, Consumer<Sending> begin) {
    this.eventLoop = eventLoop;
    this.begin = begin;
  }

  /** Begins an attempt now, or when its turn has come. */
  void add(Sending sending, long nowNanos) {
    if (!timerSet) {
      if (nowNanos - stretchBegan >= STRETCH_NANOS + PAUSE_NANOS) {
        stretchBegan = nowNanos;
        spentNanos = 0;
      }
      if (spentNanos < STRETCH_NANOS) {
        begin.accept(sending);
        spentNanos += System.nanoTime() - nowNanos;
        return;
      }
      setTimer();
    }
    waiting.add(sending);
    sending.target.origin.waiting++;
  }

  private void setTimer() {
    timerSet = true;
    var _ = eventLoop.schedule(this::open, PAUSE_NANOS, TimeUnit.NANOSECONDS);
  }

  private void open() {
    stretchBegan = System.nanoTime();
    spentNanos = 0;
    for (Sending next = waiting.poll(); next != null; next = waiting.poll()) {
      next.target.origin.waiting--;
      begin.accept(next);
      spentNanos = System.nanoTime() - stretchBegan;
      if (spentNanos >= STRETCH_NANOS) {
        break;
      }
    }
    timerSet = false;
    if (!waiting.isEmpty()) {
      setTimer();
    }
  }
}
