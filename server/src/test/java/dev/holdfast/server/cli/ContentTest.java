package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Verifier.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Help.Ansi;

class ContentTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'id':'evt_1','type':'order.paid','subject':'o-1','data':{'type':'x'}} | order.paid | o-1",
        "{'specversion':'1.0','source':'/tenants/default','type':'order.paid'}  | order.paid |",
        "{'eventType':'UPDATE','newState':{'subject':'x'}}                      | UPDATE     |",
        "{'data':{'type':'x'},'type':7}                                         |            |",
        "{'type':'order.paid'} x                                                |            |"
      })
  void it_finds_type_and_subject_in_every_format(String json, String type, String subject) {
    Content content = of(json.replace('\'', '"'));
    assertThat(content.type()).isEqualTo(type);
    assertThat(content.subject()).isEqualTo(subject);
  }

  @Test
  void json_is_indented_without_touching_digits_or_order() {
    assertThat(of("{\"b\":1.10,\"a\":[1e3, {}],\"s\":\"a\\\"{,:}\", \"e\":[ ]}").shown(true))
        .isEqualTo(
            """
                {
                  "b": 1.10,
                  "a": [
                    1e3,
                    {}
                  ],
                  "s": "a\\"{,:}",
                  "e": []
                }
            """);
  }

  @Test
  void raw_is_as_it_came() {
    assertThat(of("{\"a\": 1,\n\"b\":2}").shown(false)).isEqualTo("    {\"a\": 1,\n    \"b\":2}\n");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_long_body_is_cut(boolean pretty) {
    String shown = of("[" + "1,".repeat(100_000) + "1]").shown(pretty);
    assertThat(shown.lines().map(String::strip).mapToInt(String::length).sum()).isLessThan(5_000);
    assertThat(shown).endsWith("    … (200003 bytes in all)\n");
  }

  @Test
  void deep_nesting_is_cut() {
    assertThat(new Content("[".repeat(100_000), 100_000, true, null, null).shown(true))
        .hasSizeLessThan(10_000);
  }

  @Test
  void a_body_that_was_not_kept_whole_is_shown_raw() {
    byte[] start = "{\"type\":\"x\"}".getBytes(StandardCharsets.UTF_8);
    Content content = Content.of(start, 1_000);
    assertThat(content.type()).isNull();
    assertThat(content.shown(true)).isEqualTo("    {\"type\":\"x\"}\n    … (1000 bytes in all)\n");
  }

  @Test
  void nothing_from_outside_can_rewrite_the_terminal() {
    Content content = of("{\"type\":\"\\u001b[2J\",\"subject\":\"\\u202e\"}\u001b");
    Arrival arrival =
        new Arrival(
            LocalTime.NOON, "POST", "/\u001b[1m", "\u009b2J", 1, content, Verdict.UNKNOWN, 200);
    assertThat(arrival.line(Ansi.OFF) + content.shown(true) + content.shown(false))
        .doesNotContain("\u001b", "\u009b", "\u202e");
  }

  @Test
  void colours_are_for_terminals_only() {
    Arrival arrival =
        new Arrival(LocalTime.NOON, "POST", "/", "msg_1", 2, of("{}"), Verdict.WRONG, 503);
    assertThat(arrival.line(Ansi.ON))
        .contains("\u001b[31m-> 503", "\u001b[31msignature WRONG", "\u001b[33m  again");
    assertThat(arrival.line(Ansi.OFF)).doesNotContain("\u001b");
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1st",
    "2, 2nd",
    "3, 3rd",
    "4, 4th",
    "11, 11th",
    "12, 12th",
    "13, 13th",
    "21, 21st",
    "102, 102nd",
    "111, 111th"
  })
  void times_are_counted_as_people_do(int number, String text) {
    assertThat(Arrival.ordinal(number)).isEqualTo(text);
  }

  private static Content of(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return Content.of(bytes, bytes.length);
  }
}
