package dev.holdfast.server.cli;

import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;
import tools.jackson.databind.util.RawValue;

/**
 * Reads trees of JSON whose numbers are written again with the same characters.
 *
 * <p>A filter may have a number that no Java type takes, such as {@code 1e99999999999}, or that
 * would be written otherwise, such as {@code 1e5}. What is not plainly a {@code long} stays text.
 */
final class ExactNumbers extends StdDeserializer<JsonNode> {
  ExactNumbers() {
    super(JsonNode.class);
  }

  @Override
  public JsonNode deserialize(JsonParser parser, DeserializationContext context) {
    return read(parser, context.getNodeFactory());
  }

  private static JsonNode read(JsonParser parser, JsonNodeFactory nodes) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        ObjectNode object = nodes.objectNode();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
          parser.nextToken();
          object.set(name, read(parser, nodes));
        }
        yield object;
      }
      case START_ARRAY -> {
        ArrayNode array = nodes.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(read(parser, nodes));
        }
        yield array;
      }
      case VALUE_STRING -> nodes.stringNode(parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser.getString(), nodes);
      case VALUE_TRUE -> nodes.booleanNode(true);
      case VALUE_FALSE -> nodes.booleanNode(false);
      default -> nodes.nullNode();
    };
  }

  private static JsonNode number(String digits, JsonNodeFactory nodes) {
    try {
      long number = Long.parseLong(digits);
      if (Long.toString(number).equals(digits)) {
        return nodes.numberNode(number);
      }
    } catch (NumberFormatException _) {
      // kept as it is written
    }
    return nodes.rawValueNode(new RawValue(digits));
  }

  /** Whether it is a number, in whichever way it is held. */
  static boolean isNumber(JsonNode node) {
    return node.isNumber() || node.isPojo();
  }

  /** The text of a value without parts, numbers as they are written. */
  static String text(JsonNode value) {
    return value instanceof POJONode held && held.getPojo() instanceof RawValue raw
        ? String.valueOf(raw.rawValue())
        : value.asString();
  }
}
