package dev.holdfast.core.path;

import dev.holdfast.core.filter.FilterIndex;
import dev.holdfast.core.filter.Payload;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the subscriptions of a tenant that want an event, by its type, its subject and what their
 * filters ask for, without looking at the others.
 *
 * <p>Which patterns match a type is worked out once for each type and remembered until the patterns
 * change. An event's payload is read only if a subscription to its type and subject has filters,
 * once for all of them, and of it no more is kept than the fields that the tenant's filters name.
 */
public final class SubscriptionIndex {

  /** Types whose patterns are remembered, per tenant. */
  private static final int MOST_REMEMBERED = 10_000;

  private final Map<String, Tenant> tenants = new HashMap<>();

  private static final class Tenant {
    final Map<TypePattern, Topic> topics = new HashMap<>();

    /** Those of the topics that stand for more than one type. */
    final Map<TypePattern, Topic> patterns = new LinkedHashMap<>();

    final Map<String, List<Topic>> byType = new HashMap<>();

    /** The fields that filters ask for, with how often they do. */
    final Map<String, Integer> fieldNames = new HashMap<>();

    List<Topic> topicsFor(String type) {
      List<Topic> known = byType.get(type);
      if (known != null) {
        return known;
      }
      List<Topic> matching = new ArrayList<>(1);
      Topic exact = topics.get(new TypePattern(type));
      if (exact != null) {
        matching.add(exact);
      }
      patterns.forEach(
          (pattern, topic) -> {
            if (pattern.matches(type)) {
              matching.add(topic);
            }
          });
      if (byType.size() >= MOST_REMEMBERED) {
        byType.clear();
      }
      byType.put(type, matching);
      return matching;
    }

    void put(TypePattern pattern, Topic topic) {
      topics.put(pattern, topic);
      if (pattern.isExact()) {
        byType.remove(pattern.text());
      } else {
        patterns.put(pattern, topic);
        byType.clear();
      }
    }

    void remove(TypePattern pattern) {
      topics.remove(pattern);
      if (pattern.isExact()) {
        byType.remove(pattern.text());
      } else {
        patterns.remove(pattern);
        byType.clear();
      }
    }

    void forgetFieldName(String name) {
      fieldNames.computeIfPresent(name, (_, times) -> times == 1 ? null : times - 1);
    }
  }

  /** The subscriptions with one pattern, by the subject that they want. */
  private static final class Topic {
    final Wanting anySubject = new Wanting();
    final Map<String, Wanting> bySubject = new HashMap<>();

    Wanting wanting(@Nullable String subject) {
      return subject == null ? anySubject : bySubject.computeIfAbsent(subject, _ -> new Wanting());
    }

    boolean isEmpty() {
      return anySubject.isEmpty() && bySubject.isEmpty();
    }
  }

  /** The subscriptions with one pattern and subject. */
  private static final class Wanting {
    final Map<Long, Subscription> unfiltered = new LinkedHashMap<>(0);
    @Nullable FilterIndex<Subscription> filtered;

    void add(Subscription subscription) {
      if (subscription.filters().isEmpty()) {
        unfiltered.put(subscription.id(), subscription);
        return;
      }
      if (filtered == null) {
        filtered = new FilterIndex<>();
      }
      filtered.add(subscription);
    }

    /** Whether it was there. */
    boolean remove(Subscription subscription) {
      if (filtered == null || !filtered.remove(subscription)) {
        return unfiltered.remove(subscription.id()) != null;
      }
      if (filtered.isEmpty()) {
        filtered = null;
      }
      return true;
    }

    boolean isEmpty() {
      return unfiltered.isEmpty() && filtered == null;
    }

    /** Adds those that want a payload, which is there if anybody has filters. */
    void collect(
        @Nullable Payload payload, List<Subscription> into, @Nullable Set<Long> askedBefore) {
      into.addAll(unfiltered.values());
      if (filtered != null) {
        filtered.find(Objects.requireNonNull(payload), into, askedBefore);
      }
    }
  }

  /** Takes in a subscription, which must not be in it. */
  public void add(Subscription subscription) {
    Tenant tenant = tenants.computeIfAbsent(subscription.tenant(), _ -> new Tenant());
    for (TypePattern pattern : subscription.types()) {
      Topic topic = tenant.topics.get(pattern);
      if (topic == null) {
        topic = new Topic();
        tenant.put(pattern, topic);
      }
      topic.wanting(subscription.subject()).add(subscription);
    }
    subscription.filters().forEachFieldName(name -> tenant.fieldNames.merge(name, 1, Integer::sum));
  }

  /** Takes out a subscription, if it is in. It must be as it was taken in. */
  public void remove(Subscription subscription) {
    Tenant tenant = tenants.get(subscription.tenant());
    if (tenant == null) {
      return;
    }
    boolean wasThere = false;
    for (TypePattern pattern : subscription.types()) {
      Topic topic = tenant.topics.get(pattern);
      if (topic == null) {
        continue;
      }
      Wanting wanting = topic.wanting(subscription.subject());
      wasThere |= wanting.remove(subscription);
      if (wanting.isEmpty() && subscription.subject() != null) {
        topic.bySubject.remove(subscription.subject());
      }
      if (topic.isEmpty()) {
        tenant.remove(pattern);
      }
    }
    if (wasThere) {
      subscription.filters().forEachFieldName(tenant::forgetFieldName);
    }
  }

  /** Whether a subscription is in events of a type and subject, whatever their payload. */
  boolean covers(String tenantName, String type, @Nullable String subject) {
    Tenant tenant = tenants.get(tenantName);
    if (tenant == null) {
      return false;
    }
    for (Topic topic : tenant.topicsFor(type)) {
      if (!topic.anySubject.isEmpty()
          || (subject != null && topic.bySubject.containsKey(subject))) {
        return true;
      }
    }
    return false;
  }

  /**
   * The subscriptions that want such an event, each once. Of those with the same pattern and
   * subject the ones with filters come last, in the order of their ids.
   */
  public List<Subscription> matching(
      String tenantName,
      String type,
      @Nullable String subject,
      byte[] data,
      byte @Nullable [] previous) {
    Tenant tenant = tenants.get(tenantName);
    if (tenant == null) {
      return List.of();
    }
    List<Topic> topics = tenant.topicsFor(type);
    if (topics.isEmpty()) {
      return List.of();
    }
    List<Subscription> all = new ArrayList<>();
    Payload payload =
        tenant.fieldNames.isEmpty()
            ? null
            : new Payload(data, previous, tenant.fieldNames.keySet());
    // A subscription may have several of the patterns, and its filters may take their time.
    Set<Long> asked = topics.size() == 1 ? null : new HashSet<>();
    for (Topic topic : topics) {
      topic.anySubject.collect(payload, all, asked);
      Wanting wanting = subject == null ? null : topic.bySubject.get(subject);
      if (wanting != null) {
        wanting.collect(payload, all, asked);
      }
    }
    if (topics.size() == 1) {
      return all;
    }
    Map<Long, Subscription> once = LinkedHashMap.newLinkedHashMap(all.size());
    for (Subscription subscription : all) {
      once.putIfAbsent(subscription.id(), subscription);
    }
    return List.copyOf(once.values());
  }
}
