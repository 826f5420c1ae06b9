package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.proxy.ProxyConnectionEvent;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is being opened, up to where HTTP can be spoken, for an attempt that waits for
 * it.
 *
 * <p>If the origin is known to speak HTTP/2, then more attempts can wait for the same one. Each
 * does so until its own time is up, and the opening goes on for the others.
 */
final class Opening implements Carrier {
  final Origin origin;

  /** Checked addresses that have not been tried yet. */
  List<InetAddress> untried = List.of();

  private final HttpSender sender;
  private final List<Sending> waiting = new ArrayList<>(1);

  /** The connection to the address that is being tried. */
  private @Nullable Channel channel;

  /** What encryption is made with, kept until the end; absent before it is ready, or without. */
  private @Nullable SslContext context;

  Opening(HttpSender sender, Sending first) {
    this.sender = sender;
    this.origin = first.target.origin;
    join(first);
  }

  /** Whether one more attempt would fit on the connection. */
  boolean hasRoom() {
    return waiting.size() < origin.mostStreams;
  }

  void join(Sending sending) {
    waiting.add(sending);
    sending.carrier = this;
  }

  /** Whether nobody waits for it any more. */
  boolean isAbandoned() {
    return waiting.isEmpty();
  }

  /**
   * Keeps what encryption is made with, or releases it if nobody waits any more.
   *
   * @return whether somebody does
   */
  boolean keep(SslContext prepared) {
    if (isAbandoned()) {
      ReferenceCountUtil.release(prepared);
      return false;
    }
    context = prepared;
    return true;
  }

  @Override
  public void leftBy(Sending ended) {
    if (!waiting.remove(ended)) {
      return;
    }
    if (origin.opening == this) {
      // it takes too long: those who come from now on do not wait for it
      origin.opening = null;
    }
    if (waiting.isEmpty()) {
      close();
      if (channel != null) {
        var _ = channel.close();
      }
    }
  }

  /** Nobody can wait for it from now on. Returns those who did. */
  private List<Sending> close() {
    List<Sending> all = List.copyOf(waiting);
    waiting.clear();
    if (context != null) {
      ReferenceCountUtil.release(context);
      context = null;
    }
    if (origin.opening == this) {
      origin.opening = null;
    }
    return all;
  }

  /** There is no connection, and all who have waited for it fail. */
  void fail(Kind kind) {
    List<Sending> all = close();
    if (channel != null) {
      var _ = channel.close();
    }
    for (Sending sending : all) {
      sender.fail(sending, kind);
    }
  }

  private void speak(Channel open, Ration ration, @Nullable SslHandler encryption) {
    origin.speaksHttp2 =
        encryption != null
            && ApplicationProtocolNames.HTTP_2.equals(encryption.applicationProtocol());
    List<Sending> all = close();
    if (origin.speaksHttp2) {
      Http2Connection connection = new Http2Connection(sender, open, ration, origin);
      open.pipeline().addLast(connection.codec, connection);
      for (Sending sending : all) {
        if (connection.hasRoom(System.nanoTime())) {
          sender.send(sending, connection);
        } else {
          sender.open(sending);
        }
      }
    } else {
      AnswerDecoder decoder = new AnswerDecoder();
      Http1Connection connection = new Http1Connection(sender, open, ration, decoder, origin);
      open.pipeline().addLast(decoder, connection);
      sender.send(all.getFirst(), connection);
      for (Sending sending : all.subList(1, all.size())) {
        sender.open(sending);
      }
    }
  }

  /**
   * What watches over a connection until HTTP can be spoken on it.
   *
   * @param tunnel what it goes through, if it does not go directly
   * @param refused told when that does not take it to the address
   */
  ChannelHandler on(
      Channel tried, Ration ration, Tls tls, @Nullable Tunnel tunnel, Consumer<Throwable> refused) {
    channel = tried;
    return new Handshake(tried, ration, tls, tunnel, refused);
  }

  private final class Handshake extends ChannelInboundHandlerAdapter {
    private final Channel tried;
    private final Ration ration;
    private final Tls tls;
    private final @Nullable Tunnel tunnel;
    private final Consumer<Throwable> refused;

    /** Whether the next address is being tried, or none is left. */
    private boolean isOver;

    /** Absent when there is none, or when it has not begun. */
    private @Nullable SslHandler encryption;

    private Handshake(
        Channel tried,
        Ration ration,
        Tls tls,
        @Nullable Tunnel tunnel,
        Consumer<Throwable> refused) {
      this.tried = tried;
      this.ration = ration;
      this.tls = tls;
      this.tunnel = tunnel;
      this.refused = refused;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      sender.connections.opened();
      tried.closeFuture().addListener(_ -> sender.connections.closed());
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      if (tunnel == null) {
        reached(context);
      }
    }

    /** The server is at the other end. */
    private void reached(ChannelHandlerContext handler) {
      if (!origin.key.https()) {
        opened(handler);
      } else if (context != null) {
        encryption = tls.handler(tried, origin, context);
        handler.pipeline().addBefore(handler.name(), null, encryption);
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake) {
        if (handshake.isSuccess()) {
          opened(context);
        } else {
          fail(Failures.inHandshake(handshake.cause()));
        }
      } else if (event instanceof ProxyConnectionEvent) {
        reached(context);
      } else if (event == Ration.Event.EXCEEDED) {
        fail(encryption == null ? Kind.PROTOCOL : Kind.TLS);
      }
    }

    private void opened(ChannelHandlerContext context) {
      if (!isAbandoned()) {
        context.pipeline().remove(this);
        speak(tried, ration, encryption);
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
      fail(Kind.PROTOCOL);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (cause instanceof ProxyConnectException) {
        isOver = true;
        var _ = tried.close();
        refused.accept(cause);
      } else {
        fail(Failures.inHandshake(cause));
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (isOver) {
        return;
      }
      fail(encryption == null ? Kind.RESET : Kind.TLS);
    }
  }
}
