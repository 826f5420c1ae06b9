package dev.holdfast.core.rules;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The contract's own numbers, and values in every state to apply its rules to. */
final class Given {
  static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);
  static final EndpointHealth RULES =
      new EndpointHealth(
          100, 700_000, 1_000, 2_000, Duration.ofDays(3), 50_000, Duration.ofMinutes(10));

  static final Instant BASE = Instant.parse("2026-03-01T12:00:00Z");
  static final Instant DEADLINE = BASE.plusMillis(173_585_600);

  static final Outcome SUCCESS = new Outcome.Success(200, Outcome.NO_RESPONSE);
  static final Failure FAILURE = status(500, null);
  static final Failure TIMEOUT = Failure.of(Kind.TIMEOUT);

  static final Health ENABLED = Health.created(BASE);
  static final Health DISABLED_BY_HAND = RULES.disable(ENABLED, BASE);
  static final Health FROZEN = RULES.freeze(ENABLED, BASE);

  private Given() {}

  static Failure status(int status, @Nullable String retryAfter) {
    return new Failure(Kind.STATUS, status, Outcome.NO_RESPONSE, retryAfter);
  }

  static Message pending() {
    return Message.pending(1, 2, 3, 4, 500);
  }

  /** A message whose scheduled attempts ran on time and failed, and which waits for this retry. */
  static Message waitingFor(int retry) {
    return waiting(1, retry, retry, SCHEDULE.slot(BASE, retry));
  }

  static Message waiting(long id, int attempts, int slot, Instant due) {
    return new Message(
        id,
        2,
        3,
        4,
        Status.WAITING,
        attempts,
        slot,
        BASE,
        due,
        null,
        SCHEDULE.slot(BASE, slot - 1),
        500,
        null);
  }

  /** A message that was parked when its slot came; slot 0 is its first attempt. */
  static Message parkedAt(int slot) {
    return parked(1, slot, slot);
  }

  static Message parked(long id, int attempts, int slot) {
    return new Message(
        id,
        2,
        3,
        4,
        Status.PARKED,
        attempts,
        slot,
        BASE,
        DEADLINE,
        null,
        slot == 0 ? null : SCHEDULE.slot(BASE, slot - 1),
        500,
        null);
  }

  static Message leftAloneUntil(Instant notBefore, Message message) {
    return new Message(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        message.status(),
        message.attempts(),
        message.slot(),
        message.base(),
        message.due(),
        notBefore,
        message.lastAttemptAt(),
        message.size(),
        null);
  }

  static Message triedAt(@Nullable Instant lastAttemptAt, Message message) {
    return new Message(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        message.status(),
        message.attempts(),
        message.slot(),
        message.base(),
        message.due(),
        message.notBefore(),
        lastAttemptAt,
        message.size(),
        null);
  }
}
