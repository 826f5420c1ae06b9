package dev.holdfast.server.cli;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ObjectNode;

/**
 * An object of the API as a client sees it. Fields that are absent or of another type than expected
 * read as if they were null: a newer server may have changed them.
 */
record Item(JsonNode node) {
  /** Numbers keep their digits, so that what is printed or sent on is what was read. */
  static final JsonMapper MAPPER =
      JsonMapper.builder(JsonText.FACTORY)
          .addModule(new SimpleModule().addDeserializer(JsonNode.class, new ExactNumbers()))
          .build();

  /** Reads an answer; empty when it is no JSON object. */
  static @Nullable Item read(String json) {
    try {
      JsonNode node = MAPPER.readTree(json);
      return node != null && node.isObject() ? new Item(node) : null;
    } catch (JacksonException e) {
      return null;
    }
  }

  /** A new object, to be filled and sent. */
  static ObjectNode create() {
    return MAPPER.createObjectNode();
  }

  /** Empty when it is null. */
  String text(String field) {
    JsonNode value = node.path(field);
    return value.isNull() || value.isMissingNode() || value.isContainer()
        ? ""
        : ExactNumbers.text(value);
  }

  /** A dash when it is null. */
  String shown(String field) {
    String text = text(field);
    return text.isEmpty() ? "-" : text;
  }

  boolean isNull(String field) {
    return node.path(field).isNull() || node.path(field).isMissingNode();
  }

  boolean isTrue(String field) {
    return node.path(field).isBoolean() && node.path(field).booleanValue();
  }

  long number(String field) {
    JsonNode value = node.path(field);
    return value.isIntegralNumber() ? value.longValue() : 0;
  }

  String count(String field) {
    return String.format(Locale.ROOT, "%,d", number(field));
  }

  @Nullable Instant time(String field) {
    try {
      String text = text(field);
      return text.isEmpty() ? null : Instant.parse(text);
    } catch (DateTimeException e) {
      return null;
    }
  }

  Item object(String field) {
    return new Item(node.path(field));
  }

  List<Item> list(String field) {
    List<Item> items = new ArrayList<>();
    for (JsonNode item : node.path(field)) {
      items.add(new Item(item));
    }
    return items;
  }

  /** The texts of an array, with commas. */
  String words(String field) {
    return String.join(", ", list(field).stream().map(item -> item.node().asString("")).toList());
  }

  /** One line of JSON. */
  String json() {
    return node.toString();
  }
}
