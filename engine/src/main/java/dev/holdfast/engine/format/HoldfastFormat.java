package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Event;

/**
 * The format {@code holdfast}: {@code {"id","type","subject","occurredAt","data","previous"}}.
 *
 * <p>What the event does not have is left out. {@code data} and {@code previous} are the very bytes
 * that came in.
 */
public final class HoldfastFormat {

  /** Up to here a body is copied into one array; a larger one refers to the event's own arrays. */
  static final int COPIED_BYTES = 16 * 1024;

  private static final byte[] ID = ascii("{\"id\":");
  private static final byte[] TYPE = ascii(",\"type\":");
  private static final byte[] SUBJECT = ascii(",\"subject\":");
  private static final byte[] OCCURRED_AT = ascii(",\"occurredAt\":");
  private static final byte[] DATA = ascii(",\"data\":");
  private static final byte[] PREVIOUS = ascii(",\"previous\":");
  private static final byte[] END = ascii("}");

  private HoldfastFormat() {}

  public static Body body(Event event) {
    String id = event.publicId();
    String occurredAt = event.occurredAt() == null ? null : Rfc3339.text(event.occurredAt());
    String subject = event.subject();
    byte[] data = event.data();
    byte[] previous = event.previous();

    int head = ID.length + JsonText.length(id) + TYPE.length + JsonText.length(event.type());
    if (subject != null) {
      head += SUBJECT.length + JsonText.length(subject);
    }
    if (occurredAt != null) {
      head += OCCURRED_AT.length + JsonText.length(occurredAt);
    }
    head += DATA.length;
    int carried = data.length + (previous == null ? 0 : PREVIOUS.length + previous.length);
    boolean whole = head + carried + END.length <= COPIED_BYTES;

    byte[] bytes = new byte[whole ? head + carried + END.length : head];
    int at = put(ID, bytes, 0);
    at = JsonText.write(id, bytes, at);
    at = put(TYPE, bytes, at);
    at = JsonText.write(event.type(), bytes, at);
    if (subject != null) {
      at = put(SUBJECT, bytes, at);
      at = JsonText.write(subject, bytes, at);
    }
    if (occurredAt != null) {
      at = put(OCCURRED_AT, bytes, at);
      at = JsonText.write(occurredAt, bytes, at);
    }
    at = put(DATA, bytes, at);
    if (!whole) {
      return previous == null
          ? new Body(bytes, data, END)
          : new Body(bytes, data, PREVIOUS, previous, END);
    }
    at = put(data, bytes, at);
    if (previous != null) {
      at = put(PREVIOUS, bytes, at);
      at = put(previous, bytes, at);
    }
    put(END, bytes, at);
    return new Body(bytes);
  }

  private static int put(byte[] from, byte[] into, int at) {
    System.arraycopy(from, 0, into, at, from.length);
    return at + from.length;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }
}
