package dev.holdfast.core.model;

import dev.holdfast.core.filter.Filter;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.InvalidFilter;
import dev.holdfast.core.filter.Payload;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which events a subscription wants: of these types, about this subject or any, for which its
 * filters hold.
 */
public record Interest(List<TypePattern> types, @Nullable String subject, Filters filters) {

  public Interest {
    types = List.copyOf(types);
    if (types.isEmpty()) {
      throw new IllegalArgumentException("a subscription needs at least one type");
    }
  }

  /** Whether it is in events of a type and subject, whatever their payload. */
  public boolean covers(String type, @Nullable String eventSubject) {
    if (subject != null && !subject.equals(eventSubject)) {
      return false;
    }
    for (TypePattern pattern : types) {
      if (pattern.matches(type)) {
        return true;
      }
    }
    return false;
  }

  public boolean wants(Event event) {
    return covers(event.type(), event.subject())
        && filters.hold(new Payload(event.data(), event.previous()));
  }

  /** Why its filters cannot work with its types, if they cannot. */
  public Optional<InvalidFilter> contradiction() {
    return types.stream().anyMatch(TypePattern::isOfCreations)
        ? filters.unfitForCreation()
        : Optional.empty();
  }

  /** Short, since filters can be long, and hold what is nobody else's business. */
  @Override
  public String toString() {
    return "Interest[types="
        + types.stream().map(TypePattern::text).toList()
        + ", subject="
        + subject
        + ", filters="
        + filters.filters().size()
        + "]";
  }

  /**
   * What is to be changed of an interest; what is absent stays.
   *
   * @param filters none when empty
   */
  public record Change(
      @Nullable List<TypePattern> types,
      @Nullable NewSubject subject,
      @Nullable List<Filter> filters,
      @Nullable Connector connector) {
    public static final Change NOTHING = new Change(null, null, null, null);

    public Interest applyTo(Interest before) {
      return new Interest(
          types == null ? before.types : types,
          subject == null ? before.subject : subject.text(),
          new Filters(
              connector == null ? before.filters.connector() : connector,
              filters == null ? before.filters.filters() : filters));
    }
  }

  /** The subject that a subscription is to have; any when absent. */
  public record NewSubject(@Nullable String text) {}
}
