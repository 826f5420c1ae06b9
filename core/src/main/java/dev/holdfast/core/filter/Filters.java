package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What a subscription asks of an event's payload: all of these filters hold, or one of them does.
 * With no filter every payload will do.
 */
public record Filters(Connector connector, List<Filter> filters) {
  public static final Filters NONE = new Filters(Connector.AND, List.of());

  private static final int NO_FILTER = -1;

  /** How filters are joined. */
  public enum Connector {
    AND,
    OR;

    /** Whether filters, of which there is at least one, hold when joined like this. */
    boolean joins(List<? extends Filter> filters, Payload payload) {
      return joins(decider(filters, payload));
    }

    /** The same when this filter is the one that decided, or {@link #NO_FILTER}. */
    private boolean joins(int decider) {
      return (decider != NO_FILTER) == decides();
    }

    /** What a filter says after which the others do not matter: together they say it too. */
    private boolean decides() {
      return this == OR;
    }

    /** The first filter after which the others do not matter, if there is one. */
    private int decider(List<? extends Filter> filters, Payload payload) {
      for (int i = 0; i < filters.size(); i++) {
        if (filters.get(i).holds(payload) == decides()) {
          return i;
        }
      }
      return NO_FILTER;
    }
  }

  public Filters {
    filters = List.copyOf(filters);
  }

  public boolean isEmpty() {
    return filters.isEmpty();
  }

  /** Whether an event's payload is what is asked for. */
  public boolean hold(Payload payload) {
    return filters.isEmpty() || connector.joins(filters, payload);
  }

  /** The same, told for each filter. Each comparison is made once. */
  public Decision decide(Payload payload) {
    Map<String, Boolean> each = new LinkedHashMap<>();
    String decidedBy = null;
    for (int i = 0; i < filters.size(); i++) {
      String decider = place(i);
      boolean holds;
      switch (filters.get(i)) {
        case Comparison comparison -> {
          holds = comparison.holds(payload);
          each.put(place(i), holds);
        }
        case Group group -> {
          List<Boolean> held = group.filters().stream().map(one -> one.holds(payload)).toList();
          int inner = held.indexOf(group.connector().decides());
          holds = group.connector().joins(inner);
          each.put(place(i), holds);
          for (int j = 0; j < held.size(); j++) {
            each.put(place(i, j), held.get(j));
          }
          if (inner != NO_FILTER) {
            decider = place(i, inner);
          }
        }
      }
      if (decidedBy == null && holds == connector.decides()) {
        decidedBy = decider;
      }
    }
    boolean hold = filters.isEmpty() || (decidedBy != null) == connector.decides();
    return new Decision(hold, decidedBy, each);
  }

  private static String place(int index) {
    return "filters[" + index + "]";
  }

  private static String place(int index, int inner) {
    return place(index) + ".filters[" + inner + "]";
  }

  /** The filters as a JSON array, as callers give them. */
  public String json() {
    return FilterWriter.json(filters);
  }

  /** Reads what {@link #json} has written. */
  public static Filters parse(Connector connector, String json) {
    return new Filters(connector, FilterReader.read(json));
  }

  /** What is wrong with these filters for events that have no previous state. */
  public Optional<InvalidFilter> unfitForCreation() {
    for (int i = 0; i < filters.size(); i++) {
      switch (filters.get(i)) {
        case Comparison comparison -> {
          if (comparison.needsPrevious()) {
            return Optional.of(unfit(place(i)));
          }
        }
        case Group group -> {
          for (int j = 0; j < group.filters().size(); j++) {
            if (group.filters().get(j).needsPrevious()) {
              return Optional.of(unfit(place(i, j)));
            }
          }
        }
      }
    }
    return Optional.empty();
  }

  private static InvalidFilter unfit(String place) {
    return new InvalidFilter(
        place,
        "An event of a type that ends with .CREATE has no previous state. Use newState and another"
            + " comparison than changed, or subscribe to creations apart.");
  }

  /** Goes over all comparisons, those in groups included. */
  void forEachComparison(Consumer<Comparison> action) {
    for (Filter filter : filters) {
      switch (filter) {
        case Comparison comparison -> action.accept(comparison);
        case Group group -> group.filters().forEach(action);
      }
    }
  }

  /** Goes over the names of the fields that are asked for, each as often as it is. */
  public void forEachFieldName(Consumer<String> action) {
    forEachComparison(comparison -> action.accept(comparison.fieldName()));
  }
}
