package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.io.JsonStringEncoder;
import tools.jackson.core.json.JsonFactory;

/** Looks at JSON that is sent on as it is. */
final class JsonText {
  /** Numbers, names and strings may be as long as the text. */
  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonText() {}

  /** What is wrong with it as one JSON value; absent when nothing is. */
  static @Nullable String problem(byte[] text) {
    return problem(text, false);
  }

  /** The same as one JSON object. */
  static @Nullable String problemAsObject(byte[] text) {
    return problem(text, true);
  }

  private static @Nullable String problem(byte[] text, boolean object) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      JsonToken first = parser.nextToken();
      if (first == null) {
        return "is empty";
      }
      if (object && first != JsonToken.START_OBJECT) {
        return "is not a JSON object";
      }
      parser.skipChildren();
      return parser.nextToken() == null ? null : "has more after its end";
    } catch (JacksonException e) {
      // never the parser's words, which repeat what stands there: what is printed may be kept
      TokenStreamLocation where = e.getLocation();
      return where == null || where.getLineNr() < 1
          ? "is not JSON"
          : "is not JSON: see line %d, column %d".formatted(where.getLineNr(), where.getColumnNr());
    }
  }

  /** A text as JSON has it. */
  static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    JsonStringEncoder.getInstance().quoteAsString(text, json);
    return json.append('"').toString();
  }

  static byte[] bytes(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
  }
}
