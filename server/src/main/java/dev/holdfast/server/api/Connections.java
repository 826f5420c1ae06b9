package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Context;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open connections, and what they hold and wait for.
 *
 * <p>No wait is without a limit: one timer goes over all connections now and then and ends those
 * that send no request, do not finish theirs, or do not take their answer. Lives on the event loop.
 */
final class Connections {
  private final Context context;
  private final ApiLimits limits;
  private final IdentityHashMap<HttpConnection, Peer> peers = new IdentityHashMap<>();
  private final Map<String, Long> heldByTenant = new HashMap<>();
  private final AnswerCounts answers = new AnswerCounts();
  private long heldBytes;

  Connections(Context context, ApiLimits limits) {
    this.context = context;
    this.limits = limits;
  }

  /** The other end of a connection. */
  static final class Peer {
    final HttpConnection connection;

    /** The request under way; absent between requests. */
    @Nullable Exchange exchange;

    long idleSince;
    boolean closed;

    Peer(HttpConnection connection, long now) {
      this.connection = connection;
      this.idleSince = now;
    }
  }

  void opened(HttpConnection connection) {
    if (peers.size() >= limits.connections()) {
      connection.close();
      return;
    }
    Peer peer = new Peer(connection, now());
    peers.put(connection, peer);
    connection.closeHandler(_ -> closed(peer));
  }

  private void closed(Peer peer) {
    peer.closed = true;
    peers.remove(peer.connection);
    if (peer.exchange != null) {
      peer.exchange.abandon();
    }
  }

  Peer peer(HttpConnection connection) {
    Peer peer = peers.get(connection);
    if (peer != null) {
      return peer;
    }
    Peer unknown = new Peer(connection, now());
    unknown.closed = true;
    return unknown;
  }

  Context context() {
    return context;
  }

  AnswerCounts answers() {
    return answers;
  }

  int open() {
    return peers.size();
  }

  /**
   * Takes room for a body; false when there is none. A tenant may have as much as is still free, so
   * that one that floods leaves room for others.
   */
  boolean hold(String tenant, long bytes) {
    long ofTenant = heldByTenant.getOrDefault(tenant, 0L);
    if (ofTenant + bytes > limits.receivingBytes() - heldBytes) {
      return false;
    }
    heldBytes += bytes;
    heldByTenant.put(tenant, ofTenant + bytes);
    return true;
  }

  void release(String tenant, long bytes) {
    if (bytes == 0) {
      return;
    }
    heldBytes -= bytes;
    long left = heldByTenant.getOrDefault(tenant, 0L) - bytes;
    if (left == 0) {
      heldByTenant.remove(tenant);
    } else {
      heldByTenant.put(tenant, left);
    }
  }

  long heldBytes() {
    return heldBytes;
  }

  /** Monotonic, in nanoseconds. */
  static long now() {
    return System.nanoTime();
  }

  void sweep() {
    long now = now();
    for (Peer peer : new ArrayList<>(peers.values())) {
      sweep(peer, now);
    }
  }

  private void sweep(Peer peer, long now) {
    Exchange exchange = peer.exchange;
    if (exchange == null) {
      if (isOver(peer.idleSince, limits.idleTime(), now)) {
        peer.connection.close();
      }
      return;
    }
    switch (exchange.phase()) {
      case RECEIVING -> {
        if (isOver(exchange.since(), limits.requestTime(), now)) {
          exchange.refuse(
              Problem.of(
                  Kind.TOO_SLOW,
                  "The whole request must arrive within "
                      + limits.requestTime().toSeconds()
                      + " seconds. Send it again, in smaller parts if the line is slow."));
          peer.connection.close();
        }
      }
      case ANSWERING -> {
        if (isOver(exchange.since(), limits.answerTime(), now)) {
          exchange.refuse(
              Problem.of(
                      Kind.UNAVAILABLE,
                      "It is not known yet whether the request was done. Send it again; an event"
                          + " that has an id of yours is accepted only once.")
                  .retryAfter(10));
        }
      }
      // It waits for nobody, and ends by itself.
      case STREAMING -> {}
      case LINGERING -> {
        if (isOver(exchange.since(), ApiLimits.LINGER_TIME, now)) {
          peer.connection.close();
        }
      }
    }
  }

  private static boolean isOver(long since, Duration limit, long now) {
    return now - since > limit.toNanos();
  }
}
