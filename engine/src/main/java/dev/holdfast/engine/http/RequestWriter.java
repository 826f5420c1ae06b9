package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.format.Body;
import dev.holdfast.engine.format.HoldfastFormat;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests to connections.
 *
 * <p>The head is put together in one array that is used again and again, since an attempt's own
 * headers are few and short and the rest of them is ready in its {@link Target}.
 */
final class RequestWriter {
  private static final byte[] WEBHOOK_ID = header("webhook-id");
  private static final byte[] WEBHOOK_TIMESTAMP = header("webhook-timestamp");
  private static final byte[] TRACEPARENT = header("traceparent");
  private static final byte[] CONTENT_LENGTH = header("Content-Length");
  private static final byte[] END = {'\r', '\n'};
  private static final int MOST_TRACEPARENT = 128;

  private byte[] head = new byte[1024];
  private int length;

  void write(
      ChannelHandlerContext to, Target target, Delivery delivery, @Nullable String traceparent) {
    Body body = HoldfastFormat.body(delivery.event());
    head(target, delivery, traceparent, body);
    ByteBufAllocator allocator = to.alloc();
    if (body.parts().length == 1) {
      byte[] whole = body.parts()[0];
      ByteBuf request = allocator.directBuffer(length + whole.length);
      request.writeBytes(head, 0, length).writeBytes(whole);
      var _ = to.writeAndFlush(request, to.voidPromise());
    } else {
      var _ =
          to.write(allocator.directBuffer(length).writeBytes(head, 0, length), to.voidPromise());
      var _ = to.writeAndFlush(Unpooled.wrappedBuffer(body.parts()), to.voidPromise());
    }
  }

  /** Everything before the body. Headers that depend on the body, such as a signature, go here. */
  private void head(Target target, Delivery delivery, @Nullable String traceparent, Body body) {
    length = 0;
    put(target.head);
    put(WEBHOOK_ID, Id.text(Id.MESSAGE, delivery.message().id()));
    put(WEBHOOK_TIMESTAMP, Long.toString(delivery.startedAt().getEpochSecond()));
    if (traceparent != null && isSendable(traceparent)) {
      put(TRACEPARENT, traceparent);
    }
    put(CONTENT_LENGTH, Integer.toString(body.length()));
    put(END);
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
    ensure(bytes.length);
    System.arraycopy(bytes, 0, head, length, bytes.length);
    length += bytes.length;
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
