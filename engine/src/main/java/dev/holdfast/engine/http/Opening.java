package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.proxy.ProxyConnectionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** A connection that is being opened for an attempt, up to where HTTP can be spoken. */
final class Opening extends ChannelInboundHandlerAdapter implements Carrier {
  private final HttpSender sender;
  private final Channel channel;
  private final Ration ration;
  private final Origin origin;

  private final Tls tls;

  /** What it goes through, if it does not go directly. */
  private final @Nullable Tunnel tunnel;

  /** The attempt that waits for it. */
  private @Nullable Sending sending;

  Opening(
      HttpSender sender,
      Channel channel,
      Ration ration,
      Tls tls,
      @Nullable Tunnel tunnel,
      Sending sending) {
    this.sender = sender;
    this.channel = channel;
    this.ration = ration;
    this.origin = sending.target.origin;
    this.tls = tls;
    this.tunnel = tunnel;
    this.sending = sending;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    sender.connections.opened();
    channel.closeFuture().addListener(_ -> sender.connections.closed());
  }

  @Override
  public void leftBy(Sending ended) {
    if (sending == ended) {
      sending = null;
      var _ = channel.close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (tunnel == null) {
      reached(context);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      if (handshake.isSuccess()) {
        opened();
      } else {
        fail(Failures.inHandshake(handshake.cause()));
      }
    } else if (event instanceof ProxyConnectionEvent) {
      reached(context);
    } else if (event == Ration.Event.EXCEEDED) {
      fail(origin.key.https() ? Kind.TLS : Kind.PROTOCOL);
    }
  }

  /** The server is at the other end. */
  private void reached(ChannelHandlerContext context) {
    if (origin.key.https()) {
      channel.pipeline().addBefore(context.name(), null, tls.handler(channel, origin));
    } else {
      opened();
    }
  }

  private void opened() {
    Sending waiting = sending;
    if (waiting == null) {
      return;
    }
    sending = null;
    AnswerDecoder decoder = new AnswerDecoder();
    Http1Connection connection = new Http1Connection(sender, channel, ration, decoder, origin);
    channel.pipeline().addLast(decoder, connection).remove(this);
    waiting.carrier = connection;
    connection.send(waiting, System.nanoTime());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ReferenceCountUtil.release(message);
    fail(Kind.PROTOCOL);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (tunnel != null && cause instanceof ProxyConnectException) {
      tunnel.failed(cause);
      fail(Kind.CONNECT);
    } else {
      fail(Failures.inHandshake(cause));
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    fail(origin.key.https() ? Kind.TLS : Kind.RESET);
  }

  private void fail(Kind kind) {
    Sending waiting = sending;
    sending = null;
    var _ = channel.close();
    if (waiting != null) {
      sender.fail(waiting, kind);
    }
  }
}
