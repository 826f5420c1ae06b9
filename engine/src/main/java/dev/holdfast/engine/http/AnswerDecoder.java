package dev.holdfast.engine.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import java.util.List;

/**
 * Reads HTTP/1.1 answers, within limits.
 *
 * <p>Besides their size there is a limit on how many lines a header may be spread over: each is put
 * together with all before it, so that thousands of short lines would keep the event loop busy.
 */
final class AnswerDecoder extends HttpResponseDecoder {
  private static final HttpDecoderConfig LIMITS =
      new HttpDecoderConfig()
          .setMaxInitialLineLength(4 * 1024)
          .setMaxHeaderSize(16 * 1024)
          .setStrictLineParsing(false);

  /** Lines that go on with the header before, in one answer. Hardly anybody sends a single one. */
  private static final int MOST_CONTINUATIONS = 16;

  private static final byte[] START = {'H', 'T', 'T', 'P', '/'};

  /** What there is of an answer whose status line is not complete. */
  enum Beginning {
    NOTHING,
    PLAUSIBLE,
    GARBAGE
  }

  private Beginning beginning = Beginning.NOTHING;

  /** Whether what comes next is a head, or the headers after the last chunk. */
  private boolean inHeaders = true;

  /** Whether there was something in these headers, so that an empty line ends them. */
  private boolean begun;

  private int continuations;

  AnswerDecoder() {
    super(LIMITS);
  }

  /** What was left when the connection ended. */
  Beginning beginning() {
    return beginning;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
    if (inHeaders) {
      countContinuations(in);
    }
    int from = in.readerIndex();
    int before = out.size();
    super.decode(ctx, in, out);
    if (out.size() > before) {
      Object latest = out.getLast();
      if (latest instanceof LastHttpContent) {
        headers(false);
      } else if (latest instanceof HttpResponse || inHeaders) {
        inHeaders = false;
      }
    } else if (!inHeaders && isLastChunk(in, from)) {
      headers(true);
    }
  }

  /** Whether what was read from here on is the size of the last chunk, which is none. */
  private static boolean isLastChunk(ByteBuf in, int from) {
    int at = from;
    while (at < in.readerIndex() && in.getByte(at) == '0') {
      at++;
    }
    return at > from && at < in.readerIndex() && "; \t\r\n".indexOf(in.getByte(at)) >= 0;
  }

  private void headers(boolean trailing) {
    inHeaders = true;
    begun = trailing;
    continuations = 0;
  }

  private void countContinuations(ByteBuf in) {
    int at = in.readerIndex();
    int end = in.writerIndex();
    for (int feed = in.indexOf(at, end, (byte) '\n');
        feed >= 0;
        feed = in.indexOf(at, end, (byte) '\n')) {
      byte first = in.getByte(at);
      if (first == ' ' || first == '\t') {
        if (++continuations > MOST_CONTINUATIONS) {
          throw new TooLongHttpHeaderException("a header goes on for too many lines");
        }
      } else if (first == '\n' || (first == '\r' && feed == at + 1)) {
        if (begun) {
          return;
        }
      } else {
        begun = true;
      }
      at = feed + 1;
    }
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
