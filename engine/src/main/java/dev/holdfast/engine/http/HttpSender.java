package dev.holdfast.engine.http;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes attempts: each a POST of a message to its endpoint, with an outcome.
 *
 * <p>It lives on one event loop, is called there, and calls back there. It speaks HTTP over Netty
 * rather than through Vert.x's client, on Vert.x's own event loop and with its name resolver: that
 * costs a good deal less for each request, and lets it decide itself when a connection is opened,
 * used again and closed, which the rules about time limits and answers need.
 */
public final class HttpSender {

  /** Hears how an attempt ended. */
  @FunctionalInterface
  public interface Ended {
    void ended(Outcome outcome, long durationMillis);
  }

  private static final Logger log = LoggerFactory.getLogger(HttpSender.class);

  /** How many endpoints are remembered with their URLs taken apart. */
  private static final int MOST_TARGETS = 16_384;

  /** How many subscriptions are remembered with their forms made ready. */
  private static final int MOST_LETTERHEADS = 16_384;

  /** How long closing a connection may wait for the goodbye that TLS asks for. */
  private static final long TLS_GOODBYE_MILLIS = 100;

  final Deadlines deadlines;
  final Connections connections;
  final Keeping keeping;
  final RequestWriter writer = new RequestWriter();

  private final ContextInternal context;
  private final VertxInternal vertx;
  private final EventLoop eventLoop;
  private final AddressGuard guard;
  private final @Nullable AttemptSpans spans;
  private final SslContext tls;
  private final Targets targets;
  private final Letterheads letterheads = new Letterheads(MOST_LETTERHEADS);
  private final Bootstrap bootstrap;
  private boolean inSend;

  /**
   * @param context the event loop's context that the sender is to live on
   * @param timeout the time that an attempt may take, from its start to the end of its answer's
   *     headers
   * @param mostConnections how many connections may be open while some of them are idle
   * @param userAgent what receivers see as {@code User-Agent}
   * @param tracer makes a span of each attempt; absent when nobody wants to see them
   */
  public HttpSender(
      Context context,
      AddressGuard guard,
      Duration timeout,
      int mostConnections,
      String userAgent,
      @Nullable Tracer tracer) {
    this(
        context, guard, timeout, mostConnections, userAgent, tracer, Keeping.USUAL, verifyingTls());
  }

  HttpSender(
      Context context,
      AddressGuard guard,
      Duration timeout,
      int mostConnections,
      String userAgent,
      @Nullable Tracer tracer,
      Keeping keeping,
      SslContext tls) {
    this.context = (ContextInternal) context;
    this.vertx = this.context.owner();
    this.eventLoop = this.context.nettyEventLoop();
    this.guard = guard;
    this.spans = tracer == null ? null : new AttemptSpans(tracer);
    this.keeping = keeping;
    this.tls = tls;
    this.deadlines = new Deadlines(eventLoop, timeout.toNanos(), this::expire);
    this.connections = new Connections(eventLoop, mostConnections);
    this.targets = new Targets(userAgent, MOST_TARGETS, connections::closeKept);
    this.bootstrap =
        new Bootstrap()
            .group(eventLoop)
            .channelFactory(vertx.transport().channelFactory(false))
            .disableResolver()
            .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
  }

  static SslContext verifyingTls() {
    try {
      return SslContextBuilder.forClient().build();
    } catch (SSLException e) {
      throw new IllegalStateException("this Java cannot make TLS connections", e);
    }
  }

  /**
   * Makes an attempt. {@code ended} is called exactly once, on the event loop and never before this
   * method has returned.
   */
  public void send(Delivery delivery, Ended ended) {
    if (!eventLoop.inEventLoop()) {
      throw new IllegalStateException("the sender is called on its own event loop only");
    }
    long now = System.nanoTime();
    Target target = targets.of(delivery.url());
    Span span = spans == null ? null : spans.start(delivery);
    if (target == null) {
      trace(span, delivery, null, Outcome.Failure.of(Kind.CONNECT), 0);
      log.error(
          "attempt.impossible endpoint={} next=\"the attempt fails: its URL cannot be sent to\"",
          Id.text(Id.ENDPOINT, delivery.message().endpoint()));
      eventLoop.execute(() -> tell(ended, Outcome.Failure.of(Kind.CONNECT), 0));
      return;
    }
    Sending sending = new Sending(delivery, ended, target, span, now);
    deadlines.add(sending);
    inSend = true;
    try {
      sending.letterhead = letterheads.of(delivery.subscription());
      Connection kept = connections.take(target.origin, now);
      if (kept == null) {
        open(sending);
      } else {
        sending.connection = kept;
        kept.send(sending, now);
      }
    } catch (RuntimeException | Error e) {
      log.error(
          "attempt.broken where=\"while sending\" message={} next=\"the attempt fails\"",
          Id.text(Id.MESSAGE, delivery.message().id()),
          e);
      fail(sending, Kind.PROTOCOL);
    } finally {
      inSend = false;
    }
  }

  /** Closes the connections that are not in use; the others follow when their attempts end. */
  public void close() {
    connections.close();
  }

  /** How many connections are open, in use or kept. */
  public int openConnections() {
    return connections.open();
  }

  /** Looks up the attempt's host, if it is a name, and connects. */
  void open(Sending sending) {
    Origin origin = sending.target.origin;
    if (origin.literal != null) {
      connectToPermitted(sending, origin.literal);
      return;
    }
    vertx
        .nameResolver()
        .resolveAll(eventLoop, origin.key.host())
        .addListener((Future<List<InetSocketAddress>> found) -> resolved(sending, found));
  }

  private void resolved(Sending sending, Future<List<InetSocketAddress>> found) {
    if (sending.done) {
      return;
    }
    if (!found.isSuccess()) {
      fail(sending, Kind.DNS);
      return;
    }
    List<InetAddress> addresses = new ArrayList<>();
    for (InetSocketAddress address : found.getNow()) {
      addresses.add(address.getAddress());
    }
    connectToPermitted(sending, addresses);
  }

  private void connectToPermitted(Sending sending, List<InetAddress> addresses) {
    List<InetAddress> permitted = new ArrayList<>(addresses.size());
    for (InetAddress address : addresses) {
      if (guard.permits(address)) {
        permitted.add(address);
      }
    }
    if (permitted.isEmpty()) {
      fail(sending, addresses.isEmpty() ? Kind.DNS : Kind.FORBIDDEN);
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
        .connect(new InetSocketAddress(address, sending.target.origin.key.port()))
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
    if (sending.connection != null) {
      sending.connection.leftBy(sending);
      sending.connection = null;
    }
    if (sending.untried.isEmpty()) {
      fail(sending, Failures.inConnect(cause));
    } else {
      connect(sending);
    }
  }

  private void prepare(Channel channel, Sending sending) {
    AnswerDecoder decoder = new AnswerDecoder();
    Connection connection = new Connection(this, channel, decoder, sending);
    sending.connection = connection;
    Origin origin = sending.target.origin;
    if (origin.key.https()) {
      channel.pipeline().addLast(tlsHandler(channel, origin));
    }
    channel.pipeline().addLast(decoder, connection);
  }

  /** Verifies the certificate against the name, whichever address it was looked up to. */
  private SslHandler tlsHandler(Channel channel, Origin origin) {
    SslHandler handler = tls.newHandler(channel.alloc(), origin.tlsHost, origin.key.port());
    SSLParameters parameters = handler.engine().getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    if (!origin.serverNames.isEmpty()) {
      parameters.setServerNames(origin.serverNames);
    }
    handler.engine().setSSLParameters(parameters);
    handler.setHandshakeTimeoutMillis(0);
    handler.setCloseNotifyFlushTimeoutMillis(TLS_GOODBYE_MILLIS);
    return handler;
  }

  private void expire(Sending sending) {
    end(
        sending,
        sending.isAnswered() ? sending.outcome() : Outcome.Failure.of(Kind.TIMEOUT),
        System.nanoTime());
  }

  void fail(Sending sending, Kind kind) {
    end(sending, Outcome.Failure.of(kind), System.nanoTime());
  }

  /** The one way in which attempts end. */
  void end(Sending sending, Outcome outcome, long nowNanos) {
    if (sending.done) {
      return;
    }
    sending.done = true;
    deadlines.remove(sending);
    Connection connection = sending.connection;
    sending.connection = null;
    if (connection != null) {
      connection.leftBy(sending);
    }
    long nanos = nowNanos - sending.startedNanos;
    trace(sending.span, sending.delivery, sending.target.origin, outcome, nanos);
    long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
    if (inSend) {
      eventLoop.execute(() -> tell(sending.ended, outcome, millis));
    } else {
      tell(sending.ended, outcome, millis);
    }
  }

  private void trace(
      @Nullable Span span,
      Delivery delivery,
      @Nullable Origin origin,
      Outcome outcome,
      long nanos) {
    if (spans != null && span != null) {
      spans.end(span, delivery, origin, outcome, nanos);
    }
  }

  private void tell(Ended ended, Outcome outcome, long millis) {
    ContextInternal previous = context.beginDispatch();
    try {
      ended.ended(outcome, millis);
    } catch (RuntimeException | Error e) {
      log.error(
          "attempt.unheard next=\"its outcome is lost; it is made again after a restart\"", e);
    } finally {
      context.endDispatch(previous);
    }
  }
}
