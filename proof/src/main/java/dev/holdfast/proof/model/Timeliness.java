package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.Message.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Nothing is late without a reason: a message that could be tried is tried, one that should be
 * parked, dropped or used for a probe is, within a short time after the last {@link Obstacles
 * obstacle}. What is in limbo is late for ever.
 */
final class Timeliness {
  /** For what it has to find first, asking the store again after a while where needed. */
  private static final Duration PATIENT = Duration.ofSeconds(5);

  /** How long a read may take that began while the store was slow. */
  private static final Duration LONG_READ = Duration.ofSeconds(20);

  /** For a probe, which looks once a minute whether it may try what asked to be left alone. */
  private static final Duration PROBE_PATIENT = Duration.ofSeconds(65);

  /** For each part of what is done for a subscription that has changed, part by part. */
  private static final Duration PART = Duration.ofSeconds(2);

  /** For a replay to get on, which may have to look at many messages that do not fit. */
  private static final Duration REPLAY_PATIENT = Duration.ofMinutes(1);

  private final Contract contract;
  private final Obstacles obstacles;
  private final Duration prompt;
  private final int sweep;

  Timeliness(Contract contract, Obstacles obstacles, Duration prompt, int sweep) {
    this.sweep = sweep;
    this.contract = contract;
    this.obstacles = obstacles;
    this.prompt = prompt;
  }

  /** A message of an enabled endpoint is about to be tried, or could be. */
  void checkSending(MessageModel message, Instant now) {
    EndpointModel endpoint = message.endpoint;
    if (endpoint.inFlight >= endpoint.limit) {
      return;
    }
    Instant free =
        Contract.later(
            Contract.later(obstacles.ofSending(endpoint.proven), endpoint.fullAt),
            Contract.later(endpoint.provenSince, endpoint.limitedUntil()));
    checkInTime(message.dueSince(contract), free, prompt, now, "is tried", message);
  }

  private void checkInTime(
      Instant ready, Instant free, Duration allowed, Instant now, String what, Object whom) {
    if (ready.isAfter(now) || free.isAfter(now)) {
      return;
    }
    Instant latest = Contract.later(ready, free).plus(allowed);
    unless(
        !now.isAfter(latest) || obstacles.lastTrouble().isAfter(now.minus(PATIENT)),
        "what is due " + what + " without delay",
        () -> whom + " since " + ready + ", nothing in the way since " + free + ", now " + now);
  }

  void check(
      Collection<EndpointModel> endpoints,
      Collection<MessageModel> open,
      Function<MessageModel, Optional<Instant>> endedSince,
      Function<MessageModel, SubscriptionModel> subscriptionOf,
      Instant now) {
    Map<Long, Integer> unfinished = new HashMap<>();
    for (MessageModel message : open) {
      unfinished.merge(message.subscription, 1, Integer::sum);
    }
    Set<EndpointModel> crowded = new HashSet<>();
    for (MessageModel message : open) {
      if (message.unrecorded) {
        // What the store would not take stays in memory, and may leave no room for others.
        crowded.add(message.endpoint);
      }
    }
    for (MessageModel message : open) {
      if (!message.isIdle() || !message.landed || message.unrecorded) {
        continue;
      }
      if (crowded.contains(message.endpoint) && message.row.status() == Status.PENDING) {
        continue;
      }
      Optional<Instant> ended = endedSince.apply(message);
      if (ended.isPresent()) {
        Instant ready = Contract.later(ended.get(), message.knownSince);
        checkInTime(ready, obstacles.ofWriting(), PATIENT, now, "is dropped", message);
      } else if (!subscriptionOf.apply(message).fits(message)) {
        SubscriptionModel subscription = subscriptionOf.apply(message);
        int left = unfinished.getOrDefault(message.subscription, 0);
        subscription.mostUnfinished = Math.max(subscription.mostUnfinished, left);
        checkFitted(message, subscription, 1 + subscription.mostUnfinished / sweep, now);
      } else if (message.row.status() == Status.PAUSED) {
        checkParking(message, now);
      } else if (message.endpoint.isEnabled() && !hasExpired(message)) {
        checkSending(message, now);
      } else {
        checkParking(message, now);
      }
    }
    for (EndpointModel endpoint : endpoints) {
      checkProbing(endpoint, open, subscriptionOf, now);
    }
  }

  /** Whether its deadline had passed when its endpoint was enabled: it is given up, not tried. */
  private static boolean hasExpired(MessageModel message) {
    Instant due = message.row.due();
    return message.row.status() == Status.PARKED
        && due != null
        && !due.isAfter(message.endpoint.since);
  }

  /**
   * A message that stands otherwise than its subscription wants. One that waits though its
   * subscription is paused may go on waiting until its slot comes, and in the queue of an endpoint
   * that takes all that it may until its turn.
   */
  private void checkFitted(
      MessageModel message, SubscriptionModel subscription, int parts, Instant now) {
    Instant ready = Contract.later(subscription.changedAt, message.knownSince);
    Instant due = message.row.due();
    boolean onlyWaits =
        message.row.status() == Status.WAITING
            && message.endpoint.id == subscription.known.endpoint();
    if (onlyWaits && due != null) {
      EndpointModel endpoint = message.endpoint;
      if (endpoint.isEnabled() && endpoint.inFlight >= endpoint.limit) {
        return;
      }
      ready = Contract.later(Contract.later(ready, due), endpoint.fullAt);
    }
    Instant from = Contract.later(ready, obstacles.ofManySteps());
    Instant latest = from.plus(PATIENT).plus(LONG_READ).plus(PART.multipliedBy(parts));
    unless(
        obstacles.isCommitting() || !now.isAfter(latest),
        "a message follows its subscription soon",
        () -> message + " of " + subscription + " since " + from + ", now " + now);
  }

  /** What is done step by step gets on. */
  void checkSteps(Steps steps, ReplaysModel replays, Instant now) {
    Instant held = obstacles.ofManySteps();
    unless(
        steps.isEmpty()
            || obstacles.isCommitting()
            || !now.isAfter(Contract.later(steps.gotOnAt(), held).plus(PATIENT)),
        "the messages of an accepted event are made without delay",
        steps);
    unless(
        replays.areAtTheirEnd()
            || obstacles.isCommitting()
            || !now.isAfter(Contract.later(replays.gotOnAt(), held).plus(REPLAY_PATIENT)),
        "a replay gets on",
        replays);
  }

  private void checkParking(MessageModel message, Instant now) {
    Instant due = message.row.due();
    Instant since = Contract.later(message.knownSince, message.endpoint.since);
    Instant ready = due == null ? since : Contract.later(due, since);
    boolean isHeldBack =
        message.row.status() == Status.PARKED || message.row.status() == Status.PAUSED;
    String what = isHeldBack ? "is dropped" : "is parked";
    checkInTime(ready, obstacles.ofWriting(), PATIENT, now, what, message);
  }

  private void checkProbing(
      EndpointModel endpoint,
      Collection<MessageModel> open,
      Function<MessageModel, SubscriptionModel> subscriptionOf,
      Instant now) {
    Instant next = endpoint.nextProbeAt;
    if (!endpoint.isProbed() || endpoint.probing || next == null || next.isAfter(now)) {
      return;
    }
    Instant first = Instant.MAX;
    for (MessageModel message : open) {
      if (message.endpoint == endpoint
          && message.isIdle()
          && message.landed
          && !message.unrecorded
          && message.row.status() != Status.PENDING
          && message.row.status() != Status.PAUSED
          && subscriptionOf.apply(message).fits(message)) {
        Instant alone = message.row.notBefore();
        Instant changed =
            Contract.later(message.knownSince, subscriptionOf.apply(message).changedAt);
        Instant from = Contract.later(changed, alone == null ? next : alone);
        first = Contract.earlier(first, from);
      }
    }
    Instant free =
        Contract.later(
            Contract.later(obstacles.ofSending(false), obstacles.ofWriting()),
            endpoint.limitedUntil());
    checkInTime(
        Contract.later(first, next), free, PROBE_PATIENT, now, "is used for a probe", endpoint);
  }

  void checkPlaces() {
    unless(
        obstacles.leavesPlaces(contract.laneInFlight()),
        "endpoints that fail leave places to those that do not",
        obstacles);
  }
}
