package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static dev.holdfast.core.rules.Given.DISABLED_BY_HAND;
import static dev.holdfast.core.rules.Given.ENABLED;
import static dev.holdfast.core.rules.Given.FROZEN;
import static dev.holdfast.core.rules.Given.RULES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EndpointHealthTest {
  private static final Instant NOW = BASE.plusSeconds(3_600);
  private static final Instant NEXT_PROBE = NOW.plusSeconds(600);

  /** An enabled endpoint with nothing in its window, so that only this streak can disable it. */
  private static Health withStreak(int consecutiveFailures, @Nullable Instant lastSuccessAt) {
    return new Health(
        State.ENABLED,
        BASE,
        Reason.CREATED,
        BASE,
        7,
        consecutiveFailures,
        Bucket.EMPTY,
        Bucket.EMPTY,
        consecutiveFailures,
        lastSuccessAt,
        null);
  }

  private static Health circuitOpen() {
    return new Health(
        State.DISABLED,
        BASE,
        Reason.FAILURE_RATE,
        BASE,
        20,
        180,
        Bucket.EMPTY,
        new Bucket(200, 180),
        150,
        BASE.minusSeconds(60),
        BASE.plusSeconds(600));
  }

  private static Health after(Health health, boolean success) {
    return RULES.after(health, NOW, success, false, NOW);
  }

  private static Health failures(Health health, int times) {
    Health result = health;
    for (int i = 0; i < times; i++) {
      result = after(result, false);
    }
    return result;
  }

  private static Health successes(Health health, int times) {
    Health result = health;
    for (int i = 0; i < times; i++) {
      result = after(result, true);
    }
    return result;
  }

  private static void isEntered(Health health, State state, Reason reason) {
    assertThat(health.state()).isEqualTo(state);
    assertThat(health.reason()).isEqualTo(reason);
    assertThat(health.since()).isEqualTo(NOW);
  }

  @Nested
  class Counting {

    @Test
    void a_success_is_counted_and_ends_the_streak_of_failures() {
      Health health = after(withStreak(12, null), true);
      assertThat(health.successes()).isEqualTo(8);
      assertThat(health.failures()).isEqualTo(12);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(1, 0));
      assertThat(health.consecutiveFailures()).isZero();
      assertThat(health.lastSuccessAt()).isEqualTo(NOW);
    }

    @Test
    void a_failure_is_counted_and_continues_the_streak() {
      Health health = after(withStreak(12, BASE), false);
      assertThat(health.successes()).isEqualTo(7);
      assertThat(health.failures()).isEqualTo(13);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(1, 1));
      assertThat(health.consecutiveFailures()).isEqualTo(13);
      assertThat(health.lastSuccessAt()).isEqualTo(BASE);
    }

    @Test
    void the_last_success_is_when_the_attempt_ended() {
      Health health = RULES.after(ENABLED, NOW.minusSeconds(4), true, false, NOW);
      assertThat(health.lastSuccessAt()).isEqualTo(NOW);
    }

    @Test
    void a_bucket_holds_500_attempts() {
      Health health = successes(ENABLED, 500);
      assertThat(health.previous()).isEqualTo(Bucket.EMPTY);
      assertThat(health.current()).isEqualTo(new Bucket(500, 0));
      health = after(health, false);
      assertThat(health.previous()).isEqualTo(new Bucket(500, 0));
      assertThat(health.current()).isEqualTo(new Bucket(1, 1));
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(501, 1));
    }

    @Test
    void the_current_and_the_previous_bucket_are_kept() {
      Health health = successes(failures(successes(ENABLED, 500), 200), 300);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(1_000, 200));
      health = after(health, true);
      assertThat(health.previous()).isEqualTo(new Bucket(500, 200));
      assertThat(health.current()).isEqualTo(new Bucket(1, 0));
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(501, 200));
    }

    @Test
    void lifetime_counts_forget_nothing() {
      Health health = failures(successes(ENABLED, 1_500), 400);
      assertThat(health.successes()).isEqualTo(1_500);
      assertThat(health.failures()).isEqualTo(400);
    }

    @Test
    void attempts_of_a_disabled_endpoint_are_counted_since_it_was_last_enabled() {
      assertThat(after(circuitOpen(), false).sinceEnabled()).isEqualTo(new Bucket(201, 181));
    }
  }

  @Nested
  class FailureRate {

    @Test
    void an_endpoint_is_not_disabled_when_all_of_exactly_100_attempts_failed() {
      Health health = failures(ENABLED, 100);
      assertThat(health.isEnabled()).isTrue();
      assertThat(health.since()).isEqualTo(BASE);
    }

    @Test
    void an_endpoint_is_disabled_when_all_of_101_attempts_failed() {
      isEntered(failures(ENABLED, 101), State.DISABLED, Reason.FAILURE_RATE);
    }

    @Test
    void an_endpoint_is_not_disabled_when_exactly_70_percent_failed() {
      Health health = failures(successes(ENABLED, 33), 77);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(110, 77));
      assertThat(health.isEnabled()).isTrue();
    }

    @Test
    void an_endpoint_is_disabled_when_more_than_70_percent_failed() {
      Health health = failures(successes(ENABLED, 33), 78);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(111, 78));
      isEntered(health, State.DISABLED, Reason.FAILURE_RATE);
    }

    @Test
    void exactly_70_percent_of_a_full_window_does_not_disable() {
      Health health = failures(successes(ENABLED, 300), 700);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(1_000, 700));
      assertThat(health.isEnabled()).isTrue();
    }

    @Test
    void a_bucket_that_is_forgotten_no_longer_holds_the_rate_down() {
      Health health = failures(successes(ENABLED, 1_000), 500);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(1_000, 500));
      assertThat(health.isEnabled()).isTrue();
      isEntered(after(health, false), State.DISABLED, Reason.FAILURE_RATE);
    }

    @Test
    void a_success_disables_nothing_whatever_the_rate() {
      Health health = after(failures(ENABLED, 100), true);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(101, 100));
      assertThat(health.isEnabled()).isTrue();
      isEntered(after(health, false), State.DISABLED, Reason.FAILURE_RATE);
    }

    @Test
    void the_first_probe_is_due_ten_minutes_after_the_circuit_opened() {
      assertThat(failures(ENABLED, 101).nextProbeAt()).isEqualTo(NEXT_PROBE);
    }

    @Test
    void disabling_keeps_the_counts() {
      Health health = failures(ENABLED, 101);
      assertThat(health.sinceEnabled()).isEqualTo(new Bucket(101, 101));
      assertThat(health.consecutiveFailures()).isEqualTo(101);
      assertThat(health.failures()).isEqualTo(101);
      assertThat(health.createdAt()).isEqualTo(BASE);
    }
  }

  @Nested
  class ConsecutiveFailures {

    @Test
    void an_endpoint_is_not_disabled_by_1_999_consecutive_failures() {
      assertThat(after(withStreak(1_998, BASE), false).isEnabled()).isTrue();
    }

    @Test
    void an_endpoint_is_disabled_by_2_000_consecutive_failures() {
      Health health = after(withStreak(1_999, BASE), false);
      assertThat(health.consecutiveFailures()).isEqualTo(2_000);
      isEntered(health, State.DISABLED, Reason.CONSECUTIVE_FAILURES);
      assertThat(health.nextProbeAt()).isEqualTo(NEXT_PROBE);
    }

    @Test
    void an_endpoint_is_disabled_by_2_001_consecutive_failures_too() {
      isEntered(after(withStreak(2_000, BASE), false), State.DISABLED, Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void a_success_in_between_starts_the_streak_again() {
      Health health = after(after(withStreak(1_999, BASE), true), false);
      assertThat(health.consecutiveFailures()).isEqualTo(1);
      assertThat(health.isEnabled()).isTrue();
    }

    @Test
    void a_further_failure_of_a_disabled_endpoint_is_no_new_change() {
      Health health = after(circuitOpen(), false);
      assertThat(health.since()).isEqualTo(BASE);
      assertThat(health.reason()).isEqualTo(Reason.FAILURE_RATE);
    }
  }

  @Nested
  class Silence {
    private static final Instant THREE_DAYS_AGO = NOW.minus(Duration.ofDays(3));

    @Test
    void an_endpoint_is_not_frozen_by_2_000_failures_however_long_it_was_silent() {
      isEntered(
          after(withStreak(1_999, NOW.minus(Duration.ofDays(900))), false),
          State.DISABLED,
          Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void an_endpoint_is_not_frozen_by_2_001_failures_when_its_last_success_is_72_hours_ago() {
      isEntered(
          after(withStreak(2_000, THREE_DAYS_AGO), false),
          State.DISABLED,
          Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void an_endpoint_is_frozen_by_2_001_failures_when_its_last_success_is_more_than_72_hours_ago() {
      isEntered(
          after(withStreak(2_000, THREE_DAYS_AGO.minusMillis(1)), false),
          State.FROZEN,
          Reason.SILENCE);
    }

    @Test
    void creation_counts_when_an_endpoint_never_succeeded() {
      Instant exactly = BASE.plus(Duration.ofDays(3));
      Health health = withStreak(2_000, null);
      assertThat(RULES.after(health, exactly, false, false, exactly).state())
          .isEqualTo(State.DISABLED);
      Instant more = exactly.plusMillis(1);
      assertThat(RULES.after(health, more, false, false, more).state()).isEqualTo(State.FROZEN);
    }

    @Test
    void a_disabled_endpoint_is_frozen_when_its_probes_go_on_failing() {
      Health disabled = after(withStreak(1_999, THREE_DAYS_AGO), false);
      Instant later = NOW.plusSeconds(600);
      Health health = RULES.after(disabled, later, false, true, later);
      assertThat(health.state()).isEqualTo(State.FROZEN);
      assertThat(health.reason()).isEqualTo(Reason.SILENCE);
      assertThat(health.since()).isEqualTo(later);
      assertThat(health.nextProbeAt()).isNull();
    }

    @Test
    void an_endpoint_that_could_be_disabled_as_well_is_frozen() {
      Health health = withStreak(2_000, THREE_DAYS_AGO.minusMillis(1));
      Health failing =
          new Health(
              health.state(),
              health.since(),
              health.reason(),
              health.createdAt(),
              health.successes(),
              health.failures(),
              new Bucket(500, 500),
              new Bucket(400, 400),
              health.consecutiveFailures(),
              health.lastSuccessAt(),
              null);
      isEntered(after(failing, false), State.FROZEN, Reason.SILENCE);
    }
  }

  @Nested
  class FreezeAt {

    @Test
    void an_endpoint_is_not_frozen_by_49_999_failures_when_it_succeeded_lately() {
      assertThat(after(withStreak(49_998, BASE), false).state()).isEqualTo(State.DISABLED);
    }

    @Test
    void an_endpoint_is_frozen_by_50_000_failures_in_any_case() {
      isEntered(after(withStreak(49_999, NOW), false), State.FROZEN, Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void a_disabled_endpoint_is_frozen_by_50_000_failures_too() {
      Health disabled = after(withStreak(49_998, BASE), false);
      isEntered(after(disabled, false), State.FROZEN, Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void an_endpoint_disabled_by_hand_is_frozen_too() {
      Health disabled = RULES.disable(withStreak(49_999, BASE), BASE);
      isEntered(after(disabled, false), State.FROZEN, Reason.CONSECUTIVE_FAILURES);
    }
  }

  @Nested
  class Probing {

    @Test
    void a_probe_that_failed_is_followed_by_another_ten_minutes_after_it_ended() {
      Health health = RULES.after(circuitOpen(), NOW.minusSeconds(5), false, true, NOW);
      assertThat(health.isCircuitOpen()).isTrue();
      assertThat(health.nextProbeAt()).isEqualTo(NEXT_PROBE);
      assertThat(health.since()).isEqualTo(BASE);
    }

    @Test
    void an_attempt_by_hand_that_failed_does_not_put_off_the_probe() {
      Health health = after(circuitOpen(), false);
      assertThat(health.nextProbeAt()).isEqualTo(circuitOpen().nextProbeAt());
    }

    @Test
    void a_probe_that_succeeded_enables_the_endpoint() {
      Health health = RULES.after(circuitOpen(), NOW.minusSeconds(1), true, true, NOW);
      isEntered(health, State.ENABLED, Reason.PROBE_SUCCEEDED);
      assertThat(health.nextProbeAt()).isNull();
    }

    @Test
    void an_attempt_by_hand_that_succeeded_enables_the_endpoint_as_well() {
      isEntered(after(circuitOpen(), true), State.ENABLED, Reason.PROBE_SUCCEEDED);
    }

    @Test
    void only_an_open_circuit_is_probed() {
      assertThat(ENABLED.nextProbeAt()).isNull();
      assertThat(DISABLED_BY_HAND.nextProbeAt()).isNull();
      assertThat(FROZEN.nextProbeAt()).isNull();
      assertThat(RULES.disable(circuitOpen(), NOW).nextProbeAt()).isNull();
      assertThat(RULES.freeze(circuitOpen(), NOW).nextProbeAt()).isNull();
      assertThat(RULES.enable(circuitOpen(), NOW).nextProbeAt()).isNull();
    }
  }

  @Nested
  class Enabling {

    @Test
    void enabling_by_a_success_resets_the_streak_and_the_counts_since_enabled() {
      Health health = after(circuitOpen(), true);
      assertThat(health.consecutiveFailures()).isZero();
      assertThat(health.previous()).isEqualTo(Bucket.EMPTY);
      assertThat(health.current()).isEqualTo(Bucket.EMPTY);
    }

    @Test
    void the_enabling_success_is_not_counted_since_enabled() {
      assertThat(after(circuitOpen(), true).sinceEnabled().attempts()).isZero();
    }

    @Test
    void the_enabling_success_is_in_the_lifetime_counts() {
      Health health = after(circuitOpen(), true);
      assertThat(health.successes()).isEqualTo(21);
      assertThat(health.failures()).isEqualTo(180);
      assertThat(health.lastSuccessAt()).isEqualTo(NOW);
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.EndpointHealthTest#notEnabled")
    void enabling_by_hand_resets_the_streak_and_the_counts_since_enabled(Health before) {
      Health health = RULES.enable(before, NOW);
      isEntered(health, State.ENABLED, Reason.OPERATOR);
      assertThat(health.consecutiveFailures()).isZero();
      assertThat(health.sinceEnabled()).isEqualTo(Bucket.EMPTY);
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.EndpointHealthTest#notEnabled")
    void lifetime_counts_stay(Health before) {
      Health health = RULES.enable(before, NOW);
      assertThat(health.successes()).isEqualTo(before.successes());
      assertThat(health.failures()).isEqualTo(before.failures());
      assertThat(health.lastSuccessAt()).isEqualTo(before.lastSuccessAt());
      assertThat(health.createdAt()).isEqualTo(before.createdAt());
    }

    @Test
    void an_enabled_endpoint_needs_more_than_100_attempts_to_be_disabled_again() {
      Health enabled = after(circuitOpen(), true);
      assertThat(failures(enabled, 100).isEnabled()).isTrue();
      assertThat(failures(enabled, 101).isCircuitOpen()).isTrue();
    }

    @Test
    void a_success_does_not_enable_a_frozen_endpoint() {
      Health health = after(FROZEN, true);
      assertThat(health.state()).isEqualTo(State.FROZEN);
      assertThat(health.since()).isEqualTo(BASE);
    }

    @Test
    void a_failure_of_a_frozen_endpoint_is_no_new_change() {
      Health health = after(RULES.freeze(withStreak(60_000, null), BASE), false);
      assertThat(health.reason()).isEqualTo(Reason.OPERATOR);
      assertThat(health.since()).isEqualTo(BASE);
      assertThat(health.failures()).isEqualTo(60_001);
    }
  }

  static Stream<Health> notEnabled() {
    return Stream.of(
        circuitOpen(), RULES.disable(circuitOpen(), BASE), RULES.freeze(circuitOpen(), BASE));
  }

  @Nested
  class ByHand {

    @Test
    void an_operator_can_disable() {
      for (Health before : List.of(ENABLED, circuitOpen(), FROZEN)) {
        Health health = RULES.disable(before, NOW);
        isEntered(health, State.DISABLED, Reason.OPERATOR);
        assertThat(health.isDisabledByHand()).isTrue();
        assertThat(health.nextProbeAt()).isNull();
      }
    }

    @Test
    void an_operator_can_freeze() {
      for (Health before : List.of(ENABLED, circuitOpen(), DISABLED_BY_HAND)) {
        Health health = RULES.freeze(before, NOW);
        isEntered(health, State.FROZEN, Reason.OPERATOR);
        assertThat(health.nextProbeAt()).isNull();
      }
    }

    @Test
    void disabling_and_freezing_keep_all_counts() {
      Health before = circuitOpen();
      for (Health health : List.of(RULES.disable(before, NOW), RULES.freeze(before, NOW))) {
        assertThat(health.successes()).isEqualTo(before.successes());
        assertThat(health.failures()).isEqualTo(before.failures());
        assertThat(health.previous()).isEqualTo(before.previous());
        assertThat(health.current()).isEqualTo(before.current());
        assertThat(health.consecutiveFailures()).isEqualTo(before.consecutiveFailures());
        assertThat(health.lastSuccessAt()).isEqualTo(before.lastSuccessAt());
        assertThat(health.createdAt()).isEqualTo(before.createdAt());
      }
    }

    @Test
    void every_command_can_be_repeated() {
      Health enabled = RULES.enable(circuitOpen(), BASE);
      assertThat(RULES.enable(enabled, NOW)).isEqualTo(enabled);
      assertThat(RULES.disable(DISABLED_BY_HAND, NOW)).isEqualTo(DISABLED_BY_HAND);
      assertThat(RULES.freeze(FROZEN, NOW)).isEqualTo(FROZEN);
    }

    @Test
    void enabling_an_enabled_endpoint_resets_nothing() {
      Health health = failures(ENABLED, 50);
      assertThat(RULES.enable(health, NOW)).isEqualTo(health);
    }

    @Test
    void freezing_an_endpoint_that_froze_by_itself_keeps_its_reason() {
      Health frozen = after(withStreak(49_999, BASE), false);
      assertThat(RULES.freeze(frozen, NOW.plusSeconds(1))).isEqualTo(frozen);
    }

    @Test
    void a_success_does_not_enable_an_endpoint_disabled_by_hand() {
      Health health = after(DISABLED_BY_HAND, true);
      assertThat(health.isDisabledByHand()).isTrue();
      assertThat(health.since()).isEqualTo(BASE);
      assertThat(health.successes()).isEqualTo(1);
      assertThat(health.consecutiveFailures()).isZero();
    }

    @Test
    void a_failure_brings_no_probes_to_an_endpoint_disabled_by_hand() {
      for (boolean probe : new boolean[] {true, false}) {
        Health health =
            RULES.after(RULES.disable(withStreak(1_999, BASE), BASE), NOW, false, probe, NOW);
        assertThat(health.isDisabledByHand()).isTrue();
        assertThat(health.nextProbeAt()).isNull();
        assertThat(health.consecutiveFailures()).isEqualTo(2_000);
      }
    }
  }

  @Nested
  class StartedBeforeTheLastChange {
    private final Instant before = BASE.minusMillis(1);

    private static Health only(
        Health health, long successes, long failures, int streak, @Nullable Instant lastSuccessAt) {
      return new Health(
          health.state(),
          health.since(),
          health.reason(),
          health.createdAt(),
          successes,
          failures,
          health.previous(),
          health.current(),
          streak,
          lastSuccessAt,
          health.nextProbeAt());
    }

    @Test
    void a_success_counts_in_the_lifetime_the_streak_and_the_last_success_only() {
      Health health = RULES.after(circuitOpen(), before, true, false, NOW);
      assertThat(health).isEqualTo(only(circuitOpen(), 21, 180, 0, NOW));
    }

    @Test
    void a_failure_counts_in_the_lifetime_and_the_streak_only() {
      Health health = RULES.after(circuitOpen(), before, false, true, NOW);
      assertThat(health)
          .isEqualTo(only(circuitOpen(), 20, 181, 151, circuitOpen().lastSuccessAt()));
    }

    @Test
    void a_failure_disables_and_freezes_nothing() {
      for (int streak : new int[] {1_999, 2_000, 49_999}) {
        Health health = RULES.after(withStreak(streak, null), before, false, false, NOW);
        assertThat(health)
            .isEqualTo(only(withStreak(streak, null), 7, streak + 1, streak + 1, null));
      }
    }

    @Test
    void the_next_failure_that_started_after_it_does() {
      Health counted = RULES.after(withStreak(1_999, BASE), before, false, false, NOW);
      isEntered(after(counted, false), State.DISABLED, Reason.CONSECUTIVE_FAILURES);
    }

    @Test
    void one_that_started_with_the_change_is_after_it() {
      assertThat(RULES.after(circuitOpen(), BASE, true, true, NOW).isEnabled()).isTrue();
    }
  }
}
