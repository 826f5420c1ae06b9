package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.vertx.core.buffer.Buffer;

/**
 * Reads the answers on one connection that has one request at a time in flight, and keeps of each
 * only its status and the beginning of its text.
 */
final class AnswerReader {
  private static final byte[] CONTENT_LENGTH = "content-length:".getBytes(US_ASCII);
  private static final byte[] CHUNKED = "transfer-encoding: chunked".getBytes(US_ASCII);
  private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(US_ASCII);

  /** More than any head that is expected. */
  private static final int HEAD_LIMIT = 8_192;

  private final byte[] head = new byte[HEAD_LIMIT];
  private int headLength;
  private int headEnd;
  private long missing;
  private boolean chunked;

  /** Takes what came; true when the answer is complete. */
  boolean take(Buffer chunk) {
    if (headEnd > 0) {
      return takeBody(chunk, chunk.length());
    }
    int part = Math.min(chunk.length(), head.length - headLength);
    chunk.getBytes(0, part, head, headLength);
    int before = headLength;
    headLength += part;
    headEnd = endOfHead(Math.max(4, before));
    if (headEnd == 0) {
      if (headLength == head.length) {
        throw new IllegalStateException("the head of an answer is too long");
      }
      return false;
    }
    chunked = find(CHUNKED, headEnd) >= 0;
    missing = contentLength();
    return takeBody(chunk, chunk.length() - (headEnd - before));
  }

  private boolean takeBody(Buffer chunk, int bodyBytes) {
    if (chunked) {
      int length = chunk.length();
      if (length < LAST_CHUNK.length) {
        return false;
      }
      for (int i = 0; i < LAST_CHUNK.length; i++) {
        if (chunk.getByte(length - LAST_CHUNK.length + i) != LAST_CHUNK[i]) {
          return false;
        }
      }
      return true;
    }
    missing -= bodyBytes;
    return missing <= 0;
  }

  int status() {
    return (head[9] - '0') * 100 + (head[10] - '0') * 10 + head[11] - '0';
  }

  /** The beginning of the answer, as far as it came together with its head. */
  String text() {
    return new String(head, 0, Math.min(headLength, headEnd + 500), ISO_8859_1);
  }

  /** Makes ready for the next answer. */
  void clear() {
    headLength = 0;
    headEnd = 0;
    missing = 0;
    chunked = false;
  }

  private int endOfHead(int from) {
    for (int i = from; i <= headLength; i++) {
      if (head[i - 1] == '\n'
          && head[i - 2] == '\r'
          && head[i - 3] == '\n'
          && head[i - 4] == '\r') {
        return i;
      }
    }
    return 0;
  }

  private long contentLength() {
    int at = find(CONTENT_LENGTH, headEnd);
    if (at < 0) {
      return 0;
    }
    long value = 0;
    for (int i = at + CONTENT_LENGTH.length; head[i] != '\r'; i++) {
      if (head[i] >= '0' && head[i] <= '9') {
        value = value * 10 + head[i] - '0';
      }
    }
    return value;
  }

  private int find(byte[] lowerCase, int end) {
    for (int i = 0; i <= end - lowerCase.length; i++) {
      int matched = 0;
      while (matched < lowerCase.length && lower(head[i + matched]) == lowerCase[matched]) {
        matched++;
      }
      if (matched == lowerCase.length) {
        return i;
      }
    }
    return -1;
  }

  private static int lower(byte b) {
    return b >= 'A' && b <= 'Z' ? b + 32 : b;
  }
}
