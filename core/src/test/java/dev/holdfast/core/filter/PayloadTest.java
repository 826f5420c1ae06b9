package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import dev.holdfast.core.filter.Value.Truth;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {

  private static Payload payload(String data, @Nullable String previous) {
    return new Payload(data.getBytes(UTF_8), previous == null ? null : previous.getBytes(UTF_8));
  }

  @Nested
  class Read {

    @Test
    void each_kind_of_value_is_read() {
      Payload payload =
          payload(
              """
              {"text":"a","whole":5,"broken":1.50e3,"yes":true,"no":false,"null":null,
               "items":[1,[],{}],"fields":{"b":1,"a":{"c":"d"}}}
              """,
              null);
      assertThat(payload.fields(State.NEW))
          .containsOnly(
              Map.entry("text", new Text("a")),
              Map.entry("whole", new Numeral("5")),
              Map.entry("broken", new Numeral("1.50e3")),
              Map.entry("yes", Truth.TRUE),
              Map.entry("no", Truth.FALSE),
              Map.entry("null", Nothing.NULL),
              Map.entry(
                  "items",
                  new Items(List.of(new Numeral("1"), new Items(List.of()), new Fields(Map.of())))),
              Map.entry(
                  "fields",
                  new Fields(
                      Map.of("b", new Numeral("1"), "a", new Fields(Map.of("c", new Text("d")))))));
    }

    @Test
    void only_fields_that_are_named_are_kept() {
      byte[] data = "{\"a\":1,\"b\":{\"c\":2},\"c\":[3],\"d\":4}".getBytes(UTF_8);
      Payload payload = new Payload(data, data, Set.of("a", "c", "e"));
      for (State state : State.values()) {
        assertThat(payload.fields(state)).containsOnlyKeys("a", "c");
      }
    }

    @Test
    void of_a_field_that_is_there_twice_the_last_counts() {
      Payload payload = payload("{\"a\":1,\"b\":{\"c\":1,\"c\":2},\"a\":2}", null);
      assertThat(payload.field(State.NEW, "a")).isEqualTo(new Numeral("2"));
      assertThat(payload.field(State.NEW, "b"))
          .isEqualTo(new Fields(Map.of("c", new Numeral("2"))));
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "null",
          "5",
          "\"{}\"",
          "[{\"a\":1}]",
          "",
          " ",
          "{",
          "{\"a\":1",
          "{\"a\":1,}",
          "{\"a\":1}}",
          "{\"a\":1} {\"a\":1}",
          "{\"a\":01}",
          "{\"a\":1,\"b\":[1,}",
          "{\"a\":1,\"b\":nul}",
          "{a:1}",
          "\u0000\u0001",
        })
    void what_is_no_json_object_has_no_fields(String bytes) {
      Payload payload = payload(bytes, bytes);
      assertThat(payload.fields(State.NEW)).isEmpty();
      assertThat(payload.fields(State.OLD)).isEmpty();
    }

    @Test
    void bytes_that_are_no_text_have_no_fields() {
      Payload payload = new Payload(new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'}, null);
      assertThat(payload.fields(State.NEW)).isEmpty();
    }

    @Test
    void what_is_nested_too_deep_has_no_fields() {
      String nested = "{\"a\":1,\"b\":%s}";
      String deepest = "[".repeat(Json.NESTING - 1) + "]".repeat(Json.NESTING - 1);
      assertThat(payload(nested.formatted(deepest), null).field(State.NEW, "a")).isNotNull();
      assertThat(payload(nested.formatted("[" + deepest + "]"), null).fields(State.NEW)).isEmpty();
    }

    @Test
    void long_numbers_names_and_texts_are_read() {
      String digits = "7".repeat(200_000);
      Payload payload =
          payload(
              "{\"number\":%s,\"text\":\"%s\",\"%s\":1}".formatted(digits, digits, digits), null);
      assertThat(payload.field(State.NEW, "number")).isEqualTo(new Numeral(digits));
      assertThat(payload.field(State.NEW, "text")).isEqualTo(new Text(digits));
      assertThat(payload.field(State.NEW, digits)).isEqualTo(new Numeral("1"));
    }

    @Test
    void the_states_are_told_apart_and_read_once() {
      byte[] data = "{\"a\":1}".getBytes(UTF_8);
      byte[] previous = "{\"a\":2}".getBytes(UTF_8);
      Payload payload = new Payload(data, previous);
      assertThat(payload.field(State.NEW, "a")).isEqualTo(new Numeral("1"));
      assertThat(payload.field(State.OLD, "a")).isEqualTo(new Numeral("2"));
      data[5] = '3';
      previous[5] = '3';
      assertThat(payload.field(State.NEW, "a")).isEqualTo(new Numeral("1"));
      assertThat(payload.field(State.OLD, "a")).isEqualTo(new Numeral("2"));
      assertThat(payload).hasToString("Payload[14 bytes]");
      assertThat(payload("{}", null)).hasToString("Payload[2 bytes]");
    }

    @Test
    void a_state_that_nobody_asks_for_is_not_read() {
      byte[] data = "{\"a\":1}".getBytes(UTF_8);
      Payload payload = new Payload(data, null);
      data[5] = '3';
      assertThat(payload.field(State.NEW, "a")).isEqualTo(new Numeral("3"));
    }
  }

  @Nested
  class OldState {

    @Test
    void filters_look_at_the_state_that_they_name() {
      Payload payload = payload("{\"x\":1}", "{\"x\":2}");
      assertThat(new Comparison("x", new Numeral("1"), Operator.EQ, State.NEW).holds(payload))
          .isTrue();
      assertThat(new Comparison("x", new Numeral("1"), Operator.EQ, State.OLD).holds(payload))
          .isFalse();
      assertThat(new Comparison("x", new Numeral("2"), Operator.EQ, State.OLD).holds(payload))
          .isTrue();
    }

    @Test
    void a_state_that_is_absent_has_no_fields() {
      Payload payload = payload("{\"x\":1}", null);
      assertThat(new Comparison("x", new Numeral("1"), Operator.EQ, State.OLD).holds(payload))
          .isFalse();
      assertThat(new Comparison("x", new Numeral("1"), Operator.NE, State.OLD).holds(payload))
          .isTrue();
    }
  }

  @Nested
  class Changed {
    private static final Comparison CHANGED =
        new Comparison("x", null, Operator.CHANGED, State.NEW);

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "{\"x\":1} | {\"x\":2}",
          "{\"x\":\"5\"} | {\"x\":\"5.0\"}",
          "{\"x\":null} | {\"x\":0}",
          "{\"x\":[1,2]} | {\"x\":[2,1]}",
          "{\"x\":{\"a\":1}} | {\"x\":{\"a\":1,\"b\":2}}",
          "{\"x\":{\"a\":{\"b\":[1]}}} | {\"x\":{\"a\":{\"b\":[2]}}}",
          // Missing in one of the two.
          "{\"x\":1} | {}",
          "{\"x\":null} | {}",
          "{} | {\"x\":1}",
          "5 | {\"x\":1}",
          "{\"x\":1} | 5",
          "{\"x\":1} | []",
        })
    void it_holds_when_the_field_differs(String data, String previous) {
      assertThat(CHANGED.holds(payload(data, previous))).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "{\"x\":1,\"y\":1} | {\"x\":1,\"y\":2}",
          "{\"x\":1.0} | {\"x\":1}",
          "{\"x\":\"2026-05-04T09:30Z\"} | {\"x\":\"2026-05-04T11:30+02:00\"}",
          "{\"x\":{\"a\":1,\"b\":[null]}} | {\"x\":{\"b\":[null],\"a\":1}}",
          "{\"x\":null} | {\"x\":null}",
          "{\"y\":1} | {\"y\":2}",
          "{} | {}",
          // Null is no state.
          "{\"x\":1} | null",
          "{\"x\":1} | ' null '",
        })
    void it_does_not_hold_when_it_is_the_same(String data, String previous) {
      assertThat(CHANGED.holds(payload(data, previous))).isFalse();
    }

    @Test
    void it_does_not_hold_without_a_state_before() {
      assertThat(CHANGED.holds(payload("{\"x\":1}", null))).isFalse();
      assertThat(CHANGED.holds(payload("{}", null))).isFalse();
    }
  }
}
