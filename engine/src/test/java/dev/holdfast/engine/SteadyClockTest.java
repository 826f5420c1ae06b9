package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

  private Instant wall = NOON;
  private long nanos = Long.MAX_VALUE - 1_000; // a monotonic clock may run over
  private final SteadyClock clock = new SteadyClock(() -> wall, () -> nanos, Instant.EPOCH);

  @Test
  void it_runs_with_the_systems_clock() {
    assertThat(clock.instant()).isEqualTo(NOON);
    pass(Duration.ofSeconds(10));
    assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(10));
  }

  @Test
  void it_jumps_forward_with_the_systems_clock() {
    wall = wall.plus(Duration.ofHours(3));
    assertThat(clock.instant()).isEqualTo(NOON.plus(Duration.ofHours(3)));
    pass(Duration.ofSeconds(1));
    assertThat(clock.instant()).isEqualTo(NOON.plus(Duration.ofHours(3)).plusSeconds(1));
  }

  @Test
  void it_does_not_follow_the_systems_clock_back() {
    wall = wall.minus(Duration.ofHours(1));
    assertThat(clock.instant()).isEqualTo(NOON);
  }

  @Test
  void set_back_it_goes_on_at_half_speed_until_the_system_has_caught_up() {
    wall = wall.minusSeconds(60);
    for (int second = 1; second <= 120; second++) {
      pass(Duration.ofSeconds(1));
      assertThat(clock.instant()).isEqualTo(NOON.plusMillis(500L * second));
    }
    assertThat(clock.instant()).isEqualTo(wall);
    pass(Duration.ofSeconds(1));
    assertThat(clock.instant()).isEqualTo(wall);
  }

  @Test
  void it_does_not_run_backwards_from_one_process_to_the_next() {
    Instant before = NOON.plus(Duration.ofHours(1));
    SteadyClock restarted = new SteadyClock(() -> wall, () -> nanos, before);
    assertThat(restarted.instant()).isEqualTo(before);
    pass(Duration.ofSeconds(10));
    assertThat(restarted.instant()).isEqualTo(before.plusSeconds(5));
  }

  @Test
  void how_often_it_is_read_makes_no_difference() {
    SteadyClock readSeldom = new SteadyClock(() -> wall, () -> nanos, Instant.EPOCH);
    wall = wall.minusSeconds(60);
    for (int second = 1; second <= 90; second++) {
      pass(Duration.ofSeconds(1));
      clock.instant();
    }
    assertThat(readSeldom.instant()).isEqualTo(clock.instant()).isEqualTo(NOON.plusSeconds(45));
  }

  @Test
  void it_does_not_stand_still_when_it_is_read_every_nanosecond() {
    wall = wall.minusSeconds(60);
    for (int i = 0; i < 1_000; i++) {
      nanos++;
      clock.instant();
    }
    assertThat(clock.instant()).isEqualTo(NOON.plusNanos(500));
  }

  @Test
  void it_stands_when_even_the_monotonic_clock_goes_back() {
    wall = wall.minusSeconds(60);
    nanos -= 1_000_000;
    assertThat(clock.instant()).isEqualTo(NOON);
  }

  @Test
  void whatever_happens_it_never_runs_backwards() {
    Random random = new Random(7);
    Instant before = clock.instant();
    for (int i = 0; i < 100_000; i++) {
      pass(Duration.ofNanos(random.nextLong(1_000_000)));
      if (random.nextInt(10) == 0) {
        wall = wall.plusMillis(random.nextLong(-5_000, 5_000));
      }
      Instant now = clock.instant();
      assertThat(now).isAfterOrEqualTo(before).isAfterOrEqualTo(wall);
      before = now;
    }
  }

  private void pass(Duration time) {
    wall = wall.plus(time);
    nanos += time.toNanos();
  }
}
