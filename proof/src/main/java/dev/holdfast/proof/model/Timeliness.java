package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.Message.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Function;

/**
 * Nothing is late without a reason: a message that could be tried is tried, one that should be
 * parked, dropped or used for a probe is, within a short time after the last {@link Obstacles
 * obstacle}. What is in limbo is late for ever.
 */
final class Timeliness {
  /** For what the engine holds in memory and only has to do. */
  private static final Duration PROMPT = Duration.ofMillis(20);

  /** For what it has to find first, asking the store again after a while where needed. */
  private static final Duration PATIENT = Duration.ofSeconds(5);

  /** For a probe, which looks once a minute whether it may try what asked to be left alone. */
  private static final Duration PROBE_PATIENT = Duration.ofSeconds(65);

  /** Free places that may go to one kind of attempt while the other waits for one. */
  private static final int MOST_IN_A_ROW = 3;

  private final Contract contract;
  private final Obstacles obstacles;

  Timeliness(Contract contract, Obstacles obstacles) {
    this.contract = contract;
    this.obstacles = obstacles;
  }

  void starts() {}

  void taken(MessageModel message, Instant now) {}

  /** A message of an enabled endpoint is about to be tried. */
  void checkNotLate(MessageModel message, Instant now) {
    Instant ready = message.dueSince(contract);
    Instant due = message.row.due();
    boolean inMemory =
        message.row.status() == Status.WAITING && due != null && due.equals(ready);
    checkSending(message, ready, inMemory ? PROMPT : PATIENT, now);
  }

  private void checkSending(
      MessageModel message, Instant ready, Duration allowed, Instant now) {
    EndpointModel endpoint = message.endpoint;
    if (endpoint.inFlight >= endpoint.limit) {
      return;
    }
    Instant free = Contract.later(obstacles.ofSending(endpoint.proven), endpoint.fullAt);
    checkInTime(ready, free, allowed, now, "is tried", message);
  }

  private static void checkInTime(
      Instant ready, Instant free, Duration allowed, Instant now, String what, Object whom) {
    if (ready.isAfter(now) || free.isAfter(now)) {
      return;
    }
    Instant from = Contract.later(ready, free);
    unless(
        !now.isAfter(from.plus(allowed)),
        "what is due " + what + " without delay",
        whom + " since " + ready + ", nothing in the way since " + free + ", now " + now);
  }

  void check(
      Collection<EndpointModel> endpoints,
      Collection<MessageModel> open,
      Function<MessageModel, Optional<Instant>> endedSince,
      Instant now) {
    for (MessageModel message : open) {
      if (!message.isIdle() || message.unrecorded) {
        continue;
      }
      Optional<Instant> ended = endedSince.apply(message);
      if (ended.isPresent()) {
        Instant ready = Contract.later(ended.get(), message.knownSince);
        checkInTime(ready, obstacles.ofWriting(), PATIENT, now, "is dropped", message);
      } else if (message.endpoint.isEnabled()) {
        checkSending(message, message.dueSince(contract), PATIENT, now);
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
          && !message.unrecorded
          && message.row.status() != Status.PENDING) {
        Instant alone = message.row.notBefore();
        Instant from = Contract.later(message.knownSince, alone == null ? next : alone);
        first = Contract.earlier(first, from);
      }
    }
    Instant free = Contract.later(obstacles.ofSending(false), obstacles.ofWriting());
    checkInTime(
        Contract.later(first, next), free, PROBE_PATIENT, now, "is used for a probe", endpoint);
  }

  void checkPlaces() {
    unless(
        obstacles.inFlight() >= 0 && obstacles.unproven() >= 0, "attempts are counted", obstacles);
  }
}
