package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Subscriptions come, change and go; {@link Align} sees to the messages that they have. */
final class Subscriptions {
  private static final Answer NOT_ENCRYPTED =
      new Answer.Unfit(
          "tls", "Connections to this URL are not encrypted. Use one that begins with https.");

  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Commit commit;
  private final Align align;
  private final Dispatch dispatch;
  private final Replays replays;
  private final Later later;
  private final HandOver handOver;

  /** Whether this node has learned already, from the store, what it has written. */
  private boolean isLearned;

  Subscriptions(
      IdSource ids,
      Match match,
      Lanes lanes,
      Commit commit,
      Align align,
      Dispatch dispatch,
      Replays replays,
      Later later,
      HandOver handOver) {
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.commit = commit;
    this.align = align;
    this.dispatch = dispatch;
    this.replays = replays;
    this.later = later;
    this.handOver = handOver;
  }

  /** A batch is on disk whose changes are known already, or not. */
  void landing(boolean learned) {
    isLearned = learned;
  }

  void subscribe(Request.Subscribe request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Wish wish = request.wish();
    if (request.since() != null && replays.histories(request.tenant()) >= Limits.HISTORIES) {
      turn.reply(replyTo, new Answer.TooManyHistories(Limits.HISTORIES));
      return;
    }
    Lane known = lanes.withUrl(request.tenant(), wish.url());
    if (known != null && request.unlessThere()) {
      Match.Alike alike = match.alike(subscription(0, known, wish, turn));
      if (alike instanceof Match.Alike.There(long id)) {
        turn.reply(replyTo, new Answer.AlreadyThere(id));
        return;
      }
      if (alike instanceof Match.Alike.Unsettled) {
        later.ask(request, by, replyTo);
        return;
      }
    }
    Lane lane = lane(request.tenant(), wish.url(), turn);
    configure(lane, wish, by, turn);
    Subscription subscription = subscription(ids.next(turn.now()), lane, wish, turn);
    match.coming(subscription);
    Replay history =
        request.since() == null
            ? null
            : Replay.of(
                ids.next(turn.now()),
                request.tenant(),
                Selection.history(subscription.id(), request.since()));
    Deed deed =
        new Deed(
            by,
            turn.now(),
            request.tenant(),
            new Deed.Subscribed(subscription, lane.endpoint, history));
    commit.add(
        Commit.Entry.of(
            new Write.Subscribe(subscription, lane.stored ? null : lane.endpoint, history),
            lane,
            replyTo,
            List.of(deed)));
  }

  static Subscription subscription(long id, Lane lane, Wish wish, Turn turn) {
    return new Subscription(
        id,
        lane.endpoint.tenant(),
        lane.endpoint.id(),
        wish.writtenUrl(),
        wish.interest(),
        wish.form(),
        turn.now(),
        turn.now(),
        false,
        Set.of());
  }

  /** The lane of a URL, which is made when there is none. */
  Lane lane(String tenant, String url, Turn turn) {
    Lane lane = lanes.withUrl(tenant, url);
    if (lane != null) {
      return lane;
    }
    Endpoint endpoint = new Endpoint(ids.next(turn.now()), tenant, url, Health.created(turn.now()));
    return lanes.add(endpoint, false, null);
  }

  private static Endpoint changed(
      Endpoint before, @Nullable NewRateLimit rateLimit, EndpointTls.@Nullable Change tls) {
    Endpoint after = rateLimit == null ? before : before.withRateLimit(rateLimit.limit());
    return tls == null ? after : after.withTls(tls.applyTo(before.tls()));
  }

  /**
   * Somebody sets something about an endpoint. It holds from the next attempt on. Returns what was
   * done, if that is something.
   */
  private Optional<Deed> set(Lane lane, Endpoint after, Actor by, Turn turn) {
    Endpoint before = lane.endpoint;
    if (isSame(before, after)) {
      return Optional.empty();
    }
    set(lane, after);
    Deed deed = new Deed(by, turn.now(), before.tenant(), new Deed.Configured(before, after));
    commit.add(deed, lane);
    return Optional.of(deed);
  }

  private void set(Lane lane, Endpoint after) {
    Endpoint before = lane.endpoint;
    lane.endpoint = after;
    commit.touch(lane);
    if (!Objects.equals(before.rateLimit(), after.rateLimit())) {
      dispatch.limitChanged(lane);
    }
  }

  private static boolean isSame(Endpoint one, Endpoint other) {
    return Objects.equals(one.rateLimit(), other.rateLimit())
        && Objects.equals(one.tls(), other.tls());
  }

  /** Sets about an endpoint what a subscription of somebody's brings. */
  Optional<Deed> configure(Lane lane, Wish wish, Actor by, Turn turn) {
    Endpoint after = lane.endpoint;
    if (wish.rateLimit() != null) {
      after = after.withRateLimit(wish.rateLimit());
    }
    if (wish.tls() != null) {
      after = after.withTls(wish.tls());
    }
    return set(lane, after, by, turn);
  }

  /**
   * Somebody has set something about an endpoint in vain: it gets back what it had before, unless
   * somebody else has set something since.
   *
   * @param undone what was done to it, in its order
   */
  void restore(Lane lane, List<Deed> undone, Turn turn) {
    if (!(undone.getFirst().what() instanceof Deed.Configured first)
        || !(undone.getLast().what() instanceof Deed.Configured last)
        || !isSame(lane.endpoint, last.after())) {
      return;
    }
    Endpoint before = lane.endpoint;
    Endpoint after = before.withRateLimit(first.before().rateLimit()).withTls(first.before().tls());
    set(lane, after);
    if (!commit.forget(undone, lane)) {
      Actor by = undone.getLast().by();
      commit.add(
          new Deed(by, turn.now(), before.tenant(), new Deed.Configured(before, after)), lane);
    }
  }

  void configure(Request.Configure request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Lane lane = lanes.get(request.endpoint());
    if (lane == null || !lane.stored || !lane.endpoint.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    if (!isPossible(request.tls(), lane.endpoint.url())) {
      turn.reply(replyTo, NOT_ENCRYPTED);
      return;
    }
    Endpoint after = changed(lane.endpoint, request.rateLimit(), request.tls());
    set(lane, after, by, turn);
    commit.add(Commit.Entry.of(new Write.Configure(lane.endpoint.id()), lane, replyTo));
  }

  void subscribed(Write.Subscribe write, Lane lane, Consumer<Answer> replyTo, Turn turn) {
    lane.nowStored();
    added(write.subscription());
    if (write.history() != null && handOver.isOurs(write.history().id())) {
      replays.resume(write.history());
    }
    turn.reply(
        replyTo, new Answer.Subscribed(write.subscription(), lane.endpoint, write.history()));
  }

  /** A new subscription is on disk. */
  void added(Subscription subscription) {
    if (!isLearned) {
      match.add(subscription);
    }
  }

  /** A changed subscription is on disk. */
  void replaced(Subscription subscription) {
    match.changed(subscription);
    if (!isLearned) {
      match.replace(subscription);
    }
  }

  /**
   * Other nodes have changed something: what somebody has set here about endpoints, and is not on
   * disk, is to be decided anew.
   *
   * @param tenants whose; nobody if it may be everybody's
   */
  void forgetSettings(Set<String> tenants) {
    for (Lane lane : commit.configured()) {
      if (!tenants.isEmpty() && !tenants.contains(lane.endpoint.tenant())) {
        continue;
      }
      Endpoint known = lane.learned;
      List<Deed> undone = new ArrayList<>();
      for (Deed deed : lane.deeds) {
        if (deed.what() instanceof Deed.Configured configured) {
          known = known == null ? configured.before() : known;
          undone.add(deed);
        }
      }
      lane.deeds.removeAll(undone);
      lane.learned = null;
      if (known != null) {
        set(lane, lane.endpoint.withRateLimit(known.rateLimit()).withTls(known.tls()));
      }
    }
    commit.forgotSettings();
  }

  /** Another node has set something about an endpoint. */
  void learned(Lane lane, Endpoint known) {
    if (commit.isConfiguring(lane)) {
      lane.learned = known;
      return;
    }
    Endpoint before = lane.endpoint;
    lane.endpoint = before.withRateLimit(known.rateLimit()).withTls(known.tls());
    if (!Objects.equals(before.rateLimit(), known.rateLimit())) {
      dispatch.limitChanged(lane);
    }
  }

  /** A subscription could not be written. */
  void notSubscribed(Subscription subscription, Lane lane) {
    match.notComing(subscription);
    removeUnlessStored(lane);
  }

  /** Takes back a lane whose endpoint was to come with what could not be written. */
  void removeUnlessStored(Lane lane) {
    if (!lane.stored) {
      lanes.remove(lane);
      commit.forget(lane);
    }
  }

  void update(Request.Update request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Subscription before = match.latest(request.subscription());
    if (before == null || !before.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    Patch patch = request.patch();
    Answer objection = objection(before, patch, turn);
    if (objection != null) {
      turn.reply(replyTo, objection);
      return;
    }
    String url = patch.url() == null ? lanes.of(before.endpoint()).endpoint.url() : patch.url();
    if (!isPossible(patch.tls(), url)) {
      turn.reply(replyTo, NOT_ENCRYPTED);
      return;
    }
    Lane lane =
        patch.url() == null
            ? lanes.of(before.endpoint())
            : lane(request.tenant(), patch.url(), turn);
    Endpoint from = lanes.of(before.endpoint()).endpoint;
    set(lane, changed(lane.endpoint, patch.rateLimit(), patch.tls()), by, turn);
    Subscription after = patched(before, patch, lane.endpoint.id(), turn);
    List<Deed> deeds =
        after.equals(before)
            ? List.of()
            : List.of(updated(by, before, from, after, lane.endpoint, turn));
    match.changing(after);
    commit.add(
        Commit.Entry.of(
            new Write.Update(after, lane.stored ? null : lane.endpoint), lane, replyTo, deeds));
  }

  static Deed updated(
      Actor by, Subscription before, Endpoint from, Subscription after, Endpoint to, Turn turn) {
    return new Deed(by, turn.now(), after.tenant(), new Deed.Updated(before, from, after, to));
  }

  private static boolean isPossible(EndpointTls.@Nullable Change change, String url) {
    return change == null || change.applyTo(null) == null || EndpointTls.isPossible(url);
  }

  /** Why a change does not go with what stays of a subscription. */
  private static @Nullable Answer objection(Subscription before, Patch patch, Turn turn) {
    if (!patch.form().isBase64Possible(before.form())) {
      return new Answer.Unfit(
          "base64Encoding",
          "Only the format \"workfront\" can be in Base64. Change the format too.");
    }
    if (!patch.form().isVersionPossible(before.form())) {
      return new Answer.Unfit(
          "version", "Only the format \"workfront\" has versions. Change the format too.");
    }
    Form after = patch.form().applyTo(before.form(), turn.now());
    if (after.authorizesTwice()) {
      return new Answer.Unfit(
          patch.form().authToken() == null ? "headers" : "authToken",
          "There cannot be both a token and a header Authorization. Remove one of them.");
    }
    if (after.headers().size() > Limits.HEADERS) {
      return new Answer.Unfit(
          "headers",
          "There can be %d headers, and these would be %d. Remove some of them."
              .formatted(Limits.HEADERS, after.headers().size()));
    }
    NewSecret secret = patch.form().secret();
    if (secret != null && before.form().hasSecret(secret.text(), turn.now())) {
      return new Answer.Unfit(
          "secret", "The subscription has this secret already. Give another, or leave it out.");
    }
    if (after.secretsAt(turn.now()).size() > Limits.VALID_SECRETS) {
      return new Answer.TooManySecrets(Limits.VALID_SECRETS);
    }
    return patch
        .interest()
        .applyTo(before.interest())
        .contradiction()
        .map(found -> new Answer.Unfit(found.place(), found.reason()))
        .orElse(null);
  }

  /** The time of the last change stays if all is as it was. */
  private static Subscription patched(Subscription before, Patch patch, long endpoint, Turn turn) {
    boolean paused = patch.paused() == null ? before.paused() : patch.paused();
    Set<Long> unsettled = new TreeSet<>(before.unsettled());
    if (paused != before.paused()) {
      unsettled.add(endpoint);
    }
    if (endpoint != before.endpoint()) {
      unsettled.add(before.endpoint());
    }
    Subscription after =
        new Subscription(
            before.id(),
            before.tenant(),
            endpoint,
            patch.url() == null ? before.writtenUrl() : null,
            patch.interest().applyTo(before.interest()),
            patch.form().applyTo(before.form(), turn.now()),
            before.createdAt(),
            before.changedAt(),
            paused,
            unsettled);
    return after.equals(before) ? before : after.with(after.interest(), after.form(), turn.now());
  }

  void updated(
      Subscription subscription, Lane lane, @Nullable Consumer<Answer> replyTo, Turn turn) {
    lane.nowStored();
    replaced(subscription);
    if (replyTo != null) {
      align.changed(subscription, turn);
      turn.reply(replyTo, new Answer.Updated(subscription, lane.endpoint));
    }
  }

  /** A change of a subscription could not be written. */
  void notUpdated(Subscription subscription, Lane lane) {
    match.changed(subscription);
    removeUnlessStored(lane);
    goOn(subscription);
  }

  /** What is unsettled of a subscription that stays as it is goes on being settled. */
  void goOn(Subscription subscription) {
    Subscription now = match.get(subscription.id());
    if (now != null) {
      align.resume(now);
    }
  }

  void unsubscribe(Request.Unsubscribe request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Subscription subscription = match.latest(request.subscription());
    if (subscription == null || !subscription.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    match.leave(subscription);
    Lane lane = lanes.of(subscription.endpoint());
    Deed deed =
        new Deed(
            by, turn.now(), request.tenant(), new Deed.Unsubscribed(subscription, lane.endpoint));
    commit.add(
        Commit.Entry.of(
            new Write.Unsubscribe(subscription, turn.now()), lane, replyTo, List.of(deed)));
  }

  void unsubscribed(Subscription subscription, Consumer<Answer> replyTo, Turn turn) {
    if (!isLearned) {
      match.remove(subscription);
      align.ended(subscription, turn);
    }
    turn.reply(replyTo, new Answer.Unsubscribed());
  }

  /** A subscription's end could not be written: it goes on. */
  void notUnsubscribed(Subscription subscription) {
    match.stay(subscription);
    goOn(subscription);
  }
}
