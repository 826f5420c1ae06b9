package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Arrays;

/**
 * Takes posts from one connection, and reads no more of them than it needs: who they are for, how
 * long they are, and their mark. What a receiver costs is missing for the server that is measured,
 * and a real one runs on another machine.
 */
final class PostReader extends ChannelInboundHandlerAdapter {
  private static final int USUAL_BYTES = 4_096;
  private static final byte[] CONTENT_LENGTH = "content-length:".getBytes(US_ASCII);

  /** Where a request ends of which not all is there. */
  private static final int NOT_THERE = -1;

  /** Where a request ends that does not say it. */
  private static final int UNKNOWN = -2;

  /** The group's letter stands behind this. */
  private static final int GROUP_OFFSET = "POST /".length();

  private static final String CLOSE = "connection: close\r\n";

  private static final ByteBuf OK = Unpooled.unreleasableBuffer(answer("200 OK", ""));

  private final Receiver receiver;

  /** What has been read and belongs to no complete request yet, up to {@link #length}. */
  private byte[] bytes = new byte[USUAL_BYTES];

  private int length;

  /** Where the body of the request begins whose end was found last. */
  private int body;

  PostReader(Receiver receiver) {
    this.receiver = receiver;
  }

  private static ByteBuf answer(String status, String more) {
    String head = "HTTP/1.1 " + status + "\r\n" + more + "content-length: 0\r\n\r\n";
    return Unpooled.directBuffer(head.length()).writeBytes(head.getBytes(US_ASCII));
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object read) {
    ByteBuf chunk = (ByteBuf) read;
    try {
      append(chunk);
    } finally {
      chunk.release();
    }
    int from = 0;
    int end = endOf(from);
    while (end >= 0) {
      answer(context, from, end);
      from = end;
      end = endOf(from);
    }
    if (end == UNKNOWN) {
      endWith(context, answer("411 Length Required", CLOSE));
      from = length;
    }
    length -= from;
    System.arraycopy(bytes, from, bytes, 0, length);
  }

  private void append(ByteBuf chunk) {
    int added = chunk.readableBytes();
    int all = length + added;
    if (all > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(all, 2 * bytes.length));
    }
    chunk.readBytes(bytes, length, added);
    length = all;
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  /** Where the request that begins here ends, {@link #NOT_THERE} or {@link #UNKNOWN}. */
  private int endOf(int from) {
    int bodyLength = UNKNOWN;
    int line = from;
    for (int end = lineEnd(line); end >= 0; end = lineEnd(line)) {
      if (end - line <= 1) {
        body = end + 1;
        return bodyLength == UNKNOWN ? UNKNOWN : endOfBody(bodyLength);
      }
      if (isContentLength(line, end)) {
        bodyLength = number(line + CONTENT_LENGTH.length, end);
      }
      line = end + 1;
    }
    return NOT_THERE;
  }

  private int endOfBody(int bodyLength) {
    return bodyLength <= length - body ? body + bodyLength : NOT_THERE;
  }

  /** Where the line's last byte is; below 0 when it is not there yet. */
  private int lineEnd(int from) {
    for (int at = from; at < length; at++) {
      if (bytes[at] == '\n') {
        return at;
      }
    }
    return -1;
  }

  private boolean isContentLength(int line, int end) {
    if (end - line < CONTENT_LENGTH.length) {
      return false;
    }
    for (int i = 0; i < CONTENT_LENGTH.length; i++) {
      if (lower(bytes[line + i]) != CONTENT_LENGTH[i]) {
        return false;
      }
    }
    return true;
  }

  private static int lower(byte letter) {
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
  }

  private int number(int from, int to) {
    int number = 0;
    for (int at = from; at < to; at++) {
      int digit = bytes[at] - '0';
      number = digit >= 0 && digit <= 9 ? 10 * number + digit : number;
    }
    return number;
  }

  private void answer(ChannelHandlerContext context, int from, int end) {
    Receiver.Group group = receiver.group((char) bytes[from + GROUP_OFFSET]);
    int status = receiver.take(group, Mark.find(bytes, body, end));
    if (status == Receiver.NO_ANSWER) {
      context.channel().closeFuture().addListener(_ -> group.hangsNoLonger());
    } else if (group.closes()) {
      endWith(context, answer(status + " Answer", CLOSE));
    } else {
      var _ = context.write(status == 200 ? OK.duplicate() : answer(status + " Answer", ""));
    }
  }

  private static void endWith(ChannelHandlerContext context, ByteBuf answer) {
    var _ = context.writeAndFlush(answer).addListener(ChannelFutureListener.CLOSE);
  }
}
