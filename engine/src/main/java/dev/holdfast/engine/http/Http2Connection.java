package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.format.Body;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection that speaks HTTP/2: carries many attempts at once, each on a stream of its own, and
 * is kept for the next.
 *
 * <p>It takes no more attempts when it is old, when its server wants to close it, and when an
 * attempt was given up on it: then most likely it is the connection that hangs. It is closed when
 * its last attempt has ended.
 */
final class Http2Connection extends Connection {

  /** How many attempts there may be at once. A server may take fewer. */
  static final int MOST_STREAMS = 100;

  private enum State {
    KEPT,
    IN_USE,
    CLOSED
  }

  final Http2Codec codec;
  private final long openedNanos = System.nanoTime();
  private final IntObjectMap<Exchange> exchanges = new IntObjectHashMap<>();

  /** Answers that have come to their end, until all that was read with them has been looked at. */
  private final List<Exchange> complete = new ArrayList<>();

  private State state = State.IN_USE;

  /** Whether it takes no more attempts. */
  private boolean leaving;

  /**
   * Attempts that were given up. The server may still send what it had ready for them, so they keep
   * their ration.
   */
  private int givenUp;

  private long unusedNanos;
  private long keptSinceNanos;
  private boolean used;

  /** Whether anything of an answer came since it was last unused. */
  private boolean heard;

  Http2Connection(HttpSender sender, Channel channel, Ration ration, Origin origin) {
    super(sender, channel, ration, origin);
    this.codec = Http2Codec.of(this, new Frames());
  }

  /** An attempt on a stream. */
  private final class Exchange implements Carrier {
    private final int stream;
    private final Sending sending;
    private int interimAnswers;

    private Exchange(int stream, Sending sending) {
      this.stream = stream;
      this.sending = sending;
    }

    @Override
    public void leftBy(Sending ended) {
      if (exchanges.containsKey(stream)) {
        giveUp(this);
        settle();
      }
    }
  }

  /** Whether it takes one more attempt. */
  boolean hasRoom(long nowNanos) {
    return state != State.CLOSED
        && !leaving
        && exchanges.size() < origin.mostStreams
        && codec.canOpenStream()
        && !isOld(nowNanos);
  }

  private boolean isOld(long nowNanos) {
    return nowNanos - openedNanos >= sender.keeping.oldest().toNanos() && used;
  }

  @Override
  void send(Sending next, long nowNanos) {
    if (exchanges.isEmpty()) {
      unusedNanos = used ? nowNanos - keptSinceNanos : 0;
      heard = false;
      state = State.IN_USE;
      origin.shared.add(this);
    }
    try {
      write(next);
    } catch (RuntimeException | Error e) {
      settle();
      throw e;
    }
  }

  private void write(Sending next) {
    Body body = Body.of(next.delivery);
    Http2Headers headers = sender.writer.http2Headers(next, body);
    Exchange exchange = new Exchange(codec.nextStream(), next);
    next.carrier = exchange;
    next.protocol = "2";
    exchanges.put(exchange.stream, exchange);
    ration.started(exchanges.size() + givenUp);
    codec.write(exchange.stream, headers, body.parts());
  }

  @Override
  void close() {
    close(Http2Error.NO_ERROR);
  }

  private void close(Http2Error why) {
    if (state == State.KEPT) {
      sender.connections.remove(this);
    }
    if (state != State.CLOSED) {
      state = State.CLOSED;
      origin.shared.remove(this);
      codec.leave(why);
    }
  }

  /** Takes an attempt off. */
  private @Nullable Exchange remove(int stream) {
    Exchange exchange = exchanges.remove(stream);
    if (exchange != null) {
      ration.ended(exchanges.size() + givenUp);
    }
    return exchange;
  }

  /** Takes an attempt off, and waits no longer for the rest of its answer. */
  private void giveUp(Exchange exchange) {
    leaving = true;
    givenUp++;
    codec.reset(exchange.stream, Http2Error.CANCEL);
    var _ = remove(exchange.stream);
  }

  /** After attempts have been taken off: is this connection used, kept or closed? */
  private void settle() {
    if (state != State.IN_USE || !exchanges.isEmpty()) {
      return;
    }
    long now = System.nanoTime();
    keptSinceNanos = now;
    keptUntilNanos = now + sender.keeping.unused().toNanos();
    origin.shared.remove(this);
    if (!leaving && !isOld(now) && sender.connections.keep(this)) {
      state = State.KEPT;
    } else {
      close();
    }
  }

  /** Ends an attempt that has been taken off. One that has its answer can do without the rest. */
  private void end(Exchange exchange, Kind otherwise) {
    Sending sending = exchange.sending;
    if (sending.isAnswered()) {
      sender.end(sending, sending.outcome(), System.nanoTime());
    } else {
      sender.fail(sending, otherwise);
    }
  }

  /**
   * Ends an attempt that has been taken off and that the server has not dealt with: it goes on with
   * another connection, once.
   */
  private void endUnprocessed(Exchange exchange) {
    Sending sending = exchange.sending;
    if (sending.isAnswered() || sending.rewritten) {
      end(exchange, Kind.RESET);
    } else {
      sending.rewritten = true;
      sending.carrier = null;
      sender.open(sending);
    }
  }

  /** What came on a stream is no answer. Returns false if there is no attempt on it. */
  boolean refuse(int stream, Http2Error why) {
    Exchange exchange = exchanges.get(stream);
    if (exchange == null) {
      return false;
    }
    codec.reset(stream, why);
    var _ = remove(stream);
    settle();
    end(exchange, Kind.PROTOCOL);
    return true;
  }

  /** Something is wrong with the connection as a whole. */
  void broken(Throwable cause, Http2Error error) {
    if (state != State.CLOSED) {
      lose(Failures.afterSending(cause), error);
    }
  }

  /**
   * The connection is of no more use. If it was kept unused for a while and nothing of an answer
   * came since, then most likely its server had closed it before the requests arrived, and their
   * attempts go on with a new one.
   */
  private void lose(Kind kind, Http2Error error) {
    boolean stale =
        kind == Kind.RESET && !heard && used && unusedNanos >= sender.keeping.stale().toNanos();
    List<Exchange> all = List.copyOf(exchanges.values());
    exchanges.clear();
    close(error);
    for (Exchange exchange : all) {
      if (stale && !exchange.sending.rewritten) {
        endUnprocessed(exchange);
      } else {
        end(exchange, kind);
      }
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event == Ration.Event.EXCEEDED) {
      lose(Kind.PROTOCOL, Http2Error.ENHANCE_YOUR_CALM);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    broken(cause, Http2Error.INTERNAL_ERROR);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (state != State.CLOSED) {
      lose(Kind.RESET, Http2Error.NO_ERROR);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (complete.isEmpty()) {
      return;
    }
    List<Exchange> all = List.copyOf(complete);
    complete.clear();
    List<Exchange> ended = new ArrayList<>(all.size());
    for (Exchange exchange : all) {
      if (remove(exchange.stream) != null) {
        ended.add(exchange);
        if (!codec.isWritten(exchange.stream)) {
          codec.reset(exchange.stream, Http2Error.NO_ERROR);
        }
      }
    }
    settle();
    for (Exchange exchange : ended) {
      end(exchange, Kind.PROTOCOL);
    }
  }

  private void answered(Exchange exchange, Http2Headers headers, boolean last) {
    Sending sending = exchange.sending;
    int status = status(headers.status());
    if (status < 100 || status == 101 || (status < 200 && last)) {
      refuse(exchange.stream, Http2Error.PROTOCOL_ERROR);
    } else if (status < 200) {
      if (++exchange.interimAnswers > MOST_INTERIM_ANSWERS) {
        refuse(exchange.stream, Http2Error.ENHANCE_YOUR_CALM);
      }
    } else if (sender.deadlines.isPast(sending, System.nanoTime())) {
      giveUp(exchange);
      settle();
      end(exchange, Kind.TIMEOUT);
    } else {
      used = true;
      CharSequence retryAfter = headers.get(HttpHeaderNames.RETRY_AFTER);
      sending.answered(status, retryAfter == null ? null : retryAfter.toString());
      if (last) {
        complete.add(exchange);
      }
    }
  }

  /** Three digits; else 0. */
  private static int status(@Nullable CharSequence text) {
    if (text == null || text.length() != 3) {
      return 0;
    }
    int status = 0;
    for (int i = 0; i < 3; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      status = status * 10 + digit;
    }
    return status;
  }

  /** What the server sends, frame by frame. */
  private final class Frames extends Http2FrameAdapter {

    @Override
    public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
      Long streams = settings.maxConcurrentStreams();
      if (streams != null) {
        origin.mostStreams = Math.clamp(streams, 1, MOST_STREAMS);
      }
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext ctx,
        int stream,
        Http2Headers headers,
        int dependency,
        short weight,
        boolean exclusive,
        int padding,
        boolean last)
        throws Http2Exception {
      heard = true;
      Exchange exchange = exchanges.get(stream);
      if (exchange == null && codec.isServers(stream)) {
        throw Http2Exception.connectionError(
            Http2Error.PROTOCOL_ERROR, "An answer that nobody asked for");
      }
      if (exchange == null) {
        return;
      }
      if (!exchange.sending.isAnswered()) {
        answered(exchange, headers, last);
      } else if (last) {
        complete.add(exchange);
      }
    }

    @Override
    public int onDataRead(
        ChannelHandlerContext ctx, int stream, ByteBuf data, int padding, boolean last) {
      int length = data.readableBytes() + padding;
      Exchange exchange = exchanges.get(stream);
      if (exchange == null) {
        return length;
      }
      if (!exchange.sending.isAnswered()) {
        refuse(stream, Http2Error.PROTOCOL_ERROR);
      } else if (!exchange.sending.take(data)) {
        giveUp(exchange);
        settle();
        end(exchange, Kind.PROTOCOL);
      } else if (last) {
        complete.add(exchange);
      }
      return length;
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext ctx, int stream, long error) {
      Exchange exchange = remove(stream);
      if (exchange == null) {
        return;
      }
      settle();
      if (error == Http2Error.REFUSED_STREAM.code()) {
        endUnprocessed(exchange);
      } else {
        end(exchange, Kind.RESET);
      }
    }

    @Override
    public void onGoAwayRead(
        ChannelHandlerContext ctx, int lastProcessed, long error, ByteBuf text) {
      leaving = true;
      List<Exchange> unprocessed = new ArrayList<>();
      for (Exchange exchange : List.copyOf(exchanges.values())) {
        if (exchange.stream > lastProcessed) {
          var _ = remove(exchange.stream);
          unprocessed.add(exchange);
        }
      }
      if (state == State.KEPT) {
        close();
      } else {
        settle();
      }
      unprocessed.forEach(Http2Connection.this::endUnprocessed);
    }
  }
}
