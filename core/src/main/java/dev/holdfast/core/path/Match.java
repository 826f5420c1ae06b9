package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Second step: finds the subscriptions that want an event. */
final class Match {
  /** Whether other nodes make subscriptions too. */
  private final boolean shared;

  private final SubscriptionIndex index = new SubscriptionIndex();
  private final Map<Long, Subscription> active = new HashMap<>();
  private final ObjectSubscriptions ofObjects = new ObjectSubscriptions();

  /** Ended subscriptions that may have unfinished messages. */
  private final Map<Long, Subscription> ended = new HashMap<>();

  private final Set<Long> leaving = new HashSet<>();
  private final Map<Long, Changing> changing = new HashMap<>();
  private final Map<String, NavigableMap<Long, Subscription>> byTenant = new HashMap<>();

  /**
   * A subscription of which something is being written.
   *
   * @param latest what it will be when all of that is on disk
   * @param writes how many writes that is
   */
  private record Changing(Subscription latest, int writes) {}

  Match(boolean shared) {
    this.shared = shared;
  }

  void add(Subscription subscription) {
    if (active.containsKey(subscription.id())) {
      replace(subscription);
      return;
    }
    index.add(subscription);
    active.put(subscription.id(), subscription);
    byTenant
        .computeIfAbsent(subscription.tenant(), _ -> new TreeMap<>())
        .put(subscription.id(), subscription);
    ofObjects.add(subscription);
  }

  /** A subscription is being written that is not there yet. */
  void coming(Subscription subscription) {
    ofObjects.expect(subscription);
  }

  /** A subscription that was being written is not going to be there. */
  void notComing(Subscription subscription) {
    ofObjects.expectNoMore(subscription);
  }

  /** Whether there is a subscription with all that the owner of another says about that. */
  sealed interface Alike {
    record There(long subscription) implements Alike {}

    /** It depends on something that is being written. */
    record Unsettled() implements Alike {}

    record None() implements Alike {}
  }

  Alike alike(Subscription subscription) {
    boolean isUnsettled = false;
    for (long id : ofObjects.like(subscription)) {
      if (active.containsKey(id) && !leaving.contains(id) && !isChanging(id)) {
        return new Alike.There(id);
      }
      isUnsettled = true;
    }
    return isUnsettled ? new Alike.Unsettled() : new Alike.None();
  }

  /** A tenant's subscriptions to one kind of event of one kind of object, the oldest first. */
  List<Subscription> ofObjects(String tenant) {
    return ofObjects.of(tenant);
  }

  /** A subscription as it is, or will be when what is being written of it is on disk. */
  @Nullable Subscription latest(long id) {
    Subscription now = active.get(id);
    if (now == null || leaving.contains(id)) {
      return null;
    }
    Changing found = changing.get(id);
    return found != null ? found.latest() : now;
  }

  /** Whether something of a subscription is being written. */
  boolean isChanging(long id) {
    return changing.containsKey(id);
  }

  /** A subscription is being written as it is to be. */
  void changing(Subscription subscription) {
    changing.merge(
        subscription.id(),
        new Changing(subscription, 1),
        (before, now) -> new Changing(now.latest(), before.writes() + 1));
  }

  /** What was being written of a subscription is on disk, or is not going to be. */
  void changed(Subscription subscription) {
    changing.computeIfPresent(
        subscription.id(),
        (_, before) ->
            before.writes() == 1 ? null : new Changing(before.latest(), before.writes() - 1));
  }

  /** Replaces a subscription by what it is from now on. */
  void replace(Subscription subscription) {
    Subscription before = active.get(subscription.id());
    if (before == null) {
      return;
    }
    active.put(subscription.id(), subscription);
    subscriptionsOf(subscription.tenant()).put(subscription.id(), subscription);
    ofObjects.replace(before, subscription);
    if (!leaving.contains(subscription.id())) {
      index.remove(before);
      index.add(subscription);
    }
  }

  /** How a message stands to what its subscription says now. */
  enum Standing {
    FITS,
    /** Its subscription has ended. */
    UNSUBSCRIBED,
    /**
     * This node knows of no such subscription. Another one may have made it just now, or nothing is
     * left of it: the store can tell.
     */
    UNHEARD,
    /** Its subscription has another endpoint. */
    ELSEWHERE,
    /** Its subscription is paused. */
    HELD_BACK
  }

  Standing standing(Message message) {
    Subscription subscription = active.get(message.subscription());
    if (subscription == null) {
      return isUnheard(message.subscription()) ? Standing.UNHEARD : Standing.UNSUBSCRIBED;
    }
    if (subscription.endpoint() != message.endpoint()) {
      return Standing.ELSEWHERE;
    }
    return subscription.paused() ? Standing.HELD_BACK : Standing.FITS;
  }

  /** Whether a subscription may have been made by another node without this one knowing it yet. */
  boolean isUnheard(long subscription) {
    return shared && !active.containsKey(subscription) && !ended.containsKey(subscription);
  }

  /** Whether a message is where, and as, its subscription wants it, as far as is known. */
  boolean isAligned(Message message) {
    return switch (standing(message)) {
      case UNHEARD -> true;
      case FITS -> message.status() != Message.Status.PAUSED;
      case HELD_BACK -> message.status() == Message.Status.PAUSED;
      case ELSEWHERE, UNSUBSCRIBED -> false;
    };
  }

  /** Whether a message is paused though its subscription no longer is. */
  boolean isHeldBackInVain(Message message) {
    return message.status() == Message.Status.PAUSED && standing(message) == Standing.FITS;
  }

  boolean isPaused(long subscription) {
    Subscription found = active.get(subscription);
    return found != null && found.paused();
  }

  /** Gives a subscription no more events: somebody has asked for its end. */
  void leave(Subscription subscription) {
    if (leaving.add(subscription.id())) {
      index.remove(active.getOrDefault(subscription.id(), subscription));
    }
  }

  boolean isLeaving(Subscription subscription) {
    return leaving.contains(subscription.id());
  }

  /** Gives a subscription events again: its end could not be recorded. */
  void stay(Subscription subscription) {
    Subscription now = active.get(subscription.id());
    if (leaving.remove(subscription.id()) && now != null) {
      index.add(now);
    }
  }

  /** The subscription has ended. */
  void remove(Subscription subscription) {
    leave(subscription);
    leaving.remove(subscription.id());
    Subscription before = active.remove(subscription.id());
    if (before != null) {
      ofObjects.remove(before);
    }
    subscriptionsOf(subscription.tenant()).remove(subscription.id());
  }

  void addEnded(Subscription subscription) {
    ended.put(subscription.id(), subscription);
  }

  /** An ended subscription that may have unfinished messages. */
  @Nullable Subscription ended(long subscription) {
    return ended.get(subscription);
  }

  /** All ended subscriptions that may have unfinished messages. */
  List<Subscription> allEnded() {
    return List.copyOf(ended.values());
  }

  /** All subscriptions that have messages which may stand otherwise than they say. */
  List<Subscription> allUnsettled() {
    return active.values().stream().filter(one -> !one.unsettled().isEmpty()).toList();
  }

  /** How many subscriptions there are with such ids. */
  int count(LongPredicate ids) {
    return (int) active.keySet().stream().filter(ids::test).count();
  }

  boolean hasEnded(long subscription) {
    return ended.containsKey(subscription);
  }

  /** Nothing is left of a subscription that has ended. */
  void forget(long subscription) {
    ended.remove(subscription);
  }

  /** Where messages of a subscription belong, also when it has ended; else where they were. */
  long endpointOf(long subscription, long before) {
    Subscription found = active.getOrDefault(subscription, ended.get(subscription));
    return found == null ? before : found.endpoint();
  }

  /** Whether somebody may want such an event, whatever its payload. */
  boolean isAnybodyIn(String tenant, String type, @Nullable String subject) {
    return index.covers(tenant, type, subject);
  }

  List<Subscription> wanting(String tenant, NewEvent event) {
    return index.matching(tenant, event.type(), event.subject(), event.data(), event.previous());
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
