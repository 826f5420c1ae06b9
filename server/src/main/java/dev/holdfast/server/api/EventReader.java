package dev.holdfast.server.api;

import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.server.api.Problem.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads events from request bodies.
 *
 * <p>{@code data} and {@code previous} are cut out of the body as the bytes that they came as, so
 * that numbers keep their digits and keys their order. The cut goes from the value's first byte to
 * the next token's, less the white space and the comma between the two: no value ends with either.
 */
final class EventReader {
  private static final String KNOWN = "type, subject, occurredAt, data, previous, id";

  private static final int TYPE = 1;
  private static final int SUBJECT = 1 << 1;
  private static final int OCCURRED_AT = 1 << 2;
  private static final int DATA = 1 << 3;
  private static final int PREVIOUS = 1 << 4;
  private static final int ID = 1 << 5;

  private static final JsonBody ONE_EVENT = new JsonBody(1);
  private static final JsonBody BATCH = new JsonBody(3);

  private final int messageBytes;

  EventReader(int messageBytes) {
    this.messageBytes = messageBytes;
  }

  NewEvent event(byte[] body, @Nullable String traceparent) {
    return ONE_EVENT.read(body, parser -> event(parser, body, traceparent));
  }

  List<NewEvent> batch(byte[] body, @Nullable String traceparent) {
    return BATCH.read(body, parser -> batch(parser, body, traceparent));
  }

  private List<NewEvent> batch(JsonParser parser, byte[] body, @Nullable String traceparent) {
    List<NewEvent> events = new ArrayList<>();
    boolean seen = false;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      if (!"events".equals(parser.currentName())) {
        throw JsonBody.unknownField(parser.currentName(), "events");
      }
      if (seen) {
        throw JsonBody.twice("events");
      }
      seen = true;
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw JsonBody.wrongType(parser, "events", "an array of events");
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        if (events.size() == ApiLimits.BATCH_EVENTS) {
          throw batchSize("more than that");
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) {
          throw JsonBody.wrongType(parser, "events[" + events.size() + "]", "an event");
        }
        try {
          events.add(event(parser, body, traceparent));
        } catch (Refusal refusal) {
          throw new Refusal(refusal.problem().inBatch(events.size()));
        }
      }
    }
    if (!seen) {
      throw JsonBody.missing("events");
    }
    if (events.isEmpty()) {
      throw batchSize("none");
    }
    return events;
  }

  private static Refusal batchSize(String found) {
    return Refusal.of(
        Kind.INVALID_FIELD,
        "events",
        "A batch has 1 to " + ApiLimits.BATCH_EVENTS + " events, not " + found + ".");
  }

  /** Reads the event whose start is the current token, out of this body. */
  NewEvent event(JsonParser parser, byte[] body, @Nullable String traceparent) {
    String type = null;
    String subject = null;
    Instant occurredAt = null;
    byte[] data = null;
    byte[] previous = null;
    String id = null;
    int seen = 0;
    JsonToken token = parser.nextToken();
    while (token == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      int field = field(name);
      if (field == 0) {
        throw JsonBody.unknownField(name, KNOWN);
      }
      if ((seen & field) != 0) {
        throw JsonBody.twice(name);
      }
      seen |= field;
      switch (field) {
        case TYPE -> type = Text.type(JsonBody.text(parser, name), name);
        case SUBJECT -> {
          String given = JsonBody.optionalText(parser, name);
          subject = given == null ? null : Text.clean(given, name, ApiLimits.SUBJECT_CHARS);
        }
        case OCCURRED_AT -> {
          String given = JsonBody.optionalText(parser, name);
          occurredAt = given == null ? null : Text.time(given, name);
        }
        case ID -> {
          String given = JsonBody.optionalText(parser, name);
          id = given == null ? null : Text.eventId(given, name);
        }
        default -> {
          parser.nextToken();
          int start = JsonBody.offset(parser);
          parser.skipChildren();
          token = parser.nextToken();
          byte[] value = cut(body, start, JsonBody.offset(parser));
          if (field == DATA) {
            data = value;
          } else {
            previous = value;
          }
          continue;
        }
      }
      token = parser.nextToken();
    }
    if (type == null) {
      throw JsonBody.missing("type");
    }
    if (data == null) {
      throw JsonBody.missing("data");
    }
    checkSize(data, "data", previous, "previous", messageBytes);
    return new NewEvent(type, subject, occurredAt, data, previous, id, traceparent);
  }

  /** Refuses what is too large together; the names are those of the fields. */
  static void checkSize(
      byte[] data,
      String dataName,
      byte @Nullable [] previous,
      String previousName,
      int mostBytes) {
    long size = (long) data.length + (previous == null ? 0 : previous.length);
    if (size > mostBytes) {
      throw Refusal.of(
          Kind.TOO_LARGE,
          dataName,
          dataName
              + " and "
              + previousName
              + " have "
              + size
              + " bytes together; at most "
              + mostBytes
              + " are taken. Send less, or a reference to where the rest can be fetched.");
    }
  }

  private static int field(String name) {
    return switch (name) {
      case "type" -> TYPE;
      case "subject" -> SUBJECT;
      case "occurredAt" -> OCCURRED_AT;
      case "data" -> DATA;
      case "previous" -> PREVIOUS;
      case "id" -> ID;
      default -> 0;
    };
  }

  private static byte[] cut(byte[] body, int start, int next) {
    int end = next;
    while (isBetweenTokens(body[end - 1])) {
      end--;
    }
    return Arrays.copyOfRange(body, start, end);
  }

  private static boolean isBetweenTokens(byte b) {
    return b == ' ' || b == ',' || b == '\n' || b == '\r' || b == '\t';
  }
}
