package dev.holdfast.engine.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.util.List;

/** Reads HTTP/1.1 answers, within limits. */
final class AnswerDecoder extends HttpResponseDecoder {
  private static final HttpDecoderConfig LIMITS =
      new HttpDecoderConfig()
          .setMaxInitialLineLength(4 * 1024)
          .setMaxHeaderSize(16 * 1024)
          .setStrictLineParsing(false);

  private static final byte[] START = {'H', 'T', 'T', 'P', '/'};

  /** What there is of an answer whose status line is not complete. */
  enum Beginning {
    NOTHING,
    PLAUSIBLE,
    GARBAGE
  }

  private Beginning beginning = Beginning.NOTHING;

  AnswerDecoder() {
    super(LIMITS);
  }

  /** What was left when the connection ended. */
  Beginning beginning() {
    return beginning;
  }

  @Override
  protected void decodeLast(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
      throws Exception {
    beginning = beginning(in);
    super.decodeLast(ctx, in, out);
  }

  private static Beginning beginning(ByteBuf in) {
    for (int i = 0; i < START.length && i < in.readableBytes(); i++) {
      if (in.getByte(in.readerIndex() + i) != START[i]) {
        return Beginning.GARBAGE;
      }
    }
    return in.isReadable() ? Beginning.PLAUSIBLE : Beginning.NOTHING;
  }
}
