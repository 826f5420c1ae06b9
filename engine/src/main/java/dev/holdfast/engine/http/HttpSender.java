package dev.holdfast.engine.http;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.Egress;
import io.netty.channel.EventLoop;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
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
final class HttpSender {
  private static final Logger log = LoggerFactory.getLogger(HttpSender.class);

  /** How many endpoints are remembered with their URLs taken apart. */
  private static final int MOST_TARGETS = 16_384;

  /** How many subscriptions are remembered with their forms made ready. */
  private static final int MOST_LETTERHEADS = 16_384;

  final Deadlines deadlines;
  final Connections connections;
  final Keeping keeping;
  final RequestWriter writer = new RequestWriter();

  private final ContextInternal context;
  private final Dialler dialler;
  private final Tls tls;
  private final @Nullable Openings openings;
  private final EventLoop eventLoop;
  private final @Nullable AttemptSpans spans;
  private final Targets targets;
  private final Letterheads letterheads = new Letterheads(MOST_LETTERHEADS);
  private final SlowSignatures slowSignatures;
  private boolean inSend;

  /**
   * @param context the event loop's context that the sender is to live on
   * @param egress where attempts may go, and how
   * @param timeout the time that an attempt may take, from its start to the end of its answer's
   *     headers
   * @param mostConnections how many connections may be open while some of them are idle
   * @param userAgent what receivers see as {@code User-Agent}
   * @param tracer makes a span of each attempt; absent when nobody wants to see them
   * @param tls closed with the sender
   * @param route see {@link Dialler}
   * @param paced whether attempts that need a new connection begin one after the other, see {@link
   *     Openings}
   */
  HttpSender(
      Context context,
      Egress egress,
      Duration timeout,
      int mostConnections,
      String userAgent,
      @Nullable Tracer tracer,
      Keeping keeping,
      Tls tls,
      UnaryOperator<InetSocketAddress> route,
      boolean paced) {
    this.context = (ContextInternal) context;
    this.eventLoop = this.context.nettyEventLoop();
    this.spans = tracer == null ? null : new AttemptSpans(tracer);
    this.keeping = keeping;
    this.slowSignatures = new SlowSignatures(eventLoop, this::signed);
    this.tls = tls;
    this.deadlines = new Deadlines(eventLoop, timeout.toNanos(), this::expire);
    this.connections = new Connections(eventLoop, mostConnections);
    this.openings = paced ? new Openings(eventLoop, next -> begin(next, true)) : null;
    this.targets = new Targets(userAgent, MOST_TARGETS, connections::closeKept);
    VertxInternal vertx = this.context.owner();
    Names names = new Names(vertx, eventLoop, Names.MOST);
    this.dialler = new Dialler(deadlines, vertx, eventLoop, names, egress, tls, route);
  }

  /**
   * Makes an attempt. {@code ended} is called exactly once, on the event loop and never before this
   * method has returned.
   */
  void send(Delivery delivery, Attempts.Ended ended) {
    if (!eventLoop.inEventLoop()) {
      throw new IllegalStateException("the sender is called on its own event loop only");
    }
    Sending sending;
    try {
      sending = sending(delivery, ended);
    } catch (RuntimeException | Error e) {
      broken(delivery, e);
      eventLoop.execute(() -> tell(ended, Outcome.Failure.of(Kind.PROTOCOL), 0));
      return;
    }
    if (sending == null) {
      eventLoop.execute(() -> tell(ended, Outcome.Failure.of(Kind.FORBIDDEN), 0));
      return;
    }
    if (sending.letterhead.isSlowAt(delivery.startedAt()) || sending.target.unsigned != null) {
      slowSignatures.make(sending);
      return;
    }
    inSend = true;
    try {
      begin(sending, false);
    } finally {
      inSend = false;
    }
  }

  /** An attempt's time begins when it is signed: how busy we are is not its receiver's fault. */
  private void signed(Sending sending) {
    Throwable broken = sending.unsignable;
    if (broken == null) {
      begin(sending, false);
    } else {
      sending.startedNanos = System.nanoTime();
      fail(sending, broken);
    }
  }

  /**
   * Begins an attempt, on a connection that is there, or when its turn to open one has come. Those
   * to one origin begin in the order in which they were asked for.
   */
  private void begin(Sending sending, boolean turnHasCome) {
    long now = System.nanoTime();
    sending.startedNanos = now;
    try {
      Origin origin = sending.target.origin;
      Connection kept = turnHasCome || origin.waiting == 0 ? connections.take(origin, now) : null;
      if (kept == null && !turnHasCome && openings != null) {
        openings.add(sending, now);
        return;
      }
      deadlines.add(sending);
      if (kept == null) {
        open(sending);
      } else {
        kept.send(sending, now);
      }
    } catch (RuntimeException | Error e) {
      fail(sending, e);
    }
  }

  /** An attempt that can be made; nothing when its URL is not one that can be sent to. */
  private @Nullable Sending sending(Delivery delivery, Attempts.Ended ended) {
    Letterhead letterhead = letterheads.of(delivery.subscription());
    Target target = targets.of(delivery.url(), delivery.tls());
    Span span = spans == null ? null : spans.start(delivery);
    if (target == null) {
      trace(span, delivery, null, null, Outcome.Failure.of(Kind.FORBIDDEN), 0);
      log.error(
          "attempt.impossible endpoint={} next=\"the attempt fails: its URL cannot be sent to\"",
          Id.text(Id.ENDPOINT, delivery.message().endpoint()));
      return null;
    }
    return new Sending(delivery, ended, target, letterhead, span);
  }

  /** Sends an attempt's request on a connection that has been opened for it. */
  void send(Sending sending, Connection opened) {
    try {
      opened.send(sending, System.nanoTime());
    } catch (RuntimeException | Error e) {
      fail(sending, e);
    }
  }

  private void fail(Sending sending, Throwable cause) {
    broken(sending.delivery, cause);
    fail(sending, Kind.PROTOCOL);
  }

  private static void broken(Delivery delivery, Throwable cause) {
    log.error(
        "attempt.broken where=\"while sending\" message={} next=\"the attempt fails\"",
        Id.text(Id.MESSAGE, delivery.message().id()),
        cause);
  }

  /** Closes the connections that are not in use; the others follow when their attempts end. */
  void close() {
    connections.close();
    slowSignatures.close();
    tls.close();
  }

  /** How many connections are open, in use or kept. */
  int openConnections() {
    return connections.open();
  }

  /**
   * Opens a connection for an attempt, or lets it wait for one that is being opened and that it can
   * share.
   */
  void open(Sending sending) {
    Origin origin = sending.target.origin;
    Opening underWay = origin.opening;
    if (underWay != null && underWay.hasRoom()) {
      underWay.join(sending);
      return;
    }
    Opening opening = new Opening(this, sending);
    if (origin.speaksHttp2) {
      origin.opening = opening;
    }
    dialler.dial(opening);
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
    Carrier carrier = sending.carrier;
    sending.carrier = null;
    if (carrier != null) {
      carrier.leftBy(sending);
    }
    long nanos = nowNanos - sending.startedNanos;
    trace(sending.span, sending.delivery, sending.target.origin, sending.protocol, outcome, nanos);
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
      @Nullable String protocol,
      Outcome outcome,
      long nanos) {
    if (spans != null && span != null) {
      spans.end(span, delivery, origin, protocol, outcome, nanos);
    }
  }

  private void tell(Attempts.Ended ended, Outcome outcome, long millis) {
    ContextInternal previous = context.beginDispatch();
    try {
      Attempts.tell(ended, outcome, millis);
    } finally {
      context.endDispatch(previous);
    }
  }
}
