package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SightingsTest {
  private static final Duration LEASE = Duration.ofSeconds(15);

  private final Sightings sightings = new Sightings(LEASE);

  @Test
  void a_lease_is_over_when_the_clock_says_so_and_it_has_stood_still_for_as_long() {
    assertThat(over(0, seen(100, 15))).isEmpty();
    assertThat(over(10, seen(100, 5))).isEmpty();
    assertThat(over(15, seen(100, -1))).hasSize(1);
  }

  @Test
  void a_clock_that_jumps_ahead_ends_no_lease_that_is_renewed() {
    assertThat(over(0, seen(100, 15))).isEmpty();
    assertThat(over(1, seen(100, -20))).isEmpty();
    assertThat(over(3, seen(138, 15))).isEmpty();
    assertThat(over(16, seen(150, -1))).isEmpty();
  }

  @Test
  void one_that_was_over_before_it_was_seen_is_watched_for_a_lease() {
    assertThat(over(0, seen(100, -600))).isEmpty();
    assertThat(sightings.next(List.of(seen(100, -600)), seconds(0))).isLessThan(LEASE);
    assertThat(over(15, seen(100, -615))).hasSize(1);
  }

  @Test
  void a_clock_that_is_set_back_does_not_keep_a_node_that_has_gone() {
    assertThat(over(0, seen(100, 14))).isEmpty();
    assertThat(over(15, seen(100, 3_600))).isEmpty();
    assertThat(over(21, seen(100, 3_594))).hasSize(1);
  }

  @Test
  void a_node_with_a_longer_lease_keeps_it() {
    assertThat(over(0, seen(100, 300))).isEmpty();
    assertThat(over(60, seen(100, 240))).isEmpty();
  }

  private List<Leases.Other> over(long atSeconds, Leases.Other seen) {
    return sightings.over(List.of(seen), seconds(atSeconds));
  }

  private static Leases.Other seen(long expires, long leftSeconds) {
    return new Leases.Other(7, expires, Duration.ofSeconds(leftSeconds), false);
  }

  private static long seconds(long number) {
    return Duration.ofSeconds(number).toNanos();
  }
}
