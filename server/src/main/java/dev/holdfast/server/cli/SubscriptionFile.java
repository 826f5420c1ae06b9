package dev.holdfast.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;
import tools.jackson.core.util.Separators;
import tools.jackson.core.util.Separators.Spacing;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The file in which subscriptions go from one server to another: JSON that says what it is, and
 * subscriptions as {@code POST /v1/subscriptions} takes them.
 *
 * <p>The envelope is read strictly, since a file of another kind or version means something else.
 * The subscriptions are the server's to judge, which knows the rules of its version.
 */
final class SubscriptionFile {
  static final int MOST_BYTES = 256 << 20;
  static final String LIST = "subscriptions";

  private static final String KIND = "holdfast";
  private static final String VERSION = "version";
  private static final int THIS_VERSION = 1;

  private static final JsonMapper READER =
      Item.MAPPER
          .rebuild()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** One value on each line, so that a diff shows what has changed and no more. */
  private static final ObjectWriter WRITER = Item.MAPPER.writer().with(printer());

  private SubscriptionFile() {}

  private static DefaultPrettyPrinter printer() {
    DefaultIndenter lines = new DefaultIndenter("  ", "\n");
    return new DefaultPrettyPrinter(
            new Separators()
                .withObjectNameValueSpacing(Spacing.AFTER)
                .withObjectEmptySeparator("")
                .withArrayEmptySeparator(""))
        .withObjectIndenter(lines)
        .withArrayIndenter(lines);
  }

  static String write(List<ObjectNode> subscriptions) {
    ObjectNode file = Item.create().put(KIND, LIST).put(VERSION, THIS_VERSION);
    file.putArray(LIST).addAll(subscriptions);
    return WRITER.writeValueAsString(file) + "\n";
  }

  /** How a message names a subscription of the file, as the server names those of a request. */
  static String place(int index) {
    return LIST + "[" + index + "]";
  }

  /**
   * Reads a file.
   *
   * @param origin what the file is called in what is said about it
   */
  static List<ObjectNode> read(byte[] text, String origin) throws CommandFailed {
    JsonNode file = json(text, origin);
    if (!file.isObject()) {
      throw bad(origin, "is not a JSON object");
    }
    JsonNode version = file.path(VERSION);
    if (!file.path(KIND).asString("").equals(LIST)) {
      throw bad(origin, "does not say \"holdfast\": \"subscriptions\"");
    }
    if (!version.isIntegralNumber() || version.longValue() != THIS_VERSION) {
      throw new CommandFailed(
          "%s has %s, and this Holdfast reads version %d. Export it again with this one, or import it with the one that wrote it."
              .formatted(
                  origin,
                  ExactNumbers.isNumber(version)
                      ? "version " + Printable.text(ExactNumbers.text(version), 20)
                      : "no version",
                  THIS_VERSION));
    }
    Set<String> unknown = new TreeSet<>(file.propertyNames());
    unknown.removeAll(Set.of(KIND, VERSION, LIST));
    if (!unknown.isEmpty()) {
      throw bad(
          origin, "has fields that are not known: " + Printable.text(String.join(", ", unknown)));
    }
    if (!(file.path(LIST) instanceof ArrayNode list)) {
      throw bad(origin, "has no list of subscriptions");
    }
    List<ObjectNode> subscriptions = new ArrayList<>(list.size());
    for (JsonNode subscription : list) {
      if (!(subscription instanceof ObjectNode object)) {
        throw bad(origin, "has something that is no object: " + place(subscriptions.size()));
      }
      subscriptions.add(object);
    }
    return subscriptions;
  }

  /** Says where it is not JSON, and not what stands there: that may be a token. */
  private static JsonNode json(byte[] text, String origin) throws CommandFailed {
    try {
      return READER.readTree(text);
    } catch (JacksonException e) {
      TokenStreamLocation where = e.getLocation();
      throw bad(
          origin,
          where == null || where.getLineNr() < 1
              ? "is not JSON"
              : "is not JSON, or has a name twice: see line %d, column %d"
                  .formatted(where.getLineNr(), where.getColumnNr()));
    }
  }

  private static CommandFailed bad(String origin, String what) {
    return new CommandFailed(
        "%s %s. Name a file that ./holdfast subscriptions export has written."
            .formatted(origin, what));
  }
}
