package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.port.Write;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Subscriptions come, change and go; {@link Align} sees to the messages that they have. */
final class Subscriptions {
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Commit commit;
  private final Align align;
  private final Dispatch dispatch;

  Subscriptions(
      IdSource ids, Match match, Lanes lanes, Commit commit, Align align, Dispatch dispatch) {
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.commit = commit;
    this.align = align;
    this.dispatch = dispatch;
  }

  void subscribe(Request.Subscribe request, Consumer<Answer> replyTo, Turn turn) {
    Lane lane = lane(request.tenant(), request.url(), turn);
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

  /** The lane of a URL, which is made when there is none. */
  private Lane lane(String tenant, String url, Turn turn) {
    Lane lane = lanes.withUrl(tenant, url);
    if (lane != null) {
      return lane;
    }
    Endpoint endpoint = new Endpoint(ids.next(turn.now()), tenant, url, Health.created(turn.now()));
    return lanes.add(endpoint, false, null);
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

  void update(Request.Update request, Consumer<Answer> replyTo, Turn turn) {
    Subscription before = match.latest(request.subscription());
    if (before == null || !before.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    Patch patch = request.patch();
    Lane lane =
        patch.url() == null
            ? lanes.of(before.endpoint())
            : lane(request.tenant(), patch.url(), turn);
    if (patch.rateLimit() != null) {
      limitRate(lane, patch.rateLimit().limit());
    }
    Subscription after = patched(before, patch, lane.endpoint.id());
    match.changing(after);
    commit.add(
        Commit.Entry.of(
            new Write.Update(after, lane.stored ? null : lane.endpoint), lane, replyTo));
  }

  private static Subscription patched(Subscription before, Patch patch, long endpoint) {
    boolean paused = patch.paused() == null ? before.paused() : patch.paused();
    Set<Long> unsettled = new TreeSet<>(before.unsettled());
    if (paused != before.paused()) {
      unsettled.add(endpoint);
    }
    if (endpoint != before.endpoint()) {
      unsettled.add(before.endpoint());
    }
    return new Subscription(
        before.id(),
        before.tenant(),
        endpoint,
        patch.types() == null ? before.types() : patch.types(),
        patch.subject() == null ? before.subject() : patch.subject().text(),
        before.createdAt(),
        paused,
        unsettled);
  }

  void updated(
      Subscription subscription, Lane lane, @Nullable Consumer<Answer> replyTo, Turn turn) {
    lane.stored = true;
    match.changed(subscription);
    match.replace(subscription);
    if (replyTo != null) {
      align.changed(subscription, turn);
      turn.reply(replyTo, new Answer.Updated(subscription, lane.endpoint));
    }
  }

  /** A change of a subscription could not be written. */
  void notUpdated(Subscription subscription, Lane lane) {
    match.changed(subscription);
    if (!lane.stored) {
      lanes.remove(lane);
    }
    goOn(subscription);
  }

  /** What is unsettled of a subscription that stays as it is goes on being settled. */
  private void goOn(Subscription subscription) {
    Subscription now = match.get(subscription.id());
    if (now != null) {
      align.resume(now);
    }
  }

  void unsubscribe(Request.Unsubscribe request, Consumer<Answer> replyTo, Turn turn) {
    Subscription subscription = match.latest(request.subscription());
    if (subscription == null || !subscription.tenant().equals(request.tenant())) {
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
    align.ended(subscription, turn);
    turn.reply(replyTo, new Answer.Unsubscribed());
  }

  /** A subscription's end could not be written: it goes on. */
  void notUnsubscribed(Subscription subscription) {
    match.stay(subscription);
    goOn(subscription);
  }
}
