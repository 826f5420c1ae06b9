package dev.holdfast.core.rules;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * When a message is tried, and when it is given up.
 *
 * <p>Retry <i>n</i> has its slot {@code (2^n - 1) * unit} after the message's base. The slot of the
 * last retry is the deadline.
 *
 * @param unit the gap before the first retry; each further gap is twice the one before
 * @param retries how many retries follow the first attempt
 */
public record RetrySchedule(Duration unit, int retries) {

  /** The most retries for which a slot can be reckoned with any sensible unit. */
  public static final int MOST_RETRIES = 24;

  public RetrySchedule {
    if (unit.isNegative() || unit.isZero()) {
      throw new IllegalArgumentException("the retry unit must be positive: " + unit);
    }
    if (retries < 1 || retries > MOST_RETRIES) {
      throw new IllegalArgumentException("retries must be 1 to " + MOST_RETRIES + ": " + retries);
    }
  }

  public Instant slot(Instant base, int retry) {
    return base.plus(unit.multipliedBy((1L << retry) - 1));
  }

  public Instant deadline(Instant base) {
    return slot(base, retries);
  }

  /** The time between the slot of {@code retry} and the one before it. */
  private Duration gapBefore(int retry) {
    return unit.multipliedBy(1L << (retry - 1));
  }

  /**
   * Whether an attempt uses up one of the message's scheduled attempts: it does unless it runs
   * before its slot, as a probe, in recovery or by hand.
   */
  public boolean isScheduled(Message message, Instant startedAt) {
    if (message.status() == Status.PAUSED) {
      return !startedAt.isBefore(nextSlot(message));
    }
    return message.status() != Status.WAITING
        || message.due() == null
        || !startedAt.isBefore(message.due());
  }

  /** Decides about a message whose attempt has ended. */
  public Verdict after(Message message, Instant startedAt, Outcome outcome, Instant now) {
    return switch (outcome) {
      case Outcome.Success _ -> new Verdict.Delivered();
      case Outcome.Failure failure -> afterFailure(message, startedAt, failure, now);
    };
  }

  private Verdict afterFailure(
      Message message, Instant startedAt, Outcome.Failure failure, Instant now) {
    Instant base = message.base() != null ? message.base() : now;
    Instant deadline = deadline(base);
    int slot = message.slot();
    Instant due = message.due() != null ? message.due() : now;
    if (message.status() == Status.PAUSED) {
      due = nextSlot(message);
    }
    if (isScheduled(message, startedAt)) {
      if (slot >= retries || !startedAt.isBefore(deadline)) {
        return new Verdict.Drop(DropReason.EXHAUSTED);
      }
      slot++;
      due = later(slot(base, slot), startedAt.plus(gapBefore(slot)));
    }
    Optional<Instant> askedFor =
        RetryAfter.from(failure, now).map(until -> earlier(until, deadline));
    if (askedFor.isPresent()) {
      due = later(due, askedFor.get());
    }
    return new Verdict.Wait(
        new Message(
            message.id(),
            message.event(),
            message.subscription(),
            message.endpoint(),
            Status.WAITING,
            message.attempts() + 1,
            slot,
            base,
            earlier(due, deadline),
            askedFor.orElse(message.notBefore()),
            startedAt,
            message.size(),
            message.version()));
  }

  /** Decides about a message whose slot, or for a parked one whose deadline, has come. */
  public Arrival whenDue(Message message, Health health, Instant now) {
    if (health.isEnabled()) {
      return new Arrival.Try();
    }
    Instant base = message.base() != null ? message.base() : now;
    Instant deadline = deadline(base);
    if (!now.isBefore(deadline)) {
      return new Arrival.Expire();
    }
    return new Arrival.Park(message.as(Status.PARKED, base, deadline));
  }

  /** Decides about a message whose subscription is paused: it is held back until its deadline. */
  public Arrival whenPaused(Message message, Instant now) {
    Instant base = message.base() != null ? message.base() : now;
    Instant deadline = deadline(base);
    return now.isBefore(deadline)
        ? new Arrival.Park(message.as(Status.PAUSED, base, deadline))
        : new Arrival.Expire();
  }

  /**
   * A message that is held back no longer, since its subscription was resumed or has another
   * endpoint: it waits for its slot, which may have come.
   */
  public Message released(Message message) {
    return message.base() == null || message.status() == Status.WAITING
        ? message
        : message.as(Status.WAITING, message.base(), nextSlot(message));
  }

  /** A message that a replay has made: it is due now, and its slots are counted from now. */
  public Message replayed(Message message, Instant now) {
    return message.as(Status.WAITING, now, now);
  }

  /** When a message that was held back is to be tried. */
  private Instant nextSlot(Message message) {
    Instant base = Objects.requireNonNull(message.base());
    Instant slot = slot(base, message.slot());
    return message.notBefore() == null
        ? slot
        : earlier(later(slot, message.notBefore()), deadline(base));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}
