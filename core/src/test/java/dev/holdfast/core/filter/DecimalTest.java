package dev.holdfast.core.filter;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DecimalTest {

  @ParameterizedTest
  @CsvSource({
    "0, -0",
    "0, 0.000e99",
    "0, -0.0e-99999999999999999999999",
    "1, 1.0",
    "1, 10e-1",
    "1, 0.1E+1",
    "1, 0.001e3",
    "100, 1e2",
    "100, 1e+0002",
    "-1.50, -15e-1",
    "12345678901234567890.5, 123456789012345678905e-1",
    "1234567890123456789000, 1234567890123456789e3",
    "0.1234567890123456789012, 1234567890123456789.012e-19",
    "1e999999999, 10e999999998",
    "1e-999999999, 0.1e-999999998",
    "1e999999999999999999, 10e999999999999999998",
  })
  void numbers_that_are_written_differently_are_equal(String one, String other) {
    assertThat(decimal(one)).isEqualByComparingTo(decimal(other)).isEqualTo(decimal(other));
    assertThat(decimal(one).hashCode()).isEqualTo(decimal(other).hashCode());
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "-1, 0",
    "-1, 1",
    "-2, -1",
    "-10, -9",
    "9, 10",
    "0.9, 1",
    "0.09, 0.1",
    "1, 1.0000000000000000000000001",
    "-1.0000000000000000000000001, -1",
    "9007199254740992, 9007199254740993",
    "123456789012345678, 1234567890123456781",
    "1234567890123456781, 1234567890123456782",
    "12345678901234567891, 123456789012345678911",
    "0, 1e-999999999",
    "-1e-999999999, 0",
    "1e-999999999, 1",
    "999999999, 1e999999999",
    "1e999999998, 1e999999999",
    "-1e999999999, -1e999999998",
    "9e999999999999999998, 1e999999999999999999",
    "9e999999999999999998, 1e99999999999999999999999999999",
    "1e-99999999999999999999999999999, 1e-999999999999999998",
    "-1e99999999999999999999999999999, -9e999999999999999998",
    "0, 1e-99999999999999999999999999999",
  })
  void numbers_are_ordered_exactly(String less, String more) {
    assertThat(decimal(less)).isLessThan(decimal(more)).isNotEqualTo(decimal(more));
    assertThat(decimal(more)).isGreaterThan(decimal(less));
  }

  @ParameterizedTest
  @CsvSource({
    "1e1000000000000000001, 9e7000000000000000000",
    "1e1000000000000000001, 10e1000000000000000000",
    "1e2000000000000000000, 1e20000000000000000000",
    "12e-1000000000000000003, 1e-99999999999999999999999",
    "-1e1000000000000000001, -2e2000000000000000001",
  })
  void beyond_all_bounds_numbers_count_as_one(String one, String other) {
    assertThat(decimal(one)).isEqualTo(decimal(other));
    assertThat(decimal(one).hashCode()).isEqualTo(decimal(other).hashCode());
  }

  @Test
  void the_bound_is_at_ten_to_the_eighteenth_place() {
    assertThat(decimal("0.1e1000000000000000000")).isLessThan(decimal("0.2e1000000000000000000"));
    assertThat(decimal("0.2e-1000000000000000000"))
        .isGreaterThan(decimal("0.1e-1000000000000000000"));
    assertThat(decimal("1e1000000000000000000")).isEqualTo(decimal("2e1000000000000000000"));
    assertThat(decimal("0.01e-1000000000000000000"))
        .isEqualTo(decimal("0.02e-1000000000000000000"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "-.5",
        "1e",
        "1e+",
        "1e-",
        "1.e5",
        "1e5.5",
        "1 ",
        " 1",
        "1f",
        "1e5x",
        "0x10",
        "NaN",
        "Infinity",
        "--1",
        "1-",
        "1,5",
        "١",
        "1e١",
        "1.5.5",
        "1ee5",
        "1e+-5",
        "/",
        ":",
        "1/",
        "1:"
      })
  void what_json_does_not_call_a_number_is_none(String text) {
    assertThat(Decimal.parse(text)).isNull();
  }

  @Test
  void a_million_digits_are_compared_to_the_last() {
    String digits = "123456789".repeat(110_000);
    assertThat(decimal(digits + "1")).isLessThan(decimal(digits + "2"));
    assertThat(decimal("0." + digits)).isEqualTo(decimal(digits + "e-" + digits.length()));
    assertThat(decimal("1e" + digits)).isGreaterThan(decimal(digits));
    assertThat(decimal("1e-" + digits)).isLessThan(decimal("0." + "0".repeat(1_000_000) + "1"));
    assertThat(decimal("1" + "0".repeat(1_000_000))).isEqualTo(decimal("1e1000000"));
  }

  @Test
  void hash_codes_tell_numbers_apart() {
    Set<Integer> codes = new HashSet<>();
    int numbers = 0;
    for (String sign : List.of("", "-")) {
      for (int exponent = -50; exponent < 50; exponent++) {
        for (int digit = 1; digit < 10; digit++) {
          for (String tail : List.of("", "000000000000000001", "0000000000000000012")) {
            codes.add(decimal(sign + digit + "." + digit + tail + "e" + exponent).hashCode());
            numbers++;
          }
        }
      }
    }
    assertThat(codes).hasSizeGreaterThan(numbers * 99 / 100);
  }

  @Test
  void a_number_is_shown_by_its_digits() {
    assertThat(decimal("-1500")).hasToString("-0.150000000000000000e4");
    assertThat(decimal("0.0")).hasToString("0.0e0");
    assertThat(decimal("12345678901234567890.5")).hasToString("0.123456789012345678905e20");
  }

  @Test
  void numbers_compare_as_big_decimals_do() {
    Seeds.each(
        20_000,
        random -> {
          String one = number(random);
          String other = random.nextInt(3) == 0 ? rewritten(one, random) : number(random);
          int expected = new BigDecimal(one).compareTo(new BigDecimal(other));
          assertThat(Integer.signum(decimal(one).compareTo(decimal(other))))
              .as("%s and %s", one, other)
              .isEqualTo(expected);
          assertThat(decimal(one).equals(decimal(other))).isEqualTo(expected == 0);
          if (expected == 0) {
            assertThat(decimal(one).hashCode()).isEqualTo(decimal(other).hashCode());
          }
        });
  }

  private static String number(SplittableRandom random) {
    StringBuilder text = new StringBuilder(random.nextBoolean() ? "-" : "");
    int whole = random.nextInt(4) == 0 ? random.nextInt(40) : random.nextInt(3);
    if (whole == 0) {
      text.append('0');
    } else {
      text.append(1 + random.nextInt(2));
      digits(text, whole - 1, random);
    }
    if (random.nextBoolean()) {
      text.append('.');
      digits(text, 1 + random.nextInt(random.nextInt(4) == 0 ? 40 : 3), random);
    }
    if (random.nextInt(3) == 0) {
      text.append(random.nextBoolean() ? 'e' : 'E');
      text.append(random.nextBoolean() ? "-" : random.nextBoolean() ? "+" : "");
      text.append(random.nextInt(25));
    }
    return text.toString();
  }

  private static void digits(StringBuilder text, int count, SplittableRandom random) {
    for (int i = 0; i < count; i++) {
      text.append(random.nextInt(3) == 0 ? random.nextInt(10) : 0);
    }
  }

  private static String rewritten(String number, SplittableRandom random) {
    BigDecimal value = new BigDecimal(number);
    return random.nextBoolean()
        ? value.stripTrailingZeros().toPlainString()
        : value.setScale(value.scale() + random.nextInt(5)).toString();
  }

  private static Decimal decimal(String text) {
    return requireNonNull(Decimal.parse(text), text);
  }
}
