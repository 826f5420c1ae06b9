package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Scalar;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Scalars that are asked whether one of them is the same as another, without looking at each.
 *
 * <p>A hash set of their keys alone would not do, since being the same is not transitive: the
 * number 5 is the same as the texts {@code "5"} and {@code "5.0"}, which are not the same. What is
 * hashed can be ordered too, so that values with equal hash codes, made up to be slow, are not.
 */
final class ValueSet {
  private final Set<Object> marks = new HashSet<>();

  /** Stands for any value that is the same as a number. */
  private record Numeric(Decimal number) implements Comparable<Numeric> {
    @Override
    public int compareTo(Numeric other) {
      return number.compareTo(other.number);
    }
  }

  private void add(Scalar scalar) {
    Decimal number = Compare.number(scalar);
    if (number == null) {
      marks.add(scalar.key());
    } else {
      marks.add(new Numeric(number));
      marks.add(scalar instanceof Numeral ? number : scalar.text());
    }
  }

  private boolean has(Scalar scalar) {
    Decimal number = Compare.number(scalar);
    if (number == null) {
      return marks.contains(scalar.key());
    }
    return scalar instanceof Numeral
        ? marks.contains(new Numeric(number))
        : marks.contains(number) || marks.contains(scalar.text());
  }

  /**
   * Whether each value that was found has its like among those that are given, and the other way
   * round. Those that are given are few, but any number may be found.
   */
  static boolean areSame(List<Value> found, List<Value> given) {
    ValueSet wanted = new ValueSet();
    Map<Object, List<Value>> wantedCompounds = new HashMap<>();
    for (Value value : given) {
      if (value instanceof Scalar scalar) {
        wanted.add(scalar);
      } else {
        wantedCompounds.computeIfAbsent(key(value), _ -> new ArrayList<>(1)).add(value);
      }
    }
    ValueSet met = new ValueSet();
    Set<Value> metCompounds = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Value value : found) {
      boolean isWanted = false;
      if (value instanceof Scalar scalar) {
        isWanted = wanted.has(scalar);
        met.add(scalar);
      } else {
        for (Value compound : wantedCompounds.getOrDefault(key(value), List.of())) {
          if (Compare.isSame(value, compound)) {
            isWanted = true;
            metCompounds.add(compound);
          }
        }
      }
      if (!isWanted) {
        return false;
      }
    }
    for (Value value : given) {
      if (value instanceof Scalar scalar ? !met.has(scalar) : !metCompounds.contains(value)) {
        return false;
      }
    }
    return true;
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
