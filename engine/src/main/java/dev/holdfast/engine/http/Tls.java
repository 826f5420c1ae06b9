package dev.holdfast.engine.http;

import dev.holdfast.core.model.EndpointTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Agrees on encryption with servers, and verifies who they are.
 *
 * <p>BoringSSL does it where it runs, and Java's own engine elsewhere. Certificates are verified by
 * Java in either case, on threads of this class: a chain takes longer than everything else in an
 * attempt, and the event loop has others to serve.
 *
 * <p>An endpoint may have authorities of its own, and a certificate that we show to its server.
 * Then it shares nothing with others: no connections, and no sessions.
 *
 * <p>A server that was verified a short while ago is asked to go on with the session of then, which
 * costs both sides much less. Sessions are kept by name and port, so they are only ever used for
 * the name that they were verified for; and another server at that name cannot go on with one,
 * because it does not have its key.
 */
final class Tls {

  /** What is spoken over TLS, in the order of preference. */
  static final ApplicationProtocolConfig PROTOCOLS =
      new ApplicationProtocolConfig(
          ApplicationProtocolConfig.Protocol.ALPN,
          ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
          ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_2,
          ApplicationProtocolNames.HTTP_1_1);

  /** How long closing a connection may wait for the goodbye that TLS asks for. */
  private static final long GOODBYE_MILLIS = 100;

  /** How many sessions are remembered. A server decides how large one is, up to its ration. */
  private static final int MOST_SESSIONS = 1_024;

  /** And of each endpoint that has something special about it. */
  private static final int MOST_OWN_SESSIONS = 16;

  /** How long a server that was verified is taken for the same. */
  private static final int SESSION_SECONDS = 300;

  private static final int FEWEST_THREADS = 2;
  private static final int MOST_THREADS = 4;

  /** How many endpoints' own settings are kept ready. */
  private static final int MOST_OWN = 256;

  /** On how many threads they are made, so that those who verify others have time for them. */
  private static final int OWN_THREADS = 1;

  private final SslContext context;
  private final OwnContexts own;
  private final ThreadPoolExecutor threads =
      SideThreads.halfOfAll(FEWEST_THREADS, MOST_THREADS, "holdfast-tls-");
  private final ThreadPoolExecutor ownThreads = SideThreads.make(OWN_THREADS, "holdfast-tls-own-");

  /** Shares the context until it is closed. What is special about endpoints adds to nothing. */
  Tls(SslContext context) {
    this(context, own(Authorities.usualAnd(List.of()), provider()));
  }

  Tls(SslContext context, OwnContexts own) {
    this.context = ReferenceCountUtil.retain(context);
    this.own = own;
  }

  /**
   * Trusts the authorities that Java trusts.
   *
   * @param trusted and these
   */
  static Tls verifying(List<X509Certificate> trusted) {
    return verifying(trusted, provider());
  }

  static Tls verifying(List<X509Certificate> trusted, SslProvider provider) {
    Authorities authorities = Authorities.usualAnd(trusted);
    SslContext context = context(provider, authorities, null, MOST_SESSIONS);
    Tls tls = new Tls(context, own(authorities, provider));
    ReferenceCountUtil.release(context);
    return tls;
  }

  /**
   * Trusts endpoints' own authorities besides the others, and shows their servers who we are.
   *
   * @param usual authorities that all endpoints have
   */
  private static OwnContexts own(Authorities usual, SslProvider provider) {
    return new OwnContexts(
        MOST_OWN,
        tls -> {
          TlsMaterial material = TlsMaterial.of(tls);
          return context(
              material.needsJava() ? SslProvider.JDK : provider,
              usual.and(material.roots()),
              material,
              MOST_OWN_SESSIONS);
        });
  }

  private static SslContext context(
      SslProvider provider,
      Authorities authorities,
      @Nullable TlsMaterial material,
      int mostSessions) {
    SslContextBuilder builder =
        SslContextBuilder.forClient()
            .sslProvider(provider)
            .protocols("TLSv1.3", "TLSv1.2")
            .applicationProtocolConfig(PROTOCOLS)
            .trustManager(authorities)
            .sessionCacheSize(mostSessions)
            .sessionTimeout(SESSION_SECONDS);
    if (material != null && material.privateKey() != null) {
      builder.keyManager(
          material.privateKey(), material.certificates().toArray(X509Certificate[]::new));
    }
    try {
      return builder.build();
    } catch (SSLException e) {
      throw new IllegalStateException("this Java cannot make TLS connections", e);
    }
  }

  /** One with the same authorities and sessions, and threads of its own. */
  Tls another() {
    return new Tls(context, own);
  }

  /**
   * Finds or makes what connections to that origin are made with, which takes a while for some and
   * is then done on another thread.
   *
   * @param told called on the event loop, at once or later, with what is to be released after use;
   *     with nothing if there is none
   */
  void prepare(Origin origin, EventLoop eventLoop, Consumer<@Nullable SslContext> told) {
    if (threads.isShutdown()) {
      told.accept(null);
      return;
    }
    EndpointTls special = origin.key.tls();
    SslContext ready =
        special == null ? ReferenceCountUtil.retain(context) : own.takeReady(special);
    if (special == null || ready != null) {
      told.accept(ready);
      return;
    }
    try {
      ownThreads.execute(() -> make(special, eventLoop, told));
    } catch (RejectedExecutionException _) {
      told.accept(null);
    }
  }

  private void make(EndpointTls special, EventLoop eventLoop, Consumer<@Nullable SslContext> told) {
    SslContext made = made(special);
    try {
      eventLoop.execute(() -> told.accept(made));
    } catch (RejectedExecutionException _) {
      ReferenceCountUtil.release(made);
    }
  }

  private @Nullable SslContext made(EndpointTls special) {
    try {
      return own.take(special);
    } catch (TlsMaterial.Unusable | RuntimeException e) {
      return null;
    }
  }

  /** The engine whose memory is freed with its connection, not when Java next looks for garbage. */
  private static SslProvider provider() {
    return OpenSsl.isAvailable() ? SslProvider.OPENSSL_REFCNT : SslProvider.JDK;
  }

  /** What does it here, in a word. */
  static String engine() {
    return OpenSsl.isAvailable() ? "boringssl" : "java";
  }

  /**
   * Verifies the certificate against the name, whichever address it was looked up to.
   *
   * @param its what was prepared for the origin
   */
  SslHandler handler(Channel channel, Origin origin, SslContext its) {
    SSLEngine engine = its.newEngine(channel.alloc(), origin.tlsHost, origin.key.port());
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    if (!origin.serverNames.isEmpty()) {
      parameters.setServerNames(origin.serverNames);
    }
    engine.setSSLParameters(parameters);
    SslHandler handler = new Handler(engine, new Work(channel, engine, threads));
    handler.setHandshakeTimeoutMillis(0);
    handler.setCloseNotifyFlushTimeoutMillis(GOODBYE_MILLIS);
    return handler;
  }

  /** Ends the threads. Connections that are open stay so; no others can be made. */
  void close() {
    if (!threads.isShutdown()) {
      threads.shutdown();
      ownThreads.shutdown();
      own.close();
      ReferenceCountUtil.release(context);
    }
  }

  /** What other threads do for a connection. */
  private static final class Work implements Executor {
    private final Channel channel;
    private final SSLEngine engine;
    private final Executor threads;

    private final AtomicInteger underWay = new AtomicInteger();

    Work(Channel channel, SSLEngine engine, Executor threads) {
      this.channel = channel;
      this.engine = engine;
      this.threads = threads;
    }

    /** Keeps the engine until the work is done. */
    @Override
    public void execute(Runnable work) {
      ReferenceCountUtil.retain(engine);
      underWay.incrementAndGet();
      try {
        threads.execute(() -> run(work));
      } catch (RejectedExecutionException e) {
        underWay.decrementAndGet();
        ReferenceCountUtil.release(engine);
        throw e;
      }
    }

    /** What an attempt has given up in the meantime is not done: others wait. */
    private void run(Runnable work) {
      try {
        if (channel.isActive()) {
          work.run();
        }
      } finally {
        underWay.decrementAndGet();
        // After whatever the work has left for the event loop to do with the engine.
        channel.eventLoop().execute(() -> ReferenceCountUtil.release(engine));
      }
    }

    boolean isUnderWay() {
      return underWay.get() > 0;
    }
  }

  /**
   * Leaves the engine alone while another thread works with it: whoever asks the engine for
   * something then waits until the work is done, and the event loop waits for nobody. A connection
   * that is closed meanwhile, from here or from there, is closed without a goodbye.
   */
  private static final class Handler extends SslHandler {
    private final Work work;

    Handler(SSLEngine engine, Work work) {
      super(engine, false, work);
      this.work = work;
    }

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) throws Exception {
      if (work.isUnderWay()) {
        var _ = context.close(promise);
      } else {
        super.close(context, promise);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      if (work.isUnderWay()) {
        context.fireChannelInactive();
      } else {
        super.channelInactive(context);
      }
    }
  }
}
