package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.Seeds;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdSourceTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123Z");

  @Test
  void the_first_id_of_a_millisecond_carries_its_time_and_the_node() {
    assertThat(new IdSource(5, 0).next(NOW)).isEqualTo(Id.floor(NOW) | 5);
  }

  @Test
  void neighbouring_ids_of_one_node_are_a_stride_apart() {
    IdSource ids = new IdSource(5, 0);
    assertThat(-ids.next(NOW) + ids.next(NOW)).isEqualTo(Id.STRIDE);
  }

  @Test
  void two_nodes_never_give_out_the_same_id() {
    assertThat(new IdSource(1, 0).next(NOW)).isNotEqualTo(new IdSource(2, 0).next(NOW));
  }

  @Test
  void a_counter_that_runs_over_carries_into_the_time() {
    IdSource ids = new IdSource(0, 0);
    long last = 0;
    for (int i = 0; i <= 1 << Id.COUNTER_BITS; i++) {
      last = ids.next(NOW);
    }
    assertThat(Id.time(last)).isEqualTo(NOW.plusMillis(1));
    assertThat(ids.next(NOW.plusMillis(1))).isGreaterThan(last);
  }

  @Test
  void ids_only_ever_grow_even_when_the_clock_goes_back() {
    Seeds.each(
        200,
        random -> {
          int node = random.nextInt((int) Id.STRIDE);
          long last = Id.floor(NOW) + random.nextLong(-1L << 30, 1L << 30);
          IdSource ids = new IdSource(node, last);
          Instant clock = NOW;
          for (int i = 0; i < 500; i++) {
            clock = clock.plusMillis(random.nextLong(-50, 60));
            long id = ids.next(clock);
            assertThat(id).isGreaterThan(last);
            assertThat(id & (Id.STRIDE - 1)).isEqualTo(node);
            assertThat(Id.time(id)).isAfterOrEqualTo(clock);
            last = id;
          }
        });
  }

  @Test
  void a_clock_that_was_set_back_before_a_start_repeats_no_id() {
    long highestUsed = new IdSource(1_023, 0).next(NOW);
    assertThat(new IdSource(0, highestUsed).next(NOW.minusSeconds(3_600)))
        .isGreaterThan(highestUsed);
  }

  @Test
  void a_store_without_ids_is_where_to_start() {
    assertThat(new IdSource(0, 0).next(Instant.EPOCH)).isPositive();
    assertThat(new IdSource(0, -1).next(Instant.EPOCH)).isPositive();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1_024, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void a_node_that_does_not_fit_is_refused(int node) {
    assertThatThrownBy(() -> new IdSource(node, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 to 1023")
        .hasMessageContaining(String.valueOf(node));
  }

  @Test
  void every_node_that_fits_is_taken() {
    assertThat(new IdSource(0, 0).next(NOW)).isEqualTo(Id.floor(NOW));
    assertThat(new IdSource(1_023, 0).next(NOW)).isEqualTo(Id.floor(NOW) | 1_023);
  }
}
