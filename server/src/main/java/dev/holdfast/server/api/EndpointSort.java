package dev.holdfast.server.api;

import dev.holdfast.core.model.Health;
import dev.holdfast.engine.store.EndpointReads.Outline;
import dev.holdfast.server.api.Problem.Kind;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** An order of endpoints. Those that are equal in it are newest first. */
enum EndpointSort {
  NEWEST(Cursor.List.ENDPOINTS),
  URL(Cursor.List.ENDPOINTS_BY_URL),
  /** What needs somebody first. */
  STATE(Cursor.List.ENDPOINTS_BY_STATE),
  FAILURES(Cursor.List.ENDPOINTS_BY_FAILURES),
  WAITING(Cursor.List.ENDPOINTS_BY_WAITING);

  /** What its cursors are of. */
  final Cursor.List list;

  EndpointSort(Cursor.List list) {
    this.list = list;
  }

  static EndpointSort of(@Nullable String given) {
    if (given == null) {
      return NEWEST;
    }
    for (EndpointSort sort : values()) {
      if (Json.kebab(sort).equals(given)) {
        return sort;
      }
    }
    throw Refusal.of(
        Kind.INVALID_PARAMETER, "sort", "Give one of: newest, url, state, failures, waiting.");
  }

  /** A number by which endpoints are in this order, the lowest first. */
  long key(Outline endpoint) {
    return switch (this) {
      case NEWEST, URL -> 0;
      case STATE -> rank(endpoint.state());
      case FAILURES -> -endpoint.consecutiveFailures();
      case WAITING -> -endpoint.unfinished();
    };
  }

  private static int rank(Health.State state) {
    return switch (state) {
      case DISABLED -> 0;
      case FROZEN -> 1;
      case ENABLED -> 2;
    };
  }

  Comparator<Outline> order() {
    Comparator<Outline> byId = Comparator.comparingLong(Outline::id).reversed();
    return switch (this) {
      case NEWEST -> byId;
      case URL -> Comparator.comparing(Outline::url).thenComparing(byId);
      case STATE, FAILURES, WAITING -> Comparator.comparingLong(this::key).thenComparing(byId);
    };
  }

  /** Where a list goes on after an endpoint. */
  String cursorAfter(Outline last) {
    return this == NEWEST
        ? Cursor.text(list, last.id())
        : Cursor.text(list, new Cursor.Place(key(last), last.id()));
  }

  /**
   * Where a list begins.
   *
   * @param cursor absent for the first page
   */
  Cursor.@Nullable Place place(@Nullable String cursor) {
    if (cursor == null) {
      return null;
    }
    return this == NEWEST
        ? new Cursor.Place(0, Cursor.before(list, cursor))
        : Cursor.place(list, cursor);
  }
}
