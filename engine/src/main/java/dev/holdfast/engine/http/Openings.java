package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Attempts that need a new connection, and when they get it.
 *
 * <p>To open a connection is dear, with TLS much dearer than to use one that is open, and the event
 * loop that does it serves everybody. So it opens connections for a while and then does what else
 * there is to do, which may be the handshakes of those just opened. Thousands of attempts that come
 * at once, such as to endpoints that never answer, start one after the other, and those who have a
 * connection do not wait for them. An attempt's time begins when its turn has come.
 *
 * <p>Endpoints that took the last message they were sent go first, and others are not forgotten.
 */
final class Openings {

  /** How long connections are opened at a stretch. */
  private static final long STRETCH_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How long it is left to others then. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The others have every so manieth turn. */
  private static final int OTHERS_TURN = 4;

  private final EventLoop eventLoop;
  private final Consumer<Sending> begin;
  private final ArrayDeque<Sending> proven = new ArrayDeque<>();
  private final ArrayDeque<Sending> others = new ArrayDeque<>();
  private long stretchBegan;
  private long spentNanos;
  private int turn;
  private boolean timerSet;

  /**
   * @param begin begins an attempt for which there is no connection
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
    (sending.delivery.proven() ? proven : others).add(sending);
  }

  int waiting() {
    return proven.size() + others.size();
  }

  private void setTimer() {
    timerSet = true;
    var _ = eventLoop.schedule(this::open, PAUSE_NANOS, TimeUnit.NANOSECONDS);
  }

  private void open() {
    stretchBegan = System.nanoTime();
    spentNanos = 0;
    for (Sending next = next(); next != null; next = next()) {
      begin.accept(next);
      spentNanos = System.nanoTime() - stretchBegan;
      if (spentNanos >= STRETCH_NANOS) {
        break;
      }
    }
    timerSet = false;
    if (waiting() > 0) {
      setTimer();
    }
  }

  private @Nullable Sending next() {
    boolean othersTurn = ++turn % OTHERS_TURN == 0;
    Sending next = (othersTurn ? others : proven).poll();
    return next != null ? next : (othersTurn ? proven : others).poll();
  }
}
