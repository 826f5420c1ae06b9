package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HealthTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void a_new_endpoint_is_enabled_and_has_counted_nothing() {
    Health health = Health.created(NOW);
    assertThat(health)
        .isEqualTo(
            new Health(
                State.ENABLED,
                NOW,
                Reason.CREATED,
                NOW,
                0,
                0,
                Bucket.EMPTY,
                Bucket.EMPTY,
                0,
                null,
                null));
    assertThat(health.isEnabled()).isTrue();
    assertThat(health.isCircuitOpen()).isFalse();
    assertThat(health.isDisabledByHand()).isFalse();
  }

  @Test
  void since_enabled_counts_both_buckets() {
    Health health = health(State.ENABLED, Reason.CREATED);
    assertThat(health.sinceEnabled()).isEqualTo(new Bucket(507, 303));
  }

  @Test
  void a_bucket_counts_every_attempt_and_failures_apart() {
    assertThat(Bucket.EMPTY.plus(true)).isEqualTo(new Bucket(1, 0));
    assertThat(Bucket.EMPTY.plus(false)).isEqualTo(new Bucket(1, 1));
  }

  @ParameterizedTest
  @EnumSource
  void only_an_operator_disables_by_hand(Reason reason) {
    Health health = health(State.DISABLED, reason);
    assertThat(health.isDisabledByHand()).isEqualTo(reason == Reason.OPERATOR);
    assertThat(health.isCircuitOpen()).isEqualTo(reason != Reason.OPERATOR);
    assertThat(health.isEnabled()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void a_frozen_endpoint_is_none_of_the_others(Reason reason) {
    Health health = health(State.FROZEN, reason);
    assertThat(health.isDisabledByHand()).isFalse();
    assertThat(health.isCircuitOpen()).isFalse();
    assertThat(health.isEnabled()).isFalse();
  }

  @Test
  void another_probe_time_changes_nothing_else() {
    Health health = health(State.DISABLED, Reason.FAILURE_RATE);
    Health later = health.withNextProbeAt(NOW.plusSeconds(600));
    assertThat(later.nextProbeAt()).isEqualTo(NOW.plusSeconds(600));
    assertThat(later).isNotEqualTo(health);
    assertThat(later.withNextProbeAt(health.nextProbeAt())).isEqualTo(health);
  }

  private static Health health(State state, Reason reason) {
    return new Health(
        state,
        NOW.plusSeconds(1),
        reason,
        NOW,
        1_000,
        2_000,
        new Bucket(500, 300),
        new Bucket(7, 3),
        2,
        NOW.plusSeconds(2),
        NOW.plusSeconds(3));
  }
}
