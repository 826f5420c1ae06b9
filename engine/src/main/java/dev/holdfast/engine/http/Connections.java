package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The open connections, in use or kept for the next attempt to their origin.
 *
 * <p>A connection that nobody takes for a while is closed, and so is the one kept for longest when
 * there would be too many. Nobody ever waits for one in use: lanes have decided how many attempts
 * there may be.
 */
final class Connections {
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EventLoop eventLoop;
  private final int most;

  /** Counted on the event loop, and read by whoever measures. */
  private final AtomicInteger open = new AtomicInteger();

  private boolean timerSet;
  private boolean closed;

  /** Ends of the list of all kept connections. */
  private @Nullable Connection longestKept;

  private @Nullable Connection lastKept;

  /** Those on another event loop that count too. */
  private @Nullable Connections other;

  /**
   * @param most how many may be open while some of them are only kept
   */
  Connections(EventLoop eventLoop, int most) {
    this.eventLoop = eventLoop;
    this.most = most;
  }

  /** Lets two share the most that there may be. Before either is used. */
  void sharesWith(Connections others) {
    other = others;
    others.other = this;
  }

  int open() {
    return open.get();
  }

  /** A connection in use that has room, or the kept one that was used last, if there is one. */
  @Nullable Connection take(Origin origin, long nowNanos) {
    for (int i = origin.shared.size() - 1; i >= 0; i--) {
      Http2Connection shared = origin.shared.get(i);
      if (shared.hasRoom(nowNanos)) {
        return shared;
      }
    }
    Connection connection = origin.idle.peekLast();
    while (connection != null && !isUsable(connection, nowNanos)) {
      connection.close();
      connection = origin.idle.peekLast();
    }
    if (connection != null) {
      remove(connection);
    }
    return connection;
  }

  private static boolean isUsable(Connection kept, long nowNanos) {
    return kept.keptUntilNanos - nowNanos > 0
        && (!(kept instanceof Http2Connection streams) || streams.hasRoom(nowNanos));
  }

  void opened() {
    open.incrementAndGet();
    if (isTooMany()) {
      makeRoom();
    }
  }

  private boolean isTooMany() {
    return open() + (other == null ? 0 : other.open()) > most;
  }

  private void makeRoom() {
    if (longestKept != null) {
      longestKept.close();
    } else if (other != null) {
      other.eventLoop.execute(other::closeLongestKept);
    }
  }

  private void closeLongestKept() {
    if (longestKept != null) {
      longestKept.close();
    }
  }

  void closed() {
    open.decrementAndGet();
  }

  /** Keeps a connection, unless nobody is going to want it. */
  boolean keep(Connection connection) {
    if (closed || connection.origin.targets == 0 || isTooMany()) {
      return false;
    }
    connection.origin.idle.addLast(connection);
    connection.keptEarlier = lastKept;
    if (lastKept == null) {
      longestKept = connection;
    } else {
      lastKept.keptLater = connection;
    }
    lastKept = connection;
    if (!timerSet) {
      setTimer();
    }
    return true;
  }

  /** Takes a kept connection out. */
  void remove(Connection connection) {
    connection.origin.idle.removeLastOccurrence(connection);
    if (connection.keptEarlier == null) {
      longestKept = connection.keptLater;
    } else {
      connection.keptEarlier.keptLater = connection.keptLater;
    }
    if (connection.keptLater == null) {
      lastKept = connection.keptEarlier;
    } else {
      connection.keptLater.keptEarlier = connection.keptEarlier;
    }
    connection.keptEarlier = null;
    connection.keptLater = null;
  }

  void closeKept(Origin origin) {
    while (!origin.idle.isEmpty()) {
      origin.idle.getLast().close();
    }
  }

  /** Closes what is kept, and from now on whatever is given back. */
  void close() {
    closed = true;
    while (longestKept != null) {
      longestKept.close();
    }
  }

  private void setTimer() {
    timerSet = true;
    var _ = eventLoop.schedule(this::sweep, SWEEP_NANOS, TimeUnit.NANOSECONDS);
  }

  /**
   * Most kept connections have the same time left, so the list is nearly in the order of their
   * expiry; the few that a server wants back sooner are found by going through all of it.
   */
  private void sweep() {
    timerSet = false;
    long now = System.nanoTime();
    Connection connection = longestKept;
    while (connection != null) {
      Connection later = connection.keptLater;
      if (connection.keptUntilNanos - now <= 0) {
        connection.close();
      }
      connection = later;
    }
    if (longestKept != null) {
      setTimer();
    }
  }
}
