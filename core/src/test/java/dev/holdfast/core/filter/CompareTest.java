package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.filter.Filter.Comparison;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each comparison: what a field must be for it to hold. JSON stands in apostrophes. */
class CompareTest {

  private static boolean holds(String comparison, String found, String given) {
    return filter(comparison, given).holds(payload("{\"x\":" + found + "}"));
  }

  private static boolean holdsWithoutField(String comparison, String given) {
    return filter(comparison, given).holds(payload("{\"y\":1}"));
  }

  private static Comparison filter(String comparison, String given) {
    return (Comparison)
        FilterReader.read(
                """
                [{"fieldName":"x","fieldValue":%s,"comparison":"%s"}]\
                """
                    .formatted(given, comparison))
            .getFirst();
  }

  private static Payload payload(String data) {
    return new Payload(data.getBytes(UTF_8), null);
  }

  @Nested
  class Equality {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          // Numbers are compared as numbers, also with texts that are numbers.
          "5 | 5",
          "5 | 5.0",
          "50e-1 | 5",
          "-0 | 0",
          "5 | \"5\"",
          "5 | \"5.00\"",
          "\"5.00\" | 5",
          "123456789012345678901 | 123456789012345678901",
          // Date-times are compared as instants.
          "\"2026-05-04T09:30Z\" | \"2026-05-04T11:30:00.000+02:00\"",
          // Everything else is compared as text.
          "\"a\" | \"a\"",
          "\"\" | \"\"",
          "\"5\" | \"5\"",
          "true | true",
          "true | \"true\"",
          "\"false\" | false",
          "null | null",
          // Arrays as a whole, and in order.
          "[] | []",
          "[1,\"a\",null] | [1.0,\"a\",null]",
          "[[1],{\"a\":1}] | [[1],{\"a\":\"1\"}]",
          "[{\"a\":1,\"b\":2}] | [{\"b\":2,\"a\":1}]",
          // Objects ask for nested fields.
          "{\"a\":1,\"b\":2} | {\"a\":1}",
          "{\"a\":{\"b\":1}} | {\"a\":{\"b\":1}}",
          "{\"a\":{\"b\":[1,2],\"c\":3},\"d\":4} | {\"a\":{\"b\":[1,2]},\"d\":\"4\"}",
        })
    void eq_holds_and_ne_does_not(String found, String given) {
      assertThat(holds("eq", found, given)).isTrue();
      assertThat(holds("ne", found, given)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "5 | 6",
          "5 | \"a\"",
          "9007199254740992 | 9007199254740993",
          "0.1 | 0.10000000000000000001",
          // Two texts are two texts, whatever numbers they look like.
          "\"5\" | \"5.0\"",
          "\"5\" | \" 5\"",
          "\"a\" | \"A\"",
          "\"a\" | \"a \"",
          "\"2026-05-04T09:30Z\" | \"2026-05-04T09:30+02:00\"",
          "\"2026-05-04\" | \"2026-05-04T00:00Z\"",
          "\"2026-05-04T09:30Z\" | \"2026-05-04T09:30\"",
          "true | false",
          "true | \"True\"",
          "true | 1",
          "1 | true",
          // Null is the same as null only.
          "null | \"null\"",
          "\"null\" | null",
          "null | \"\"",
          "null | 0",
          "null | false",
          "0 | null",
          "false | null",
          "[] | null",
          // Arrays.
          "[1,2] | [2,1]",
          "[1] | [1,2]",
          "[1,2] | [1]",
          "[1] | 1",
          "1 | [1]",
          "[[]] | []",
          "[{\"a\":1,\"b\":2}] | [{\"a\":1}]",
          "[{\"a\":1}] | [{\"a\":1,\"b\":2}]",
          "[{\"a\":1}] | [{\"b\":1}]",
          "[{\"a\":1}] | [{\"a\":2}]",
          "[[1]] | [{\"a\":1}]",
          "[{\"a\":1}] | [[1]]",
          "[1] | [[1]]",
          "[{}] | [1]",
          // Objects.
          "{\"a\":1} | {\"a\":2}",
          "{\"a\":1} | {\"b\":1}",
          "{\"a\":1} | {\"a\":1,\"b\":2}",
          "{\"a\":1,\"b\":3} | {\"a\":1,\"b\":2}",
          "{\"a\":{\"b\":1}} | {\"a\":1}",
          "{\"a\":1} | {\"a\":{\"b\":1}}",
          "{\"a\":1} | 1",
          "{\"a\":1} | [1]",
          "[{\"a\":1}] | {\"a\":1}",
          "1 | {\"a\":1}",
          "null | {\"a\":null}",
        })
    void ne_holds_and_eq_does_not(String found, String given) {
      assertThat(holds("eq", found, given)).isFalse();
      assertThat(holds("ne", found, given)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {"1", "\"\"", "null", "[]", "{\"a\":1}"})
    void of_a_missing_field_ne_holds(String given) {
      assertThat(holdsWithoutField("eq", given)).isFalse();
      assertThat(holdsWithoutField("ne", given)).isTrue();
    }
  }

  @Nested
  class Order {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "9 | 10",
          "9 | \"10\"",
          "\"9\" | 10",
          "-1 | 0.5",
          "9007199254740992 | 9007199254740993",
          "1e999999998 | 1e999999999",
          "\"2026-05-04T09:30:00+02:00\" | \"2026-05-04T08:00Z\"",
          // Two texts are compared as texts.
          "\"10\" | \"9\"",
          "\"B\" | \"a\"",
          "\"\" | \"a\"",
          "\"2026-05-04\" | \"2026-05-05\"",
          "\"2026-05-04T09:30\" | \"2026-05-04T09:31\"",
          // A number beside a text that is none, too.
          "5 | \"a\"",
          "\"!\" | 5",
          // Objects ask for nested fields, of which each must hold.
          "{\"a\":1,\"b\":{\"c\":1}} | {\"a\":2,\"b\":{\"c\":2}}",
        })
    void lesser_is_lt_and_lte(String found, String given) {
      assertThat(holds("lt", found, given)).isTrue();
      assertThat(holds("lte", found, given)).isTrue();
      assertThat(holds("gt", found, given)).isFalse();
      assertThat(holds("gte", found, given)).isFalse();
      assertThat(holds("gt", given, found)).isTrue();
      assertThat(holds("gte", given, found)).isTrue();
      assertThat(holds("lt", given, found)).isFalse();
      assertThat(holds("lte", given, found)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "5 | 5.0",
          "5 | \"5\"",
          "\"a\" | \"a\"",
          "\"2026-05-04T09:30Z\" | \"2026-05-04T11:30+02\"",
          "{\"a\":1} | {\"a\":1}",
        })
    void equal_is_lte_and_gte(String found, String given) {
      assertThat(holds("lt", found, given)).isFalse();
      assertThat(holds("gt", found, given)).isFalse();
      assertThat(holds("lte", found, given)).isTrue();
      assertThat(holds("gte", found, given)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "null | 5",
          "null | \"null\"",
          "true | \"true\"",
          "false | 5",
          "[] | 5",
          "[5] | 5",
          "{} | 5",
          "{\"a\":5} | 5",
          "5 | {\"a\":5}",
          "{\"a\":5} | {\"b\":5}",
          "{\"a\":null} | {\"a\":5}",
          "{\"a\":5} | {\"a\":5,\"b\":5}",
        })
    void what_has_no_order_never_holds(String found, String given) {
      for (String comparison : List.of("lt", "lte", "gt", "gte")) {
        assertThat(holds(comparison, found, given)).as(comparison).isFalse();
      }
    }

    @Test
    void nor_does_a_missing_field() {
      for (String comparison : List.of("lt", "lte", "gt", "gte")) {
        assertThat(holdsWithoutField(comparison, "5")).as(comparison).isFalse();
        assertThat(holdsWithoutField(comparison, "{\"a\":5}")).as(comparison).isFalse();
      }
    }

    @Test
    void one_leaf_that_does_not_hold_is_enough() {
      assertThat(holds("lt", "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":2}")).isFalse();
      assertThat(holds("lte", "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":2}")).isTrue();
    }
  }

  @Nested
  class Contains {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          // A part of a text.
          "\"abc\" | \"b\"",
          "\"abc\" | \"abc\"",
          "\"abc\" | \"\"",
          "\"a15\" | 5",
          "\"untrue\" | true",
          // One of an array.
          "[1,2] | 2",
          "[1,2] | \"2\"",
          "[\"a\"] | \"a\"",
          "[null] | null",
          "[false,true] | \"true\"",
          "[\"2026-05-04T09:30Z\"] | \"2026-05-04T11:30+02:00\"",
          // One object of an array that has all these keys with these values.
          "[{\"a\":1,\"b\":2,\"c\":3}] | {\"a\":1,\"b\":2}",
          "[5,{\"a\":2},{\"a\":1}] | {\"a\":1}",
          "[{\"a\":{\"b\":1,\"c\":2}}] | {\"a\":{\"b\":1}}",
          "[{\"a\":\"x\"}] | {\"a\":\"x\"}",
          // An object is descended into.
          "{\"a\":\"abc\"} | {\"a\":\"b\"}",
          "{\"a\":[1,2],\"b\":{\"c\":[3]}} | {\"a\":2,\"b\":{\"c\":3}}",
          "{\"a\":[{\"b\":1,\"c\":2}]} | {\"a\":{\"b\":1}}",
        })
    void contains_holds_and_not_contains_does_not(String found, String given) {
      assertThat(holds("contains", found, given)).isTrue();
      assertThat(holds("notContains", found, given)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "\"abc\" | \"B\"",
          "\"abc\" | \"ac\"",
          "\"null\" | null",
          "[1,2] | 3",
          "[\"abc\"] | \"b\"",
          "[[1]] | 1",
          "[] | null",
          "[{\"a\":1}] | 1",
          // What is neither text nor array contains nothing.
          "15 | 5",
          "5 | 5",
          "true | true",
          "null | null",
          "{\"a\":1} | 1",
          // Not all keys, or not in one object.
          "[{\"a\":1},{\"b\":2}] | {\"a\":1,\"b\":2}",
          "[{\"a\":2}] | {\"a\":1}",
          "[{\"a\":\"abc\"}] | {\"a\":\"b\"}",
          "[{\"a\":[1]}] | {\"a\":1}",
          "[1] | {\"a\":1}",
          "{\"a\":\"abc\"} | {\"b\":\"b\"}",
          "{\"a\":\"abc\",\"b\":\"x\"} | {\"a\":\"b\",\"b\":\"y\"}",
          "\"a\" | {\"a\":1}",
          "{\"a\":1} | {\"a\":1}",
        })
    void not_contains_holds_and_contains_does_not(String found, String given) {
      assertThat(holds("contains", found, given)).isFalse();
      assertThat(holds("notContains", found, given)).isTrue();
    }

    @Test
    void of_a_missing_field_not_contains_holds() {
      for (String given : List.of("1", "\"\"", "null", "{\"a\":1}")) {
        assertThat(holdsWithoutField("contains", given)).isFalse();
        assertThat(holdsWithoutField("notContains", given)).isTrue();
      }
    }
  }

  @Nested
  class ContainsOnly {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "[1,2] | [2,1]",
          "[1,2,2,1] | [2,1]",
          "[1,2] | [2,1,1]",
          "[] | []",
          "[1] | 1",
          "[1,1.0,\"1\"] | 1",
          "[null] | null",
          // What is not an array counts as an array of one.
          "1 | 1",
          "1 | [1]",
          "\"a\" | [\"a\",\"a\"]",
          "{\"a\":1} | [{\"a\":1}]",
          // Elements are compared as eq compares them.
          "[1,\"true\",\"2026-05-04T09:30Z\",null] | [null,\"2026-05-04T11:30+02\",true,\"1.0\"]",
          "[5,\"5.0\"] | [5]",
          "[5] | [\"5\",\"5.0\"]",
          "[{\"a\":1},[1,2]] | [[1,\"2\"],{\"a\":1.0}]",
          // An object asks for nested fields.
          "{\"a\":[1,2],\"b\":3} | {\"a\":[2,1]}",
          "{\"a\":{\"b\":[1]}} | {\"a\":{\"b\":1}}",
        })
    void it_holds_for_the_same_set(String found, String given) {
      assertThat(holds("containsOnly", found, given)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "[1,2] | [1]",
          "[1] | [1,2]",
          "[1,2] | 1",
          "[2,1] | 1",
          "[] | 1",
          "[] | null",
          "[] | [1]",
          "1 | []",
          "1 | 2",
          "1 | [2]",
          "1 | [1,2]",
          "\"abc\" | \"b\"",
          "{\"a\":1} | 1",
          "{\"a\":1} | [1]",
          "[\"5\"] | [\"5.0\"]",
          "[5,\"5.0\"] | [\"5\"]",
          "[\"5\",\"5.0\"] | [\"5\"]",
          "[[1,2]] | [[2,1]]",
          "[{\"a\":1,\"b\":2}] | [{\"a\":1}]",
          "[{\"a\":\"5\"}] | [{\"a\":\"5.0\"}]",
          "[null] | [\"null\"]",
          "[null] | [false]",
          "[{\"a\":1}] | {\"a\":1}",
          "{\"a\":[1,2]} | {\"a\":[1]}",
          "{\"b\":[1]} | {\"a\":[1]}",
          "1 | {\"a\":[1]}",
        })
    void it_does_not_hold_for_another(String found, String given) {
      assertThat(holds("containsOnly", found, given)).isFalse();
    }

    @Test
    void it_does_not_hold_for_a_missing_field() {
      for (String given : List.of("1", "null", "[]", "{\"a\":[]}")) {
        assertThat(holdsWithoutField("containsOnly", given)).as(given).isFalse();
      }
    }

    @Test
    void sets_are_the_same_when_each_has_its_like_in_the_other() {
      Seeds.each(
          10_000,
          random -> {
            Value.Items these = RandomFilters.items(random);
            Value.Items those = RandomFilters.items(random);
            boolean expected =
                these.values().stream()
                        .allMatch(
                            one ->
                                those.values().stream()
                                    .anyMatch(other -> Compare.isSame(one, other)))
                    && those.values().stream()
                        .allMatch(
                            one ->
                                these.values().stream()
                                    .anyMatch(other -> Compare.isSame(one, other)));
            assertThat(ValueSet.areSame(these.values(), those.values()))
                .as("%s and %s", these, those)
                .isEqualTo(expected);
          });
    }

    @Test
    void large_arrays_are_not_compared_each_with_each() {
      StringBuilder found = new StringBuilder("[5");
      for (int i = 0; i < 100_000; i++) {
        found.append(",\"").append(5).append(i).append("e-").append(i).append('"');
      }
      assertThat(holds("containsOnly", found + "]", "[5,\"5.0\"]")).isFalse();
    }
  }

  @Nested
  class Same {

    @Test
    void it_goes_both_ways_and_has_equal_keys() {
      Seeds.each(
          20_000,
          random -> {
            Value one = RandomFilters.value(random);
            Value other = RandomFilters.value(random);
            assertThat(Compare.isSame(one, one)).as("%s", one).isTrue();
            assertThat(Compare.isSame(one, other))
                .as("%s and %s", one, other)
                .isEqualTo(Compare.isSame(other, one));
            if (one instanceof Value.Scalar first
                && other instanceof Value.Scalar second
                && Compare.isSame(one, other)) {
              assertThat(first.key()).isEqualTo(second.key());
            }
          });
    }
  }
}
