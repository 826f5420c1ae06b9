package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** A connection that is being opened for an attempt, up to where HTTP can be spoken. */
final class Opening extends ChannelInboundHandlerAdapter implements Carrier {
  private final HttpSender sender;
  private final Channel channel;
  private final Ration ration;
  private final Origin origin;

  /** The attempt that waits for it. */
  private @Nullable Sending sending;

  Opening(HttpSender sender, Channel channel, Ration ration, Sending sending) {
    this.sender = sender;
    this.channel = channel;
    this.ration = ration;
    this.origin = sending.target.origin;
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
    if (!origin.key.https()) {
      opened();
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
    } else if (event == Ration.Event.EXCEEDED) {
      fail(origin.key.https() ? Kind.TLS : Kind.PROTOCOL);
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
    fail(Failures.inHandshake(cause));
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
