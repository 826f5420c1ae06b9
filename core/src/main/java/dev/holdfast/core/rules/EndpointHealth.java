package dev.holdfast.core.rules;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When an endpoint is disabled, frozen and enabled. Every change of an endpoint's state happens
 * here.
 *
 * @param minAttempts the failure rate counts once more than this many attempts are counted
 * @param failuresPerMillion the failure rate above which an endpoint is disabled
 * @param window attempts that the failure rate looks back at, in two buckets of half as many
 * @param disableAfter consecutive failures that disable
 * @param freezeSilence how long the last success must be past for {@code disableAfter} to freeze
 * @param freezeAt consecutive failures that freeze in any case
 * @param probeEvery the time between the end of one probe and the next
 */
public record EndpointHealth(
    int minAttempts,
    int failuresPerMillion,
    int window,
    int disableAfter,
    Duration freezeSilence,
    int freezeAt,
    Duration probeEvery) {

  /** Counts an attempt that has ended and decides about the endpoint's state. */
  public Health after(
      Health health, Instant startedAt, boolean success, boolean probe, Instant now) {
    if (startedAt.isBefore(health.since())) {
      return counted(health, success, now, health.previous(), health.current());
    }
    boolean full = health.current().attempts() >= Math.max(1, window / 2);
    Health counted =
        counted(
            health,
            success,
            now,
            full ? health.current() : health.previous(),
            (full ? Bucket.EMPTY : health.current()).plus(success));
    if (success) {
      return counted.isCircuitOpen() ? enabled(counted, Reason.PROBE_SUCCEEDED, now) : counted;
    }
    return afterFailure(counted, probe, now);
  }

  private Health afterFailure(Health health, boolean probe, Instant now) {
    if (health.state() == State.FROZEN) {
      return health;
    }
    if (health.consecutiveFailures() >= freezeAt) {
      return changed(health, State.FROZEN, Reason.CONSECUTIVE_FAILURES, null, now);
    }
    if (health.consecutiveFailures() > disableAfter && isSilent(health, now)) {
      return changed(health, State.FROZEN, Reason.SILENCE, null, now);
    }
    if (health.isDisabledByHand()) {
      return health;
    }
    if (health.state() == State.DISABLED) {
      return probe ? health.withNextProbeAt(now.plus(probeEvery)) : health;
    }
    if (health.consecutiveFailures() >= disableAfter) {
      return opened(health, Reason.CONSECUTIVE_FAILURES, now);
    }
    return failsTooOften(health.sinceEnabled()) ? opened(health, Reason.FAILURE_RATE, now) : health;
  }

  private boolean isSilent(Health health, Instant now) {
    Instant heardFrom =
        health.lastSuccessAt() != null ? health.lastSuccessAt() : health.createdAt();
    return now.isAfter(heardFrom.plus(freezeSilence));
  }

  private boolean failsTooOften(Bucket counted) {
    return counted.attempts() > minAttempts
        && counted.failures() * 1_000_000L > (long) failuresPerMillion * counted.attempts();
  }

  /** Enables by hand; an enabled endpoint stays as it is. */
  public Health enable(Health health, Instant now) {
    return health.isEnabled() ? health : enabled(health, Reason.OPERATOR, now);
  }

  /** Disables by hand: no probes, until enabled by hand. */
  public Health disable(Health health, Instant now) {
    return health.isDisabledByHand()
        ? health
        : changed(health, State.DISABLED, Reason.OPERATOR, null, now);
  }

  /** Freezes by hand; a frozen endpoint stays as it is. */
  public Health freeze(Health health, Instant now) {
    return health.state() == State.FROZEN
        ? health
        : changed(health, State.FROZEN, Reason.OPERATOR, null, now);
  }

  private Health opened(Health health, Reason reason, Instant now) {
    return changed(health, State.DISABLED, reason, now.plus(probeEvery), now);
  }

  private static Health enabled(Health health, Reason reason, Instant now) {
    return new Health(
        State.ENABLED,
        now,
        reason,
        health.createdAt(),
        health.successes(),
        health.failures(),
        Bucket.EMPTY,
        Bucket.EMPTY,
        0,
        health.lastSuccessAt(),
        null);
  }

  private static Health changed(
      Health health, State state, Reason reason, @Nullable Instant nextProbeAt, Instant now) {
    return new Health(
        state,
        now,
        reason,
        health.createdAt(),
        health.successes(),
        health.failures(),
        health.previous(),
        health.current(),
        health.consecutiveFailures(),
        health.lastSuccessAt(),
        nextProbeAt);
  }

  private static Health counted(
      Health health, boolean success, Instant now, Bucket previous, Bucket current) {
    return new Health(
        health.state(),
        health.since(),
        health.reason(),
        health.createdAt(),
        success ? health.successes() + 1 : health.successes(),
        success ? health.failures() : health.failures() + 1,
        previous,
        current,
        success ? 0 : health.consecutiveFailures() + 1,
        success ? now : health.lastSuccessAt(),
        health.nextProbeAt());
  }
}
