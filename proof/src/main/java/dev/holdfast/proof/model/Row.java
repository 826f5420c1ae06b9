package dev.holdfast.proof.model;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known about an unfinished message, and what becomes of it by the contract's section 3.
 */
record Row(
    Status status,
    int attempts,
    int slot,
    @Nullable Instant base,
    @Nullable Instant due,
    @Nullable Instant notBefore,
    @Nullable Instant lastAttemptAt) {

  static final Row PENDING = new Row(Status.PENDING, 0, 0, null, null, null, null);

  static Row of(Message message) {
    return new Row(
        message.status(),
        message.attempts(),
        message.slot(),
        message.base(),
        message.due(),
        message.notBefore(),
        message.lastAttemptAt());
  }

  /** A message that a replay made at that moment. */
  static Row replayed(Instant at) {
    return new Row(Status.WAITING, 0, 0, at, at, null, null);
  }

  /** An attempt that starts now is one of the twelve, unless it comes before its slot. */
  private boolean isScheduled(Contract contract, Instant startedAt) {
    Instant from = from(contract);
    return status == Status.PENDING
        || status == Status.PARKED
        || from == null
        || !startedAt.isBefore(from);
  }

  /** When its next scheduled attempt may be made; its slot stays while it is held back. */
  private @Nullable Instant from(Contract contract) {
    if (status != Status.PAUSED || base == null) {
      return due;
    }
    Instant at = contract.slot(base, slot);
    return notBefore == null
        ? at
        : Contract.earlier(Contract.later(at, notBefore), contract.deadline(base));
  }

  /** How the message waits after a failure; empty when it is exhausted. */
  Optional<Row> afterFailure(
      Contract contract, Instant startedAt, Outcome.Failure failure, Instant now) {
    Instant from = base == null ? now : base;
    Instant deadline = contract.deadline(from);
    int next = slot;
    Instant stays = from(contract);
    Instant nextDue = stays == null ? now : stays;
    if (isScheduled(contract, startedAt)) {
      if (slot == contract.retries() || !startedAt.isBefore(deadline)) {
        return Optional.empty();
      }
      next = slot + 1;
      nextDue = Contract.later(contract.slot(from, next), startedAt.plus(contract.gapBefore(next)));
    }
    Instant alone = askedFor(failure, now);
    if (alone != null) {
      alone = Contract.earlier(alone, deadline);
      nextDue = Contract.later(nextDue, alone);
    }
    return Optional.of(
        new Row(
            Status.WAITING,
            attempts + 1,
            next,
            from,
            Contract.earlier(nextDue, deadline),
            alone != null ? alone : notBefore,
            startedAt));
  }

  private static @Nullable Instant askedFor(Outcome.Failure failure, Instant now) {
    Integer status = failure.status();
    String text = failure.retryAfter();
    if (text == null || status == null || (status != 429 && status != 503)) {
      return null;
    }
    Instant until;
    try {
      until =
          text.matches("[0-9]+")
              ? now.plusSeconds(Long.parseLong(text))
              : Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
    } catch (DateTimeException e) {
      return null;
    }
    return until.isAfter(now) ? until : null;
  }

  /** Parked at that moment. */
  Row parked(Contract contract, Instant at) {
    Instant from = base == null ? at : base;
    return new Row(
        Status.PARKED, attempts, slot, from, contract.deadline(from), notBefore, lastAttemptAt);
  }

  /** Held back from that moment on, since its subscription is paused. */
  Row paused(Contract contract, Instant at) {
    Instant from = base == null ? at : base;
    return new Row(
        Status.PAUSED, attempts, slot, from, contract.deadline(from), notBefore, lastAttemptAt);
  }

  /** Not held back any more, nor by an endpoint that it has left: it waits for its slot. */
  Row released(Contract contract) {
    if (base == null || status == Status.WAITING) {
      return this;
    }
    Row asPaused = paused(contract, base);
    return new Row(
        Status.WAITING, attempts, slot, base, asPaused.from(contract), notBefore, lastAttemptAt);
  }
}
