package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

class FilterReaderTest {
  private static final String A_FILTER =
      """
      {"fieldName":"x","fieldValue":1,"comparison":"eq"}\
      """;

  private static List<Filter> read(String json) {
    return FilterReader.read(json);
  }

  private static Filter readOne(String json) {
    return read("[" + json + "]").getFirst();
  }

  private static InvalidFilter refusal(String json) {
    try {
      read(json);
    } catch (InvalidFilter e) {
      return e;
    }
    throw new AssertionError("not refused: " + json);
  }

  private static String repeated(String json, int times) {
    return "[" + String.join(",", Collections.nCopies(times, json)) + "]";
  }

  private static String group(int size) {
    return "{\"type\":\"group\",\"connector\":\"OR\",\"filters\":" + repeated(A_FILTER, size) + "}";
  }

  @Nested
  class Accepted {

    @Test
    void a_filter_looks_at_the_new_state_unless_told_otherwise() {
      assertThat(readOne(A_FILTER))
          .isEqualTo(new Comparison("x", new Numeral("1"), Operator.EQ, State.NEW));
      assertThat(
              readOne(
                  """
                  {"state":"newState","comparison":"ne","fieldValue":"1","fieldName":"x"}
                  """))
          .isEqualTo(new Comparison("x", new Text("1"), Operator.NE, State.NEW));
      assertThat(
              readOne(
                  """
                  {"fieldName":"x.y","fieldValue":"1","comparison":"gt","state":"oldState"}
                  """))
          .isEqualTo(new Comparison("x.y", new Text("1"), Operator.GT, State.OLD));
    }

    @ParameterizedTest
    @EnumSource(Operator.class)
    void each_comparison_has_a_word(Operator operator) {
      Filter filter =
          readOne(
              """
              {"fieldName":"x","fieldValue":1,"comparison":"%s"}
              """
                  .formatted(operator.word()));
      assertThat(((Comparison) filter).operator()).isEqualTo(operator);
    }

    @Test
    void changed_needs_no_value_and_drops_one() {
      Comparison changed = new Comparison("x", null, Operator.CHANGED, State.NEW);
      assertThat(readOne("{\"fieldName\":\"x\",\"comparison\":\"changed\"}")).isEqualTo(changed);
      assertThat(readOne("{\"fieldValue\":{},\"fieldName\":\"x\",\"comparison\":\"changed\"}"))
          .isEqualTo(changed);
    }

    @Test
    void a_group_may_say_so_at_its_end() {
      Filter group =
          readOne(
              """
              {"filters":%s,"connector":"AND","type":"group"}
              """
                  .formatted(repeated(A_FILTER, 2)));
      Comparison filter = new Comparison("x", new Numeral("1"), Operator.EQ, State.NEW);
      assertThat(group).isEqualTo(new Group(Connector.AND, List.of(filter, filter)));
    }

    @Test
    void no_filter_is_fine() {
      assertThat(read("[]")).isEmpty();
    }

    @Test
    void as_many_as_there_may_be_are_fine() {
      assertThat(read(repeated(A_FILTER, FilterLimits.FILTERS))).hasSize(FilterLimits.FILTERS);
      assertThat(read(repeated(group(2), FilterLimits.GROUPS))).hasSize(FilterLimits.GROUPS);
      assertThat(readOne(group(FilterLimits.GROUP_LEAST))).isInstanceOf(Group.class);
      assertThat(readOne(group(FilterLimits.GROUP_MOST))).isInstanceOf(Group.class);
    }

    @Test
    void the_parser_is_left_at_the_end_of_the_array() {
      try (JsonParser parser =
          Json.FACTORY.createParser(
              ObjectReadContext.empty(), "{\"filters\":[" + group(2) + "],\"next\":1}")) {
        parser.nextToken();
        parser.nextName();
        parser.nextToken();
        assertThat(FilterReader.read(parser)).hasSize(1);
        assertThat(parser.currentToken()).isEqualTo(JsonToken.END_ARRAY);
        assertThat(parser.nextName()).isEqualTo("next");
      }
    }
  }

  @Nested
  class Refused {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "{} | filters | It must be an array of filters, not an object.",
          "null | filters | It must be an array of filters, not null.",
          "[5] | filters[0] | It must be an object, not a number.",
          "[1.5] | filters[0] | It must be an object, not a number.",
          "[true] | filters[0] | It must be an object, not a boolean.",
          "[\"x\"] | filters[0] | It must be an object, not a string.",
          "[[]] | filters[0] | It must be an object, not an array.",
          "[{\"fieldName\":5}] | filters[0].fieldName | It must be a string, not a number.",
          "[{\"fieldName\":null}] | filters[0].fieldName | It must be a string, not null.",
          "[{\"comparison\":[]}] | filters[0].comparison | It must be a string, not an array.",
          "[{\"state\":{}}] | filters[0].state | It must be a string, not an object.",
          "[{\"type\":false}] | filters[0].type | It must be a string, not a boolean.",
          "[{\"connector\":1}] | filters[0].connector | It must be a string, not a number.",
          "[{\"filters\":{}}] | filters[0].filters | It must be an array of filters, not an object.",
        })
    void wrong_types(String json, String place, String reason) {
      InvalidFilter refusal = refusal(json);
      assertThat(refusal.place()).isEqualTo(place);
      assertThat(refusal.reason()).isEqualTo(reason);
    }

    @Test
    void unknown_words_with_those_that_are_known() {
      InvalidFilter comparison = refusal("[{\"comparison\":\"EQ\"}]");
      assertThat(comparison.place()).isEqualTo("filters[0].comparison");
      assertThat(comparison.reason())
          .isEqualTo(
              "It must be one of eq, ne, gt, gte, lt, lte, contains, notContains, containsOnly,"
                  + " changed, written like that.");
      assertThat(refusal("[{\"state\":\"new\"}]").reason())
          .isEqualTo("It must be one of newState, oldState, written like that.");
      assertThat(refusal("[{\"connector\":\"and\"}]").reason())
          .isEqualTo("It must be one of AND, OR, written like that.");
      InvalidFilter type = refusal("[{\"type\":\"filter\"}]");
      assertThat(type.place()).isEqualTo("filters[0].type");
      assertThat(type.reason()).startsWith("The only type is group.");
    }

    @Test
    void unknown_fields() {
      InvalidFilter refusal = refusal("[" + A_FILTER + ",{\"value\":5}]");
      assertThat(refusal.place()).isEqualTo("filters[1].value");
      assertThat(refusal.reason()).startsWith("There is no such field. A filter has fieldName,");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fieldName", "comparison"})
    void what_is_there_twice(String field) {
      InvalidFilter refusal =
          refusal(
              """
              [{"fieldName":"x","comparison":"eq","%s":"eq"}]
              """
                  .formatted(field));
      assertThat(refusal.place()).isEqualTo("filters[0]." + field);
      assertThat(refusal.reason()).isEqualTo("It is there twice. Give it once.");
    }

    @Test
    void a_key_that_is_twice_in_a_value() {
      InvalidFilter refusal = refusal("[{\"fieldValue\":{\"a\":1,\"b\":{\"c\":1,\"c\":2}}}]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldValue");
      assertThat(refusal.reason()).isEqualTo("A field is in an object of it twice. Give it once.");
    }

    @Test
    void what_is_missing() {
      assertThat(refusal("[{}]").place()).isEqualTo("filters[0].fieldName");
      assertThat(refusal("[{}]").reason()).startsWith("It is missing.");
      InvalidFilter comparison = refusal("[{\"fieldName\":\"x\",\"fieldValue\":1}]");
      assertThat(comparison.place()).isEqualTo("filters[0].comparison");
      assertThat(comparison.reason()).startsWith("It is missing. Use one of eq, ne,");
      InvalidFilter value = refusal("[{\"fieldName\":\"x\",\"comparison\":\"eq\"}]");
      assertThat(value.place()).isEqualTo("filters[0].fieldValue");
      assertThat(value.reason()).startsWith("It is missing. Give the value to compare with");
      InvalidFilter connector =
          refusal("[{\"type\":\"group\",\"filters\":" + repeated(A_FILTER, 2) + "}]");
      assertThat(connector.place()).isEqualTo("filters[0].connector");
      assertThat(connector.reason()).isEqualTo("It is missing. Say AND or OR.");
      InvalidFilter filters = refusal("[{\"type\":\"group\",\"connector\":\"OR\"}]");
      assertThat(filters.place()).isEqualTo("filters[0].filters");
      assertThat(filters.reason()).startsWith("A group has 2 to 5 filters, not 0.");
    }

    @Test
    void an_empty_name() {
      InvalidFilter refusal = refusal("[{\"fieldName\":\"\"}]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldName");
      assertThat(refusal.reason()).startsWith("It is empty.");
    }

    @Test
    void groups_that_are_too_small_or_too_large() {
      InvalidFilter small = refusal("[" + group(1) + "]");
      assertThat(small.place()).isEqualTo("filters[0].filters");
      assertThat(small.reason())
          .isEqualTo("A group has 2 to 5 filters, not 1. Put a single filter beside the groups.");
      assertThat(refusal("[" + group(6) + "]").reason())
          .isEqualTo("A group has 2 to 5 filters, not 6. Use several groups.");
    }

    @Test
    void groups_in_groups() {
      InvalidFilter byFilters =
          refusal(
              """
              [%s,{"type":"group","connector":"OR","filters":[%s,{"filters":[]}]}]
              """
                  .formatted(A_FILTER, A_FILTER));
      assertThat(byFilters.place()).isEqualTo("filters[1].filters[1].filters");
      assertThat(byFilters.reason()).startsWith("Groups cannot be nested.");
      InvalidFilter byType =
          refusal(
              """
              [{"type":"group","connector":"OR","filters":[{"type":"group"}]}]
              """);
      assertThat(byType.place()).isEqualTo("filters[0].filters[0].type");
      assertThat(byType.reason()).startsWith("Groups cannot be nested.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fieldName", "fieldValue", "comparison", "state"})
    void a_group_with_what_a_filter_has(String field) {
      String value = field.equals("state") ? "oldState" : "eq";
      InvalidFilter refusal =
          refusal("[" + group(2).replace("}]}", "}],\"" + field + "\":\"" + value + "\"}") + "]");
      assertThat(refusal.place()).isEqualTo("filters[0]." + field);
      assertThat(refusal.reason()).startsWith("A group does not have it.");
    }

    @Test
    void a_filter_with_what_a_group_has() {
      InvalidFilter connector =
          refusal("[" + A_FILTER.replace("}", ",\"connector\":\"OR\"}") + "]");
      assertThat(connector.place()).isEqualTo("filters[0].connector");
      assertThat(connector.reason()).startsWith("Only a group has it. Add \"type\":\"group\"");
      InvalidFilter filters = refusal("[" + A_FILTER.replace("}", ",\"filters\":[]}") + "]");
      assertThat(filters.place()).isEqualTo("filters[0].filters");
      assertThat(filters.reason()).startsWith("Only a group has it.");
    }

    @Test
    void too_many_groups() {
      InvalidFilter refusal = refusal(repeated(group(2), FilterLimits.GROUPS + 1));
      assertThat(refusal.place()).isEqualTo("filters[10]");
      assertThat(refusal.reason()).isEqualTo("There can be 10 groups, no more.");
    }

    @Test
    void too_many_filters_those_in_groups_included() {
      InvalidFilter refusal = refusal(repeated(A_FILTER, FilterLimits.FILTERS + 1));
      assertThat(refusal.place()).isEqualTo("filters[100]");
      assertThat(refusal.reason()).startsWith("There can be 100 filters in all, no more.");
      String grouped =
          "[" + group(2) + "," + repeated(A_FILTER, FilterLimits.FILTERS - 1).substring(1);
      assertThat(refusal(grouped).place()).isEqualTo("filters[99]");
    }

    @Test
    void a_name_that_is_too_long() {
      String longest = "n".repeat(FilterLimits.NAME_CHARACTERS);
      assertThat(readOne(A_FILTER.replace("\"x\"", '"' + longest + '"')))
          .isInstanceOf(Comparison.class);
      InvalidFilter refusal = refusal("[" + A_FILTER.replace("\"x\"", '"' + longest + "n\"") + "]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldName");
      assertThat(refusal.reason()).startsWith("It has more than 256 characters.");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '\'',
        value = {
          "\"#\" | 8190",
          "1# | 8191",
          "[#] | 8190",
          "{\"a\":#} | 8186",
          "{\"#\":1} | 8186",
          "[true,1#] | 8184",
          "[null,1#] | 8184",
          "[false, 1#] | 8183",
          "[\"\",[],1#] | 8183",
          "{\"a\":1,\"b\":#} | 8180",
          "{\"a\":[],\"b\":{\"c\":#}} | 8173",
        })
    void a_value_that_is_too_long(String value, int most) {
      String fitting = value.replace("#", "1".repeat(most));
      String filter = "{\"fieldName\":\"x\",\"fieldValue\":%s,\"comparison\":\"eq\"}";
      assertThat(readOne(filter.formatted(fitting))).isInstanceOf(Comparison.class);
      InvalidFilter refusal =
          refusal("[" + filter.formatted(value.replace("#", "1".repeat(most + 1))) + "]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldValue");
      assertThat(refusal.reason()).startsWith("It has more than 8,192 characters.");
    }

    @Test
    void a_value_that_is_nested_too_deep() {
      String arrays = A_FILTER.replace(":1", ":" + "[".repeat(20) + "]".repeat(20));
      assertThat(readOne(arrays)).isInstanceOf(Comparison.class);
      InvalidFilter refusal = refusal("[" + arrays.replace("[]", "[[]]") + "]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldValue");
      assertThat(refusal.reason()).startsWith("It is nested deeper than 20 levels.");
      String objects = "{\"a\":".repeat(20) + "1" + "}".repeat(20);
      assertThat(readOne(A_FILTER.replace(":1", ":" + objects))).isInstanceOf(Comparison.class);
      assertThat(refusal("[" + A_FILTER.replace(":1", ":{\"a\":" + objects + "}") + "]").reason())
          .startsWith("It is nested deeper");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\\ud800\"", "\"\\udc00\"", "\"x\\ud800x\"", "[\"\\udc00\\ud800\"]"})
    void half_a_character(String value) {
      InvalidFilter refusal = refusal("[{\"fieldValue\":" + value + "}]");
      assertThat(refusal.place()).isEqualTo("filters[0].fieldValue");
      assertThat(refusal.reason()).startsWith("It has half of a surrogate pair in it.");
    }

    @Test
    void half_a_character_in_a_name_but_not_a_whole_one() {
      assertThat(refusal("[{\"fieldName\":\"\\ud83d\"}]").place())
          .isEqualTo("filters[0].fieldName");
      assertThat(readOne(A_FILTER.replace("x", "\\ud83d\\ude00😀")))
          .isEqualTo(new Comparison("😀😀", new Numeral("1"), Operator.EQ, State.NEW));
    }

    @ParameterizedTest
    @ValueSource(strings = {"eq", "ne", "gt", "contains", "notContains", "containsOnly"})
    void empty_objects_at_any_depth(String comparison) {
      for (String value : List.of("{}", "{\"a\":{}}", "{\"a\":1,\"b\":{\"c\":{}}}")) {
        InvalidFilter refusal = refused(comparison, value);
        assertThat(refusal.reason()).startsWith("An object must name at least one nested field.");
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gt", "gte", "lt", "lte"})
    void what_has_no_order_where_order_is_asked_for(String comparison) {
      assertThat(refused(comparison, "[1]").reason())
          .isEqualTo(
              comparison + " compares numbers, date-times and texts, not an array. Use eq or ne.");
      assertThat(refused(comparison, "null").reason()).contains("not null. Use eq or ne.");
      assertThat(refused(comparison, "true").reason()).contains("not a boolean. Use eq or ne.");
      assertThat(refused(comparison, "{\"a\":{\"b\":false}}").reason()).contains("not a boolean");
      assertThat(refused(comparison, "{\"a\":1,\"b\":null}").reason()).contains("not null");
      assertThat(refused(comparison, "{\"a\":[]}").reason()).contains("not an array");
    }

    @ParameterizedTest
    @ValueSource(strings = {"contains", "notContains"})
    void an_array_where_one_value_is_asked_for(String comparison) {
      assertThat(refused(comparison, "[1]").reason())
          .isEqualTo(
              comparison
                  + " takes one value, not an array. Use a filter for each value, or containsOnly"
                  + " to compare the whole array in any order.");
      assertThat(refused(comparison, "{\"a\":[]}").reason()).contains("not an array");
    }

    private static InvalidFilter refused(String comparison, String value) {
      InvalidFilter refusal =
          refusal(
              """
              [%s,{"type":"group","connector":"OR","filters":[%s,
              {"fieldName":"x","comparison":"%s","fieldValue":%s}]}]
              """
                  .formatted(A_FILTER, A_FILTER, comparison, value));
      assertThat(refusal.place()).isEqualTo("filters[1].filters[1].fieldValue");
      return refusal;
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "[{", "[{\"fieldName\"}]", "[{\"fieldValue\":[1,}]"})
    void what_is_not_json_in_the_words_of_the_parser(String json) {
      assertThatThrownBy(() -> read(json)).isInstanceOf(JacksonException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ud800", "udc00"})
    void half_a_character_in_a_key_in_the_words_of_the_parser(String half) {
      String json = "[{\"fieldValue\":{\"\\" + half + "\":1}}]";
      assertThatThrownBy(() -> read(json)).isInstanceOf(JacksonException.class);
      try (JsonParser parser =
          Json.FACTORY.createParser(ObjectReadContext.empty(), json.getBytes(UTF_8))) {
        parser.nextToken();
        assertThatThrownBy(() -> FilterReader.read(parser)).isInstanceOf(JacksonException.class);
      }
    }

    @Test
    void nothing_at_all() {
      assertThat(refusal("").place()).isEqualTo("filters");
    }
  }

  @Nested
  class Built {

    @Test
    void filters_that_cannot_work_cannot_be_built_either() {
      assertThatThrownBy(() -> new Comparison("", new Text(""), Operator.EQ, State.NEW))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Comparison("x", null, Operator.EQ, State.NEW))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Comparison("x", new Text(""), Operator.CHANGED, State.NEW))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Comparison("x", Value.Nothing.NULL, Operator.GT, State.NEW))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Numeral("five")).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> Operator.CHANGED.holds(null, new Text("")))
          .isInstanceOf(IllegalArgumentException.class);
      Comparison filter = new Comparison("x", new Text(""), Operator.EQ, State.NEW);
      for (int size : new int[] {1, 6}) {
        assertThatThrownBy(() -> new Group(Connector.AND, Collections.nCopies(size, filter)))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }
}
