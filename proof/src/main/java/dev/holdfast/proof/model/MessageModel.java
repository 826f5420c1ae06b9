package dev.holdfast.proof.model;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A message that is accepted and unfinished. */
final class MessageModel {
  final long id;
  final long event;
  final long subscription;

  /** The version that it is sent in, for ever; absent when it is its subscription's. */
  final @Nullable Version version;

  /** Where the store has it. */
  EndpointModel endpoint;

  /** When it came there from another. */
  private Instant arrivedAt = Instant.MIN;

  /** It came to its endpoint after younger ones: it was moved there, or made in a step. */
  boolean cameLate;

  /** It tells of something that Holdfast itself did. */
  boolean isOperational;

  /** As the store has it. */
  Row stored;

  private Instant storedAt;

  /** As decided; after a crash as the store has it. */
  Row row;

  /** Since when the engine knows {@link #row} to be on disk. */
  Instant knownSince;

  /** Whether the engine knows that it is on disk at all. */
  boolean landed;

  /** When its attempt started, while one is under way. */
  @Nullable Instant sendingSince;

  /** What the engine has to write of its last attempt, until that is on disk. */
  @Nullable Decision decision;

  /** Somebody asked for it to be tried now, and it has not been. */
  boolean byHand;

  /** The same, but its endpoint was frozen before that. */
  boolean wasByHand;

  /** It was chosen for a probe, and has not been tried since. */
  boolean chosen;

  /** Its attempt under way is a probe. */
  boolean probe;

  /**
   * Its attempt under way took a place among those for endpoints that have not proven themselves.
   */
  boolean unproven;

  /** The engine was told that the endpoint took it. */
  boolean taken;

  /** It may be taken again: the record of the first time was lost. */
  boolean mayRepeat;

  /** The store would not keep what became of it, so that its times mean nothing. */
  boolean unrecorded;

  MessageModel(Message made, EndpointModel endpoint, Instant now) {
    this.id = made.id();
    this.event = made.event();
    this.subscription = made.subscription();
    this.version = made.version();
    this.endpoint = endpoint;
    this.stored = Row.of(made);
    this.storedAt = now;
    this.row = stored;
    this.knownSince = now;
  }

  /** What has to follow an attempt. */
  sealed interface Decision {
    record Deliver() implements Decision {}

    record Retry(Row row) implements Decision {}

    record Exhaust() implements Decision {}
  }

  void store(Message message, Instant now) {
    stored = Row.of(message);
    storedAt = now;
  }

  /** The store has it for another endpoint. */
  void move(EndpointModel to, Instant now) {
    endpoint.pending.remove(id);
    endpoint = to;
    arrivedAt = now;
    cameLate = true;
    if (stored.status() == Status.PENDING) {
      to.pending.put(id, this);
    }
  }

  boolean isIdle() {
    return sendingSince == null && decision == null;
  }

  /** Its endpoint is frozen: what was to be tried at once may be tried when that has ended. */
  void freeze() {
    wasByHand |= byHand;
    byHand = false;
  }

  /** The process has died: what was not on disk is forgotten. */
  void forget(Instant now) {
    mayRepeat |= taken;
    row = stored;
    landed = true;
    knownSince = now;
    sendingSince = null;
    decision = null;
    byHand = false;
    wasByHand = false;
    chosen = false;
    probe = false;
    unrecorded = false;
  }

  /** Since when a message of an enabled endpoint may be tried. */
  Instant allowedSince(Contract contract) {
    if (row.status() != Status.WAITING) {
      return Contract.later(knownSince, endpoint.since);
    }
    Instant allowed = row.due() == null ? Instant.MAX : row.due();
    if (isRecovered(contract)) {
      Instant alone = row.notBefore() == null ? endpoint.since : row.notBefore();
      allowed = Contract.earlier(allowed, Contract.later(endpoint.since, alone));
    }
    return Contract.later(allowed, knownSince);
  }

  /**
   * Since when a message of an enabled endpoint has to be tried. What its endpoint had asked to be
   * left alone with when it recovered waits for its slot, and so does what came there later.
   */
  Instant dueSince(Contract contract) {
    boolean isNotRecovered = wasLeftAlone() || !arrivedAt.isBefore(endpoint.since);
    if (row.status() == Status.WAITING && isNotRecovered && row.due() != null) {
      return Contract.later(row.due(), knownSince);
    }
    return allowedSince(contract);
  }

  /** Whether it should have been its endpoint's probe rather than another message. */
  boolean isBetterProbe(MessageModel chosen) {
    Instant chosenAt = endpoint.choosesProbeAt;
    boolean couldBe =
        isIdle()
            && landed
            && !unrecorded
            && row.status() != Status.PENDING
            && row.status() != Status.PAUSED
            && storedAt.isBefore(chosenAt)
            && (row.notBefore() == null || row.notBefore().isBefore(chosenAt));
    if (!couldBe) {
      return false;
    }
    if (row.status() != chosen.row.status()) {
      return row.status() == Status.PARKED;
    }
    return row.attempts() < chosen.row.attempts()
        || (row.attempts() == chosen.row.attempts() && id < chosen.id);
  }

  /** Whether its endpoint had asked to be left alone with it when it was enabled. */
  boolean wasLeftAlone() {
    Instant alone = row.notBefore();
    return alone != null && alone.isAfter(endpoint.since);
  }

  private boolean isRecovered(Contract contract) {
    return contract.drain()
        && row.lastAttemptAt() != null
        && row.lastAttemptAt().isBefore(endpoint.since);
  }

  @Override
  public String toString() {
    String in = version == null ? "" : " in " + version;
    return "message " + id + " of endpoint " + endpoint.id + in + " " + row;
  }
}
