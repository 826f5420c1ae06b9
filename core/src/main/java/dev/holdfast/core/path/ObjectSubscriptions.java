package dev.holdfast.core.path;

import dev.holdfast.core.filter.Bucket;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Subscription;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions to one kind of event of one kind of object ({@link ObjectEvent}): in the order
 * of their creation, so that pages of them can be asked for by number, and by all that their owner
 * has said about them, so that none is made twice.
 */
final class ObjectSubscriptions {
  private final Map<String, Bucket<Subscription>> byTenant = new HashMap<>();

  /** Those that are there, and those that are being written. */
  private final Map<Likeness, Set<Long>> alike = new HashMap<>();

  /** All that the owner of such a subscription says about it. An endpoint is one tenant's. */
  private record Likeness(
      long endpoint,
      String type,
      @Nullable String subject,
      Filters filters,
      @Nullable String authToken,
      boolean base64,
      Version version) {

    static @Nullable Likeness of(Subscription subscription) {
      ObjectEvent event = ObjectEvent.of(subscription).orElse(null);
      if (event == null) {
        return null;
      }
      Interest interest = subscription.interest();
      Form form = subscription.form();
      return new Likeness(
          subscription.endpoint(),
          event.type(),
          interest.subject(),
          interest.filters(),
          form.authToken(),
          form.base64(),
          form.version());
    }
  }

  /** A subscription is being written. */
  void expect(Subscription subscription) {
    Likeness likeness = Likeness.of(subscription);
    if (likeness != null) {
      alike.computeIfAbsent(likeness, _ -> new LinkedHashSet<>(1)).add(subscription.id());
    }
  }

  /** A subscription that was being written is not going to be there. */
  void expectNoMore(Subscription subscription) {
    Likeness likeness = Likeness.of(subscription);
    if (likeness != null) {
      alike.computeIfPresent(
          likeness, (_, ids) -> ids.remove(subscription.id()) && ids.isEmpty() ? null : ids);
    }
  }

  void add(Subscription subscription) {
    if (ObjectEvent.of(subscription).isPresent()) {
      expect(subscription);
      byTenant.computeIfAbsent(subscription.tenant(), _ -> new Bucket<>()).put(subscription);
    }
  }

  void remove(Subscription subscription) {
    Bucket<Subscription> all = byTenant.get(subscription.tenant());
    if (all != null && all.remove(subscription)) {
      expectNoMore(subscription);
    }
  }

  /** A subscription is another from now on. */
  void replace(Subscription before, Subscription after) {
    if (ObjectEvent.of(after).isEmpty()) {
      remove(before);
      return;
    }
    if (!Objects.equals(Likeness.of(after), Likeness.of(before))) {
      expectNoMore(before);
    }
    add(after);
  }

  /** Those that are like a subscription in all that its owner says about it. */
  Set<Long> like(Subscription subscription) {
    Likeness likeness = Likeness.of(subscription);
    return likeness == null ? Set.of() : alike.getOrDefault(likeness, Set.of());
  }

  /** All of a tenant's, the oldest first. */
  List<Subscription> of(String tenant) {
    Bucket<Subscription> all = byTenant.get(tenant);
    return all == null ? List.of() : all.entries();
  }
}
