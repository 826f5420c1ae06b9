package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
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
  private static final int SMALLEST_READ = 64;
  private static final int FIRST_READ = 2 * 1024;
  private static final int LARGEST_READ = 16 * 1024;

  /**
   * What the system takes from a server before anybody has read it; by itself it takes megabytes.
   */
  private static final int UNREAD_BYTES = 32 * 1024;

  /** A server that sends without end is read a piece at a time, and others have turns between. */
  private static final int READS_AT_ONCE = 1;

  private final HttpSender sender;
  private final EventLoop eventLoop;
  private final EgressRules rules;
  private final Names names;
  private final Tls tls;
  private final UnaryOperator<InetSocketAddress> route;
  private final Bootstrap bootstrap;

  /**
   * @param route where a checked address is really connected to: in tests a listener on this
   *     machine, that hears of each connection there would have been
   */
  Dialler(
      HttpSender sender,
      VertxInternal vertx,
      EventLoop eventLoop,
      Names names,
      Egress egress,
      Tls tls,
      UnaryOperator<InetSocketAddress> route) {
    this.sender = sender;
    this.eventLoop = eventLoop;
    this.rules = egress.rules();
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
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
  }

  /** Opens a connection for an attempt. */
  void dial(Sending sending) {
    Origin origin = sending.target.origin;
    if (!rules.permitsPort(origin.key.port())) {
      sender.fail(sending, Kind.FORBIDDEN);
    } else if (origin.literal != null) {
      connectToPermitted(sending, origin.literal);
    } else {
      names.lookUp(origin.key.host(), found -> lookedUp(sending, found));
    }
  }

  private void lookedUp(Sending sending, @Nullable List<InetAddress> found) {
    if (sending.done) {
      return;
    }
    if (found == null) {
      sender.fail(sending, Kind.DNS);
    } else {
      connectToPermitted(sending, found);
    }
  }

  private void connectToPermitted(Sending sending, List<InetAddress> addresses) {
    List<InetAddress> permitted = new ArrayList<>(addresses.size());
    for (InetAddress address : addresses) {
      if (rules.permits(address)) {
        permitted.add(address);
      }
    }
    if (permitted.isEmpty()) {
      sender.fail(sending, addresses.isEmpty() ? Kind.DNS : Kind.FORBIDDEN);
    } else {
      sending.untried = permitted;
      connect(sending);
    }
  }

  private void connect(Sending sending) {
    InetAddress address = sending.untried.getFirst();
    sending.untried = sending.untried.subList(1, sending.untried.size());
    bootstrap
        .clone()
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                prepare(channel, sending);
              }
            })
        .connect(route.apply(new InetSocketAddress(address, sending.target.origin.key.port())))
        .addListener(
            connected -> {
              if (connected.isSuccess()) {
                return;
              }
              if (eventLoop.inEventLoop()) {
                refused(sending, connected.cause());
              } else {
                eventLoop.execute(() -> refused(sending, connected.cause()));
              }
            });
  }

  private void refused(Sending sending, Throwable cause) {
    if (sending.done) {
      return;
    }
    if (sending.carrier != null) {
      sending.carrier.leftBy(sending);
      sending.carrier = null;
    }
    if (sending.untried.isEmpty()) {
      sender.fail(sending, Failures.inConnect(cause));
    } else {
      connect(sending);
    }
  }

  private void prepare(Channel channel, Sending sending) {
    Ration ration = new Ration(sender.deadlines);
    Opening opening = new Opening(sender, channel, ration, sending);
    sending.carrier = opening;
    channel.pipeline().addLast(ration);
    Origin origin = sending.target.origin;
    if (origin.key.https()) {
      channel.pipeline().addLast(tls.handler(channel, origin));
    }
    channel.pipeline().addLast(opening);
  }
}
