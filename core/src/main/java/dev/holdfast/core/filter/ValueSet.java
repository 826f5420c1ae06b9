package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Scalar;
import dev.holdfast.core.filter.Value.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Values that are asked whether one of them is the same as another, without looking at each.
 *
 * <p>A hash set of values alone would not do, since being the same is not transitive: the number 5
 * is the same as the texts {@code "5"} and {@code "5.0"}, which are not the same.
 */
final class ValueSet {
  private final Set<Object> scalars = new HashSet<>();
  private final Map<Object, List<Value>> others = new HashMap<>();

  /** Stands for any value that is the same as a number. */
  private record Numeric(Decimal number) {}

  private ValueSet(List<Value> values) {
    for (Value value : values) {
      switch (value) {
        case Numeral numeral -> {
          scalars.add(numeral.number());
          scalars.add(new Numeric(numeral.number()));
        }
        case Text text -> {
          Decimal number = text.number();
          if (number == null) {
            scalars.add(text.key());
          } else {
            scalars.add(text.text());
            scalars.add(new Numeric(number));
          }
        }
        case Scalar scalar -> scalars.add(scalar.key());
        case Items _, Fields _ ->
            others.computeIfAbsent(key(value), _ -> new ArrayList<>(1)).add(value);
      }
    }
  }

  /** Whether each of these has its like among those, and the other way round. */
  static boolean areSame(List<Value> these, List<Value> those) {
    return new ValueSet(those).hasAll(these) && new ValueSet(these).hasAll(those);
  }

  private boolean hasAll(List<Value> values) {
    for (Value value : values) {
      if (!has(value)) {
        return false;
      }
    }
    return true;
  }

  private boolean has(Value value) {
    return switch (value) {
      case Numeral numeral -> scalars.contains(new Numeric(numeral.number()));
      case Text text -> {
        Decimal number = text.number();
        yield number == null
            ? scalars.contains(text.key())
            : scalars.contains(text.text()) || scalars.contains(number);
      }
      case Scalar scalar -> scalars.contains(scalar.key());
      case Items _, Fields _ -> {
        for (Value other : others.getOrDefault(key(value), List.of())) {
          if (Compare.isSame(value, other)) {
            yield true;
          }
        }
        yield false;
      }
    };
  }

  /** Values that are the same have equal keys. */
  private static Object key(Value value) {
    return switch (value) {
      case Scalar scalar -> scalar.key();
      case Items items -> {
        List<Object> keys = new ArrayList<>(items.values().size());
        items.values().forEach(item -> keys.add(key(item)));
        yield keys;
      }
      case Fields fields -> {
        Map<String, Object> keys = HashMap.newHashMap(fields.values().size());
        fields.values().forEach((name, field) -> keys.put(name, key(field)));
        yield keys;
      }
    };
  }
}
