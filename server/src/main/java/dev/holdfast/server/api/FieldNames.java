package dev.holdfast.server.api;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** The names of an object's fields, one after the other while it is read. None may come twice. */
final class FieldNames {
  private final JsonParser parser;
  private final Set<String> seen = new HashSet<>();

  /**
   * @param parser at the object's start; whoever takes a name reads its value
   */
  FieldNames(JsonParser parser) {
    this.parser = parser;
  }

  /** The next field's name; nothing at the object's end. */
  @Nullable String next() {
    if (parser.nextToken() != JsonToken.PROPERTY_NAME) {
      return null;
    }
    String name = parser.currentName();
    if (!seen.add(name)) {
      throw JsonBody.twice(Text.shown(name));
    }
    return name;
  }
}
