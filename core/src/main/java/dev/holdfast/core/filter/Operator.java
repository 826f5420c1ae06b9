package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Scalar;
import dev.holdfast.core.filter.Value.Truth;
import org.jspecify.annotations.Nullable;

/** How a field is compared with the value that a filter gives. */
public enum Operator {
  EQ("eq"),
  NE("ne"),
  GT("gt"),
  GTE("gte"),
  LT("lt"),
  LTE("lte"),
  CONTAINS("contains"),
  NOT_CONTAINS("notContains"),
  CONTAINS_ONLY("containsOnly"),
  /** The field differs between the two states; no value is given. */
  CHANGED("changed");

  private final String word;

  Operator(String word) {
    this.word = word;
  }

  /** The word for it in JSON. */
  public String word() {
    return word;
  }

  boolean holds(@Nullable Value found, Value given) {
    return switch (this) {
      case EQ -> Compare.isEqual(found, given);
      case NE -> !Compare.isEqual(found, given);
      case GT -> Compare.isOrdered(found, given, order -> order > 0);
      case GTE -> Compare.isOrdered(found, given, order -> order >= 0);
      case LT -> Compare.isOrdered(found, given, order -> order < 0);
      case LTE -> Compare.isOrdered(found, given, order -> order <= 0);
      case CONTAINS -> Compare.contains(found, given);
      case NOT_CONTAINS -> !Compare.contains(found, given);
      case CONTAINS_ONLY -> Compare.containsOnly(found, given);
      case CHANGED -> throw new IllegalArgumentException("compares two states, not a value");
    };
  }

  /** Why it cannot work with a value, and what to do instead; nothing when it can. */
  @Nullable String objectionTo(Value given) {
    return switch (given) {
      case Fields fields -> {
        if (fields.values().isEmpty()) {
          yield "An object must name at least one nested field. To ask whether the field has"
              + " changed, use changed.";
        }
        for (Value leaf : fields.values().values()) {
          String objection = objectionTo(leaf);
          if (objection != null) {
            yield objection;
          }
        }
        yield null;
      }
      case Items _ -> objectionToItems();
      case Nothing _ -> isOrdering() ? objectionToOrdering("null") : null;
      case Truth _ -> isOrdering() ? objectionToOrdering("a boolean") : null;
      case Scalar _ -> null;
    };
  }

  private boolean isOrdering() {
    return switch (this) {
      case GT, GTE, LT, LTE -> true;
      case EQ, NE, CONTAINS, NOT_CONTAINS, CONTAINS_ONLY, CHANGED -> false;
    };
  }

  private @Nullable String objectionToItems() {
    return switch (this) {
      case GT, GTE, LT, LTE -> objectionToOrdering("an array");
      case CONTAINS, NOT_CONTAINS ->
          "%s takes one value, not an array. Use a filter for each value, or containsOnly to compare"
                  .formatted(word)
              + " the whole array in any order.";
      case EQ, NE, CONTAINS_ONLY, CHANGED -> null;
    };
  }

  private String objectionToOrdering(String what) {
    return "%s compares numbers, date-times and texts, not %s. Use eq or ne.".formatted(word, what);
  }
}
