package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.Seeds;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
class SingleValuesTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String[] BLANKS = {"", "", "", " ", "\n\t", "  \r\n"};
  private static final String[] NAMES = {
    "parameterValues",
    "parameterValues",
    "\\u0070arameterValues",
    "parameterV\\u0061lu\\u0065\\u0073",
    "\\u0070\\u0061\\u0072\\u0061\\u006D\\u0065\\u0074\\u0065\\u0072\\u0056\\u0061\\u006c\\u0075\\u0065\\u0073",
    "ParameterValues",
    "parameterValue",
    "parameterValuess",
    "parameterValues\\u0000",
    "parameterValues\\\"",
    "\\u0170arameterValues",
    "\\n0070arameterValues",
    "\\\\u0070arameterValues",
    "a",
    "",
    "[",
    "\\\\",
    "\u00e9\ud83d\ude00"
  };
  private static final String[] PIECES = {
    "\\\"",
    "\\\\",
    "\\/",
    "\\n",
    "\\u005b",
    "\\u005D",
    "\\u0022",
    "\\uD83D\\uDE00",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    " ",
    "x",
    "\u00e9",
    "\u20ac",
    "\ud83d\ude00"
  };
  private static final String[] NUMBERS = {
    "0", "-0", "1.10", "1e400", "-12345678901234567890.00", "0.1E-7", "9007199254740993", "7"
  };

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"a\":[\"b\"]}                                   | {\"a\":\"b\"}",
        "{\"a\":[1.10],\"b\":[true],\"c\":[null]}          | {\"a\":1.10,\"b\":true,\"c\":null}",
        "{\"a\" : [ \"b\" ] , \"c\" :[ 7 ]}                | {\"a\" : \"b\" , \"c\" :7}",
        "{\"a\":[\"]\"]}                                   | {\"a\":\"]\"}",
        "{\"a\":[\"\\\"\"]}                                | {\"a\":\"\\\"\"}",
        "{\"a\":[\"\\\\\"],\"b\":1}                        | {\"a\":\"\\\\\",\"b\":1}",
        "{\"a\":[1],\"a\":[2]}                             | {\"a\":1,\"a\":2}",
        "{\"a\":[1],\"b\":[1,2],\"c\":[3]}                 | {\"a\":1,\"b\":[1,2],\"c\":3}",
        "{\"parameterValues\":{\"a\":[1]},\"b\":[2]}       | {\"parameterValues\":{\"a\":1},\"b\":2}",
        "{\"parameter\\u0056alues\":{\"a\":[1]}}           | {\"parameter\\u0056alues\":{\"a\":1}}",
        "{\"parameterValues\":[1]}                         | {\"parameterValues\":1}",
        "{\"parameterValues\":{\"parameterValues\":[1]}}   | {\"parameterValues\":{\"parameterValues\":1}}"
      })
  void an_array_with_one_simple_value_is_that_value(String state, String bare) {
    assertThat(bare(state)).isEqualTo(bare);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        " { } ",
        "{\"a\":[]}",
        "{\"a\":[ ]}",
        "{\"a\":[1,2]}",
        "{\"a\":[[1]]}",
        "{\"a\":[{\"b\":[1]}]}",
        "{\"a\":[{}]}",
        "{\"a\":{\"b\":[1]}}",
        "{\"a\":{\"parameterValues\":{\"b\":[1]}}}",
        "{\"parameterValues\":{\"parameterValues\":{\"b\":[1]}}}",
        "{\"parameterValues\":{\"a\":{\"b\":[1]}}}",
        "{\"parameterValues\":[{\"b\":[1]}]}",
        "{\"ParameterValues\":{\"b\":[1]}}",
        "{\"parameterValues\\u0020\":{\"b\":[1]}}",
        "{\"a\":\"[1]\"}",
        "{\"a\":\"\\\":[1]\"}",
        "[1]",
        "[{\"a\":[1]}]",
        "\"[1]\"",
        "7",
        "null"
      })
  void everything_else_stays_the_very_same_array(String state) {
    byte[] bytes = state.getBytes(UTF_8);
    assertThat(SingleValues.bare(bytes)).isSameAs(bytes);
  }

  @Test
  void any_state_is_as_a_parser_would_have_it() {
    int[] changed = {0, 0};
    Seeds.each(
        20_000,
        random -> {
          byte[] state = state(random).getBytes(UTF_8);
          byte[] before = state.clone();
          byte[] expected = expected(state);

          byte[] bare = SingleValues.bare(state);

          assertThat(new String(bare, UTF_8))
              .as(new String(state, UTF_8))
              .isEqualTo(new String(expected, UTF_8));
          assertThat(state).isEqualTo(before);
          JSON.readTree(bare);
          if (Arrays.equals(state, expected)) {
            assertThat(bare).isSameAs(state);
          } else {
            changed[0]++;
          }
          changed[1]++;
        });
    if (Seeds.areAllRun()) {
      assertThat(changed[0]).isBetween(changed[1] / 3, changed[1] * 9 / 10);
    }
  }

  @Test
  void what_is_not_json_does_no_harm() {
    Seeds.each(
        20_000,
        random -> {
          byte[] bytes = state(random).getBytes(UTF_8);
          switch (random.nextInt(3)) {
            case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            case 1 -> random.nextBytes(bytes);
            default -> {
              for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] =
                    (byte) "[]{}\":,\\ \0x".charAt(random.nextInt(11));
              }
            }
          }
          assertThat(SingleValues.bare(bytes).length).isLessThanOrEqualTo(bytes.length);
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{\"",
        "{\"a",
        "{\"a\\",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":[",
        "{\"a\":[1",
        "{\"a\":[1]",
        "{\"a\":[\"\\",
        "{\"a\":[1],",
        "{\"a\":[1],\"b\":{",
        "{\"a\":[1],\"parameterValues\":{",
        "{\"a\":[1],\"parameterValues\":{\"b\":[2]",
        "{\"a\":[1]]",
        "{\"a\"[1]}",
        "{a:[1]}"
      })
  void what_does_not_end_as_json_does_stays_as_it_is(String state) {
    byte[] bytes = state.getBytes(UTF_8);
    assertThat(SingleValues.bare(bytes)).isSameAs(bytes);
  }

  @Test
  void any_depth_is_read() {
    String deep = "[".repeat(100_000) + "]".repeat(100_000);
    assertThat(bare("{\"a\":" + deep + ",\"b\":[1]}")).isEqualTo("{\"a\":" + deep + ",\"b\":1}");
    assertThat(bare("{\"b\":[1],\"a\":" + "{\"parameterValues\":".repeat(100_000)))
        .startsWith("{\"b\":[1],");
  }

  private static String bare(String state) {
    return new String(SingleValues.bare(state.getBytes(UTF_8)), UTF_8);
  }

  /**
   * The same by Jackson's parser: it says where tokens are, and this leaves out what is between.
   */
  private static byte[] expected(byte[] state) {
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    int copied = 0;
    try (JsonParser parser = JSON.createParser(state)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return state;
      }
      int depth = 1;
      boolean inParameters = false;
      while (parser.nextToken() != null) {
        JsonToken token = parser.currentToken();
        boolean isField = depth == 1 || (depth == 2 && inParameters);
        if (token == JsonToken.START_ARRAY && isField) {
          int start = start(parser);
          JsonToken first = parser.nextToken();
          int value = start(parser);
          parser.finishToken();
          int valueEnd = (int) parser.currentLocation().getByteOffset();
          if (first.isScalarValue() && parser.nextToken() == JsonToken.END_ARRAY) {
            expected.write(state, copied, start - copied);
            expected.write(state, value, valueEnd - value);
            copied = start(parser) + 1;
          } else {
            skipArray(parser);
          }
        } else if (token.isStructStart()) {
          depth++;
          inParameters |=
              depth == 2
                  && token == JsonToken.START_OBJECT
                  && "parameterValues".equals(parser.streamReadContext().getParent().currentName());
        } else if (token.isStructEnd()) {
          inParameters &= depth != 2;
          depth--;
        }
      }
    }
    expected.write(state, copied, state.length - copied);
    return expected.toByteArray();
  }

  private static int start(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** To the end of the array, from any token right in it or from its end. */
  private static void skipArray(JsonParser parser) {
    JsonToken token = parser.currentToken();
    while (token != JsonToken.END_ARRAY) {
      parser.skipChildren();
      token = parser.nextToken();
    }
  }

  private static String state(SplittableRandom random) {
    StringBuilder json = new StringBuilder(pick(BLANKS, random));
    if (random.nextInt(20) == 0) {
      value(random, json, 3);
    } else {
      object(random, json, 5);
    }
    return json.append(pick(BLANKS, random)).toString();
  }

  private static void value(SplittableRandom random, StringBuilder json, int depth) {
    switch (random.nextInt(depth == 0 ? 3 : 8)) {
      case 0 -> json.append(pick(NUMBERS, random));
      case 1 -> json.append(pick(new String[] {"true", "false", "null"}, random));
      case 2 -> {
        json.append('"');
        for (int i = random.nextInt(5); i > 0; i--) {
          json.append(pick(PIECES, random));
        }
        json.append('"');
      }
      case 3, 4, 5 -> {
        json.append('[').append(pick(BLANKS, random));
        int length = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(8) / 5;
        for (int i = 0; i < length; i++) {
          json.append(i == 0 ? "" : ",").append(pick(BLANKS, random));
          value(random, json, random.nextBoolean() ? 0 : depth - 1);
          json.append(pick(BLANKS, random));
        }
        json.append(']');
      }
      default -> object(random, json, depth - 1);
    }
  }

  private static void object(SplittableRandom random, StringBuilder json, int depth) {
    json.append('{').append(pick(BLANKS, random));
    int length = random.nextInt(7);
    for (int i = 0; i < length; i++) {
      json.append(i == 0 ? "" : ",").append(pick(BLANKS, random));
      json.append('"').append(pick(NAMES, random)).append('"').append(pick(BLANKS, random));
      json.append(':').append(pick(BLANKS, random));
      value(random, json, depth);
      json.append(pick(BLANKS, random));
    }
    json.append('}');
  }

  private static String pick(String[] some, SplittableRandom random) {
    return some[random.nextInt(some.length)];
  }
}
