package dev.holdfast.core.path;

import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: brings the unfinished messages of a subscription that has changed in line with it.
 * Those in memory are met on their way; those in the store are read a limited number at a time,
 * until none is left that stands otherwise.
 */
final class Align {
  private final Limits limits;
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Loads loads;
  private final Spread spread;
  private final Commit commit;
  private final Wait wait;
  private final Park park;

  /** Whether other nodes accept events and change subscriptions too. */
  private final boolean shared;

  private final Map<Key, Task> tasks = new HashMap<>();
  private final Deque<Task> ready = new ArrayDeque<>();
  private final Deque<Task> later = new ArrayDeque<>();
  private @Nullable Instant laterAt;

  /** Ended subscriptions of which it is being written that nothing is left. */
  private final Map<Long, Subscription> forgetting = new HashMap<>();

  Align(
      Limits limits,
      IdSource ids,
      Match match,
      Lanes lanes,
      Loads loads,
      Spread spread,
      Commit commit,
      Wait wait,
      Park park,
      boolean shared) {
    this.limits = limits;
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.loads = loads;
    this.spread = spread;
    this.commit = commit;
    this.wait = wait;
    this.park = park;
    this.shared = shared;
  }

  private record Key(long subscription, long endpoint) {}

  /** A subscription's messages at one endpoint. */
  private static final class Task {
    final Key key;

    /** What was accepted up to this id may have been matched with what the subscription was. */
    long changedAt;

    /** Whether the read under way will know of all that. */
    boolean isComplete;

    /** When other nodes will have written all that they decided before they knew of the change. */
    @Nullable Instant settlesAt;

    Task(Key key, long changedAt) {
      this.key = key;
      this.changedAt = changedAt;
    }
  }

  /** A subscription has ended: its messages are dropped. */
  void ended(Subscription subscription, Turn turn) {
    resumeEnded(subscription);
    changed(subscription.id(), turn);
  }

  /** Goes on after a restart with a subscription that has ended. */
  void resumeEnded(Subscription subscription) {
    match.addEnded(subscription);
    want(new Key(subscription.id(), subscription.endpoint()));
    resume(subscription);
  }

  /** A subscription is not as it was. */
  void changed(Subscription subscription, Turn turn) {
    resume(subscription);
    changed(subscription.id(), turn);
  }

  /** Goes on after a restart. */
  void resume(Subscription subscription) {
    for (long endpoint : subscription.unsettled()) {
      want(new Key(subscription.id(), endpoint));
    }
  }

  private void changed(long subscription, Turn turn) {
    long now = ids.next(turn.now());
    for (Task task : tasks.values()) {
      if (task.key.subscription() == subscription) {
        task.changedAt = now;
        task.settlesAt = null;
      }
    }
  }

  /**
   * Whether this node sees to a subscription's messages at an endpoint. Of one that has ended it
   * also looks whether other nodes have left any, if it is the one to say that none is.
   */
  private boolean isOurs(Key key) {
    return lanes.isOurs(key.endpoint())
        || (lanes.isOurs(key.subscription()) && match.hasEnded(key.subscription()));
  }

  /** Goes on with what is in shards that are this node's now. */
  void gained(Shards shards) {
    lookAnew(shards::has);
    match.allUnsettled().forEach(this::resume);
    match.allEnded().forEach(this::resumeEnded);
  }

  /** Leaves what this node does not work on any more to the one that will. */
  void letGo() {
    forget(key -> !isOurs(key));
    lookAnew(endpoint -> !lanes.isOurs(endpoint));
  }

  /** Reads anew where another node has begun to work, or has ended: what is read may be old. */
  private void lookAnew(LongPredicate endpoints) {
    loads.disown(load -> load instanceof Load.OfSubscription of && endpoints.test(of.endpoint()));
    for (Task task : tasks.values()) {
      if (endpoints.test(task.key.endpoint())) {
        ready.remove(task);
        later.remove(task);
        ready.add(task);
      }
    }
  }

  /** Nothing is left of a subscription, as another node says. */
  void forgotten(long subscription) {
    match.forget(subscription);
    forget(key -> key.subscription() == subscription);
  }

  private void forget(Predicate<Key> which) {
    tasks.keySet().removeIf(which);
    ready.removeIf(task -> which.test(task.key));
    later.removeIf(task -> which.test(task.key));
    loads.disown(
        load ->
            load instanceof Load.OfSubscription of
                && which.test(new Key(of.subscription(), of.endpoint())));
  }

  private void want(Key key) {
    if (!tasks.containsKey(key) && isOurs(key)) {
      Task task = new Task(key, ids.last());
      tasks.put(key, task);
      ready.add(task);
    }
  }

  void run(Turn turn) {
    if (laterAt != null && !turn.now().isBefore(laterAt)) {
      laterAt = null;
      ready.addAll(later);
      later.clear();
    }
    while (loads.hasRoom() && !ready.isEmpty()) {
      Task task = ready.remove();
      task.isComplete =
          loads.isAllLanded(task.changedAt)
              && !spread.isPlannedUpTo(task.changedAt)
              && isKnownToAll(task, turn);
      loads.start(
          new Load.OfSubscription(
              task.key.endpoint(), task.key.subscription(), which(task), limits.sweep()),
          turn);
    }
  }

  private boolean isKnownToAll(Task task, Turn turn) {
    if (!shared) {
      return true;
    }
    if (task.settlesAt == null) {
      task.settlesAt = turn.now().plus(Limits.OTHERS_CATCH_UP);
    }
    return !turn.now().isBefore(task.settlesAt);
  }

  /** Which of the messages at that endpoint stand otherwise than the subscription says. */
  private Which which(Task task) {
    Subscription subscription = match.get(task.key.subscription());
    if (subscription == null || subscription.endpoint() != task.key.endpoint()) {
      return Which.ALL;
    }
    return subscription.paused() ? Which.NOT_PAUSED : Which.PAUSED;
  }

  void loaded(Load.OfSubscription load, List<Message> messages, long number, Turn turn) {
    Task task = tasks.get(new Key(load.subscription(), load.endpoint()));
    if (task == null) {
      throw new IllegalStateException("nobody asked for these messages: " + load);
    }
    // What is settled is not written together with a change that may still be refused.
    if (messages.isEmpty()
        && task.isComplete
        && load.which() == which(task)
        && !match.isChanging(load.subscription())) {
      tasks.remove(task.key);
      settled(task.key);
      return;
    }
    for (Message message : messages) {
      if (lanes.isOurs(load.endpoint()) && !loads.isOutOfTime(message.id(), number)) {
        align(message, turn);
      }
    }
    later.add(task);
    if (laterAt == null) {
      laterAt = turn.now().plus(limits.retryStoreAfter());
    }
  }

  /** Nothing of a subscription stands otherwise at an endpoint any more. */
  private void settled(Key key) {
    Subscription ended = match.ended(key.subscription());
    if (ended != null) {
      if (lanes.isOurs(key.subscription())
          && tasks.keySet().stream().noneMatch(task -> task.subscription() == key.subscription())) {
        match.forget(key.subscription());
        forgetting.put(key.subscription(), ended);
        commit.add(
            Commit.Entry.of(new Write.Forget(key.subscription()), lanes.of(key.endpoint()), null));
      }
      return;
    }
    Subscription subscription = match.latest(key.subscription());
    if (subscription != null && subscription.unsettled().contains(key.endpoint())) {
      Subscription now = subscription.settledAt(key.endpoint());
      match.changing(now);
      commit.add(Commit.Entry.of(new Write.Update(now, null), lanes.of(now.endpoint()), null));
    }
  }

  /** It is on disk that nothing is left of a subscription. */
  void forgot(long subscription) {
    forgetting.remove(subscription);
  }

  /** That could not be written: among several nodes, which do not all begin anew, it is again. */
  void notForgotten(long subscription) {
    Subscription ended = forgetting.remove(subscription);
    if (ended != null && shared) {
      resumeEnded(ended);
    }
  }

  private void align(Message message, Turn turn) {
    if (match.isAligned(message)) {
      return;
    }
    Held held = lanes.held(message.id());
    if (held == null) {
      held = lanes.hold(lanes.of(message.endpoint()), message, Place.WRITING);
    } else {
      switch (held.place) {
        case FIRST -> held.lane.first.remove(held);
        case RETRY -> held.lane.retry.remove(held);
        case TIMER -> wait.take(held);
        case UNHEARD -> held.lane.unheard.remove(held);
        case SENDING, WRITING -> {
          return;
        }
      }
    }
    park.align(held, match.standing(message), turn);
  }

  @Nullable Instant nextWake() {
    return laterAt;
  }
}
