package dev.holdfast.core.path;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Subscription;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions to one kind of event of one kind of object ({@link ObjectEvent}): in the order
 * of their creation, so that pages of them can be asked for by number, and by all that their owner
 * has said about them, so that none is made twice.
 */
final class ObjectSubscriptions {
  private final Map<String, List<Subscription>> byTenant = new HashMap<>();

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
    if (ObjectEvent.of(subscription).isEmpty()) {
      return;
    }
    expect(subscription);
    List<Subscription> all =
        byTenant.computeIfAbsent(subscription.tenant(), _ -> new ArrayList<>());
    all.add(-1 - place(all, subscription.id()), subscription);
  }

  void remove(Subscription subscription) {
    List<Subscription> all = byTenant.get(subscription.tenant());
    int place = all == null ? -1 : place(all, subscription.id());
    if (all != null && place >= 0) {
      all.remove(place);
      expectNoMore(subscription);
    }
  }

  /** A subscription is another from now on. */
  void replace(Subscription before, Subscription after) {
    Likeness likeness = Likeness.of(after);
    if (likeness == null || ObjectEvent.of(before).isEmpty()) {
      remove(before);
      add(after);
      return;
    }
    if (!likeness.equals(Likeness.of(before))) {
      expectNoMore(before);
      expect(after);
    }
    List<Subscription> all = byTenant.getOrDefault(after.tenant(), List.of());
    all.set(place(all, after.id()), after);
  }

  /** Those that are like a subscription in all that its owner says about it. */
  Set<Long> like(Subscription subscription) {
    Likeness likeness = Likeness.of(subscription);
    return likeness == null ? Set.of() : alike.getOrDefault(likeness, Set.of());
  }

  /** All of a tenant's, the oldest first. */
  List<Subscription> of(String tenant) {
    return byTenant.getOrDefault(tenant, List.of());
  }

  /** Where a subscription stands, or {@code -1 - place} when it belongs there and is not. */
  private static int place(List<Subscription> all, long id) {
    int low = 0;
    int high = all.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Long.compare(all.get(middle).id(), id);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1 - low;
  }
}
