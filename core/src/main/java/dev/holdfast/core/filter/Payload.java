package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import dev.holdfast.core.filter.Value.Truth;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * The two states of an event, read when a filter asks for them, and no more than once.
 *
 * <p>A state that is not a JSON object has no fields; so has one that is not JSON.
 */
public final class Payload {
  private static final Read ABSENT = new Read(false, Map.of());
  private static final Read EMPTY = new Read(true, Map.of());

  private final byte[] data;
  private final byte @Nullable [] previous;
  private final @Nullable Set<String> named;
  private @Nullable Read readData;
  private @Nullable Read readPrevious;

  /**
   * What was read of a state.
   *
   * @param isThere whether there is such a state
   */
  private record Read(boolean isThere, Map<String, Value> fields) {}

  public Payload(byte[] data, byte @Nullable [] previous) {
    this(data, previous, null);
  }

  /**
   * A payload of which only some fields are kept.
   *
   * @param named the fields that filters name; all when absent. It must not change meanwhile
   */
  public Payload(byte[] data, byte @Nullable [] previous, @Nullable Set<String> named) {
    this.data = data;
    this.previous = previous;
    this.named = named;
  }

  @Nullable Value field(State state, String name) {
    return fields(state).get(name);
  }

  /** The fields of a state that are kept. */
  Map<String, Value> fields(State state) {
    return read(state).fields;
  }

  /** Whether a field differs between the two states; not when there is no state before. */
  boolean hasChanged(String name) {
    if (!read(State.OLD).isThere) {
      return false;
    }
    Value before = field(State.OLD, name);
    Value now = field(State.NEW, name);
    return before == null ? now != null : !Compare.isSame(before, now);
  }

  private Read read(State state) {
    return switch (state) {
      case NEW -> {
        if (readData == null) {
          readData = read(data);
        }
        yield readData;
      }
      case OLD -> {
        if (readPrevious == null) {
          readPrevious = read(previous);
        }
        yield readPrevious;
      }
    };
  }

  private Read read(byte @Nullable [] bytes) {
    if (bytes == null) {
      return ABSENT;
    }
    try (JsonParser parser = Json.FACTORY.createParser(ObjectReadContext.empty(), bytes)) {
      JsonToken first = parser.nextToken();
      Map<String, Value> fields = first == JsonToken.START_OBJECT ? top(parser) : Map.of();
      parser.skipChildren();
      if (parser.nextToken() != null) {
        return EMPTY;
      }
      return first == JsonToken.VALUE_NULL ? ABSENT : new Read(true, fields);
    } catch (JacksonException e) {
      return EMPTY;
    }
  }

  private Map<String, Value> top(JsonParser parser) {
    Map<String, Value> fields = new HashMap<>();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      if (named == null || named.contains(name)) {
        fields.put(name, value(parser));
      } else {
        parser.skipChildren();
      }
    }
    return fields;
  }

  private static Value value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> new Text(parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Numeral(parser.getString());
      case VALUE_TRUE -> Truth.TRUE;
      case VALUE_FALSE -> Truth.FALSE;
      case START_ARRAY -> {
        List<Value> values = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          values.add(value(parser));
        }
        yield new Items(values);
      }
      case START_OBJECT -> {
        Map<String, Value> fields = new LinkedHashMap<>();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
          parser.nextToken();
          fields.put(name, value(parser));
        }
        yield new Fields(fields);
      }
      default -> Nothing.NULL;
    };
  }

  @Override
  public String toString() {
    return "Payload[" + (data.length + (previous == null ? 0 : previous.length)) + " bytes]";
  }
}
