package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

@DisabledIfSystemProperty(named = "holdfast.seed", matches = ".*")
@DisabledIfSystemProperty(named = "holdfast.fuzz", matches = ".*")
class SeedsTest {

  @Test
  void every_case_is_another_one() {
    Set<Long> first = new HashSet<>();
    Seeds.each(50, random -> first.add(random.nextLong()));
    assertThat(first).hasSize(50);
  }

  @Test
  void a_failure_names_its_seed() {
    int[] cases = {0};
    assertThatThrownBy(
            () ->
                Seeds.each(
                    10,
                    _ -> {
                      if (cases[0]++ == 7) {
                        throw new AssertionError("broken");
                      }
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("seed 7 ")
        .hasMessageContaining("-Dholdfast.seed=7")
        .hasMessageContaining("broken");
  }
}
