package dev.holdfast.core.filter;

import static java.util.stream.Collectors.joining;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import dev.holdfast.core.filter.Value.Truth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/** Reads filters from JSON, and refuses those that cannot work. */
public final class FilterReader {
  private static final String ROOT = "filters";

  private final JsonParser parser;
  private int comparisons;
  private int groups;

  private FilterReader(JsonParser parser) {
    this.parser = parser;
  }

  /**
   * Reads an array of filters.
   *
   * @param parser stands at the array's beginning, and afterwards at its end
   * @throws InvalidFilter if one of them cannot work, or it is no array
   * @throws tools.jackson.core.JacksonException if it is not JSON
   */
  public static List<Filter> read(JsonParser parser) {
    return new FilterReader(parser).filters(ROOT, false);
  }

  static List<Filter> read(String json) {
    try (JsonParser parser = Json.FACTORY.createParser(ObjectReadContext.empty(), json)) {
      parser.nextToken();
      return read(parser);
    }
  }

  private List<Filter> filters(String place, boolean isInGroup) {
    expect(JsonToken.START_ARRAY, place, "an array of filters");
    List<Filter> filters = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      filters.add(filter(place + "[" + filters.size() + "]", isInGroup));
    }
    return filters;
  }

  /** What was found of one filter. Whether it is a group may stand at its end. */
  private static final class Found {
    final Set<String> names = new HashSet<>();
    String fieldName = "";
    @Nullable Value fieldValue;
    @Nullable Operator operator;
    State state = State.NEW;
    @Nullable Connector connector;
    List<Filter> filters = List.of();
  }

  private Filter filter(String place, boolean isInGroup) {
    expect(JsonToken.START_OBJECT, place, "an object");
    Found found = new Found();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      String at = place + "." + name;
      if (!found.names.add(name)) {
        throw new InvalidFilter(at, "It is there twice. Give it once.");
      }
      parser.nextToken();
      switch (name) {
        case "fieldName" -> found.fieldName = fieldName(at);
        case "fieldValue" -> found.fieldValue = new ValueReader(at).read();
        case "comparison" -> found.operator = word(at, Operator.values(), Operator::word);
        case "state" -> found.state = word(at, State.values(), State::word);
        case "type" -> {
          if (!text(at).equals("group")) {
            throw new InvalidFilter(
                at, "The only type is group. Leave it out for a filter that compares a field.");
          }
          refuseNested(at, isInGroup);
        }
        case "connector" -> found.connector = word(at, Connector.values(), Connector::name);
        case ROOT -> {
          refuseNested(at, isInGroup);
          found.filters = filters(at, true);
        }
        default ->
            throw new InvalidFilter(
                at,
                "There is no such field. A filter has fieldName, fieldValue, comparison and state;"
                    + " a group has type, connector and filters.");
      }
    }
    return found.names.contains("type") ? group(place, found) : comparison(place, found);
  }

  private static void refuseNested(String place, boolean isInGroup) {
    if (isInGroup) {
      throw new InvalidFilter(
          place, "Groups cannot be nested. Put only filters that compare a field into a group.");
    }
  }

  private Group group(String place, Found found) {
    for (String name : List.of("fieldName", "fieldValue", "comparison", "state")) {
      if (found.names.contains(name)) {
        throw new InvalidFilter(
            place + "." + name,
            "A group does not have it. Put it into one of the group's filters.");
      }
    }
    Connector connector = found.connector;
    if (connector == null) {
      throw new InvalidFilter(place + ".connector", "It is missing. Say AND or OR.");
    }
    int size = found.filters.size();
    if (size < FilterLimits.GROUP_LEAST || size > FilterLimits.GROUP_MOST) {
      throw new InvalidFilter(
          place + ".filters",
          "A group has %d to %d filters, not %d. %s"
              .formatted(
                  FilterLimits.GROUP_LEAST,
                  FilterLimits.GROUP_MOST,
                  size,
                  size < FilterLimits.GROUP_LEAST
                      ? "Put a single filter beside the groups."
                      : "Use several groups."));
    }
    if (++groups > FilterLimits.GROUPS) {
      throw new InvalidFilter(
          place, "There can be %d groups, no more.".formatted(FilterLimits.GROUPS));
    }
    List<Comparison> filters = new ArrayList<>(size);
    for (Filter filter : found.filters) {
      filters.add((Comparison) filter);
    }
    return new Group(connector, filters);
  }

  private Comparison comparison(String place, Found found) {
    for (String name : List.of("connector", ROOT)) {
      if (found.names.contains(name)) {
        throw new InvalidFilter(
            place + "." + name, "Only a group has it. Add \"type\":\"group\", or leave it out.");
      }
    }
    if (found.fieldName.isEmpty()) {
      throw new InvalidFilter(
          place + ".fieldName", "It is missing. Name a field of the event's data.");
    }
    Operator operator = found.operator;
    if (operator == null) {
      throw new InvalidFilter(
          place + ".comparison",
          "It is missing. Use one of %s.".formatted(words(Operator.values(), Operator::word)));
    }
    Value value = operator == Operator.CHANGED ? null : found.fieldValue;
    if (value == null && operator != Operator.CHANGED) {
      throw new InvalidFilter(
          place + ".fieldValue",
          "It is missing. Give the value to compare with; null is one. Only changed needs none.");
    }
    String objection = value == null ? null : operator.objectionTo(value);
    if (objection != null) {
      throw new InvalidFilter(place + ".fieldValue", objection);
    }
    if (++comparisons > FilterLimits.FILTERS) {
      throw new InvalidFilter(
          place,
          "There can be %d filters in all, no more. Use several subscriptions."
              .formatted(FilterLimits.FILTERS));
    }
    return new Comparison(found.fieldName, value, operator, found.state);
  }

  private String fieldName(String place) {
    String name = text(place);
    if (name.isEmpty()) {
      throw new InvalidFilter(place, "It is empty. Name a field of the event's data.");
    }
    if (name.length() > FilterLimits.NAME_CHARACTERS) {
      throw new InvalidFilter(
          place,
          "It has more than %d characters. Use a shorter field."
              .formatted(FilterLimits.NAME_CHARACTERS));
    }
    // A million filters ask for few fields.
    return name.intern();
  }

  private <T> T word(String place, T[] allowed, Function<T, String> word) {
    String text = text(place);
    for (T each : allowed) {
      if (word.apply(each).equals(text)) {
        return each;
      }
    }
    throw new InvalidFilter(
        place, "It must be one of %s, written like that.".formatted(words(allowed, word)));
  }

  private static <T> String words(T[] allowed, Function<T, String> word) {
    return Arrays.stream(allowed).map(word).collect(joining(", "));
  }

  private String text(String place) {
    expect(JsonToken.VALUE_STRING, place, "a string");
    return whole(place, parser.getString());
  }

  /** Refuses half a character, which no store could give back. */
  private static String whole(String place, String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isSurrogatePair(
            text.charAt(i), i + 1 < text.length() ? text.charAt(i + 1) : 0)) {
          throw new InvalidFilter(
              place, "It has half of a surrogate pair in it. Write both halves, or the character.");
        }
        i++;
      }
    }
    return text;
  }

  private void expect(JsonToken token, String place, String expected) {
    if (parser.currentToken() != token) {
      throw new InvalidFilter(place, "It must be %s, not %s.".formatted(expected, current()));
    }
  }

  private String current() {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
      case VALUE_TRUE, VALUE_FALSE -> "a boolean";
      case VALUE_NULL -> "null";
      case START_ARRAY -> "an array";
      case START_OBJECT -> "an object";
      case null, default -> "something else";
    };
  }

  /** Reads one value and counts what it takes. */
  private final class ValueReader {
    private final String place;
    private int characters;

    ValueReader(String place) {
      this.place = place;
    }

    Value read() {
      return value(0);
    }

    private Value value(int depth) {
      return switch (parser.currentToken()) {
        case VALUE_STRING -> {
          String text = parser.getString();
          count(text.length() + "\"\"".length());
          yield new Text(whole(place, text));
        }
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
          String digits = parser.getString();
          count(digits.length());
          yield new Numeral(digits);
        }
        case VALUE_TRUE, VALUE_FALSE -> {
          Truth truth = Truth.of(parser.currentToken() == JsonToken.VALUE_TRUE);
          count(truth.text().length());
          yield truth;
        }
        case START_ARRAY -> {
          count("[]".length());
          yield items(deeper(depth));
        }
        case START_OBJECT -> {
          count("{}".length());
          yield fields(deeper(depth));
        }
        default -> {
          count(Nothing.NULL.text().length());
          yield Nothing.NULL;
        }
      };
    }

    private Items items(int depth) {
      List<Value> values = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        count(values.isEmpty() ? 0 : ",".length());
        values.add(value(depth));
      }
      return new Items(values);
    }

    private Fields fields(int depth) {
      Map<String, Value> fields = new LinkedHashMap<>();
      for (String name = parser.nextName(); name != null; name = parser.nextName()) {
        count(name.length() + (fields.isEmpty() ? "\"\":" : ",\"\":").length());
        if (fields.containsKey(name)) {
          throw new InvalidFilter(place, "A field is in an object of it twice. Give it once.");
        }
        parser.nextToken();
        fields.put(name, value(depth));
      }
      return new Fields(fields);
    }

    private int deeper(int depth) {
      if (depth == FilterLimits.VALUE_NESTING) {
        throw new InvalidFilter(
            place,
            "It is nested deeper than %d levels. Compare something flatter."
                .formatted(FilterLimits.VALUE_NESTING));
      }
      return depth + 1;
    }

    private void count(int more) {
      characters += more;
      if (characters > FilterLimits.VALUE_CHARACTERS) {
        throw new InvalidFilter(
            place,
            "It has more than %,d characters. Compare with something shorter."
                .formatted(FilterLimits.VALUE_CHARACTERS));
      }
    }
  }
}
