package dev.holdfast.core.model;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A tenant's wish: events of these types, about this subject or any, to this endpoint.
 *
 * @param paused its messages are held back
 * @param unsettled endpoints where unfinished messages of it may stand otherwise than it says now,
 *     since its endpoint has changed or it was paused or resumed
 */
public record Subscription(
    long id,
    String tenant,
    long endpoint,
    List<TypePattern> types,
    @Nullable String subject,
    Instant createdAt,
    boolean paused,
    Set<Long> unsettled) {

  public Subscription {
    types = List.copyOf(types);
    unsettled = Collections.unmodifiableSet(new TreeSet<>(unsettled));
    if (types.isEmpty()) {
      throw new IllegalArgumentException("a subscription needs at least one type");
    }
  }

  /** A subscription that has never been changed. */
  public Subscription(
      long id,
      String tenant,
      long endpoint,
      List<TypePattern> types,
      @Nullable String subject,
      Instant createdAt) {
    this(id, tenant, endpoint, types, subject, createdAt, false, Set.of());
  }

  /** The same subscription, with no message standing otherwise at that endpoint. */
  public Subscription settledAt(long settled) {
    Set<Long> rest = new TreeSet<>(unsettled);
    rest.remove(settled);
    return new Subscription(id, tenant, endpoint, types, subject, createdAt, paused, rest);
  }

  public boolean wants(String type, @Nullable String eventSubject) {
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
}
