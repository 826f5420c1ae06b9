package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.Message.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
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

  /** For a probe, which looks once a minute whether it may try what asked to be left alone. */
  private static final Duration PROBE_PATIENT = Duration.ofSeconds(65);

  private final Contract contract;
  private final Obstacles obstacles;
  private final Duration prompt;

  Timeliness(Contract contract, Obstacles obstacles, Duration prompt) {
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
      Instant now) {
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
      } else if (message.endpoint.isEnabled()) {
        checkSending(message, now);
      } else {
        checkParking(message, now);
      }
    }
    for (EndpointModel endpoint : endpoints) {
      checkProbing(endpoint, open, now);
    }
  }

  private void checkParking(MessageModel message, Instant now) {
    Instant due = message.row.due();
    Instant since = Contract.later(message.knownSince, message.endpoint.since);
    Instant ready = due == null ? since : Contract.later(due, since);
    String what = message.row.status() == Status.PARKED ? "is dropped" : "is parked";
    checkInTime(ready, obstacles.ofWriting(), PATIENT, now, what, message);
  }

  private void checkProbing(EndpointModel endpoint, Collection<MessageModel> open, Instant now) {
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
          && message.row.status() != Status.PENDING) {
        Instant alone = message.row.notBefore();
        Instant from = Contract.later(message.knownSince, alone == null ? next : alone);
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
