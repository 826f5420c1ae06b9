package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rules against a plain list of all that happened, over random histories. */
class EndpointHealthHistoryTest {
  /** Small numbers, so that every rule is met often. */
  private static final EndpointHealth RULES =
      new EndpointHealth(6, 600_000, 20, 25, Duration.ofSeconds(200), 60, Duration.ofSeconds(10));

  @Test
  void the_state_is_what_the_whole_history_says_it_is() {
    Set<State> states = EnumSet.noneOf(State.class);
    Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    Seeds.each(
        300,
        random -> {
          Health health = Health.created(BASE);
          Model model = new Model();
          Instant now = BASE;
          int failing = random.nextInt(1, 101);
          for (int step = 0; step < 300; step++) {
            if (random.nextInt(40) == 0) {
              failing = random.nextInt(1, 101);
            }
            now = now.plusMillis(random.nextLong(1, 8_000));
            Health before = health;
            switch (random.nextInt(60)) {
              case 0 -> {
                health = RULES.enable(health, now);
                model.enable(Reason.OPERATOR, now);
              }
              case 1 -> {
                health = RULES.disable(health, now);
                if (model.state != State.DISABLED || model.reason != Reason.OPERATOR) {
                  model.enter(State.DISABLED, Reason.OPERATOR, now);
                }
              }
              case 2 -> {
                health = RULES.freeze(health, now);
                if (model.state != State.FROZEN) {
                  model.enter(State.FROZEN, Reason.OPERATOR, now);
                }
              }
              default -> {
                Instant startedAt = now.minusMillis(random.nextLong(5_001));
                boolean success = random.nextInt(100) >= failing;
                boolean probe = random.nextBoolean();
                health = RULES.after(health, startedAt, success, probe, now);
                model.attempt(startedAt, success, now);
              }
            }
            model.check(health);
            invariants(before, health, now);
            states.add(health.state());
            reasons.add(health.reason());
          }
        });
    if (Seeds.areAllRun()) {
      assertThat(states).containsExactlyInAnyOrder(State.values());
      assertThat(reasons).containsExactlyInAnyOrder(Reason.values());
    }
  }

  private static void invariants(Health before, Health after, Instant now) {
    assertThat(after.nextProbeAt() != null).isEqualTo(after.isCircuitOpen());
    assertThat(after.createdAt()).isEqualTo(BASE);
    assertThat(after.successes()).isGreaterThanOrEqualTo(before.successes());
    assertThat(after.failures()).isGreaterThanOrEqualTo(before.failures());
    boolean entered = after.state() != before.state() || after.reason() != before.reason();
    if (entered || !after.since().equals(before.since())) {
      assertThat(after.since()).isEqualTo(now);
      assertThat(entered).as("a change is one of state or reason").isTrue();
    }
    if (before.state() == State.FROZEN && after.state() != State.FROZEN) {
      assertThat(after.reason()).isEqualTo(Reason.OPERATOR);
    }
  }

  /** Remembers every attempt and counts anew each time. */
  private static final class Model {
    State state = State.ENABLED;
    Reason reason = Reason.CREATED;
    private Instant since = BASE;
    private final List<Boolean> lifetime = new ArrayList<>();
    private final List<Boolean> sinceEnabled = new ArrayList<>();
    private int streak;
    private @Nullable Instant lastSuccessAt;

    void enter(State to, Reason why, Instant now) {
      state = to;
      reason = why;
      since = now;
    }

    void enable(Reason why, Instant now) {
      if (state != State.ENABLED) {
        enter(State.ENABLED, why, now);
        sinceEnabled.clear();
        streak = 0;
      }
    }

    void attempt(Instant startedAt, boolean success, Instant now) {
      lifetime.add(success);
      streak = success ? 0 : streak + 1;
      if (success) {
        lastSuccessAt = now;
      }
      if (startedAt.isBefore(since)) {
        return;
      }
      sinceEnabled.add(success);
      boolean byHand = state == State.DISABLED && reason == Reason.OPERATOR;
      if (success) {
        if (state == State.DISABLED && !byHand) {
          enable(Reason.PROBE_SUCCEEDED, now);
        }
        return;
      }
      Instant heard = lastSuccessAt == null ? BASE : lastSuccessAt;
      boolean silent =
          Duration.between(heard, now).compareTo(Duration.ofSeconds(200)) > 0 && streak > 25;
      if (state != State.FROZEN && (silent || streak >= 60)) {
        enter(State.FROZEN, streak >= 60 ? Reason.CONSECUTIVE_FAILURES : Reason.SILENCE, now);
      } else if (state == State.ENABLED && streak >= 25) {
        enter(State.DISABLED, Reason.CONSECUTIVE_FAILURES, now);
      } else if (state == State.ENABLED) {
        Bucket kept = kept();
        if (kept.attempts() > 6 && kept.failures() > 0.6 * kept.attempts() + 1e-9) {
          enter(State.DISABLED, Reason.FAILURE_RATE, now);
        }
      }
    }

    /** All attempts since enabled but those in full buckets of ten before the last full one. */
    private Bucket kept() {
      int attempts = sinceEnabled.size();
      int forgotten = attempts <= 20 ? 0 : (attempts - 1) / 10 * 10 - 10;
      List<Boolean> rest = sinceEnabled.subList(forgotten, attempts);
      return new Bucket(rest.size(), (int) rest.stream().filter(success -> !success).count());
    }

    void check(Health health) {
      assertThat(health.state()).isEqualTo(state);
      assertThat(health.reason()).isEqualTo(reason);
      assertThat(health.since()).isEqualTo(since);
      assertThat(health.sinceEnabled()).isEqualTo(kept());
      assertThat(health.consecutiveFailures()).isEqualTo(streak);
      assertThat(health.lastSuccessAt()).isEqualTo(lastSuccessAt);
      assertThat(health.successes()).isEqualTo(lifetime.stream().filter(s -> s).count());
      assertThat(health.successes() + health.failures()).isEqualTo(lifetime.size());
    }
  }
}
