package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.server.api.Problem.Kind;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventReaderTest {
  private static final int MESSAGE_BYTES = 1 << 20;

  private final EventReader reader = new EventReader(MESSAGE_BYTES);

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private NewEvent read(String body) {
    return reader.event(bytes(body), null);
  }

  private Problem refused(String body) {
    return refused(bytes(body));
  }

  private Problem refused(byte[] body) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> reader.event(body, null));
    assertThat(refusal).as(new String(body, StandardCharsets.UTF_8)).isNotNull();
    return refusal.problem();
  }

  private Problem refusedBatch(String body) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> reader.batch(bytes(body), null));
    assertThat(refusal).as(body).isNotNull();
    return refusal.problem();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void an_event_has_all_its_fields() {
    NewEvent event =
        reader.event(
            bytes(
                """
                {"type":"order.paid","subject":"order/17","occurredAt":"2026-03-01T13:00:00.5+01:00",
                 "data":{"a":1},"previous":{"a":0},"id":"my-17"}
                """),
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assertThat(event.type()).isEqualTo("order.paid");
    assertThat(event.subject()).isEqualTo("order/17");
    assertThat(event.occurredAt()).isEqualTo(Instant.parse("2026-03-01T12:00:00.5Z"));
    assertThat(text(event.data())).isEqualTo("{\"a\":1}");
    assertThat(event.previous()).isEqualTo(bytes("{\"a\":0}"));
    assertThat(event.callerId()).isEqualTo("my-17");
    assertThat(event.traceparent()).startsWith("00-0af7");
  }

  @Test
  void only_type_and_data_are_needed_and_null_means_absent() {
    NewEvent event =
        read("{\"data\":null,\"type\":\"t\",\"subject\":null,\"occurredAt\":null,\"id\":null}");
    assertThat(event.subject()).isNull();
    assertThat(event.occurredAt()).isNull();
    assertThat(event.callerId()).isNull();
    assertThat(event.previous()).isNull();
    assertThat(text(event.data())).isEqualTo("null");
  }

  @Test
  void a_previous_that_is_null_is_carried_as_null() {
    assertThat(read("{\"type\":\"t\",\"data\":1,\"previous\":null}").previous())
        .isEqualTo(bytes("null"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1",
        "0",
        "-0",
        "-12.50e+03",
        "123456789012345678901234567890.000",
        "1E400",
        "true",
        "false",
        "null",
        "\"\"",
        "\"plain\"",
        "\"ends with a comma,\"",
        "\" , \"",
        "\"a \\\" quote, a \\\\ backslash, \\u00e9, \\ud800 alone, \\/ \\b\\f\\n\\r\\t\"",
        "\"käse, 東京, 🙂\"",
        "{}",
        "[]",
        "[ ]",
        "{ }",
        "[1,2,3]",
        "[ 1 , [ 2 , { \"b\" : [ ] } ] , \"]\" ]",
        "{\"b\":1,\"a\":2,\"a\":3}",
        "{\"data\":{\"type\":\"inner\"},\"previous\":[{}]}",
        "{\"key with \\\" and , and 東\": \"🙂\"}",
        "[1.0,1.00,1e2,\"}\",\"{\"]",
      })
  void data_and_previous_are_carried_byte_by_byte_wherever_they_stand(String value) {
    List<String> gaps = List.of("", " ", "\n", "\r\n\t  ");
    for (String before : gaps) {
      for (String after : gaps) {
        String padded = before + value + after;
        String last = "{\"type\":\"t\",\"data\":" + padded + "}";
        String first = "{\"data\":" + padded + ",\"type\":\"t\"}";
        String second =
            "{\"data\":"
                + padded
                + ","
                + after
                + "\"previous\":"
                + padded
                + ",\"type\":\"t\""
                + after
                + "}"
                + after;
        assertThat(text(read(last).data())).isEqualTo(value);
        assertThat(text(read(first).data())).isEqualTo(value);
        assertThat(text(read(second).data())).isEqualTo(value);
        assertThat(read(second).previous()).isEqualTo(bytes(value));
        String batch = "{\"events\":[" + last + before + "," + after + second + "]}";
        List<NewEvent> events = reader.batch(bytes(batch), null);
        assertThat(text(events.get(0).data())).isEqualTo(value);
        assertThat(text(events.get(1).data())).isEqualTo(value);
        assertThat(events.get(1).previous()).isEqualTo(bytes(value));
      }
    }
  }

  @Test
  void random_values_are_carried_byte_by_byte() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 5_000; i++) {
      String data = randomValue(random, 0);
      String previous = randomValue(random, 0);
      String body =
          space(random)
              + "{"
              + space(random)
              + "\"data\""
              + space(random)
              + ":"
              + space(random)
              + data
              + space(random)
              + ","
              + space(random)
              + "\"type\":\"t\","
              + space(random)
              + "\"previous\":"
              + previous
              + space(random)
              + "}"
              + space(random);
      NewEvent event = read(body);
      assertThat(text(event.data())).as("seed %d: %s", seed, body).isEqualTo(data);
      assertThat(event.previous()).as("seed %d: %s", seed, body).isEqualTo(bytes(previous));
    }
  }

  private static String space(SplittableRandom random) {
    return " \n\t\r".repeat(2).substring(0, random.nextInt(8) < 5 ? 0 : random.nextInt(8));
  }

  private static String randomValue(SplittableRandom random, int depth) {
    return switch (random.nextInt(depth > 4 ? 5 : 7)) {
      case 0 -> Long.toString(random.nextLong());
      case 1 -> random.nextInt(1000) + ".5e-" + random.nextInt(400);
      case 2 -> List.of("true", "false", "null").get(random.nextInt(3));
      case 3 -> "\"" + "é,]}🙂 x\\\"\\\\\\n".repeat(random.nextInt(3)) + "\"";
      case 4 -> "\"" + ",".repeat(random.nextInt(5)) + "\"";
      case 5 -> {
        StringBuilder array = new StringBuilder("[");
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
          array.append(i > 0 ? "," : "").append(space(random));
          array.append(randomValue(random, depth + 1)).append(space(random));
        }
        yield array.append("]").toString();
      }
      default -> {
        StringBuilder object = new StringBuilder("{");
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
          object.append(i > 0 ? "," : "").append(space(random)).append("\"k").append(i);
          object.append("\":").append(space(random)).append(randomValue(random, depth + 1));
        }
        yield object.append("}").toString();
      }
    };
  }

  @Test
  void a_long_number_a_long_name_and_a_long_string_are_no_problem() {
    String digits = "7".repeat(200_000);
    String data = "{\"" + digits + "\":" + digits + ",\"s\":\"" + digits + "\"}";
    assertThat(text(read("{\"type\":\"t\",\"data\":" + data + "}").data())).isEqualTo(data);
  }

  @Test
  void a_value_may_be_nested_500_levels_deep_and_no_deeper() {
    String deepest = "[".repeat(500) + "]".repeat(500);
    String tooDeep = "[".repeat(501) + "]".repeat(501);
    assertThat(text(read("{\"type\":\"t\",\"data\":" + deepest + "}").data())).isEqualTo(deepest);
    assertThat(
            reader.batch(bytes("{\"events\":[{\"type\":\"t\",\"data\":" + deepest + "}]}"), null))
        .hasSize(1);
    assertThat(refused("{\"type\":\"t\",\"data\":" + tooDeep + "}").detail()).contains("500");
    assertThat(refusedBatch("{\"events\":[{\"type\":\"t\",\"data\":" + tooDeep + "}]}").detail())
        .contains("500");
    assertThat(refused("{\"type\":\"t\",\"data\":" + "{\"a\":".repeat(100_000)).kind())
        .isEqualTo(Kind.INVALID_JSON);
  }

  @Test
  void data_and_previous_may_have_one_megabyte_together_and_no_byte_more() {
    String half = "\"" + "x".repeat(MESSAGE_BYTES / 2 - 2) + "\"";
    String body = "{\"type\":\"t\",\"data\":%s,\"previous\":%s}";
    NewEvent event = read(body.formatted(half, half));
    assertThat(event.data().length * 2).isEqualTo(MESSAGE_BYTES);
    Problem problem = refused(body.formatted(half, half.replaceFirst("x", "xy")));
    assertThat(problem.kind().status).isEqualTo(413);
    assertThat(problem.field()).isEqualTo("data");
    assertThat(problem.detail()).contains("1048577").contains("1048576");
    String whole = "\"" + "é".repeat((MESSAGE_BYTES - 2) / 2) + "\"";
    assertThat(read("{\"type\":\"t\",\"data\":" + whole + "}").data()).hasSize(MESSAGE_BYTES);
    assertThat(refused("{\"type\":\"t\",\"data\":" + whole + ",\"previous\":1}").kind())
        .isEqualTo(Kind.TOO_LARGE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[]",
        "1",
        "\"text\"",
        "null",
        "{",
        "{\"type\"",
        "{\"type\":",
        "{\"type\":\"t\"",
        "{\"type\":\"t\",}",
        "{\"type\":\"t\",\"data\":}",
        "{\"type\":\"t\",\"data\":1}}",
        "{\"type\":\"t\",\"data\":1}{}",
        "{\"type\":\"t\",\"data\":1} x",
        "{\"type\":\"t\",\"data\":01}",
        "{\"type\":\"t\",\"data\":+1}",
        "{\"type\":\"t\",\"data\":1.}",
        "{\"type\":\"t\",\"data\":.5}",
        "{\"type\":\"t\",\"data\":NaN}",
        "{\"type\":\"t\",\"data\":Infinity}",
        "{\"type\":\"t\",\"data\":tru}",
        "{\"type\":\"t\",\"data\":truex}",
        "{\"type\":\"t\",\"data\":'a'}",
        "{\"type\":\"t\",\"data\":\"\\x\"}",
        "{\"type\":\"t\",\"data\":\"\\u12G4\"}",
        "{\"type\":\"t\",\"data\":\"a\nb\"}",
        "{\"type\":\"t\",\"data\":\"a\u0000b\"}",
        "{\"type\":\"t\",\"data\":[1,]}",
        "{\"type\":\"t\",\"data\":{\"a\"}}",
        "{\"type\":\"t\",\"data\":{a:1}}",
        "{\"type\":\"t\",\"data\":[1}",
        "{\"type\":\"t\" \"data\":1}",
        "{\"type\":\"t\",/* comment */\"data\":1}",
        "{\"type\":\"t\",\"data\":1}\u0000",
        "\u0000{\"type\":\"t\",\"data\":1}",
        "\uFEFF{\"type\":\"t\",\"data\":1}",
      })
  void what_is_not_one_json_object_is_refused(String body) {
    Problem problem = refused(body);
    assertThat(problem.kind()).isEqualTo(Kind.INVALID_JSON);
    assertThat(problem.detail()).isNotBlank();
  }

  @Test
  void malformed_json_is_refused_with_line_and_column() {
    assertThat(refused("{\"type\":\"t\",\n \"data\": nope}").detail())
        .contains("line 2")
        .contains("column");
  }

  @Test
  void a_body_that_was_cut_off_is_told_from_one_that_is_not_json() {
    assertThat(refused("{\"type\":\"t\",\"data\":").detail())
        .isEqualTo("The body ends at line 1, column 20, before its object does. Send all of it.");
    assertThat(refused("{\"type\":\"t\",\"data\":nope}").detail())
        .isEqualTo(
            "What stands at line 1, column 20 is not JSON. Look there for missing quotes, commas or"
                + " brackets.");
  }

  @Test
  void bytes_that_are_not_utf_8_are_refused_even_inside_data() {
    byte[] body = bytes("{\"type\":\"t\",\"data\":\"________________\"}");
    byte[][] bad = {
      {(byte) 0xff},
      {(byte) 0xc0, (byte) 0x80},
      {(byte) 0xe0, (byte) 0x80, (byte) 0x80},
      {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
      {(byte) 0xf4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
      {(byte) 0xe2, (byte) 0x82},
      {(byte) 0x80},
    };
    for (byte[] sequence : bad) {
      byte[] copy = body.clone();
      System.arraycopy(sequence, 0, copy, 24, sequence.length);
      Problem problem = refused(copy);
      assertThat(problem.kind()).isEqualTo(Kind.INVALID_JSON);
      assertThat(problem.detail()).contains("UTF-8");
    }
  }

  @Test
  void other_encodings_are_refused() {
    String body = "{\"type\":\"t\",\"data\":1}";
    assertThat(refused(body.getBytes(StandardCharsets.UTF_16BE)).detail()).contains("UTF-8");
    assertThat(refused(body.getBytes(StandardCharsets.UTF_16LE)).detail()).contains("UTF-8");
    assertThat(refused(body.getBytes(StandardCharsets.UTF_16)).detail()).contains("UTF-8");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"data\":1}|type",
        "{\"type\":\"t\"}|data",
        "{}|type",
        "{\"type\":1,\"data\":1}|type",
        "{\"type\":null,\"data\":1}|type",
        "{\"type\":[\"t\"],\"data\":1}|type",
        "{\"type\":\"\",\"data\":1}|type",
        "{\"type\":\"order.*\",\"data\":1}|type",
        "{\"type\":\"a\\u0000b\",\"data\":1}|type",
        "{\"type\":\"a\\nb\",\"data\":1}|type",
        "{\"type\":\"a\\u007fb\",\"data\":1}|type",
        "{\"type\":\"a\\u0085b\",\"data\":1}|type",
        "{\"type\":\"\\ud800\",\"data\":1}|type",
        "{\"type\":\"\\udc00x\",\"data\":1}|type",
        "{\"type\":\"t\",\"type\":\"t\",\"data\":1}|type",
        "{\"type\":\"t\",\"data\":1,\"data\":1}|data",
        "{\"type\":\"t\",\"data\":1,\"subject\":7}|subject",
        "{\"type\":\"t\",\"data\":1,\"subject\":\"\"}|subject",
        "{\"type\":\"t\",\"data\":1,\"subject\":\"\\u0001\"}|subject",
        "{\"type\":\"t\",\"data\":1,\"subject\":\"\\udfff\"}|subject",
        "{\"type\":\"t\",\"data\":1,\"subject\":{}}|subject",
        "{\"type\":\"t\",\"data\":1,\"id\":\"\"}|id",
        "{\"type\":\"t\",\"data\":1,\"id\":\"evt_1\"}|id",
        "{\"type\":\"t\",\"data\":1,\"id\":\"a b\"}|id",
        "{\"type\":\"t\",\"data\":1,\"id\":\"é\"}|id",
        "{\"type\":\"t\",\"data\":1,\"id\":\"a\\u0000\"}|id",
        "{\"type\":\"t\",\"data\":1,\"id\":17}|id",
        "{\"type\":\"t\",\"data\":1,\"occurredAt\":\"yesterday\"}|occurredAt",
        "{\"type\":\"t\",\"data\":1,\"occurredAt\":\"2026-03-01T12:00:00\"}|occurredAt",
        "{\"type\":\"t\",\"data\":1,\"occurredAt\":1700000000}|occurredAt",
        "{\"type\":\"t\",\"data\":1,\"Type\":1}|Type",
        "{\"type\":\"t\",\"data\":1,\"payload\":1}|payload",
        "{\"type\":\"t\",\"data\":1,\"\":1}|``",
      })
  void a_bad_field_is_refused_by_name(String body, String field) {
    Problem problem = refused(body);
    assertThat(problem.kind().status).isEqualTo(400);
    assertThat(problem.field()).isEqualTo(field);
    assertThat(problem.detail()).isNotBlank();
  }

  @Test
  void an_unknown_field_is_named_together_with_the_known_ones() {
    Problem problem = refused("{\"typ\":\"t\",\"data\":1}");
    assertThat(problem.kind()).isEqualTo(Kind.UNKNOWN_FIELD);
    assertThat(problem.field()).isEqualTo("typ");
    assertThat(problem.detail()).contains("type, subject, occurredAt, data, previous, id");
  }

  @Test
  void texts_have_a_greatest_length() {
    String longest = "x".repeat(256);
    String body = "{\"type\":\"%s\",\"subject\":\"%s\",\"id\":\"%s\",\"data\":1}";
    assertThat(read(body.formatted(longest, longest, longest)).type()).hasSize(256);
    assertThat(refused(body.formatted(longest + "x", "s", "i")).field()).isEqualTo("type");
    assertThat(refused(body.formatted("t", longest + "x", "i")).field()).isEqualTo("subject");
    assertThat(refused(body.formatted("t", "s", longest + "x")).field()).isEqualTo("id");
  }

  @Test
  void characters_beyond_the_basic_plane_are_fine_in_type_and_subject() {
    NewEvent event = read("{\"type\":\"käse.🙂\",\"subject\":\"\\ud83d\\ude42\",\"data\":1}");
    assertThat(event.type()).isEqualTo("käse.🙂");
    assertThat(event.subject()).isEqualTo("🙂");
    String body = "{\"type\":\"%s\",\"data\":1}";
    assertThat(read(body.formatted("🙂".repeat(256))).type()).hasSize(512);
    Problem problem = refused(body.formatted("🙂".repeat(257)));
    assertThat(problem.detail()).contains("1 to 256 characters, not 257");
  }

  @Test
  void a_batch_has_1_to_1000_events() {
    String event = "{\"type\":\"t\",\"data\":1}";
    String most = String.join(",", Collections.nCopies(1_000, event));
    assertThat(reader.batch(bytes("{\"events\":[" + most + "]}"), null)).hasSize(1_000);
    assertThat(refusedBatch("{\"events\":[" + most + "," + event + "]}").field())
        .isEqualTo("events");
    assertThat(refusedBatch("{\"events\":[]}").field()).isEqualTo("events");
    assertThat(refusedBatch("{}").field()).isEqualTo("events");
    assertThat(refusedBatch("{\"events\":{}}").field()).isEqualTo("events");
    assertThat(refusedBatch("{\"events\":null}").field()).isEqualTo("events");
    assertThat(refusedBatch("{\"event\":[]}").field()).isEqualTo("event");
    assertThat(refusedBatch("{\"events\":[" + event + "],\"events\":[]}").field())
        .isEqualTo("events");
  }

  @Test
  void what_is_wrong_in_a_batch_is_named_by_index() {
    String good = "{\"type\":\"t\",\"data\":1}";
    Problem problem = refusedBatch("{\"events\":[" + good + "," + good + ",{\"data\":1}]}");
    assertThat(problem.field()).isEqualTo("events[2].type");
    assertThat(problem.index()).isEqualTo(2);
    assertThat(refusedBatch("{\"events\":[" + good + ",7]}").field()).isEqualTo("events[1]");
    assertThat(refusedBatch("{\"events\":[{\"x\":1}]}").field()).isEqualTo("events[0].x");
    String large = "\"" + "x".repeat(MESSAGE_BYTES - 1) + "\"";
    Problem tooLarge =
        refusedBatch("{\"events\":[" + good + ",{\"type\":\"t\",\"data\":" + large + "}]}");
    assertThat(tooLarge.kind()).isEqualTo(Kind.TOO_LARGE);
    assertThat(tooLarge.field()).isEqualTo("events[1].data");
  }
}
