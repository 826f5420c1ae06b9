package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.Seeds;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TypePatternTest {

  @ParameterizedTest
  @CsvSource({
    "order.paid, order.paid",
    "*, order.paid",
    "*, ''",
    "**, order.paid",
    "order.*, order.paid",
    "order.*, order.",
    "order.*, order.item.added",
    "*.paid, order.paid",
    "*.paid, .paid",
    "order.*.added, order.item.added",
    "order.*.added, order.item.added.added",
    "*a*b*, xxaxxbxx",
    "a*a, aa",
    "a.c, a.c",
    "(a|b)+*, (a|b)+c",
  })
  void a_star_stands_for_any_text_and_all_else_for_itself(String pattern, String type) {
    assertThat(new TypePattern(pattern).matches(type)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "order.paid, order.Paid",
    "order.paid, order.pai",
    "order.paid, order.paid2",
    "order.paid, ''",
    "order.*, order",
    "order.*, xorder.paid",
    "*.paid, order.paid.late",
    "order.*.added, order.added",
    "a*a, a",
    "a.c, abc",
    "a?c, abc",
    "*ab, aab.",
  })
  void a_type_that_differs_does_not_match(String pattern, String type) {
    assertThat(new TypePattern(pattern).matches(type)).isFalse();
  }

  @Test
  void a_pattern_without_a_star_is_exact() {
    assertThat(new TypePattern("order.paid").isExact()).isTrue();
    assertThat(new TypePattern("order.*").isExact()).isFalse();
    assertThat(new TypePattern("*").isExact()).isFalse();
  }

  @Test
  void an_empty_pattern_is_refused() {
    assertThatThrownBy(() -> new TypePattern("")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_pattern_matches_what_the_same_regular_expression_does() {
    int[] matched = {0};
    Seeds.each(
        20_000,
        random -> {
          String pattern = text(random, "aab.**", 1, 7);
          String type = text(random, "aab.\n", 0, 9);
          Pattern expression =
              Pattern.compile(
                  Arrays.stream(pattern.split("\\*", -1))
                      .map(Pattern::quote)
                      .collect(Collectors.joining(".*")),
                  Pattern.DOTALL);
          boolean expected = expression.matcher(type).matches();
          matched[0] += expected ? 1 : 0;
          assertThat(new TypePattern(pattern).matches(type))
              .as("%s against %s", pattern, type)
              .isEqualTo(expected);
        });
    if (Seeds.areAllRun()) {
      assertThat(matched[0]).as("cases that match").isBetween(1_000, 19_000);
    }
  }

  @Test
  void many_stars_do_not_make_it_slow() {
    String pattern = "a*".repeat(100) + "b";
    assertThat(new TypePattern(pattern).matches("a".repeat(10_000))).isFalse();
  }

  private static String text(SplittableRandom random, String alphabet, int least, int most) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(least, most + 1);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }
}
