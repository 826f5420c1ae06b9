package dev.holdfast.proof.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.proof.stage.Comparison.Interval;
import dev.holdfast.proof.stage.Comparison.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ComparisonTest {

  /**
   * By hand: the logarithms of the ratios 1.10, 1.20, 1.15, 1.05 and 1.25 have the mean 0.137865
   * and the standard deviation 0.0689160, t is 2.7764, so the interval reaches 0.0855691.
   */
  @Test
  void the_interval_is_that_of_student_around_the_geometric_mean() {
    Comparison comparison =
        compare("/s", List.of(10.0, 10.0, 20.0, 20.0, 8.0), List.of(11.0, 12.0, 23.0, 21.0, 10.0));

    assertThat(comparison.ratio()).isCloseTo(Math.exp(0.137865), within(1e-5));
    Interval interval = Objects.requireNonNull(comparison.interval());
    assertThat(Math.log(interval.low())).isCloseTo(0.137865 - 0.0855691, within(1e-5));
    assertThat(Math.log(interval.high())).isCloseTo(0.137865 + 0.0855691, within(1e-5));
    assertThat(comparison.verdict()).isEqualTo(Verdict.FASTER);
    assertThat(comparison.baseMedian()).isEqualTo(10);
    assertThat(comparison.currentMedian()).isEqualTo(12);
  }

  @Test
  void students_quantiles_are_those_of_the_tables() {
    assertThat(Comparison.student(2)).isCloseTo(4.303, within(0.001));
    assertThat(Comparison.student(4)).isCloseTo(2.776, within(0.001));
    assertThat(Comparison.student(20)).isCloseTo(2.086, within(0.001));
    assertThat(Comparison.student(21)).isCloseTo(2.080, within(0.001));
    assertThat(Comparison.student(30)).isCloseTo(2.042, within(0.001));
    assertThat(Comparison.student(1_000)).isCloseTo(1.962, within(0.001));
  }

  @Test
  void what_is_better_follows_from_the_unit() {
    assertThat(doubled("/s")).isEqualTo(Verdict.FASTER);
    assertThat(doubled("ms")).isEqualTo(Verdict.SLOWER);
    assertThat(doubled("s")).isEqualTo(Verdict.SLOWER);
    assertThat(doubled("µs")).isEqualTo(Verdict.WORSE);
    assertThat(doubled("bytes")).isEqualTo(Verdict.WORSE);
    assertThat(doubled("MB")).isEqualTo(Verdict.WORSE);
    assertThat(compare("µs", List.of(2.0, 2.1, 2.2), List.of(1.0, 1.1, 1.2)).verdict())
        .isEqualTo(Verdict.BETTER);
    assertThat(compare("/s", List.of(2.0, 2.1, 2.2), List.of(1.0, 1.1, 1.2)).verdict())
        .isEqualTo(Verdict.SLOWER);
  }

  @Test
  void a_difference_that_scatters_more_than_it_is_large_is_not_shown() {
    Comparison comparison = compare("/s", List.of(10.0, 10.0, 10.0), List.of(9.0, 12.0, 11.0));

    assertThat(comparison.ratio()).isGreaterThan(1);
    assertThat(comparison.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
  }

  @Test
  void values_that_are_the_same_do_not_differ() {
    Comparison comparison = compare("bytes", List.of(7.0, 8.0, 9.0), List.of(7.0, 8.0, 9.0));

    assertThat(comparison.interval()).isEqualTo(new Interval(1, 1));
    assertThat(comparison.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
  }

  @Test
  void a_machine_that_gets_slower_over_the_run_does_not_hide_a_difference() {
    Comparison comparison =
        compare("/s", List.of(100.0, 80.0, 60.0, 40.0), List.of(110.0, 88.5, 65.5, 44.0));

    assertThat(comparison.verdict()).isEqualTo(Verdict.FASTER);
  }

  @Test
  void with_fewer_than_three_pairs_nothing_can_be_shown() {
    Comparison comparison = compare("/s", List.of(1.0, 1.0), List.of(2.0, 2.0));

    assertThat(comparison.interval()).isNull();
    assertThat(comparison.verdict()).isEqualTo(Verdict.TOO_FEW_ROUNDS);
  }

  @Test
  void where_nothing_differs_about_one_in_twenty_says_otherwise() {
    Random random = new Random(1);
    int wrong = 0;
    for (int i = 0; i < 4_000; i++) {
      List<Double> base = new ArrayList<>();
      List<Double> current = new ArrayList<>();
      for (int pair = 0; pair < 5; pair++) {
        base.add(100 * Math.exp(0.1 * random.nextGaussian()));
        current.add(100 * Math.exp(0.1 * random.nextGaussian()));
      }
      wrong += compare("/s", base, current).verdict() == Verdict.NO_DIFFERENCE ? 0 : 1;
    }
    assertThat(wrong / 4_000.0).isBetween(0.04, 0.06);
  }

  @Test
  void values_without_a_partner_are_refused() {
    assertThatThrownBy(() -> compare("/s", List.of(1.0), List.of(1.0, 2.0)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Verdict doubled(String unit) {
    return compare(unit, List.of(1.0, 1.1, 1.2), List.of(2.0, 2.1, 2.2)).verdict();
  }

  private static Comparison compare(String unit, List<Double> base, List<Double> current) {
    return Comparison.of("scenario", "figure", unit, base, current);
  }
}
