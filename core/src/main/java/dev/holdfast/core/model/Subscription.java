package dev.holdfast.core.model;

import dev.holdfast.core.filter.FilterIndex;
import dev.holdfast.core.filter.Filters;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A tenant's wish: these events, to this endpoint, in this form.
 *
 * @param writtenUrl its endpoint's URL as its owner has written it, where that is something else
 * @param changedAt when somebody last changed it; its creation, if nobody has
 * @param paused its messages are held back
 * @param unsettled endpoints where unfinished messages of it may stand otherwise than it says now,
 *     since its endpoint has changed or it was paused or resumed
 */
public record Subscription(
    long id,
    String tenant,
    long endpoint,
    @Nullable String writtenUrl,
    Interest interest,
    Form form,
    Instant createdAt,
    Instant changedAt,
    boolean paused,
    Set<Long> unsettled)
    implements FilterIndex.Entry {

  public Subscription {
    unsettled = Collections.unmodifiableSet(new TreeSet<>(unsettled));
  }

  /** A subscription that has never been changed. */
  public Subscription(
      long id, String tenant, long endpoint, Interest interest, Form form, Instant createdAt) {
    this(id, tenant, endpoint, null, interest, form, createdAt, createdAt, false, Set.of());
  }

  /** A subscription without filters, whose messages are sent in the plain form. */
  public Subscription(
      long id,
      String tenant,
      long endpoint,
      List<TypePattern> types,
      @Nullable String subject,
      Instant createdAt) {
    this(id, tenant, endpoint, new Interest(types, subject, Filters.NONE), Form.PLAIN, createdAt);
  }

  public List<TypePattern> types() {
    return interest.types();
  }

  public @Nullable String subject() {
    return interest.subject();
  }

  @Override
  public Filters filters() {
    return interest.filters();
  }

  /** The same subscription, as somebody has changed it. */
  public Subscription with(Interest otherInterest, Form otherForm, Instant now) {
    return new Subscription(
        id,
        tenant,
        endpoint,
        writtenUrl,
        otherInterest,
        otherForm,
        createdAt,
        now,
        paused,
        unsettled);
  }

  /** The same subscription, with no message standing otherwise at that endpoint. */
  public Subscription settledAt(long settled) {
    Set<Long> rest = new TreeSet<>(unsettled);
    rest.remove(settled);
    return new Subscription(
        id, tenant, endpoint, writtenUrl, interest, form, createdAt, changedAt, paused, rest);
  }
}
