package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetSocket;
import java.util.Arrays;

/**
 * Takes posts from one connection, and reads no more of them than it needs: who they are for, how
 * long they are, and their mark. What a receiver costs is missing for the server that is measured,
 * and a real one runs on another machine.
 */
final class PostReader implements Handler<Buffer> {
  private static final int USUAL_BYTES = 4_096;
  private static final byte[] HEAD_END = "\r\n\r\n".getBytes(US_ASCII);
  private static final byte[] CONTENT_LENGTH = "content-length:".getBytes(US_ASCII);

  /** The group's letter stands behind this. */
  private static final int GROUP_OFFSET = "POST /".length();

  private static final Buffer OK = head("200 OK", "");
  private static final Buffer NO_LENGTH = head("411 Length Required", "connection: close\r\n");

  private final Receiver receiver;
  private final NetSocket socket;

  /** What has been read and belongs to no complete request yet, up to {@link #length}. */
  private byte[] bytes = new byte[USUAL_BYTES];

  private int length;

  PostReader(Receiver receiver, NetSocket socket) {
    this.receiver = receiver;
    this.socket = socket;
  }

  private static Buffer head(String status, String more) {
    return Buffer.buffer("HTTP/1.1 " + status + "\r\n" + more + "content-length: 0\r\n\r\n");
  }

  @Override
  public void handle(Buffer chunk) {
    int all = length + chunk.length();
    if (all > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(all, 2 * bytes.length));
    }
    chunk.getBytes(bytes, length);
    length = all;
    int from = 0;
    for (int end = endOf(from); end >= 0; end = endOf(from)) {
      answer(from, end);
      from = end;
    }
    length -= from;
    System.arraycopy(bytes, from, bytes, 0, length);
  }

  /** Where the request that begins here ends; below 0 when it is not there as a whole. */
  private int endOf(int from) {
    int body = find(HEAD_END, from, length);
    if (body < 0) {
      return -1;
    }
    int at = find(CONTENT_LENGTH, from, body);
    if (at < 0) {
      socket.end(NO_LENGTH);
      return -1;
    }
    int bodyLength = 0;
    for (byte next = bytes[at]; next != '\r'; next = bytes[++at]) {
      bodyLength = next == ' ' ? bodyLength : 10 * bodyLength + next - '0';
    }
    int end = body + bodyLength;
    return end <= length ? end : -1;
  }

  /** The place right behind what is looked for, in whatever case; below 0 when it is not there. */
  private int find(byte[] wanted, int from, int to) {
    for (int at = from; at <= to - wanted.length; at++) {
      int same = 0;
      while (same < wanted.length && lower(bytes[at + same]) == wanted[same]) {
        same++;
      }
      if (same == wanted.length) {
        return at + same;
      }
    }
    return -1;
  }

  private static int lower(byte letter) {
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
  }

  private void answer(int from, int end) {
    Receiver.Group group = receiver.group((char) bytes[from + GROUP_OFFSET]);
    int status = receiver.take(group, Mark.find(bytes, from, end));
    if (status == Receiver.NO_ANSWER) {
      socket.closeHandler(_ -> group.hangsNoLonger());
    } else if (group.closes()) {
      socket.end(head(status + " Answer", "connection: close\r\n"));
    } else {
      socket.write(status == 200 ? OK : head(status + " Answer", ""));
    }
  }
}
