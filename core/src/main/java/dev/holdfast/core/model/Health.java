package dev.holdfast.core.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is counted about an endpoint, and the state that follows from it.
 *
 * @param since when the endpoint entered this state
 * @param successes over its whole life
 * @param failures over its whole life
 * @param previous the last full bucket of attempts since the endpoint was enabled
 * @param current the bucket being filled
 * @param consecutiveFailures failures since the last success
 * @param nextProbeAt when the next probe is due, or was when it is in flight; absent unless the
 *     circuit is open
 */
public record Health(
    State state,
    Instant since,
    Reason reason,
    Instant createdAt,
    long successes,
    long failures,
    Bucket previous,
    Bucket current,
    int consecutiveFailures,
    @Nullable Instant lastSuccessAt,
    @Nullable Instant nextProbeAt) {

  public enum State {
    ENABLED,
    DISABLED,
    FROZEN
  }

  /** Why an endpoint is in its state. */
  public enum Reason {
    CREATED,
    FAILURE_RATE,
    CONSECUTIVE_FAILURES,
    SILENCE,
    OPERATOR,
    PROBE_SUCCEEDED
  }

  /** Attempts and how many of them failed. */
  public record Bucket(int attempts, int failures) {
    public static final Bucket EMPTY = new Bucket(0, 0);

    public Bucket plus(boolean success) {
      return new Bucket(attempts + 1, success ? failures : failures + 1);
    }

    public Bucket plus(Bucket other) {
      return new Bucket(attempts + other.attempts, failures + other.failures);
    }
  }

  public static Health created(Instant now) {
    return new Health(
        State.ENABLED, now, Reason.CREATED, now, 0, 0, Bucket.EMPTY, Bucket.EMPTY, 0, null, null);
  }

  /** Attempts and failures that are counted since the endpoint was enabled. */
  public Bucket sinceEnabled() {
    return previous.plus(current);
  }

  public boolean isEnabled() {
    return state == State.ENABLED;
  }

  /** Disabled by a person: no probes, and only a person enables it again. */
  public boolean isDisabledByHand() {
    return state == State.DISABLED && reason == Reason.OPERATOR;
  }

  /** Disabled by its failures: probed until it recovers. */
  public boolean isCircuitOpen() {
    return state == State.DISABLED && reason != Reason.OPERATOR;
  }

  public Health withNextProbeAt(@Nullable Instant at) {
    return new Health(
        state,
        since,
        reason,
        createdAt,
        successes,
        failures,
        previous,
        current,
        consecutiveFailures,
        lastSuccessAt,
        at);
  }
}
