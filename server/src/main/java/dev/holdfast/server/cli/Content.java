package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The body of a request.
 *
 * @param text its beginning, or all of it
 * @param size how many bytes it has
 * @param isJson whether all of it is there and is JSON
 * @param type the event's type, when it is a body of ours in any format
 * @param subject the event's subject, likewise
 */
record Content(
    String text, long size, boolean isJson, @Nullable String type, @Nullable String subject) {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int MOST_SHOWN = 4_000;

  /**
   * @param start the first bytes of the body
   * @param size how many there are in all
   */
  static Content of(byte[] start, long size) {
    String text = new String(start, StandardCharsets.UTF_8);
    if (start.length < size) {
      return new Content(text, size, false, null, null);
    }
    String type = null;
    String subject = null;
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), start)) {
      JsonToken first = parser.nextToken();
      if (first == null) {
        return new Content(text, size, false, null, null);
      }
      if (first != JsonToken.START_OBJECT) {
        parser.skipChildren();
      } else {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          String name = parser.currentName();
          if (parser.nextToken() == JsonToken.VALUE_STRING) {
            switch (name) {
              case "type", "eventType" -> type = parser.getString();
              case "subject" -> subject = parser.getString();
              default -> {}
            }
          }
          parser.skipChildren();
        }
      }
      return new Content(text, size, parser.nextToken() == null, type, subject);
    } catch (JacksonException e) {
      return new Content(text, size, false, null, null);
    }
  }

  /** The body for a person: indented if it is JSON and {@code pretty}, and never very long. */
  String shown(boolean pretty) {
    String body = pretty && isJson ? indented() : text;
    boolean cut = body.length() > MOST_SHOWN || text.getBytes(StandardCharsets.UTF_8).length < size;
    StringBuilder shown = new StringBuilder();
    body.substring(0, Math.min(body.length(), MOST_SHOWN))
        .lines()
        .forEach(line -> shown.append("    ").append(Printable.text(line)).append('\n'));
    if (cut) {
      shown.append("    … (").append(size).append(" bytes in all)\n");
    }
    return shown.toString();
  }

  /** Only moves white space, so that numbers keep their digits and keys their order. */
  private String indented() {
    StringBuilder out = new StringBuilder();
    int depth = 0;
    boolean inString = false;
    for (int i = 0; i < text.length() && out.length() <= MOST_SHOWN; i++) {
      char c = text.charAt(i);
      if (inString) {
        out.append(c);
        if (c == '\\') {
          out.append(text.charAt(++i));
        } else if (c == '"') {
          inString = false;
        }
        continue;
      }
      switch (c) {
        case ' ', '\t', '\r', '\n' -> {}
        case '{', '[' -> {
          out.append(c);
          newLine(out, ++depth);
        }
        case '}', ']' -> {
          depth--;
          if (isOpening(lastOf(out))) {
            out.setLength(out.toString().stripTrailing().length());
          } else {
            newLine(out, depth);
          }
          out.append(c);
        }
        case ',' -> {
          out.append(c);
          newLine(out, depth);
        }
        case ':' -> out.append(": ");
        default -> {
          inString = c == '"';
          out.append(c);
        }
      }
    }
    return out.toString();
  }

  private static void newLine(StringBuilder out, int depth) {
    out.append('\n').repeat("  ", depth);
  }

  private static char lastOf(StringBuilder out) {
    int end = out.length();
    while (end > 0 && Character.isWhitespace(out.charAt(end - 1))) {
      end--;
    }
    return end == 0 ? ' ' : out.charAt(end - 1);
  }

  private static boolean isOpening(char c) {
    return c == '{' || c == '[';
  }
}
