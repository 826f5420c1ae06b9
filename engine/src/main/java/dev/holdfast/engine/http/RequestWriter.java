package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.format.Body;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpScheme;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests to connections.
 *
 * <p>The head is put together in one array that is used again and again, since an attempt's own
 * headers are few and short and the rest of them is ready in its {@link Target} and {@link
 * Letterhead}.
 */
final class RequestWriter {
  private static final byte[] WEBHOOK_ID = header("webhook-id");
  private static final byte[] WEBHOOK_TIMESTAMP = header("webhook-timestamp");
  private static final byte[] WEBHOOK_SIGNATURE = header("webhook-signature");
  private static final byte[] TRACEPARENT = header("traceparent");
  private static final byte[] CONTENT_LENGTH = header("Content-Length");
  private static final byte[] END = {'\r', '\n'};
  private static final int MOST_TRACEPARENT = 128;

  private static final AsciiString HTTP2_WEBHOOK_ID = AsciiString.cached("webhook-id");
  private static final AsciiString HTTP2_WEBHOOK_TIMESTAMP =
      AsciiString.cached("webhook-timestamp");
  private static final AsciiString HTTP2_WEBHOOK_SIGNATURE =
      AsciiString.cached("webhook-signature");
  private static final AsciiString HTTP2_TRACEPARENT = AsciiString.cached("traceparent");

  /** How many headers an attempt has of its own, at most. */
  private static final int OWN_HEADERS = 5;

  private final Signer signer = new Signer();
  private byte[] head = new byte[1024];
  private int length;

  /**
   * Writes a request, and says what is left of a large one: that is to be written as fast as the
   * other side reads, so that one that does not read holds only little of it.
   */
  @Nullable Pieces write(ChannelHandlerContext to, Sending sending) {
    Body body = Body.of(sending.delivery);
    head(sending, body);
    ByteBufAllocator allocator = to.alloc();
    if (body.parts().length == 1 && body.parts()[0].length <= Pieces.BYTES) {
      byte[] whole = body.parts()[0];
      ByteBuf request = allocator.directBuffer(length + whole.length);
      request.writeBytes(head, 0, length).writeBytes(whole);
      var _ = to.writeAndFlush(request, to.voidPromise());
      return null;
    }
    var _ = to.write(allocator.directBuffer(length).writeBytes(head, 0, length), to.voidPromise());
    return new Pieces(body);
  }

  /** The head of a request, by itself. */
  byte[] headOf(Sending sending, Body body) {
    head(sending, body);
    return Arrays.copyOf(head, length);
  }

  /** Everything before the body. */
  private void head(Sending sending, Body body) {
    Delivery delivery = sending.delivery;
    length = 0;
    put(sending.target.head);
    put(sending.letterhead.head);
    String id = sending.id();
    String timestamp = sending.timestamp();
    put(WEBHOOK_ID, id);
    put(WEBHOOK_TIMESTAMP, timestamp);
    if (sending.letterhead.isSignedAt(delivery.startedAt())) {
      put(WEBHOOK_SIGNATURE);
      signatures(sending, id, timestamp, body);
      put(END);
    }
    String traceparent = sending.traceparent();
    if (traceparent != null && isSendable(traceparent)) {
      put(TRACEPARENT, traceparent);
    }
    put(CONTENT_LENGTH, Integer.toString(body.length()));
    put(END);
  }

  /** What {@link #head} writes, for HTTP/2. */
  Http2Headers http2Headers(Sending sending, Body body) {
    Delivery delivery = sending.delivery;
    Target.Http2Head ready = sending.target.http2Head();
    AsciiString[] forms = sending.letterhead.http2Fields();
    AsciiString[] fields =
        Arrays.copyOf(ready.fields(), ready.fields().length + forms.length + 2 * OWN_HEADERS);
    int at = ready.fields().length;
    System.arraycopy(forms, 0, fields, at, forms.length);
    at += forms.length;
    String id = sending.id();
    String timestamp = sending.timestamp();
    fields[at++] = HTTP2_WEBHOOK_ID;
    fields[at++] = new AsciiString(id);
    fields[at++] = HTTP2_WEBHOOK_TIMESTAMP;
    fields[at++] = new AsciiString(timestamp);
    if (sending.letterhead.isSignedAt(delivery.startedAt())) {
      length = 0;
      signatures(sending, id, timestamp, body);
      fields[at++] = HTTP2_WEBHOOK_SIGNATURE;
      fields[at++] = new AsciiString(head, 0, length, true);
    }
    String traceparent = sending.traceparent();
    if (traceparent != null && isSendable(traceparent)) {
      fields[at++] = HTTP2_TRACEPARENT;
      fields[at++] = new AsciiString(traceparent);
    }
    fields[at++] = HttpHeaderNames.CONTENT_LENGTH;
    fields[at++] = new AsciiString(Integer.toString(body.length()));
    return ReadOnlyHttp2Headers.clientHeaders(
        false,
        HttpMethod.POST.asciiName(),
        ready.path(),
        HttpScheme.HTTPS.name(),
        ready.authority(),
        Arrays.copyOf(fields, at));
  }

  /** Those that were made before, or else makes them. */
  private void signatures(Sending sending, String id, String timestamp, Body body) {
    byte[] ready = sending.signatures;
    if (ready == null) {
      signer.sign(sending.letterhead, sending.delivery.startedAt(), id, timestamp, body);
      put(signer.text, signer.length);
    } else {
      put(ready);
    }
  }

  private void put(byte[] name, String value) {
    put(name);
    ensure(value.length());
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < ' ' || c > '~') {
        throw new IllegalArgumentException("a header value must be printable ASCII");
      }
      head[length++] = (byte) c;
    }
    put(END);
  }

  private void put(byte[] bytes) {
    put(bytes, bytes.length);
  }

  private void put(byte[] bytes, int count) {
    ensure(count);
    System.arraycopy(bytes, 0, head, length, count);
    length += count;
  }

  private void ensure(int more) {
    if (head.length - length < more) {
      head = Arrays.copyOf(head, Math.max(head.length * 2, length + more));
    }
  }

  /** A trace context comes from outside and is optional: one that is not well-formed stays here. */
  private static boolean isSendable(String traceparent) {
    if (traceparent.length() > MOST_TRACEPARENT) {
      return false;
    }
    for (int i = 0; i < traceparent.length(); i++) {
      char c = traceparent.charAt(i);
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-')) {
        return false;
      }
    }
    return !traceparent.isEmpty();
  }

  private static byte[] header(String name) {
    return (name + ": ").getBytes(US_ASCII);
  }
}
