package dev.holdfast.server.cli;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * Reads the audit log through the API, with the text of each entry just as it came: written anew it
 * might have another hash.
 */
final class AuditPages {
  private static final int PAGE_ITEMS = 200;

  /** Takes entries. */
  interface Each {
    void take(String chain, String entry, String previous, String hash);
  }

  private AuditPages() {}

  static void read(ApiClient api, String path, Each each) throws CommandFailed {
    String next = null;
    do {
      String cursor = next == null ? "" : "&cursor=" + ApiClient.encoded(next);
      ApiClient.Answer answer =
          api.granted(api.send("GET", path + "?limit=" + PAGE_ITEMS + cursor, new byte[0]));
      next = page(answer.text(), each);
    } while (next != null);
  }

  /** Returns where the next page begins. */
  static @Nullable String page(String text, Each each) throws CommandFailed {
    try (JsonParser parser = JsonText.FACTORY.createParser(ObjectReadContext.empty(), text)) {
      String next = null;
      parser.nextToken();
      for (String field = parser.nextName(); field != null; field = parser.nextName()) {
        JsonToken value = parser.nextToken();
        if (field.equals("items")) {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            item(parser, text, each);
          }
        } else if (field.equals("next")) {
          next = value == JsonToken.VALUE_NULL ? null : parser.getString();
        } else {
          parser.skipChildren();
        }
      }
      return next;
    } catch (JacksonException e) {
      throw new CommandFailed(
          "The answer is not what a Holdfast answers. Check what runs at the address.");
    }
  }

  private static void item(JsonParser parser, String text, Each each) {
    String chain = "";
    String entry = "";
    String previous = "";
    String hash = "";
    for (String field = parser.nextName(); field != null; field = parser.nextName()) {
      parser.nextToken();
      switch (field) {
        case "chain" -> chain = parser.getString();
        case "previous" -> previous = parser.getString();
        case "hash" -> hash = parser.getString();
        case "entry" -> {
          int from = (int) parser.currentTokenLocation().getCharOffset();
          parser.skipChildren();
          entry = text.substring(from, (int) parser.currentTokenLocation().getCharOffset() + 1);
        }
        default -> parser.skipChildren();
      }
    }
    each.take(chain, entry, previous, hash);
  }
}
