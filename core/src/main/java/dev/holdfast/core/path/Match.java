package dev.holdfast.core.path;

import dev.holdfast.core.model.Subscription;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Second step: finds the subscriptions that want an event. */
final class Match {
  private final SubscriptionIndex index = new SubscriptionIndex();
  private final Map<Long, Subscription> active = new HashMap<>();
  private final Set<Long> leaving = new HashSet<>();
  private final Map<String, NavigableMap<Long, Subscription>> byTenant = new HashMap<>();

  void add(Subscription subscription) {
    index.add(subscription);
    active.put(subscription.id(), subscription);
    byTenant
        .computeIfAbsent(subscription.tenant(), _ -> new TreeMap<>())
        .put(subscription.id(), subscription);
  }

  /** Gives a subscription no more events: somebody has asked for its end. */
  void leave(Subscription subscription) {
    if (leaving.add(subscription.id())) {
      index.remove(subscription);
    }
  }

  boolean isLeaving(Subscription subscription) {
    return leaving.contains(subscription.id());
  }

  /** Gives a subscription events again: its end could not be recorded. */
  void stay(Subscription subscription) {
    if (leaving.remove(subscription.id())) {
      index.add(subscription);
    }
  }

  /** The subscription has ended. */
  void remove(Subscription subscription) {
    leave(subscription);
    leaving.remove(subscription.id());
    active.remove(subscription.id());
    subscriptionsOf(subscription.tenant()).remove(subscription.id());
  }

  List<Subscription> wanting(String tenant, String type, @Nullable String subject) {
    return index.matching(tenant, type, subject);
  }

  /** A subscription that has not ended. */
  @Nullable Subscription get(long id) {
    return active.get(id);
  }

  NavigableMap<Long, Subscription> subscriptionsOf(String tenant) {
    return byTenant.getOrDefault(tenant, new TreeMap<>());
  }

  int size() {
    return active.size();
  }
}
