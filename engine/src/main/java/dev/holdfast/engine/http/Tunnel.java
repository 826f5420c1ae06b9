package dev.holdfast.engine.http;

import dev.holdfast.engine.egress.IpLiteral;
import dev.holdfast.engine.egress.Proxy;
import io.netty.channel.ChannelHandler;
import io.netty.handler.proxy.HttpProxyHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way through a proxy: each connection asks it to {@code CONNECT}, and from there on it is like
 * any other. Plain HTTP goes that way too, since a proxy that is asked for a URL with an address
 * would not keep the name as the host.
 */
final class Tunnel {
  private static final Logger log = LoggerFactory.getLogger(Tunnel.class);

  /** How an exception says what the proxy has answered. */
  private static final String STATUS = "status: ";

  private static final int UNAUTHORIZED = 407;
  private static final long TOLD_EVERY_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Proxy proxy;
  private final Names names;
  private final @Nullable InetAddress literal;
  private int turn;
  private long untold;
  private long toldNanos = System.nanoTime() - TOLD_EVERY_NANOS;

  Tunnel(Proxy proxy, Names names) {
    this.proxy = proxy;
    this.names = names;
    this.literal = IpLiteral.parse(proxy.host());
  }

  /** Whether the proxy is given names, and not addresses that were checked here. */
  boolean looksUpNames() {
    return proxy.looksUpNames();
  }

  /**
   * Makes what takes a connection through the proxy.
   *
   * @param ready gets it; or nothing when the proxy's own name could not be looked up
   */
  void prepare(Consumer<@Nullable ChannelHandler> ready) {
    if (literal != null) {
      ready.accept(handler(literal));
    } else {
      names.lookUp(proxy.host(), found -> ready.accept(ofOneOf(found)));
    }
  }

  /** Of several addresses each has its turn, so that one that is down does not stop everything. */
  private @Nullable ChannelHandler ofOneOf(@Nullable List<InetAddress> found) {
    if (found == null || found.isEmpty()) {
      failed(new UnknownHostException("its name could not be looked up"));
      return null;
    }
    turn = (turn + 1) % found.size();
    return handler(found.get(turn));
  }

  private ChannelHandler handler(InetAddress address) {
    InetSocketAddress at = new InetSocketAddress(address, proxy.port());
    Proxy.Credentials shown = proxy.credentials();
    HttpProxyHandler handler =
        shown == null
            ? new HttpProxyHandler(at)
            : new HttpProxyHandler(at, shown.user(), shown.password());
    // the attempt's own time limit holds
    handler.setConnectTimeoutMillis(0);
    return handler;
  }

  /** What the proxy is asked for: an address without the name that it was looked up from. */
  static InetSocketAddress destination(InetSocketAddress to) {
    if (to.isUnresolved()) {
      return to;
    }
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(to.getAddress().getAddress()), to.getPort());
    } catch (UnknownHostException e) {
      throw new AssertionError("an address has the length of an address", e);
    }
  }

  /**
   * Tells the log, seldom, when it is the proxy that fails: then everything does, and each endpoint
   * alike. That one address cannot be reached through it concerns that endpoint alone.
   */
  void failed(Throwable cause) {
    String why = String.valueOf(cause.getMessage());
    if (why.contains(STATUS) && !why.contains(STATUS + UNAUTHORIZED)) {
      return;
    }
    untold++;
    long now = System.nanoTime();
    if (now - toldNanos >= TOLD_EVERY_NANOS) {
      log.warn(
          "egress.proxy-failing proxy={}:{} failures={} why=\"{}\" next=\"these attempts fail as"
              + " connect and are retried; check the proxy and egress.proxy\"",
          proxy.host(),
          proxy.port(),
          untold,
          why);
      toldNanos = now;
      untold = 0;
    }
  }
}
