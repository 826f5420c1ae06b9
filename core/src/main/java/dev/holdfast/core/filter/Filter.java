package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Filters.Connector;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One condition on an event's payload, or a group of them. */
public sealed interface Filter {

  boolean holds(Payload payload);

  /**
   * One field compared with a value.
   *
   * @param fieldName the name of a field at the top of the state
   * @param fieldValue absent for {@link Operator#CHANGED}, and for that alone
   * @param state which state it looks at; {@link Operator#CHANGED} looks at both
   */
  record Comparison(String fieldName, @Nullable Value fieldValue, Operator operator, State state)
      implements Filter {

    public Comparison {
      if (fieldName.isEmpty()) {
        throw new IllegalArgumentException("a filter needs the name of a field");
      }
      if ((fieldValue == null) != (operator == Operator.CHANGED)) {
        throw new IllegalArgumentException(
            "changed takes no value, and each other operator one: " + operator);
      }
      String objection = fieldValue == null ? null : operator.objectionTo(fieldValue);
      if (objection != null) {
        throw new IllegalArgumentException(objection);
      }
    }

    @Override
    public boolean holds(Payload payload) {
      return operator == Operator.CHANGED
          ? payload.hasChanged(fieldName)
          : operator.holds(payload.field(state, fieldName), Objects.requireNonNull(fieldValue));
    }

    boolean needsPrevious() {
      return operator == Operator.CHANGED || state == State.OLD;
    }
  }

  /** Comparisons that are joined on their own. */
  record Group(Connector connector, List<Comparison> filters) implements Filter {

    public Group {
      filters = List.copyOf(filters);
      if (filters.size() < FilterLimits.GROUP_LEAST || filters.size() > FilterLimits.GROUP_MOST) {
        throw new IllegalArgumentException(
            "a group has %d to %d filters: %d"
                .formatted(FilterLimits.GROUP_LEAST, FilterLimits.GROUP_MOST, filters.size()));
      }
    }

    @Override
    public boolean holds(Payload payload) {
      return connector.joins(filters, payload);
    }
  }
}
