package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.JsonRecyclerPools;

/**
 * Reads JSON bodies token by token, and says what is wrong with them.
 *
 * <p>Numbers, names and strings may be as long as the body: they are skipped or carried, not
 * converted. Nesting is bounded.
 */
final class JsonBody {
  private final JsonFactory factory;

  /**
   * @param outerLevels how many levels of the body lie around the values whose nesting is bounded
   */
  JsonBody(int outerLevels) {
    factory =
        JsonFactory.builder()
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(ApiLimits.NESTING + outerLevels)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .recyclerPool(JsonRecyclerPools.threadLocalPool())
            .build();
  }

  /** Reads the whole of {@code body}, which must be one object. */
  <T> T read(byte[] body, ObjectReader<T> reader) {
    if (!Utf8.isValid(body)) {
      throw Refusal.of(Kind.INVALID_JSON, "The body is not valid UTF-8. Encode it as UTF-8.");
    }
    if (looksLikeOtherEncoding(body)) {
      throw Refusal.of(
          Kind.INVALID_JSON,
          "The body begins with a byte order mark or a zero byte. Encode it as UTF-8 without a"
              + " mark.");
    }
    try (JsonParser parser =
        factory.createParser(ObjectReadContext.empty(), body, 0, body.length)) {
      JsonToken first = parser.nextToken();
      if (first != JsonToken.START_OBJECT) {
        throw Refusal.of(
            Kind.INVALID_JSON,
            first == null ? "The body is empty. Send a JSON object." : "Send a JSON object.");
      }
      T result = reader.read(parser);
      if (parser.nextToken() != null) {
        throw Refusal.of(
            Kind.INVALID_JSON,
            "There is more after the object's end, at "
                + position(parser.currentTokenLocation())
                + ". Send one JSON object only.");
      }
      return result;
    } catch (StreamConstraintsException e) {
      throw Refusal.of(
          Kind.INVALID_JSON,
          "A value is nested deeper than "
              + ApiLimits.NESTING
              + " levels, or has too many keys that are alike, at "
              + position(e.getLocation())
              + ". Make it flatter.");
    } catch (JacksonException e) {
      throw Refusal.of(Kind.INVALID_JSON, mistake(e));
    }
  }

  /** The parser would guess UTF-16 or UTF-32, and count in something else than bytes. */
  private static boolean looksLikeOtherEncoding(byte[] body) {
    for (int i = 0; i < body.length && i < 4; i++) {
      if (body[i] == 0) {
        return true;
      }
    }
    return body.length >= 3
        && body[0] == (byte) 0xef
        && body[1] == (byte) 0xbb
        && body[2] == (byte) 0xbf;
  }

  private static String position(@Nullable TokenStreamLocation location) {
    return location == null
        ? "an unknown place"
        : "line " + location.getLineNr() + ", column " + location.getColumnNr();
  }

  /** Where and what, but never what stands there, as the parser would say: it may be a secret. */
  private static String mistake(JacksonException e) {
    String place = position(e.getLocation());
    return e instanceof UnexpectedEndOfInputException
        ? "The body ends at " + place + ", before its object does. Send all of it."
        : "What stands at "
            + place
            + " is not JSON. Look there for missing quotes, commas or brackets.";
  }

  /** Where the current token begins, in bytes from the beginning of the body. */
  static int offset(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** The string that comes next. */
  static String text(JsonParser parser, String field) {
    if (parser.nextToken() != JsonToken.VALUE_STRING) {
      throw wrongType(parser, field, "a string");
    }
    return parser.getString();
  }

  /** The string that comes next; absent when it is null. */
  static @Nullable String optionalText(JsonParser parser, String field) {
    return switch (parser.nextToken()) {
      case VALUE_STRING -> parser.getString();
      case VALUE_NULL -> null;
      default -> throw wrongType(parser, field, "a string");
    };
  }

  /** The boolean that comes next; absent when it is null. */
  static @Nullable Boolean optionalFlag(JsonParser parser, String field) {
    return switch (parser.nextToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw wrongType(parser, field, "true or false");
    };
  }

  /** The boolean that comes next. */
  static boolean flag(JsonParser parser, String field) {
    return switch (parser.nextToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrongType(parser, field, "true or false");
    };
  }

  static Refusal wrongType(JsonParser parser, String field, String expected) {
    String found =
        switch (parser.currentToken()) {
          case VALUE_STRING -> "a string";
          case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
          case VALUE_TRUE, VALUE_FALSE -> "a boolean";
          case VALUE_NULL -> "null";
          case START_ARRAY -> "an array";
          case START_OBJECT -> "an object";
          default -> "something else";
        };
    return Refusal.of(Kind.INVALID_FIELD, field, "It must be " + expected + ", not " + found + ".");
  }

  static Refusal unknownField(String field, String known) {
    return Refusal.of(
        Kind.UNKNOWN_FIELD,
        Text.shown(field),
        "This field is not known. Known are: " + known + ". Leave it out.");
  }

  static Refusal missing(String field) {
    return Refusal.of(Kind.INVALID_FIELD, field, "This field is missing. Give it a value.");
  }

  static Refusal twice(String field) {
    return Refusal.of(
        Kind.INVALID_FIELD, field, "This field is there more than once. Keep one of them.");
  }

  /** Reads an object whose start is the current token, up to its end. */
  @FunctionalInterface
  interface ObjectReader<T> {
    T read(JsonParser parser);
  }
}
