package dev.holdfast.engine.format;

import static dev.holdfast.engine.format.Body.ascii;
import static dev.holdfast.engine.format.Body.put;

import dev.holdfast.core.model.Event;

/**
 * The format {@code holdfast}: {@code {"id","type","subject","occurredAt","data","previous"}}.
 *
 * <p>What the event does not have is left out. {@code data} and {@code previous} are the very bytes
 * that came in.
 */
final class HoldfastFormat {
  private static final byte[] ID = ascii("{\"id\":");
  private static final byte[] TYPE = ascii(",\"type\":");
  private static final byte[] SUBJECT = ascii(",\"subject\":");
  private static final byte[] OCCURRED_AT = ascii(",\"occurredAt\":");
  private static final byte[] DATA = ascii(",\"data\":");
  private static final byte[] PREVIOUS = ascii(",\"previous\":");
  private static final byte[] END = ascii("}");

  private HoldfastFormat() {}

  static Body body(Event event) {
    String id = event.publicId();
    String occurredAt = event.occurredAt() == null ? null : Rfc3339.text(event.occurredAt());
    String subject = event.subject();
    byte[] previous = event.previous();
    byte[][] tail =
        previous == null
            ? new byte[][] {event.data(), END}
            : new byte[][] {event.data(), PREVIOUS, previous, END};

    int head = ID.length + JsonText.length(id) + TYPE.length + JsonText.length(event.type());
    if (subject != null) {
      head += SUBJECT.length + JsonText.length(subject);
    }
    if (occurredAt != null) {
      head += OCCURRED_AT.length + JsonText.length(occurredAt);
    }
    head += DATA.length;

    byte[] bytes = Body.room(head, tail);
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
    return Body.joined(bytes, at, tail);
  }
}
