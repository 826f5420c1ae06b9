package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DatabaseClockTest {
  private static final Instant THEN = Instant.parse("2026-03-04T05:06:07Z");

  private long nanos = 1_000_000_000;
  private final DatabaseClock clock = new DatabaseClock(() -> nanos, THEN);

  @Test
  void it_goes_on_by_itself_between_measurements() {
    pass(Duration.ofSeconds(3));

    assertThat(clock.instant()).isEqualTo(THEN.plusSeconds(3));
  }

  @Test
  void an_answer_that_took_long_does_not_move_it_if_it_may_be_right() {
    long sent = nanos;
    pass(Duration.ofMillis(400));

    clock.measured(THEN.plusMillis(30), sent, nanos);

    assertThat(clock.instant()).isEqualTo(THEN.plusMillis(400));
  }

  @Test
  void an_answer_that_it_cannot_be_right_by_moves_it_to_the_middle_of_the_round_trip() {
    long sent = nanos;
    pass(Duration.ofMillis(20));

    clock.measured(THEN.plusSeconds(3_600), sent, nanos);

    assertThat(clock.instant()).isEqualTo(THEN.plusSeconds(3_600).plusMillis(10));
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
  }
}
