package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection that speaks HTTP/1.1: writes a request, reads its answer, and is kept for the next.
 *
 * <p>An answer is complete only when nothing comes after it in the same read: a server that sends
 * more than it was asked for must not have its surplus taken for the answer to the next request.
 */
final class Http1Connection extends Connection implements Carrier {

  /** How much sooner than a server announces it a connection is closed from here. */
  private static final long MARGIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String TIMEOUT = "timeout=";

  private enum State {
    KEPT,
    WAITING,
    READING,
    COMPLETE,
    CLOSED
  }

  private final AnswerDecoder decoder;
  private final long openedNanos = System.nanoTime();
  private @Nullable ChannelHandlerContext context;
  private State state = State.COMPLETE;

  /** The attempt that this connection works for. */
  private @Nullable Sending sending;

  private long keptNanos;
  private long unusedNanos;
  private long keptSinceNanos;
  private boolean used;

  /** What is left of a large request. */
  private @Nullable Pieces unsent;

  private boolean writing;
  private boolean reusable;
  private boolean interim;
  private int interimAnswers;

  Http1Connection(
      HttpSender sender, Channel channel, Ration ration, AnswerDecoder decoder, Origin origin) {
    super(sender, channel, ration, origin);
    this.decoder = decoder;
    this.keptNanos = sender.keeping.unused().toNanos();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  void send(Sending next, long nowNanos) {
    unusedNanos = used ? nowNanos - keptSinceNanos : 0;
    sending = next;
    next.carrier = this;
    next.protocol = "1.1";
    if (used) {
      ration.renew();
    }
    write(next);
  }

  @Override
  public void leftBy(Sending ended) {
    if (sending == ended) {
      sending = null;
      abort();
    }
  }

  /**
   * Closes it amid a request. What has not left of the request is not left to the system, which
   * would try for minutes to be rid of it when the other side does not read.
   */
  private void abort() {
    if (channel.isActive() && !isWritten()) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    close();
  }

  @Override
  void close() {
    if (state == State.KEPT) {
      sender.connections.remove(this);
    }
    state = State.CLOSED;
    unsent = null;
    var _ = channel.close();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event == Ration.Event.EXCEEDED) {
      fail(Kind.PROTOCOL);
    }
  }

  private void write(Sending request) {
    ChannelHandlerContext to = context;
    if (to == null) {
      throw new IllegalStateException("a connection is written to only when it is open");
    }
    state = State.WAITING;
    reusable = false;
    interim = false;
    interimAnswers = 0;
    unsent = sender.writer.write(to, request);
    if (unsent != null) {
      writeOn(to);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (unsent != null && !writing) {
      writeOn(ctx);
    }
  }

  /** Writes as much of what is left as is wanted now. */
  private void writeOn(ChannelHandlerContext to) {
    writing = true;
    Pieces rest = unsent;
    while (rest != null && !rest.isEmpty() && channel.isWritable()) {
      var _ = to.writeAndFlush(rest.next(to.alloc()), to.voidPromise());
      rest = unsent;
    }
    writing = false;
    if (rest != null && rest.isEmpty()) {
      unsent = null;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (message instanceof HttpResponse response) {
        head(response);
      } else if (message instanceof HttpContent content) {
        content(content);
      } else {
        fail(Kind.PROTOCOL);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void head(HttpResponse response) {
    Sending current = sending;
    if (state != State.WAITING || current == null) {
      surplus();
      return;
    }
    if (response.decoderResult().isFailure()) {
      boolean cut = response.decoderResult().cause() instanceof PrematureChannelClosureException;
      fail(cut ? Kind.RESET : Kind.PROTOCOL);
      return;
    }
    int status = response.status().code();
    if (response.protocolVersion().majorVersion() != 1 || status < 100 || status == 101) {
      fail(Kind.PROTOCOL);
      return;
    }
    if (status < 200) {
      interim = true;
      if (++interimAnswers > MOST_INTERIM_ANSWERS) {
        fail(Kind.PROTOCOL);
      }
      return;
    }
    if (sender.deadlines.isPast(current, System.nanoTime())) {
      fail(Kind.TIMEOUT);
      return;
    }
    HttpHeaders headers = response.headers();
    reusable = HttpUtil.isKeepAlive(response);
    if (!used) {
      used = true;
      keptNanos = keptNanos(headers.get("keep-alive"), keptNanos);
    }
    current.answered(status, headers.get(HttpHeaderNames.RETRY_AFTER));
    state = State.READING;
  }

  private void content(HttpContent content) {
    boolean last = content instanceof LastHttpContent;
    if (interim) {
      interim = !last;
      return;
    }
    Sending current = sending;
    if (state != State.READING || current == null) {
      surplus();
      return;
    }
    if (content.decoderResult().isFailure() || !current.take(content.content())) {
      finish(false);
    } else if (last) {
      state = State.COMPLETE;
    }
  }

  /** Something came that nothing was asked for. */
  private void surplus() {
    if (state == State.COMPLETE) {
      reusable = false;
    } else {
      fail(Kind.PROTOCOL);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (state == State.COMPLETE) {
      finish(reusable && isWritten());
    }
  }

  /** Whether the whole request has left: an answer may come before that. */
  private boolean isWritten() {
    ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
    return unsent == null && pending != null && pending.isEmpty();
  }

  private void finish(boolean keep) {
    Sending current = sending;
    sending = null;
    long now = System.nanoTime();
    keptSinceNanos = now;
    keptUntilNanos = now + keptNanos;
    if (keep
        && now - openedNanos < sender.keeping.oldest().toNanos()
        && sender.connections.keep(this)) {
      state = State.KEPT;
    } else {
      close();
    }
    if (current != null) {
      sender.end(current, current.outcome(), now);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    lose(Failures.afterSending(cause));
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    switch (state) {
      case KEPT, WAITING, READING, COMPLETE -> {
        switch (decoder.beginning()) {
          case NOTHING -> lose(Kind.RESET);
          case PLAUSIBLE -> fail(Kind.RESET);
          case GARBAGE -> fail(Kind.PROTOCOL);
        }
      }
      case CLOSED -> {}
    }
  }

  /**
   * The connection broke, and nothing of an answer came. If it was kept unused for a while, then
   * most likely its server had closed it before the request arrived, and the attempt goes on with a
   * new one.
   */
  private void lose(Kind kind) {
    Sending current = sending;
    if (current != null
        && state == State.WAITING
        && kind == Kind.RESET
        && interimAnswers == 0
        && used
        && unusedNanos >= sender.keeping.stale().toNanos()
        && !current.rewritten) {
      sending = null;
      close();
      current.rewritten = true;
      current.carrier = null;
      sender.open(current);
    } else {
      fail(kind);
    }
  }

  /** The connection is of no more use. An attempt that has its answer can do without. */
  private void fail(Kind kind) {
    Sending current = sending;
    sending = null;
    abort();
    if (current != null && current.isAnswered()) {
      sender.end(current, current.outcome(), System.nanoTime());
    } else if (current != null) {
      sender.fail(current, kind);
    }
  }

  /** Reads {@code Keep-Alive: timeout=5}, where a server says how long it keeps connections. */
  private static long keptNanos(@Nullable String keepAlive, long most) {
    int start = keepAlive == null ? -1 : keepAlive.indexOf(TIMEOUT);
    if (keepAlive == null || start < 0) {
      return most;
    }
    start += TIMEOUT.length();
    int seconds = 0;
    for (int i = start; i < keepAlive.length() && i < start + 6; i++) {
      int digit = keepAlive.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        break;
      }
      seconds = seconds * 10 + digit;
    }
    long told = TimeUnit.SECONDS.toNanos(seconds);
    return Math.min(most, Math.max(told - MARGIN_NANOS, told / 2));
  }
}
