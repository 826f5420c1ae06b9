package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Delivery;

/**
 * The body of a request, in one piece or in several that follow one another. The arrays are not
 * copied and must not be changed.
 */
public record Body(byte[]... parts) {

  /** Up to here a body is copied into one array; a larger one refers to the event's own arrays. */
  static final int COPIED_BYTES = 16 * 1024;

  /** An event as a subscription wants it to be told, in the version that its message has. */
  public static Body of(Delivery delivery) {
    Event event = delivery.event();
    Subscription subscription = delivery.subscription();
    return switch (subscription.form().format()) {
      case HOLDFAST -> HoldfastFormat.body(event);
      case CLOUDEVENTS -> CloudEventsFormat.body(event);
      case WORKFRONT -> {
        Version own = delivery.message().version();
        Version version = own == null ? subscription.form().version() : own;
        yield WorkfrontFormat.body(event, subscription, version);
      }
    };
  }

  public int length() {
    return length(parts);
  }

  /**
   * An array for the head of a body, with room for all of the body if that is to be copied.
   *
   * @param head how long what comes first is, which each format writes itself
   * @param tail what follows the head, as it is
   */
  static byte[] room(int head, byte[]... tail) {
    int whole = head + length(tail);
    return new byte[whole <= COPIED_BYTES ? whole : head];
  }

  /**
   * The body of a head and what follows it.
   *
   * @param bytes what {@link #room} has given for the same, with the head written
   * @param at where the head ends
   */
  static Body joined(byte[] bytes, int at, byte[]... tail) {
    if (at == bytes.length) {
      byte[][] parts = new byte[1 + tail.length][];
      parts[0] = bytes;
      System.arraycopy(tail, 0, parts, 1, tail.length);
      return new Body(parts);
    }
    int end = at;
    for (byte[] part : tail) {
      end = put(part, bytes, end);
    }
    return new Body(bytes);
  }

  /** Copies all of an array and returns the index after it. */
  static int put(byte[] from, byte[] into, int at) {
    System.arraycopy(from, 0, into, at, from.length);
    return at + from.length;
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  private static int length(byte[][] parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    return length;
  }
}
