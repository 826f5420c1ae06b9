package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Scalar;
import dev.holdfast.core.filter.Value.Text;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Holds what stands in an event against what a filter gives. What is given as an object asks for
 * nested fields: the comparison is made at its leaves, and must hold for each.
 *
 * <p>{@code found} is absent when the event has no such field. Then nothing here holds.
 */
final class Compare {
  private Compare() {}

  static boolean isEqual(@Nullable Value found, Value given) {
    return switch (given) {
      case Fields fields -> eachHolds(found, fields, Compare::isEqual);
      case Items items -> isSame(items, found);
      case Scalar scalar -> isSame(scalar, found);
    };
  }

  /**
   * @param wanted is told how {@code found} stands to {@code given}: less than 0, 0, or more
   */
  static boolean isOrdered(@Nullable Value found, Value given, IntPredicate wanted) {
    return switch (given) {
      case Fields fields ->
          eachHolds(found, fields, (inner, leaf) -> isOrdered(inner, leaf, wanted));
      case Scalar scalar ->
          (found instanceof Text || found instanceof Numeral)
              && wanted.test(order((Scalar) found, scalar));
      case Items _ -> false;
    };
  }

  static boolean contains(@Nullable Value found, Value given) {
    return switch (given) {
      case Fields fields ->
          found instanceof Items items
              ? hasOneOf(items, fields)
              : eachHolds(found, fields, Compare::contains);
      case Scalar scalar ->
          switch (found) {
            case Text text -> scalar != Nothing.NULL && Search.isIn(text.text(), scalar.text());
            case Items items -> hasOneOf(items, scalar);
            case null, default -> false;
          };
      case Items _ -> false;
    };
  }

  private static boolean hasOneOf(Items items, Value given) {
    for (Value item : items.values()) {
      if (isEqual(item, given)) {
        return true;
      }
    }
    return false;
  }

  static boolean containsOnly(@Nullable Value found, Value given) {
    if (found == null) {
      return false;
    }
    return switch (given) {
      case Fields fields -> eachHolds(found, fields, Compare::containsOnly);
      case Items items -> ValueSet.areSame(itemsOf(found), items.values());
      case Scalar scalar -> {
        List<Value> items = itemsOf(found);
        for (Value item : items) {
          if (!isSame(item, scalar)) {
            yield false;
          }
        }
        yield !items.isEmpty();
      }
    };
  }

  /** What is not an array counts as an array of one. */
  private static List<Value> itemsOf(Value found) {
    return found instanceof Items items ? items.values() : List.of(found);
  }

  private static boolean eachHolds(
      @Nullable Value found, Fields given, BiPredicate<@Nullable Value, Value> comparison) {
    if (!(found instanceof Fields fields)) {
      return false;
    }
    for (Map.Entry<String, Value> leaf : given.values().entrySet()) {
      if (!comparison.test(fields.values().get(leaf.getKey()), leaf.getValue())) {
        return false;
      }
    }
    return true;
  }

  /** Whether two values count as the same, all their parts included. */
  static boolean isSame(Value one, @Nullable Value other) {
    return switch (one) {
      case Scalar scalar -> other instanceof Scalar that && isSame(scalar, that);
      case Items items -> other instanceof Items that && isSame(items.values(), that.values());
      case Fields fields -> other instanceof Fields that && isSame(fields.values(), that.values());
    };
  }

  private static boolean isSame(List<Value> one, List<Value> other) {
    if (one.size() != other.size()) {
      return false;
    }
    for (int i = 0; i < one.size(); i++) {
      if (!isSame(one.get(i), other.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSame(Map<String, Value> one, Map<String, Value> other) {
    if (one.size() != other.size()) {
      return false;
    }
    for (Map.Entry<String, Value> field : one.entrySet()) {
      if (!isSame(field.getValue(), other.get(field.getKey()))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSame(Scalar one, Scalar other) {
    if (one == Nothing.NULL || other == Nothing.NULL) {
      return one.equals(other);
    }
    return order(one, other) == 0;
  }

  /** As numbers when one is a number and the other can be; as instants; else as texts. */
  private static int order(Scalar one, Scalar other) {
    if (one instanceof Numeral || other instanceof Numeral) {
      Decimal left = number(one);
      Decimal right = number(other);
      if (left != null && right != null) {
        return left.compareTo(right);
      }
    } else if (one instanceof Text left && other instanceof Text right) {
      Instant earlier = left.instant();
      Instant later = right.instant();
      if (earlier != null && later != null) {
        return earlier.compareTo(later);
      }
    }
    return one.text().compareTo(other.text());
  }

  /** The number that a scalar is, or that it writes as a text. */
  static @Nullable Decimal number(Scalar scalar) {
    if (scalar instanceof Numeral numeral) {
      return numeral.number();
    }
    return scalar instanceof Text text ? text.number() : null;
  }
}
