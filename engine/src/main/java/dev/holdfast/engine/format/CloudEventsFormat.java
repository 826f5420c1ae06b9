package dev.holdfast.engine.format;

import static dev.holdfast.engine.format.Body.ascii;
import static dev.holdfast.engine.format.Body.put;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Event;
import java.time.Instant;
import java.util.Base64;

/**
 * The format {@code cloudevents}: CloudEvents 1.0 as one JSON object, attributes and data together.
 *
 * <p>{@code data} is the very bytes that came in. CloudEvents has no place for the state before,
 * and an attribute must be a simple value; so {@code previous} is an attribute of their type
 * Binary, which in JSON is a Base64 text.
 */
final class CloudEventsFormat {
  private static final byte[] ID = ascii("{\"specversion\":\"1.0\",\"id\":");
  private static final byte[] SOURCE = ascii(",\"source\":");
  private static final byte[] TYPE = ascii(",\"type\":");
  private static final byte[] SUBJECT = ascii(",\"subject\":");
  private static final byte[] TIME = ascii(",\"time\":");
  private static final byte[] DATA = ascii(",\"datacontenttype\":\"application/json\",\"data\":");
  private static final byte[] PREVIOUS = ascii(",\"previous\":\"");
  private static final byte[] PREVIOUS_END = ascii("\"}");
  private static final byte[] END = ascii("}");

  private static final String SOURCE_START = "/tenants/";
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private CloudEventsFormat() {}

  static Body body(Event event) {
    String id = event.publicId();
    String source = source(event.tenant());
    String subject = event.subject();
    Instant occurredAt = event.occurredAt();
    String time = Rfc3339.text(occurredAt == null ? event.acceptedAt() : occurredAt);
    byte[] previous = event.previous();
    byte[][] tail =
        previous == null
            ? new byte[][] {event.data(), END}
            : new byte[][] {
              event.data(), PREVIOUS, Base64.getEncoder().encode(previous), PREVIOUS_END
            };

    int head =
        ID.length
            + JsonText.length(id)
            + SOURCE.length
            + JsonText.length(source)
            + TYPE.length
            + JsonText.length(event.type())
            + (subject == null ? 0 : SUBJECT.length + JsonText.length(subject))
            + TIME.length
            + JsonText.length(time)
            + DATA.length;

    byte[] bytes = Body.room(head, tail);
    int at = put(ID, bytes, 0);
    at = JsonText.write(id, bytes, at);
    at = put(SOURCE, bytes, at);
    at = JsonText.write(source, bytes, at);
    at = put(TYPE, bytes, at);
    at = JsonText.write(event.type(), bytes, at);
    if (subject != null) {
      at = put(SUBJECT, bytes, at);
      at = JsonText.write(subject, bytes, at);
    }
    at = put(TIME, bytes, at);
    at = JsonText.write(time, bytes, at);
    at = put(DATA, bytes, at);
    return Body.joined(bytes, at, tail);
  }

  /**
   * Where events of a tenant come from. It has to be a URI reference, so whatever could mean
   * something in one is escaped: a program that embeds the engine may call its tenants anything.
   */
  private static String source(String tenant) {
    for (int i = 0; i < tenant.length(); i++) {
      if (!isPlain(tenant.charAt(i))) {
        return SOURCE_START + escaped(tenant);
      }
    }
    return SOURCE_START.concat(tenant);
  }

  private static String escaped(String tenant) {
    StringBuilder escaped = new StringBuilder();
    for (byte b : tenant.getBytes(UTF_8)) {
      if (b > 0 && isPlain((char) b)) {
        escaped.append((char) b);
      } else {
        escaped.append('%').append(HEX[b >> 4 & 0xf]).append(HEX[b & 0xf]);
      }
    }
    return escaped.toString();
  }

  private static boolean isPlain(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_'
        || c == '.'
        || c == '~';
  }
}
