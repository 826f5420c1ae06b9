package dev.holdfast.engine.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes HTTP/2 for a connection, within limits.
 *
 * <p>It tells the connection about frames as they come, without an object for each frame or a
 * channel for each stream. What is wrong with one stream ends that one, and everything else the
 * connection.
 */
final class Http2Codec extends Http2ConnectionHandler {

  /** As for HTTP/1.1. */
  private static final int MOST_HEADER_BYTES = 16 * 1024;

  /**
   * How much of an answer a server may send at once. With what is given back while an answer is
   * read, and its headers, it stays below {@link Ration#ATTEMPT_BYTES}.
   */
  private static final int WINDOW_BYTES = 24 * 1024;

  /** Acknowledgements that wait for a server that does not read. */
  private static final int MOST_QUEUED_CONTROL_FRAMES = 256;

  private static final int MOST_EMPTY_DATA_FRAMES = 16;
  private static final int MOST_SMALL_CONTINUATIONS = 16;

  /**
   * Headers that are the same for many requests, so that the server can be told to remember them.
   * The others are different each time, or secret.
   */
  private static final Set<AsciiString> REMEMBERED =
      Set.of(
          Http2Headers.PseudoHeaderName.METHOD.value(),
          Http2Headers.PseudoHeaderName.SCHEME.value(),
          Http2Headers.PseudoHeaderName.AUTHORITY.value(),
          Http2Headers.PseudoHeaderName.PATH.value(),
          HttpHeaderNames.USER_AGENT,
          HttpHeaderNames.CONTENT_TYPE);

  private final Http2Connection connection;
  private @Nullable ChannelHandlerContext context;
  private boolean reading;
  private boolean flushing;
  private boolean left;

  private Http2Codec(
      Http2Connection connection,
      Http2ConnectionDecoder decoder,
      Http2ConnectionEncoder encoder,
      Http2Settings settings) {
    super(decoder, encoder, settings, true, false);
    this.connection = connection;
  }

  static Http2Codec of(Http2Connection connection, Http2FrameListener frames) {
    return new Builder(connection, frames).build();
  }

  private static final class Builder
      extends AbstractHttp2ConnectionHandlerBuilder<Http2Codec, Builder> {
    private final Http2Connection connection;

    private Builder(Http2Connection connection, Http2FrameListener frames) {
      this.connection = connection;
      connection(streams());
      frameListener(frames);
      initialSettings(
          new Http2Settings()
              .pushEnabled(false)
              .initialWindowSize(WINDOW_BYTES)
              .maxHeaderListSize(MOST_HEADER_BYTES));
      headerSensitivityDetector(
          (name, _) -> !(name instanceof AsciiString known && REMEMBERED.contains(known)));
      encoderIgnoreMaxHeaderListSize(true);
      encoderEnforceMaxQueuedControlFrames(MOST_QUEUED_CONTROL_FRAMES);
      decoderEnforceMaxConsecutiveEmptyDataFrames(MOST_EMPTY_DATA_FRAMES);
      decoderEnforceMaxSmallContinuationFrames(MOST_SMALL_CONTINUATIONS);
    }

    /**
     * The state of a connection that nothing may be pushed on and whose streams take turns: what a
     * server thinks of their priorities is not asked for.
     */
    private static DefaultHttp2Connection streams() {
      DefaultHttp2Connection streams = new DefaultHttp2Connection(false, 0);
      streams
          .remote()
          .flowController(
              new DefaultHttp2RemoteFlowController(
                  streams, new UniformStreamByteDistributor(streams)));
      return streams;
    }

    @Override
    protected Http2Codec build() {
      return super.build();
    }

    @Override
    protected Http2Codec build(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      return new Http2Codec(connection, decoder, encoder, settings);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
    context = ctx;
    super.handlerAdded(ctx);
  }

  private ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("a connection is written to only when it is open");
    }
    return context;
  }

  /** Whether the server takes one more stream. */
  boolean canOpenStream() {
    return connection().local().canOpenStream();
  }

  /** Whether it is a stream that a server would open, which none may. */
  boolean isServers(int stream) {
    return connection().remote().isValidStreamId(stream);
  }

  int nextStream() {
    return connection().local().incrementAndGetNextStreamId();
  }

  /** Writes a request. What the server does not take yet is held back until it does. */
  void write(int stream, Http2Headers headers, byte[]... body) {
    ChannelHandlerContext to = context();
    var _ = encoder().writeHeaders(to, stream, headers, 0, false, to.newPromise());
    ByteBuf data = Unpooled.wrappedBuffer(body);
    var _ = encoder().writeData(to, stream, data, 0, true, to.newPromise());
    flushSoon();
  }

  /** Whether a request has been written to its end. */
  boolean isWritten(int stream) {
    Http2Stream known = connection().stream(stream);
    return known == null || !known.state().localSideOpen();
  }

  /** Ends a stream, and drops what has not been written of its request. */
  void reset(int stream, Http2Error why) {
    if (connection().stream(stream) != null) {
      var _ = encoder().writeRstStream(context(), stream, why.code(), context().newPromise());
      flushSoon();
    }
  }

  /** Says goodbye and closes the connection. */
  void leave(Http2Error why) {
    left = true;
    ChannelHandlerContext to = context();
    if (to.channel().isActive()) {
      int last = connection().remote().lastStreamCreated();
      var _ = goAway(to, last, why.code(), Unpooled.EMPTY_BUFFER, to.newPromise());
      to.flush();
      ChannelOutboundBuffer unsent = to.channel().unsafe().outboundBuffer();
      if (unsent != null && !unsent.isEmpty()) {
        // the other side does not read, and the system would try for minutes
        to.channel().config().setOption(ChannelOption.SO_LINGER, 0);
      }
    }
    var _ = to.close();
  }

  /** Many requests and acknowledgements go out together. */
  private void flushSoon() {
    if (!reading && !flushing) {
      flushing = true;
      context()
          .executor()
          .execute(
              () -> {
                flushing = false;
                flush(context());
              });
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    reading = true;
    super.channelRead(ctx, message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    try {
      super.channelReadComplete(ctx);
    } finally {
      reading = false;
    }
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
    if (left) {
      in.skipBytes(in.readableBytes());
    } else {
      super.decode(ctx, in, out);
    }
  }

  @Override
  protected void onStreamError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      Http2Exception.StreamException error) {
    boolean refused = connection.refuse(error.streamId(), error.error());
    if (!refused && !outbound && isServers(error.streamId())) {
      onConnectionError(ctx, false, cause, error);
    }
    // Else a stream that has ended, and that the server may not know of yet.
  }

  @Override
  protected void onConnectionError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      @Nullable Http2Exception error) {
    connection.broken(cause, error == null ? Http2Error.INTERNAL_ERROR : error.error());
  }
}
