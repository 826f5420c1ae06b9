package dev.holdfast.proof.model;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known about an unfinished message, and what becomes of it by the contract's section 3. */
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

  /** An attempt that starts now is one of the twelve, unless it comes before its slot. */
  boolean isScheduled(Instant startedAt) {
    return status != Status.WAITING || due == null || !startedAt.isBefore(due);
  }

  /** How the message waits after a failure; empty when it is exhausted. */
  Optional<Row> afterFailure(
      Contract contract, Instant startedAt, Outcome.Failure failure, Instant now) {
    Instant from = base == null ? now : base;
    Instant deadline = contract.deadline(from);
    int next = slot;
    Instant nextDue = due == null ? now : due;
    if (isScheduled(startedAt)) {
      if (slot == contract.retries() || !startedAt.isBefore(deadline)) {
        return Optional.empty();
      }
      next = slot + 1;
      nextDue =
          Contract.later(
              contract.slot(from, next), startedAt.plus(contract.gapBefore(next)));
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
        Status.PARKED,
        attempts,
        slot,
        from,
        contract.deadline(from),
        notBefore,
        lastAttemptAt);
  }
}
