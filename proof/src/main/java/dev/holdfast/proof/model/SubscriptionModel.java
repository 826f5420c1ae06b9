package dev.holdfast.proof.model;

import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What was asked of a subscription, and since when it is as it is. */
final class SubscriptionModel {
  /** As the engine knows it to be on disk; the last that it was when it has ended. */
  Subscription known;

  /** Since when the engine knows it so. */
  Instant changedAt;

  /** The most unfinished messages that it has had since then. */
  int mostUnfinished;

  private Instant pausedUntil = Instant.MIN;
  private Instant unpausedUntil;

  /** Every endpoint that it has had. */
  final Set<Long> endpoints = new HashSet<>();

  /** What was asked for and not answered yet, in that order. */
  final List<SubscriptionChange> asked = new ArrayList<>();

  /** The versions that were asked for since the process has started. */
  final List<VersionWish> versions = new ArrayList<>();

  SubscriptionModel(Subscription subscription, Instant now) {
    this.known = subscription;
    this.changedAt = now;
    this.unpausedUntil = now;
    endpoints.add(subscription.endpoint());
  }

  /**
   * A version that somebody wants it to have.
   *
   * @param ofMany together with others, for which the engine may take its time
   */
  record VersionWish(Version version, Instant at, boolean ofMany) {}

  /** What people see of a subscription. */
  record Face(String url, List<TypePattern> types, boolean paused, Version version) {
    Face with(SubscriptionChange change) {
      return new Face(
          change.url() == null ? url : change.url(),
          change.types() == null ? types : change.types(),
          change.paused() == null ? paused : change.paused(),
          change.version() == null ? version : change.version());
    }

    Face in(Version other) {
      return new Face(url, types, paused, other);
    }
  }

  /** The engine hears that it is so from now on. */
  void is(Subscription subscription, Instant now) {
    boolean same =
        subscription.endpoint() == known.endpoint() && subscription.paused() == known.paused();
    pausedUntil = pausedUntil(now);
    unpausedUntil = unpausedUntil(now);
    known = subscription;
    endpoints.add(subscription.endpoint());
    if (!same) {
      changedAt = now;
      mostUnfinished = 0;
    }
  }

  /**
   * Whether it can have become so: who gives it the version that it has changes nothing, and who
   * gives it the other does so when they ask for it.
   */
  boolean mayBe(Edition after, Edition before, Instant now) {
    Instant changedAt = after.changedAt();
    if (after.version() == before.version()) {
      return after.equals(before);
    }
    return changedAt != null
        && versions.stream()
            .filter(wish -> wish.version() == after.version())
            .anyMatch(
                wish ->
                    wish.ofMany()
                        ? !changedAt.isBefore(wish.at()) && !changedAt.isAfter(now)
                        : changedAt.equals(wish.at()));
  }

  /** The process starts again, with what is on disk. */
  void restart(Subscription subscription, Instant now) {
    is(subscription, now);
    changedAt = now;
    mostUnfinished = 0;
    pausedUntil = Instant.MIN;
    asked.clear();
    versions.clear();
  }

  /** Until when, at least, it was paused. */
  Instant pausedUntil(Instant now) {
    return known.paused() ? now : pausedUntil;
  }

  /** Until when, at least, it was not paused. */
  Instant unpausedUntil(Instant now) {
    return known.paused() ? unpausedUntil : now;
  }

  /** Whether a message is where, and as, the subscription wants it. */
  boolean fits(MessageModel message) {
    return message.endpoint.id == known.endpoint()
        && (message.row.status() == Status.PAUSED) == known.paused();
  }

  @Override
  public String toString() {
    return known + " since " + changedAt;
  }
}
