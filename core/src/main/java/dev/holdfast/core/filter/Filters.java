package dev.holdfast.core.filter;

import java.util.List;
import java.util.Optional;

/**
 * What a subscription asks of an event's payload: all of these filters hold, or one of them does.
 * With no filter every payload will do.
 */
public record Filters(Connector connector, List<Filter> filters) {
  public static final Filters NONE = new Filters(Connector.AND, List.of());

  /** How filters are joined. */
  public enum Connector {
    AND,
    OR
  }

  public Filters {
    filters = List.copyOf(filters);
  }

  public boolean isEmpty() {
    return filters.isEmpty();
  }

  /** Whether an event's payload is what is asked for. */
  public boolean hold(Payload payload) {
    if (filters.isEmpty()) {
      return true;
    }
    throw new UnsupportedOperationException("filters are not applied yet: " + payload);
  }

  /** The filters as a JSON array, as callers give them. */
  public String json() {
    if (filters.isEmpty()) {
      return "[]";
    }
    throw new UnsupportedOperationException("filters are not written yet");
  }

  /** Reads what {@link #json} has written. */
  public static Filters parse(Connector connector, String json) {
    if (json.equals("[]")) {
      return new Filters(connector, List.of());
    }
    throw new UnsupportedOperationException("filters are not read yet");
  }

  /** What is wrong with these filters for events that have no previous state. */
  public Optional<InvalidFilter> unfitForCreation() {
    return Optional.empty();
  }
}
