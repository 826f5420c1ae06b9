package dev.holdfast.core.model;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A tenant's wish: events of these types, about this subject or any, to this endpoint. */
public record Subscription(
    long id,
    String tenant,
    long endpoint,
    List<TypePattern> types,
    @Nullable String subject,
    Instant createdAt) {

  public Subscription {
    types = List.copyOf(types);
    if (types.isEmpty()) {
      throw new IllegalArgumentException("a subscription needs at least one type");
    }
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
