package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Filters and events made of so few names and values that they often meet. */
public final class RandomFilters {
  private static final List<String> NAMES = List.of("a", "b", "c", "d");
  private static final List<String> TEXTS =
      List.of(
          "",
          "x",
          "xy",
          "5",
          "5.0",
          "05",
          "true",
          "null",
          "2026-05-04T09:30Z",
          "2026-05-04T11:30+02:00",
          "é\"\\\n\u0000😀");
  private static final List<String> NUMBERS =
      List.of("5", "5.0", "50e-1", "6", "-0", "0", "123456789012345678901", "1e999999999");

  private RandomFilters() {}

  /** Filters, mostly with something that they can be found by. */
  public static Filters filters(SplittableRandom random) {
    List<Filter> filters = new ArrayList<>();
    int size = random.nextInt(5);
    for (int i = 0; i < size; i++) {
      filters.add(random.nextInt(4) == 0 ? group(random) : comparison(random));
    }
    return new Filters(connector(random), filters);
  }

  private static Connector connector(SplittableRandom random) {
    return pick(List.of(Connector.values()), random);
  }

  private static Group group(SplittableRandom random) {
    List<Comparison> filters = new ArrayList<>();
    int size = random.nextInt(2, 6);
    for (int i = 0; i < size; i++) {
      filters.add(comparison(random));
    }
    return new Group(connector(random), filters);
  }

  private static Comparison comparison(SplittableRandom random) {
    State state = random.nextInt(4) == 0 ? State.OLD : State.NEW;
    String name = pick(NAMES, random);
    if (random.nextInt(3) > 0) {
      Value value = random.nextInt(3) == 0 ? nested(random) : scalar(random);
      return new Comparison(name, value, Operator.EQ, state);
    }
    Operator operator = pick(List.of(Operator.values()), random);
    if (operator == Operator.CHANGED) {
      return new Comparison(name, null, operator, state);
    }
    Value value = value(random);
    while (operator.objectionTo(value) != null) {
      value = value(random);
    }
    return new Comparison(name, value, operator, state);
  }

  static Value value(SplittableRandom random) {
    return switch (random.nextInt(8)) {
      case 0 -> items(random);
      case 1 -> fields(random);
      default -> scalar(random);
    };
  }

  static Items items(SplittableRandom random) {
    List<Value> values = new ArrayList<>();
    int size = random.nextInt(4);
    for (int i = 0; i < size; i++) {
      values.add(value(random));
    }
    return new Items(values);
  }

  private static Fields fields(SplittableRandom random) {
    Map<String, Value> fields = new LinkedHashMap<>();
    int size = random.nextInt(4);
    for (int i = 0; i < size; i++) {
      fields.put(pick(NAMES, random), value(random));
    }
    return new Fields(fields);
  }

  /** Fields to be asked for, one or two of them, sometimes in one another. */
  private static Fields nested(SplittableRandom random) {
    Map<String, Value> fields = new LinkedHashMap<>();
    int size = random.nextInt(1, 3);
    for (int i = 0; i < size; i++) {
      fields.put(pick(NAMES, random), random.nextInt(4) == 0 ? nested(random) : scalar(random));
    }
    return new Fields(fields);
  }

  private static Value scalar(SplittableRandom random) {
    return switch (random.nextInt(10)) {
      case 0 -> Nothing.NULL;
      case 1, 2 -> Truth.of(random.nextBoolean());
      case 3, 4, 5 -> new Numeral(pick(NUMBERS, random));
      default -> new Text(pick(TEXTS, random));
    };
  }

  /** A state of an event; now and then something that has no fields. */
  public static byte[] state(SplittableRandom random) {
    if (random.nextInt(20) == 0) {
      return pick(List.of("null", "5", "[{\"a\":5}]", "{", "", "{\"a\":5}x"), random)
          .getBytes(UTF_8);
    }
    Map<String, Value> fields = new LinkedHashMap<>();
    for (String name : NAMES) {
      if (random.nextInt(5) > 0) {
        fields.put(name, value(random));
      }
    }
    return json(new Fields(fields)).getBytes(UTF_8);
  }

  /** A value as JSON. */
  static String json(Value value) {
    String filters =
        new Filters(
                Connector.AND,
                List.of(new Comparison("x", new Items(List.of(value)), Operator.EQ, State.NEW)))
            .json();
    int from = filters.indexOf('[', 1) + 1;
    return filters.substring(from, filters.lastIndexOf("],\"comparison\""));
  }

  private static <T> T pick(List<T> from, SplittableRandom random) {
    return from.get(random.nextInt(from.size()));
  }
}
