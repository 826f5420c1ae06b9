package dev.holdfast.core.path;

import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the subscriptions of a tenant that want an event, by its type and subject, without looking
 * at the others.
 *
 * <p>Which patterns match a type is worked out once for each type and remembered until the patterns
 * change.
 */
final class SubscriptionIndex {

  /** Types whose patterns are remembered, per tenant. */
  private static final int MOST_REMEMBERED = 10_000;

  private final Map<String, Tenant> tenants = new HashMap<>();

  private static final class Tenant {
    final Map<TypePattern, Topic> topics = new LinkedHashMap<>();
    final Map<String, List<Topic>> byType = new HashMap<>();

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
      topics.forEach(
          (pattern, topic) -> {
            if (!pattern.isExact() && pattern.matches(type)) {
              matching.add(topic);
            }
          });
      if (byType.size() >= MOST_REMEMBERED) {
        byType.clear();
      }
      byType.put(type, matching);
      return matching;
    }
  }

  /** The subscriptions with one pattern, by the subject that they want. */
  private static final class Topic {
    final Map<Long, Subscription> anySubject = new LinkedHashMap<>();
    final Map<String, Map<Long, Subscription>> bySubject = new HashMap<>();

    Map<Long, Subscription> wanting(@Nullable String subject) {
      return subject == null
          ? anySubject
          : bySubject.computeIfAbsent(subject, _ -> new LinkedHashMap<>());
    }

    boolean isEmpty() {
      return anySubject.isEmpty() && bySubject.isEmpty();
    }
  }

  void add(Subscription subscription) {
    Tenant tenant = tenants.computeIfAbsent(subscription.tenant(), _ -> new Tenant());
    for (TypePattern pattern : subscription.types()) {
      Topic topic = tenant.topics.get(pattern);
      if (topic == null) {
        topic = new Topic();
        tenant.topics.put(pattern, topic);
        tenant.byType.clear();
      }
      topic.wanting(subscription.subject()).put(subscription.id(), subscription);
    }
  }

  void remove(Subscription subscription) {
    Tenant tenant = tenants.get(subscription.tenant());
    if (tenant == null) {
      return;
    }
    for (TypePattern pattern : subscription.types()) {
      Topic topic = tenant.topics.get(pattern);
      if (topic == null) {
        continue;
      }
      Map<Long, Subscription> wanting = topic.wanting(subscription.subject());
      wanting.remove(subscription.id());
      if (wanting.isEmpty() && subscription.subject() != null) {
        topic.bySubject.remove(subscription.subject());
      }
      if (topic.isEmpty()) {
        tenant.topics.remove(pattern);
        tenant.byType.clear();
      }
    }
  }

  /** The subscriptions that want such an event, each once. */
  List<Subscription> matching(String tenantName, String type, @Nullable String subject) {
    Tenant tenant = tenants.get(tenantName);
    if (tenant == null) {
      return List.of();
    }
    List<Topic> topics = tenant.topicsFor(type);
    if (topics.isEmpty()) {
      return List.of();
    }
    if (topics.size() == 1) {
      List<Subscription> matching = new ArrayList<>();
      collect(topics.getFirst(), subject, matching);
      return matching;
    }
    List<Subscription> all = new ArrayList<>();
    for (Topic topic : topics) {
      collect(topic, subject, all);
    }
    Map<Long, Subscription> once = LinkedHashMap.newLinkedHashMap(all.size());
    for (Subscription subscription : all) {
      once.putIfAbsent(subscription.id(), subscription);
    }
    return List.copyOf(once.values());
  }

  private static void collect(Topic topic, @Nullable String subject, List<Subscription> into) {
    into.addAll(topic.anySubject.values());
    if (subject != null) {
      Map<Long, Subscription> wanting = topic.bySubject.get(subject);
      if (wanting != null) {
        into.addAll(wanting.values());
      }
    }
  }
}
