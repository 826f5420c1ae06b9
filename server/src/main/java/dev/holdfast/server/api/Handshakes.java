package dev.holdfast.server.api;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.DelegatingSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.spi.tls.SslContextFactory;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * Keeps the number of connections small that have not agreed on encryption yet.
 *
 * <p>Vert.x tells of a connection only when it has, so {@link Connections} does not know them.
 * Further ones are closed at once; each that stays has a time limit, which the handler keeps.
 */
final class Handshakes {
  private final int most;
  private final AtomicInteger underWay = new AtomicInteger();

  Handshakes(int most) {
    this.most = most;
  }

  /** Java's own engine, with its work on other threads and its handshakes counted. */
  JdkSSLEngineOptions engine() {
    Engine engine = new Engine(this);
    engine.setUseWorkerThread(true);
    return engine;
  }

  private static final class Engine extends JdkSSLEngineOptions {
    private final Handshakes handshakes;

    Engine(Handshakes handshakes) {
      this.handshakes = handshakes;
    }

    private Engine(Engine other) {
      super(other);
      this.handshakes = other.handshakes;
    }

    /** Vert.x keeps a copy. */
    @Override
    public JdkSSLEngineOptions copy() {
      return new Engine(this);
    }

    @Override
    public SslContextFactory sslContextFactory() {
      return new Factory(super.sslContextFactory(), handshakes);
    }
  }

  /** Makes what Vert.x would make, and counts what that does. */
  private record Factory(SslContextFactory usual, Handshakes handshakes)
      implements SslContextFactory {

    @Override
    public SslContextFactory useAlpn(boolean used) {
      return new Factory(usual.useAlpn(used), handshakes);
    }

    @Override
    public SslContextFactory forServer(ClientAuth clients) {
      return new Factory(usual.forServer(clients), handshakes);
    }

    @Override
    public SslContextFactory enabledProtocols(Set<String> protocols) {
      return new Factory(usual.enabledProtocols(protocols), handshakes);
    }

    @Override
    public SslContextFactory keyMananagerFactory(KeyManagerFactory keys) {
      return new Factory(usual.keyMananagerFactory(keys), handshakes);
    }

    @Override
    public SslContextFactory enabledCipherSuites(Set<String> suites) {
      return new Factory(usual.enabledCipherSuites(suites), handshakes);
    }

    @Override
    public SslContext create() throws SSLException {
      return new Counted(usual.create(), handshakes);
    }
  }

  private static final class Counted extends DelegatingSslContext {
    private final Handshakes handshakes;

    Counted(SslContext usual, Handshakes handshakes) {
      super(usual);
      this.handshakes = handshakes;
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, boolean startTls, Executor executor) {
      return new Handler(newEngine(allocator), startTls, executor, handshakes);
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, String host, int port, boolean startTls, Executor executor) {
      return new Handler(newEngine(allocator, host, port), startTls, executor, handshakes);
    }

    @Override
    protected void initEngine(SSLEngine engine) {
      // As it is made.
    }
  }

  private static final class Handler extends SslHandler {
    private final Handshakes handshakes;

    Handler(SSLEngine engine, boolean startTls, Executor executor, Handshakes handshakes) {
      super(engine, startTls, executor);
      this.handshakes = handshakes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) throws Exception {
      AtomicInteger underWay = handshakes.underWay;
      boolean hasRoom = underWay.incrementAndGet() <= handshakes.most;
      Future<Channel> _ = handshakeFuture().addListener(_ -> underWay.decrementAndGet());
      super.handlerAdded(context);
      if (!hasRoom) {
        ChannelFuture _ = context.channel().close();
      }
    }
  }
}
