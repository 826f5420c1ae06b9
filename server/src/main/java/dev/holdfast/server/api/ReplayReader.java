package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.server.api.Problem.Kind;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads which messages are to be replayed. */
final class ReplayReader {
  private static final String KNOWN = "endpoint, subscription, status, since, until, again";
  private static final Set<String> UNFINISHED = Set.of("pending", "waiting", "parked");
  private static final JsonBody JSON = new JsonBody(1);

  private @Nullable Long endpoint;
  private @Nullable Long subscription;
  private @Nullable Set<Ending> endings;
  private @Nullable Instant since;
  private @Nullable Instant until;
  private boolean again;

  private ReplayReader() {}

  static Selection read(byte[] body) {
    return JSON.read(body, parser -> new ReplayReader().selection(parser));
  }

  private Selection selection(JsonParser parser) {
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "endpoint" -> endpoint = id(parser, name, Id.ENDPOINT);
        case "subscription" -> subscription = id(parser, name, Id.SUBSCRIPTION);
        case "status" -> endings = endings(parser);
        case "since" -> since = time(parser, name);
        case "until" -> until = time(parser, name);
        case "again" -> again = JsonBody.flag(parser, name);
        default -> throw JsonBody.unknownField(name, KNOWN);
      }
    }
    if (endings == null) {
      throw JsonBody.missing("status");
    }
    return new Selection(endpoint, subscription, endings, since, until, again);
  }

  private static @Nullable Long id(JsonParser parser, String field, String prefix) {
    String given = JsonBody.optionalText(parser, field);
    if (given == null) {
      return null;
    }
    return Id.parse(prefix, given)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_FIELD,
                    field,
                    "Give an id as it came in an answer; it begins with " + prefix + "_."));
  }

  private static @Nullable Instant time(JsonParser parser, String field) {
    String given = JsonBody.optionalText(parser, field);
    if (given == null) {
      return null;
    }
    return Rfc3339.parse(given)
        .orElseThrow(() -> Refusal.of(Kind.INVALID_FIELD, field, Text.TIME_REMEDY));
  }

  private static Set<Ending> endings(JsonParser parser) {
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrongType(parser, "status", "an array of \"dropped\" and \"delivered\"");
    }
    Set<Ending> endings = EnumSet.noneOf(Ending.class);
    for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
      String field = "status[" + i + "]";
      if (parser.currentToken() != JsonToken.VALUE_STRING) {
        throw JsonBody.wrongType(parser, field, "a string");
      }
      endings.add(ending(parser.getString(), field));
    }
    if (endings.isEmpty()) {
      throw Refusal.of(Kind.INVALID_FIELD, "status", "Give \"dropped\", \"delivered\", or both.");
    }
    return endings;
  }

  private static Ending ending(String given, String field) {
    for (Ending ending : Ending.values()) {
      if (Json.kebab(ending).equals(given)) {
        return ending;
      }
    }
    throw Refusal.of(
        Kind.INVALID_FIELD,
        field,
        UNFINISHED.contains(given)
            ? "Such a message is unfinished and is still tried: use POST /v1/messages/{id}/retry."
            : "Give \"dropped\" or \"delivered\".");
  }
}
