package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.FAILURE;
import static dev.holdfast.core.rules.Given.SUCCESS;
import static dev.holdfast.core.rules.Given.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PaceTest {

  private static Pace after(Pace pace, int times, Outcome outcome) {
    Pace result = pace;
    for (int i = 0; i < times; i++) {
      result = result.after(outcome);
    }
    return result;
  }

  @Test
  void slow_start_begins_with_one_in_flight() {
    assertThat(Pace.slowStart(32)).isEqualTo(new Pace(1, 32, true));
  }

  @Test
  void slow_start_allows_one_more_after_each_success() {
    for (int successes = 0; successes <= 30; successes++) {
      assertThat(after(Pace.slowStart(32), successes, SUCCESS))
          .isEqualTo(new Pace(1 + successes, 32, true));
    }
  }

  @ParameterizedTest
  @EnumSource
  void slow_start_begins_again_after_any_failure(Outcome.Failure.Kind kind) {
    Pace pace = after(Pace.slowStart(32), 20, SUCCESS);
    assertThat(pace.after(Outcome.Failure.of(kind))).isEqualTo(Pace.slowStart(32));
  }

  @Test
  void slow_start_ends_at_the_limit_of_the_lane() {
    assertThat(after(Pace.slowStart(32), 31, SUCCESS)).isEqualTo(Pace.full(32));
  }

  @Test
  void slow_start_of_a_lane_of_one_has_ended_at_once() {
    assertThat(Pace.slowStart(1)).isEqualTo(Pace.full(1));
  }

  @Test
  void a_success_never_exceeds_the_limit_of_the_lane() {
    assertThat(Pace.full(32).after(SUCCESS)).isEqualTo(Pace.full(32));
    assertThat(after(Pace.slowStart(32), 1_000, SUCCESS)).isEqualTo(Pace.full(32));
  }

  @Test
  void after_slow_start_a_time_out_halves_the_limit() {
    assertThat(Pace.full(32).after(TIMEOUT).limit()).isEqualTo(16);
    assertThat(after(Pace.full(32), 2, TIMEOUT).limit()).isEqualTo(8);
    assertThat(new Pace(5, 32, false).after(TIMEOUT).limit()).isEqualTo(2);
  }

  @Test
  void one_may_always_be_in_flight() {
    assertThat(after(Pace.full(32), 100, TIMEOUT).limit()).isEqualTo(1);
  }

  @Test
  void after_a_time_out_each_success_allows_one_more_again() {
    Pace halved = Pace.full(32).after(TIMEOUT);
    assertThat(halved.after(SUCCESS)).isEqualTo(new Pace(17, 32, false));
    assertThat(after(halved, 16, SUCCESS)).isEqualTo(Pace.full(32));
  }

  @ParameterizedTest
  @EnumSource(names = "TIMEOUT", mode = EnumSource.Mode.EXCLUDE)
  void after_slow_start_other_failures_leave_the_limit(Outcome.Failure.Kind kind) {
    assertThat(Pace.full(32).after(Outcome.Failure.of(kind))).isEqualTo(Pace.full(32));
  }

  @Test
  void the_limit_stays_between_one_and_that_of_the_lane() {
    Seeds.each(
        300,
        random -> {
          int most = random.nextInt(1, 50);
          Pace pace = random.nextBoolean() ? Pace.full(most) : Pace.slowStart(most);
          boolean slow = pace.slowStart();
          for (int i = 0; i < 300; i++) {
            Outcome outcome =
                switch (random.nextInt(12)) {
                  case 0 -> FAILURE;
                  case 1 -> TIMEOUT;
                  default -> SUCCESS;
                };
            pace = pace.after(outcome);
            assertThat(pace.limit()).isBetween(1, most);
            assertThat(pace.most()).isEqualTo(most);
            assertThat(pace.slowStart() && (!slow || pace.limit() == most))
                .as("slow start ends at the limit and does not come back by itself")
                .isFalse();
            slow = pace.slowStart();
          }
        });
  }
}
