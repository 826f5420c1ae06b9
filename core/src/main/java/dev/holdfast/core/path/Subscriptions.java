package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions come and go. The unfinished messages of one that has ended are dropped: those in
 * memory when they are met, those in the store a limited number at a time.
 */
final class Subscriptions {
  private final Limits limits;
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Loads loads;
  private final Commit commit;
  private final Wait wait;
  private final Park park;
  private final Dispatch dispatch;

  /** Ended subscriptions that may have unfinished messages, by their id. */
  private final Map<Long, Subscription> ended = new HashMap<>();

  private final Deque<Subscription> toSweep = new ArrayDeque<>();
  private final Deque<Subscription> toSweepLater = new ArrayDeque<>();
  private @Nullable Instant sweepLaterAt;

  Subscriptions(
      Limits limits,
      IdSource ids,
      Match match,
      Lanes lanes,
      Loads loads,
      Commit commit,
      Wait wait,
      Park park,
      Dispatch dispatch) {
    this.limits = limits;
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.loads = loads;
    this.commit = commit;
    this.wait = wait;
    this.park = park;
    this.dispatch = dispatch;
  }

  void subscribe(Request.Subscribe request, Consumer<Answer> replyTo, Turn turn) {
    Lane lane = lanes.withUrl(request.tenant(), request.url());
    if (lane == null) {
      Endpoint endpoint =
          new Endpoint(
              ids.next(turn.now()), request.tenant(), request.url(), Health.created(turn.now()));
      lane = lanes.add(endpoint, false, null);
    }
    if (request.rateLimit() != null) {
      limitRate(lane, request.rateLimit());
    }
    Subscription subscription =
        new Subscription(
            ids.next(turn.now()),
            request.tenant(),
            lane.endpoint.id(),
            request.types(),
            request.subject(),
            turn.now());
    commit.add(
        Commit.Entry.of(
            new Write.Subscribe(subscription, lane.stored ? null : lane.endpoint), lane, replyTo));
  }

  private void limitRate(Lane lane, @Nullable RateLimit limit) {
    lane.endpoint = lane.endpoint.withRateLimit(limit);
    commit.touch(lane);
    dispatch.limitChanged(lane);
  }

  void limitRate(Request.LimitRate request, Consumer<Answer> replyTo, Turn turn) {
    Lane lane = lanes.get(request.endpoint());
    if (lane == null || !lane.stored || !lane.endpoint.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    limitRate(lane, request.rateLimit());
    commit.add(Commit.Entry.of(new Write.Configure(lane.endpoint.id()), lane, replyTo));
  }

  void subscribed(Subscription subscription, Lane lane, Consumer<Answer> replyTo, Turn turn) {
    lane.stored = true;
    match.add(subscription);
    turn.reply(replyTo, new Answer.Subscribed(subscription, lane.endpoint));
  }

  /** A subscription could not be written. */
  void notSubscribed(Lane lane) {
    if (!lane.stored) {
      lanes.remove(lane);
    }
  }

  void unsubscribe(Request.Unsubscribe request, Consumer<Answer> replyTo, Turn turn) {
    Subscription subscription = match.get(request.subscription());
    if (subscription == null
        || !subscription.tenant().equals(request.tenant())
        || match.isLeaving(subscription)) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    match.leave(subscription);
    commit.add(
        Commit.Entry.of(
            new Write.Unsubscribe(subscription, turn.now()),
            lanes.of(subscription.endpoint()),
            replyTo));
  }

  void unsubscribed(Subscription subscription, Consumer<Answer> replyTo, Turn turn) {
    match.remove(subscription);
    resume(subscription);
    turn.reply(replyTo, new Answer.Unsubscribed());
  }

  /** A subscription's end could not be written: it goes on. */
  void notUnsubscribed(Subscription subscription) {
    match.stay(subscription);
  }

  /** Goes on dropping the messages of an ended subscription. */
  void resume(Subscription subscription) {
    ended.put(subscription.id(), subscription);
    toSweep.add(subscription);
  }

  void run(Turn turn) {
    if (sweepLaterAt != null && !turn.now().isBefore(sweepLaterAt)) {
      sweepLaterAt = null;
      toSweep.addAll(toSweepLater);
      toSweepLater.clear();
    }
    while (loads.hasRoom() && !toSweep.isEmpty()) {
      Subscription subscription = toSweep.remove();
      loads.start(
          new Load.OfSubscription(subscription.endpoint(), subscription.id(), limits.sweep()),
          turn);
    }
  }

  /** Unfinished messages of an ended subscription have been read: they are dropped. */
  void loaded(Load.OfSubscription load, List<Message> messages, long number, Turn turn) {
    Subscription subscription = ended.get(load.subscription());
    if (subscription == null) {
      return;
    }
    if (messages.isEmpty()) {
      ended.remove(subscription.id());
      commit.add(
          Commit.Entry.of(
              new Write.Forget(subscription.id()), lanes.of(subscription.endpoint()), null));
      return;
    }
    for (Message message : messages) {
      if (!loads.isOutOfTime(message.id(), number)) {
        drop(message, turn);
      }
    }
    toSweepLater.add(subscription);
    if (sweepLaterAt == null) {
      sweepLaterAt = turn.now().plus(limits.retryStoreAfter());
    }
  }

  private void drop(Message message, Turn turn) {
    Held held = lanes.held(message.id());
    if (held == null) {
      park.dropUnsubscribed(lanes.hold(lanes.of(message.endpoint()), message, Place.WRITING), turn);
      return;
    }
    switch (held.place) {
      case FIRST -> held.lane.first.remove(held);
      case RETRY -> held.lane.retry.remove(held);
      case TIMER -> wait.take(held);
      case SENDING, WRITING -> {
        return;
      }
    }
    park.dropUnsubscribed(held, turn);
  }

  @Nullable Instant nextWake() {
    return sweepLaterAt;
  }
}
