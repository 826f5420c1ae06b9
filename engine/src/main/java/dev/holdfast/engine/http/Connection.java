package dev.holdfast.engine.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/** An open connection: carries attempts, and is kept for the next. */
abstract class Connection extends ChannelInboundHandlerAdapter {

  /** Answers such as 102 that come before the one that counts. More than these are no service. */
  static final int MOST_INTERIM_ANSWERS = 32;

  final Origin origin;

  /** The neighbours among all kept connections, see {@link Connections}. */
  @Nullable Connection keptEarlier;

  @Nullable Connection keptLater;

  /** When a kept connection is to be closed. */
  long keptUntilNanos;

  final HttpSender sender;
  final Channel channel;
  final Ration ration;

  Connection(HttpSender sender, Channel channel, Ration ration, Origin origin) {
    this.sender = sender;
    this.channel = channel;
    this.ration = ration;
    this.origin = origin;
  }

  /** Sends a request. From now on the attempt is on this connection. */
  abstract void send(Sending next, long nowNanos);

  /** Closes it; whatever it carries has ended, or ends with it. */
  abstract void close();
}
