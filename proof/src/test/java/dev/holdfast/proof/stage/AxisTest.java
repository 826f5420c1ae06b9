package dev.holdfast.proof.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.proof.stage.Axis.Tick;
import java.util.List;
import org.junit.jupiter.api.Test;

class AxisTest {
  @Test
  void ticks_are_round_numbers_from_below_the_least_to_above_the_most() {
    assertThat(texts(Axis.linear(0, 23_412, 5)))
        .containsExactly("0", "5,000", "10,000", "15,000", "20,000", "25,000");
    assertThat(texts(Axis.linear(0, 0.07, 4)))
        .containsExactly("0.00", "0.02", "0.04", "0.06", "0.08");
    assertThat(texts(Axis.linear(-3, 3, 3))).containsExactly("-4", "-2", "0", "2", "4");
    assertThat(texts(Axis.linear(0, 60, 6)))
        .containsExactly("0", "10", "20", "30", "40", "50", "60");
  }

  @Test
  void an_axis_of_one_value_has_room_for_it() {
    for (double value : new double[] {0, 1, 7, 1e9}) {
      Axis axis = Axis.linear(0, value, 5);
      assertThat(axis.at(0)).isZero();
      assertThat(axis.at(value)).isBetween(0.0, 1.0);
      assertThat(axis.ticks()).hasSizeBetween(2, 7);
    }
    assertThat(Axis.linear(5, 5, 5).at(5)).isBetween(0.0, 1.0);
  }

  @Test
  void values_are_where_their_ticks_are() {
    Axis axis = Axis.linear(0, 100, 4);

    assertThat(axis.at(0)).isZero();
    assertThat(axis.at(25)).isCloseTo(0.25, within(0.1));
    assertThat(axis.at(axis.ticks().getLast().value())).isEqualTo(1);
  }

  @Test
  void percentiles_are_equally_far_apart_where_ten_times_fewer_are_beyond() {
    Axis axis = Axis.percentiles(99.99);

    assertThat(texts(axis)).containsExactly("50 %", "90 %", "99 %", "99.9 %", "99.99 %");
    assertThat(axis.at(0)).isZero();
    assertThat(axis.at(90)).isCloseTo(0.25, within(1e-9));
    assertThat(axis.at(99)).isCloseTo(0.5, within(1e-9));
    assertThat(axis.at(99.9)).isCloseTo(0.75, within(1e-9));
    assertThat(axis.at(100)).isEqualTo(1);
  }

  @Test
  void the_lowest_percentile_is_written_where_there_is_room_for_it() {
    assertThat(texts(Axis.percentiles(99.9)))
        .containsExactly("0 %", "50 %", "90 %", "99 %", "99.9 %");
  }

  private static List<String> texts(Axis axis) {
    return axis.ticks().stream().map(Tick::text).toList();
  }
}
