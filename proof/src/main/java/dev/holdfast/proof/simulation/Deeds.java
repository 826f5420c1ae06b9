package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import dev.holdfast.proof.model.Violation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Holds what was written down against what is otherwise on disk, batch by batch: each change that
 * somebody asked for has its deed in the same transaction, and each deed its change. So the whole
 * log tells how everything came to be as it is.
 */
final class Deeds {
  private static final String RULE = "what somebody did is written down with what it changes";

  private final Map<Long, Subscription> subscriptions;
  private final Map<Long, Endpoint> endpoints;

  /** Messages that were tried by hand, which is not written down yet. */
  private final Set<Long> retried = new HashSet<>();

  /** What is on disk, which the store goes on changing. */
  Deeds(Map<Long, Subscription> subscriptions, Map<Long, Endpoint> endpoints) {
    this.subscriptions = subscriptions;
    this.endpoints = endpoints;
  }

  /** What an owner can say about a subscription. */
  private record Content(long endpoint, Interest interest, Form form, boolean paused) {
    static @Nullable Content of(@Nullable Subscription subscription) {
      return subscription == null
          ? null
          : new Content(
              subscription.endpoint(),
              subscription.interest(),
              subscription.form(),
              subscription.paused());
    }
  }

  /** What somebody can set about an endpoint. */
  private record Settings(@Nullable RateLimit rateLimit, @Nullable EndpointTls tls) {
    static final Settings NONE = new Settings(null, null);

    static Settings of(@Nullable Endpoint endpoint) {
      return endpoint == null ? NONE : new Settings(endpoint.rateLimit(), endpoint.tls());
    }
  }

  /** What a batch is about, as it was on disk before. */
  private record Before(
      Map<Long, @Nullable Content> contents,
      Map<Long, Settings> settings,
      Map<Long, @Nullable Health> healths) {}

  /**
   * Writes a batch, and looks what has become of it.
   *
   * @param writing changes what is on disk
   */
  void check(Batch batch, Runnable writing) {
    Before before = new Before(new HashMap<>(), new HashMap<>(), new HashMap<>());
    for (Write write : batch.writes()) {
      remember(write, before);
    }
    for (Endpoint endpoint : batch.endpoints()) {
      remember(endpoint.id(), before);
    }
    checkRetries(batch);
    writing.run();
    for (Deed deed : batch.deeds()) {
      follow(deed, before);
    }
    checkSubscriptions(before);
    checkEndpoints(before, batch);
    checkReplays(batch);
  }

  private void remember(Write write, Before before) {
    switch (write) {
      case Write.Subscribe subscribe -> {
        remember(subscribe.subscription(), before);
        remember(subscribe.subscription().endpoint(), before);
      }
      case Write.Update update -> {
        remember(update.subscription(), before);
        remember(update.subscription().endpoint(), before);
      }
      case Write.Import all -> {
        all.created().forEach(created -> remember(created, before));
        all.changed().forEach(changed -> remember(changed, before));
      }
      case Write.Unsubscribe unsubscribe -> remember(unsubscribe.subscription(), before);
      default -> {}
    }
  }

  private void remember(Subscription subscription, Before before) {
    before
        .contents()
        .putIfAbsent(subscription.id(), Content.of(subscriptions.get(subscription.id())));
  }

  private void remember(long id, Before before) {
    Endpoint endpoint = endpoints.get(id);
    before.settings().put(id, Settings.of(endpoint));
    before.healths().put(id, endpoint == null ? null : endpoint.health());
  }

  /** Takes what was before to what it is by a deed. */
  private static void follow(Deed deed, Before before) {
    switch (deed.what()) {
      case Deed.Subscribed done -> follow(deed, done.after().id(), null, done.after(), before);
      case Deed.Updated done ->
          follow(deed, done.after().id(), done.before(), done.after(), before);
      case Deed.Unsubscribed done -> follow(deed, done.before().id(), done.before(), null, before);
      case Deed.Configured done -> {
        Settings was = before.settings().put(done.after().id(), Settings.of(done.after()));
        if (!Settings.of(done.before()).equals(was)) {
          throw new Violation(RULE, deed + " is of what was not: " + was);
        }
      }
      case Deed.Operated _, Deed.Replayed _, Deed.Cancelled _, Deed.Retried _ -> {}
    }
  }

  private static void follow(
      Deed deed, long id, @Nullable Subscription from, @Nullable Subscription to, Before before) {
    if (!before.contents().containsKey(id)) {
      throw new Violation(RULE, deed + " has no change");
    }
    Content was = before.contents().put(id, Content.of(to));
    if (!Objects.equals(Content.of(from), was)) {
      throw new Violation(RULE, deed + " is of what was not: " + was);
    }
  }

  private void checkSubscriptions(Before before) {
    before
        .contents()
        .forEach(
            (id, told) -> {
              Content now = Content.of(subscriptions.get(id));
              if (!Objects.equals(told, now)) {
                throw new Violation(RULE, "told is " + told + ", and it is " + now);
              }
            });
  }

  private void checkEndpoints(Before before, Batch batch) {
    before
        .settings()
        .forEach(
            (id, told) -> {
              Endpoint endpoint = endpoints.get(id);
              if (endpoint != null && !Settings.of(endpoint).equals(told)) {
                throw new Violation(RULE, "told is " + told + ", and it is " + endpoint);
              }
            });
    before
        .healths()
        .forEach(
            (id, was) -> {
              Endpoint endpoint = endpoints.get(id);
              if (endpoint != null
                  && was != null
                  && endpoint.health().reason() == Health.Reason.OPERATOR
                  && !isSame(was, endpoint.health())
                  && batch.deeds().stream().noneMatch(deed -> isOf(deed, endpoint))) {
                throw new Violation(RULE, "nobody has told of " + endpoint);
              }
            });
  }

  private static boolean isSame(Health one, Health other) {
    return one.state() == other.state()
        && one.reason() == other.reason()
        && one.since().equals(other.since());
  }

  private static boolean isOf(Deed deed, Endpoint endpoint) {
    return deed.what() instanceof Deed.Operated done
        && done.after().id() == endpoint.id()
        && isSame(done.after().health(), endpoint.health());
  }

  private static void checkReplays(Batch batch) {
    Set<Long> told = new HashSet<>();
    for (Deed deed : batch.deeds()) {
      switch (deed.what()) {
        case Deed.Replayed done -> told.add(done.replay().id());
        case Deed.Cancelled done -> told.add(-done.replay().id());
        default -> {}
      }
    }
    for (Write write : batch.writes()) {
      if (write instanceof Write.Progress progress) {
        Replay replay = progress.replay();
        boolean isStart = progress.before() == null;
        boolean isEnd = replay.state() == Replay.State.CANCELLED;
        boolean isToldOfEnd = told.remove(-replay.id());
        // A history ends by itself with its subscription.
        if (isStart != told.remove(replay.id())
            || (isEnd != isToldOfEnd && !replay.selection().isHistory())) {
          throw new Violation(RULE, "told otherwise: " + progress);
        }
      }
    }
    if (!told.isEmpty()) {
      throw new Violation(RULE, "no change of replays " + told);
    }
  }

  /** A message was tried by hand. */
  void retried(long message) {
    retried.add(message);
  }

  /** Nobody knows any more what was not on disk. */
  void died() {
    retried.clear();
  }

  /** What became of an attempt by hand is not on disk before it is written down who wanted it. */
  private void checkRetries(Batch batch) {
    if (retried.isEmpty()) {
      return;
    }
    for (Deed deed : batch.deeds()) {
      if (deed.what() instanceof Deed.Retried done) {
        retried.remove(done.message());
      }
    }
    for (Write write : batch.writes()) {
      Long message =
          switch (write) {
            case Write.Deliver deliver -> deliver.message().id();
            case Write.Retry retry -> retry.message().id();
            default -> null;
          };
      if (message != null && retried.contains(message)) {
        throw new Violation(RULE, "nobody has told of the attempt by hand: " + write);
      }
    }
  }
}
