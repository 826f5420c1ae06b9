package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.vertx.core.internal.VertxInternal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections: looks the name up, checks each address, and connects to one that was checked.
 *
 * <p>The address that is dialled is the one that was checked, and it is checked for each new
 * connection. The name is not looked up a second time, so a name that changes its mind in between
 * gains nothing.
 */
final class Dialler {
  /** Of a name with many addresses so many are tried: each is another connection. */
  private static final int MOST_ADDRESSES = 8;

  private static final int SMALLEST_READ = 64;
  private static final int FIRST_READ = 2 * 1024;
  private static final int LARGEST_READ = 16 * 1024;

  /**
   * What the system takes from a server before anybody has read it; by itself it takes megabytes.
   */
  private static final int UNREAD_BYTES = 32 * 1024;

  /** From how many bytes on no more is written for now, and up to how many it goes on. */
  private static final WriteBufferWaterMark UNSENT =
      new WriteBufferWaterMark(Pieces.BYTES, 2 * Pieces.BYTES);

  /** A server that sends without end is read a piece at a time, and others have turns between. */
  private static final int READS_AT_ONCE = 1;

  private final Deadlines deadlines;
  private final EventLoop eventLoop;
  private final EgressRules rules;
  private final @Nullable Tunnel tunnel;
  private final Names names;
  private final Tls tls;
  private final UnaryOperator<InetSocketAddress> route;
  private final Bootstrap bootstrap;

  /**
   * @param route where a checked address is really connected to: in tests a listener on this
   *     machine, that hears of each connection there would have been
   */
  Dialler(
      Deadlines deadlines,
      VertxInternal vertx,
      EventLoop eventLoop,
      Names names,
      Egress egress,
      Tls tls,
      UnaryOperator<InetSocketAddress> route) {
    this.deadlines = deadlines;
    this.eventLoop = eventLoop;
    this.rules = egress.rules();
    this.tunnel =
        egress.proxy() == null
            ? null
            : new Tunnel(egress.proxy(), new Names(vertx, eventLoop, Names.MOST));
    this.names = names;
    this.tls = tls;
    this.route = route;
    this.bootstrap =
        new Bootstrap()
            .group(eventLoop)
            .channelFactory(vertx.transport().channelFactory(false))
            .disableResolver()
            .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .option(
                ChannelOption.RECVBUF_ALLOCATOR,
                new AdaptiveRecvByteBufAllocator(SMALLEST_READ, FIRST_READ, LARGEST_READ)
                    .maxMessagesPerRead(READS_AT_ONCE))
            .option(ChannelOption.SO_RCVBUF, UNREAD_BYTES)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, UNSENT)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
  }

  /** Opens a connection. */
  void dial(Opening opening) {
    if (!opening.origin.key.https()) {
      dialPrepared(opening);
      return;
    }
    tls.prepare(
        opening.origin,
        eventLoop,
        context -> {
          if (context == null) {
            opening.fail(Kind.TLS);
          } else if (opening.keep(context)) {
            dialPrepared(opening);
          }
        });
  }

  private void dialPrepared(Opening opening) {
    Origin origin = opening.origin;
    if (!rules.permitsPort(origin.key.port())) {
      opening.fail(Kind.FORBIDDEN);
    } else if (origin.literal != null) {
      connectToPermitted(opening, origin.literal);
    } else if (tunnel != null && tunnel.looksUpNames()) {
      connect(opening, InetSocketAddress.createUnresolved(origin.key.host(), origin.key.port()));
    } else {
      names.lookUp(origin.key.host(), found -> lookedUp(opening, found));
    }
  }

  private void lookedUp(Opening opening, @Nullable List<InetAddress> found) {
    if (opening.isAbandoned()) {
      return;
    }
    if (found == null) {
      opening.fail(Kind.DNS);
    } else {
      connectToPermitted(opening, found);
    }
  }

  private void connectToPermitted(Opening opening, List<InetAddress> addresses) {
    List<InetAddress> permitted = new ArrayList<>(addresses.size());
    for (InetAddress address : addresses) {
      if (permitted.size() < MOST_ADDRESSES && rules.permits(address)) {
        permitted.add(address);
      }
    }
    if (permitted.isEmpty()) {
      opening.fail(addresses.isEmpty() ? Kind.DNS : Kind.FORBIDDEN);
    } else {
      opening.untried = permitted;
      connectToNext(opening);
    }
  }

  private void connectToNext(Opening opening) {
    InetAddress address = opening.untried.getFirst();
    opening.untried = opening.untried.subList(1, opening.untried.size());
    connect(opening, new InetSocketAddress(address, opening.origin.key.port()));
  }

  /**
   * @param to an address that was checked, or a name that the proxy is to look up
   */
  private void connect(Opening opening, InetSocketAddress to) {
    if (tunnel == null) {
      connect(opening, route.apply(to), null);
    } else {
      tunnel.prepare(
          proxy -> {
            if (opening.isAbandoned()) {
              return;
            }
            if (proxy == null) {
              opening.fail(Kind.CONNECT);
            } else {
              connect(opening, Tunnel.destination(to), proxy);
            }
          });
    }
  }

  private void connect(Opening opening, InetSocketAddress to, @Nullable ChannelHandler proxy) {
    bootstrap
        .clone()
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                prepare(channel, opening, proxy);
              }
            })
        .connect(to)
        .addListener(
            connected -> {
              if (connected.isSuccess()) {
                return;
              }
              if (eventLoop.inEventLoop()) {
                refused(opening, connected.cause());
              } else {
                eventLoop.execute(() -> refused(opening, connected.cause()));
              }
            });
  }

  private void refused(Opening opening, Throwable cause) {
    if (opening.isAbandoned()) {
      return;
    }
    if (opening.untried.isEmpty()) {
      if (tunnel != null) {
        tunnel.failed(cause);
      }
      opening.fail(Failures.inConnect(cause));
    } else {
      connectToNext(opening);
    }
  }

  private void prepare(Channel channel, Opening opening, @Nullable ChannelHandler proxy) {
    Ration ration = new Ration(deadlines);
    channel.pipeline().addLast(ration);
    if (proxy != null) {
      channel.pipeline().addLast(proxy);
    }
    channel
        .pipeline()
        .addLast(opening.on(channel, ration, tls, tunnel, cause -> refused(opening, cause)));
  }
}
