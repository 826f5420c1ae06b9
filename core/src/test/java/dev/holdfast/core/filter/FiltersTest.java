package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiltersTest {
  private static final String YES = comparison("1");
  private static final String NO = comparison("2");
  private static final Payload ONE = new Payload("{\"x\":1}".getBytes(UTF_8), null);

  private static String comparison(String value) {
    return """
    {"fieldName":"x","fieldValue":%s,"comparison":"eq"}\
    """
        .formatted(value);
  }

  private static String group(Connector connector, String... filters) {
    return """
    {"type":"group","connector":"%s","filters":[%s]}\
    """
        .formatted(connector, String.join(",", filters));
  }

  private static Filters filters(Connector connector, String... filters) {
    return Filters.parse(connector, "[" + String.join(",", filters) + "]");
  }

  @Nested
  class Joined {

    @Test
    void with_no_filter_every_payload_will_do() {
      for (Connector connector : Connector.values()) {
        assertThat(filters(connector).isEmpty()).isTrue();
        assertThat(filters(connector).hold(ONE)).isTrue();
      }
      assertThat(filters(Connector.OR, NO).isEmpty()).isFalse();
    }

    @Test
    void joined_by_and_all_must_hold() {
      assertThat(filters(Connector.AND, YES, YES).hold(ONE)).isTrue();
      assertThat(filters(Connector.AND, YES, NO).hold(ONE)).isFalse();
      assertThat(filters(Connector.AND, NO, YES).hold(ONE)).isFalse();
    }

    @Test
    void joined_by_or_one_must_hold() {
      assertThat(filters(Connector.OR, NO, YES).hold(ONE)).isTrue();
      assertThat(filters(Connector.OR, YES, NO).hold(ONE)).isTrue();
      assertThat(filters(Connector.OR, NO, NO).hold(ONE)).isFalse();
    }

    @Test
    void a_group_counts_as_one_filter() {
      assertThat(filters(Connector.AND, YES, group(Connector.OR, NO, YES)).hold(ONE)).isTrue();
      assertThat(filters(Connector.AND, YES, group(Connector.OR, NO, NO)).hold(ONE)).isFalse();
      assertThat(filters(Connector.OR, NO, group(Connector.AND, YES, YES)).hold(ONE)).isTrue();
      assertThat(filters(Connector.OR, NO, group(Connector.AND, YES, NO)).hold(ONE)).isFalse();
    }
  }

  @Nested
  class Decided {

    @Test
    void each_filter_is_told_with_its_place() {
      Decision decision = filters(Connector.OR, NO, group(Connector.OR, NO, YES), YES).decide(ONE);
      assertThat(decision.hold()).isTrue();
      assertThat(decision.decidedBy()).isEqualTo("filters[1].filters[1]");
      assertThat(decision.each())
          .containsExactly(
              entry("filters[0]", false),
              entry("filters[1]", true),
              entry("filters[1].filters[0]", false),
              entry("filters[1].filters[1]", true),
              entry("filters[2]", true));
    }

    @Test
    void without_filters_nothing_decides() {
      assertThat(Filters.NONE.decide(ONE)).isEqualTo(new Decision(true, null, Map.of()));
    }

    @Test
    void joined_by_and_the_first_that_does_not_hold_decides() {
      assertThat(filters(Connector.AND, YES, NO, NO).decide(ONE).decidedBy())
          .isEqualTo("filters[1]");
      assertThat(filters(Connector.AND, YES, YES).decide(ONE).decidedBy()).isNull();
      assertThat(
              filters(Connector.AND, YES, group(Connector.AND, YES, NO, NO))
                  .decide(ONE)
                  .decidedBy())
          .isEqualTo("filters[1].filters[1]");
    }

    @Test
    void joined_by_or_the_first_that_holds_decides() {
      assertThat(filters(Connector.OR, NO, YES, YES).decide(ONE).decidedBy())
          .isEqualTo("filters[1]");
      Decision none = filters(Connector.OR, NO, NO).decide(ONE);
      assertThat(none.decidedBy()).isNull();
      assertThat(none.hold()).isFalse();
    }

    @Test
    void a_group_decides_as_a_whole_when_it_took_all_of_its_filters() {
      assertThat(filters(Connector.AND, group(Connector.OR, NO, NO)).decide(ONE).decidedBy())
          .isEqualTo("filters[0]");
      assertThat(filters(Connector.OR, group(Connector.AND, YES, YES)).decide(ONE).decidedBy())
          .isEqualTo("filters[0]");
    }

    @Test
    void a_decision_says_what_the_filters_say() {
      Seeds.each(
          5_000,
          random -> {
            Filters filters = RandomFilters.filters(random);
            Payload payload = new Payload(RandomFilters.state(random), RandomFilters.state(random));
            Decision decision = filters.decide(payload);
            assertThat(decision.hold()).isEqualTo(filters.hold(payload));
            assertThat(decision.each()).isEqualTo(eachAlone(filters, payload));
            String decidedBy = decision.decidedBy();
            if (decidedBy != null) {
              assertThat(decision.each()).containsEntry(decidedBy, decision.hold());
            }
          });
    }
  }

  private static Map<String, Boolean> eachAlone(Filters filters, Payload payload) {
    Map<String, Boolean> each = new LinkedHashMap<>();
    for (int i = 0; i < filters.filters().size(); i++) {
      Filter filter = filters.filters().get(i);
      each.put("filters[" + i + "]", filter.holds(payload));
      if (filter instanceof Filter.Group group) {
        for (int j = 0; j < group.filters().size(); j++) {
          each.put("filters[" + i + "].filters[" + j + "]", group.filters().get(j).holds(payload));
        }
      }
    }
    return each;
  }

  @Nested
  class Creations {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "{\"fieldName\":\"x\",\"comparison\":\"changed\"}",
          "{\"fieldName\":\"x\",\"fieldValue\":1,\"comparison\":\"eq\",\"state\":\"oldState\"}",
        })
    void what_asks_for_the_state_before_does_not_fit(String unfit) {
      InvalidFilter beside =
          filters(Connector.AND, YES, unfit, unfit).unfitForCreation().orElseThrow();
      assertThat(beside.place()).isEqualTo("filters[1]");
      assertThat(beside.reason()).contains("has no previous state. Use newState");
      assertThat(
              filters(Connector.OR, YES, group(Connector.OR, YES, unfit))
                  .unfitForCreation()
                  .orElseThrow()
                  .place())
          .isEqualTo("filters[1].filters[1]");
    }

    @Test
    void the_others_fit() {
      assertThat(filters(Connector.AND, YES, group(Connector.OR, NO, YES)).unfitForCreation())
          .isEmpty();
      assertThat(Filters.NONE.unfitForCreation()).isEmpty();
    }
  }

  @Nested
  class Written {

    @Test
    void what_was_left_out_is_filled_in_and_digits_and_order_are_kept() {
      Filters filters =
          filters(
              Connector.AND,
              comparison("{\"b\":1.50,\"a\":[1e5,null,true,\"é\\n\"]}"),
              group(
                  Connector.OR,
                  "{\"comparison\":\"changed\",\"fieldValue\":5,\"fieldName\":\"y\"}",
                  comparison("-0").replace("}", ",\"state\":\"oldState\"}")));
      assertThat(filters.json())
          .isEqualTo(
              """
              [{"fieldName":"x","fieldValue":{"b":1.50,"a":[1e5,null,true,"é\\n"]},\
              "comparison":"eq","state":"newState"},\
              {"type":"group","connector":"OR","filters":[\
              {"fieldName":"y","comparison":"changed","state":"newState"},\
              {"fieldName":"x","fieldValue":-0,"comparison":"eq","state":"oldState"}]}]\
              """);
      assertThat(Filters.NONE.json()).isEqualTo("[]");
    }

    @Test
    void what_is_written_is_read_back() {
      Seeds.each(
          5_000,
          random -> {
            Filters filters = RandomFilters.filters(random);
            Filters read = Filters.parse(filters.connector(), filters.json());
            assertThat(read).isEqualTo(filters);
            assertThat(read.hashCode()).isEqualTo(filters.hashCode());
            assertThat(read.json()).isEqualTo(filters.json());
          });
    }
  }

  @Test
  void the_names_of_all_fields_are_told() {
    List<String> names = new ArrayList<>();
    filters(Connector.AND, YES, group(Connector.OR, YES.replace("x", "y"), YES.replace("x", "z")))
        .forEachFieldName(names::add);
    assertThat(names).containsExactly("x", "y", "z");
  }

  @Test
  void values_are_equal_when_they_are_written_alike() {
    assertThat(new Text("5")).isEqualTo(new Text("5")).isNotEqualTo(new Text("5.0"));
    assertThat(new Text("5")).isNotEqualTo(new Numeral("5")).hasToString("\"5\"");
    assertThat(new Numeral("5")).isEqualTo(new Numeral("5")).isNotEqualTo(new Numeral("5.0"));
    assertThat(new Numeral("5")).isNotEqualTo(new Text("5")).hasToString("5");
    assertThat(new Text("5").hashCode()).isNotEqualTo(new Text("6").hashCode());
    assertThat(new Numeral("5").hashCode()).isNotEqualTo(new Numeral("6").hashCode());
    assertThat(Value.Nothing.NULL.text()).isEqualTo("null");
  }
}
