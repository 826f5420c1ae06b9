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
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the number of connections small that have not agreed on encryption yet.
 *
 * <p>Vert.x tells of a connection only when it has, so {@link Connections} does not know them. When
 * there are too many the oldest that has not said anything gives way to the new one, or else the
 * oldest of all: who means it says something at once and is done soon, so whoever opens connections
 * and is silent keeps out nobody but itself. Each has a time limit besides, which the handler
 * keeps.
 */
final class Handshakes {
  private static final Logger log = LoggerFactory.getLogger(Handshakes.class);

  private static final long TELL_NANOS = Duration.ofMinutes(1).toNanos();

  private final int most;

  /** Those under way, the oldest first: who has said nothing yet, and who has said something. */
  private final Set<Handler> silent = new LinkedHashSet<>();

  private final Set<Handler> begun = new LinkedHashSet<>();

  private long closed;
  private long untold;
  private long toldAt = Connections.now() - TELL_NANOS;

  Handshakes(int most) {
    this.most = most;
  }

  /** How many have given way to others since the start. */
  synchronized long closed() {
    return closed;
  }

  private void add(Handler handler) {
    Handler oldest = addAndFindOldest(handler);
    if (oldest != null) {
      oldest.giveWay();
      tell(Connections.now());
    }
  }

  private synchronized @Nullable Handler addAndFindOldest(Handler handler) {
    Handler oldest = null;
    if (silent.size() + begun.size() >= most) {
      Iterator<Handler> all = (silent.isEmpty() ? begun : silent).iterator();
      oldest = all.next();
      all.remove();
      closed++;
      untold++;
    }
    silent.add(handler);
    return oldest;
  }

  private synchronized void saidSomething(Handler handler) {
    if (silent.remove(handler)) {
      begun.add(handler);
    }
  }

  private synchronized void remove(Handler handler) {
    if (!silent.remove(handler)) {
      begun.remove(handler);
    }
  }

  /** Tells the log of those that had to give way, at most once a minute. */
  synchronized void tell(long now) {
    if (untold > 0 && now - toldAt >= TELL_NANOS) {
      log.warn(
          "server.handshakes-crowded times={} most={} next=\"the oldest give way to new ones\"",
          untold,
          most);
      untold = 0;
      toldAt = now;
    }
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
    private @Nullable ChannelHandlerContext context;
    private boolean hasSaidSomething;

    Handler(SSLEngine engine, boolean startTls, Executor executor, Handshakes handshakes) {
      super(engine, startTls, executor);
      this.handshakes = handshakes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
      context = added;
      handshakes.add(this);
      Future<Channel> _ = handshakeFuture().addListener(_ -> handshakes.remove(this));
      super.handlerAdded(added);
    }

    @Override
    public void channelRead(ChannelHandlerContext reading, Object message) throws Exception {
      if (!hasSaidSomething) {
        hasSaidSomething = true;
        handshakes.saidSomething(this);
      }
      super.channelRead(reading, message);
    }

    /** Closes the connection without a goodbye, for which the engine may have to be waited for. */
    private void giveWay() {
      if (context != null) {
        ChannelFuture _ = context.close();
      }
    }
  }
}
