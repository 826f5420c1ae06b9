package dev.holdfast.proof.model;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.model.RateLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** An endpoint's health by the contract's section 4, and how many attempts it may get at once. */
final class EndpointModel {
  /** By how much attempts to a limited endpoint may be nearer to each other than evenly. */
  private static final Duration LEEWAY = Duration.ofMillis(10);

  final Contract contract;
  final long id;
  final String url;

  /** As the store has it. */
  Health stored;

  State state;
  Reason reason;
  Instant since;
  final Instant createdAt;
  long successes;
  long failures;
  int previousAttempts;
  int previousFailures;
  int currentAttempts;
  int currentFailures;
  int consecutiveFailures;
  @Nullable Instant lastSuccessAt;
  @Nullable Instant nextProbeAt;

  /** Changes of state that have to be written and are not. */
  final Deque<StateChange> unrecorded = new ArrayDeque<>();

  /** Never tried and not being tried, by id. */
  final TreeMap<Long, MessageModel> pending = new TreeMap<>();

  /** Until when, at least, it was not enabled. */
  Instant closedUntil = Instant.MIN;

  int inFlight;
  int limit;
  boolean slowStart;
  boolean proven;

  /** When it last proved itself after it had failed. */
  Instant provenSince = Instant.MIN;

  /** Its rate limit as the store has it. */
  @Nullable RateLimit storedRateLimit;

  @Nullable RateLimit rateLimit;

  /** When its next attempt would be evenly spaced by its rate limit. */
  Instant evenly = Instant.MIN;

  boolean probing;

  /** When the message of its next probe was chosen. */
  Instant choosesProbeAt = Instant.MIN;

  /** The last moment at which it had as many attempts as it may. */
  Instant fullAt = Instant.MIN;

  /** Where recovery has got to, in its order. */
  int recoveredAttempts;

  long recoveredId;

  /** A change of state, and who has to be told of it. */
  static final class StateChange {
    final Health health;
    @Nullable Wanted wanted;

    StateChange(Health health) {
      this.health = health;
    }

    boolean isTo(Health other) {
      return other.state() == health.state()
          && other.reason() == health.reason()
          && other.since().equals(health.since());
    }

    @Override
    public String toString() {
      return health + " for " + wanted;
    }
  }

  EndpointModel(Contract contract, Endpoint endpoint) {
    this.contract = contract;
    this.id = endpoint.id();
    this.url = endpoint.url();
    this.stored = endpoint.health();
    this.storedRateLimit = endpoint.rateLimit();
    this.createdAt = endpoint.health().createdAt();
    this.limit = contract.laneInFlight();
    this.state = stored.state();
    this.reason = stored.reason();
    this.since = stored.since();
    restore();
  }

  private void restore() {
    rateLimit = storedRateLimit;
    state = stored.state();
    reason = stored.reason();
    since = stored.since();
    successes = stored.successes();
    failures = stored.failures();
    previousAttempts = stored.previous().attempts();
    previousFailures = stored.previous().failures();
    currentAttempts = stored.current().attempts();
    currentFailures = stored.current().failures();
    consecutiveFailures = stored.consecutiveFailures();
    lastSuccessAt = stored.lastSuccessAt();
    nextProbeAt = stored.nextProbeAt();
  }

  Health health() {
    return new Health(
        state,
        since,
        reason,
        createdAt,
        successes,
        failures,
        new Bucket(previousAttempts, previousFailures),
        new Bucket(currentAttempts, currentFailures),
        consecutiveFailures,
        lastSuccessAt,
        nextProbeAt);
  }

  boolean isStored() {
    return unrecorded.isEmpty() && health().equals(stored);
  }

  boolean isEnabled() {
    return state == State.ENABLED;
  }

  boolean isProbed() {
    return state == State.DISABLED && reason != Reason.OPERATOR;
  }

  /** The process starts again. A recovery that was under way begins slowly once more. */
  void restart(boolean recovering) {
    restore();
    unrecorded.clear();
    inFlight = 0;
    probing = false;
    proven = false;
    provenSince = Instant.MIN;
    evenly = Instant.MIN;
    fullAt = Instant.MIN;
    closedUntil = since;
    limit = isEnabled() && recovering ? 1 : contract.laneInFlight();
    slowStart = limit < contract.laneInFlight();
    recoveredAttempts = 0;
    recoveredId = 0;
  }

  /** Until when its rate limit allows no attempt. */
  Instant limitedUntil() {
    return rateLimit == null || evenly.equals(Instant.MIN) ? Instant.MIN : evenly.minus(LEEWAY);
  }

  /** An attempt starts. */
  void sends(Instant now) {
    if (rateLimit != null) {
      long nanos = (long) Math.ceil(1e9 / rateLimit.perSecond());
      evenly = Contract.later(evenly, now).plusNanos(nanos);
    }
  }

  /** An attempt has ended. */
  void ended(Instant startedAt, Outcome outcome, boolean wasProbe, Instant now) {
    boolean success = outcome instanceof Outcome.Success;
    if (success && !proven) {
      provenSince = now;
    }
    proven = success;
    if (success) {
      successes++;
      consecutiveFailures = 0;
      lastSuccessAt = now;
    } else {
      failures++;
      consecutiveFailures++;
    }
    if (startedAt.isBefore(since)) {
      return;
    }
    pace(outcome);
    countSinceEnabled(success);
    if (success) {
      if (isProbed()) {
        enable(Reason.PROBE_SUCCEEDED, now);
      }
      return;
    }
    if (state == State.FROZEN) {
      return;
    }
    Instant heard = lastSuccessAt != null ? lastSuccessAt : createdAt;
    boolean silent = now.isAfter(heard.plus(contract.freezeSilence()));
    if (consecutiveFailures >= contract.freezeAt()) {
      change(State.FROZEN, Reason.CONSECUTIVE_FAILURES, null, now);
    } else if (consecutiveFailures > contract.disableAfter() && silent) {
      change(State.FROZEN, Reason.SILENCE, null, now);
    } else if (state == State.DISABLED) {
      if (wasProbe && isProbed()) {
        nextProbeAt = now.plus(contract.probeEvery());
      }
    } else if (consecutiveFailures >= contract.disableAfter()) {
      change(State.DISABLED, Reason.CONSECUTIVE_FAILURES, now.plus(contract.probeEvery()), now);
    } else if (failsTooOften()) {
      change(State.DISABLED, Reason.FAILURE_RATE, now.plus(contract.probeEvery()), now);
    }
  }

  private void countSinceEnabled(boolean success) {
    if (currentAttempts >= contract.window() / 2) {
      previousAttempts = currentAttempts;
      previousFailures = currentFailures;
      currentAttempts = 0;
      currentFailures = 0;
    }
    currentAttempts++;
    currentFailures += success ? 0 : 1;
  }

  private boolean failsTooOften() {
    long attempts = (long) previousAttempts + currentAttempts;
    long failed = (long) previousFailures + currentFailures;
    return attempts > contract.minAttempts()
        && failed * 1_000_000 > attempts * contract.failuresPerMillion();
  }

  /** Slow start: one, one more after each success, one again after a failure. */
  private void pace(Outcome outcome) {
    switch (outcome) {
      case Outcome.Success _ -> {
        limit = Math.min(limit + 1, contract.laneInFlight());
        slowStart &= limit < contract.laneInFlight();
      }
      case Outcome.Failure failure -> {
        if (slowStart) {
          limit = 1;
        } else if (failure.kind() == Kind.TIMEOUT) {
          limit = Math.max(1, limit / 2);
        }
      }
    }
  }

  void enableByHand(Instant now) {
    if (!isEnabled()) {
      enable(Reason.OPERATOR, now);
    }
  }

  void disableByHand(Instant now) {
    if (state != State.DISABLED || reason != Reason.OPERATOR) {
      change(State.DISABLED, Reason.OPERATOR, null, now);
    }
  }

  void freezeByHand(Instant now) {
    if (state != State.FROZEN) {
      change(State.FROZEN, Reason.OPERATOR, null, now);
    }
  }

  private void enable(Reason why, Instant now) {
    consecutiveFailures = 0;
    previousAttempts = 0;
    previousFailures = 0;
    currentAttempts = 0;
    currentFailures = 0;
    closedUntil = now;
    limit = 1;
    slowStart = contract.laneInFlight() > 1;
    recoveredAttempts = 0;
    recoveredId = 0;
    change(State.ENABLED, why, null, now);
  }

  private void change(State to, Reason why, @Nullable Instant probeAt, Instant now) {
    state = to;
    reason = why;
    since = now;
    nextProbeAt = probeAt;
    unrecorded.add(new StateChange(health()));
  }

  @Override
  public String toString() {
    return "endpoint " + id + " " + health() + " in flight " + inFlight + "/" + limit;
  }
}
