package dev.holdfast.proof.model;

import dev.holdfast.core.model.Message.Status;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A message that is accepted and unfinished. */
final class MessageModel {
  final long id;
  final long event;
  final long subscription;
  final EndpointModel endpoint;

  /** As the store has it. */
  Row stored;

  /** As decided; after a crash as the store has it. */
  Row row;

  /** Since when the engine knows {@link #row} to be on disk. */
  Instant knownSince;

  /** When its attempt started, while one is under way. */
  @Nullable Instant sendingSince;

  /** What the engine has to write of its last attempt, until that is on disk. */
  @Nullable Decision decision;

  /** Somebody asked for it to be tried now, and it has not been. */
  boolean byHand;

  /** Its attempt under way is a probe. */
  boolean probe;

  /** Its attempt under way took a place among those for endpoints that have not proven themselves. */
  boolean unproven;

  /** The engine was told that the endpoint took it. */
  boolean taken;

  /** It may be taken again: the record of the first time was lost. */
  boolean mayRepeat;

  /** The store would not keep what became of it, so that its times mean nothing. */
  boolean unrecorded;

  MessageModel(
      long id, long event, long subscription, EndpointModel endpoint, Row row, Instant now) {
    this.id = id;
    this.event = event;
    this.subscription = subscription;
    this.endpoint = endpoint;
    this.stored = row;
    this.row = row;
    this.knownSince = now;
  }

  /** What has to follow an attempt. */
  sealed interface Decision {
    record Deliver() implements Decision {}

    record Retry(Row row) implements Decision {}

    record Exhaust() implements Decision {}
  }

  boolean isIdle() {
    return sendingSince == null && decision == null;
  }

  /** The process has died: what was not on disk is forgotten. */
  void forget(Instant now) {
    mayRepeat |= taken;
    row = stored;
    knownSince = now;
    sendingSince = null;
    decision = null;
    byHand = false;
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
   * left alone with when it recovered waits for its slot.
   */
  Instant dueSince(Contract contract) {
    Instant alone = row.notBefore();
    boolean leftAlone = alone != null && alone.isAfter(endpoint.since);
    if (row.status() == Status.WAITING && leftAlone && row.due() != null) {
      return Contract.later(row.due(), knownSince);
    }
    return allowedSince(contract);
  }

  private boolean isRecovered(Contract contract) {
    return contract.drain()
        && row.lastAttemptAt() != null
        && row.lastAttemptAt().isBefore(endpoint.since);
  }

  @Override
  public String toString() {
    return "message " + id + " of endpoint " + endpoint.id + " " + row;
  }
}
