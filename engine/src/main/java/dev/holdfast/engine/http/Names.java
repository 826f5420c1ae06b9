package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.vertx.core.internal.VertxInternal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks names up. Lives on the sender's event loop.
 *
 * <p>A name server that does not answer keeps a lookup going for as long as an attempt, and the
 * numbers by which queries are known are few. So a name is asked for once at a time, however many
 * want it, and only so many names at once. A zone may have as many of these places as are free: one
 * whose name servers hang leaves room for all others.
 */
final class Names {
  private static final Logger log = LoggerFactory.getLogger(Names.class);

  /** Names being looked up at once, usually. Each takes two numbers of queries, of 65,536. */
  static final int MOST = 4_096;

  private final VertxInternal vertx;
  private final EventLoop eventLoop;
  private final int most;

  /** Who waits for which name. */
  private final Map<String, List<Consumer<@Nullable List<InetAddress>>>> waiting = new HashMap<>();

  /** How many names of each zone are being looked up. */
  private final Map<String, Integer> zones = new HashMap<>();

  /**
   * @param most how many names may be looked up at once
   */
  Names(VertxInternal vertx, EventLoop eventLoop, int most) {
    this.vertx = vertx;
    this.eventLoop = eventLoop;
    this.most = most;
  }

  /**
   * Finds all addresses of a host, v4 and v6.
   *
   * @param found gets them, on the event loop; or nothing when the name could not be looked up
   */
  void lookUp(String host, Consumer<@Nullable List<InetAddress>> found) {
    List<Consumer<@Nullable List<InetAddress>>> others = waiting.get(host);
    if (others != null) {
      others.add(found);
      return;
    }
    String zone = zone(host);
    int busy = zones.getOrDefault(zone, 0);
    if (busy >= most - waiting.size()) {
      found.accept(null);
      return;
    }
    Future<List<InetSocketAddress>> result = vertx.nameResolver().resolveAll(eventLoop, host);
    if (result.isDone()) {
      found.accept(addresses(result));
      return;
    }
    List<Consumer<@Nullable List<InetAddress>>> these = new ArrayList<>(1);
    these.add(found);
    waiting.put(host, these);
    zones.put(zone, busy + 1);
    result.addListener(
        _ -> {
          waiting.remove(host);
          zones.computeIfPresent(zone, (_, count) -> count == 1 ? null : count - 1);
          List<InetAddress> addresses = addresses(result);
          for (Consumer<@Nullable List<InetAddress>> one : these) {
            tell(one, addresses);
          }
        });
  }

  /** What goes wrong for one who waits does not keep it from the others. */
  private static void tell(
      Consumer<@Nullable List<InetAddress>> one, @Nullable List<InetAddress> addresses) {
    try {
      one.accept(addresses);
    } catch (RuntimeException e) {
      log.error("attempt.broken where=\"after a lookup\" next=\"the attempt times out\"", e);
    }
  }

  /** The end of a name, as far as one owner usually has all of it: its last two labels. */
  static String zone(String host) {
    int end = host.endsWith(".") ? host.length() - 1 : host.length();
    int last = host.lastIndexOf('.', end - 1);
    int before = last < 0 ? -1 : host.lastIndexOf('.', last - 1);
    return host.substring(before + 1, end);
  }

  private static @Nullable List<InetAddress> addresses(Future<List<InetSocketAddress>> result) {
    if (!result.isSuccess()) {
      return null;
    }
    List<InetAddress> addresses = new ArrayList<>(result.getNow().size());
    for (InetSocketAddress address : result.getNow()) {
      addresses.add(address.getAddress());
    }
    return addresses;
  }
}
