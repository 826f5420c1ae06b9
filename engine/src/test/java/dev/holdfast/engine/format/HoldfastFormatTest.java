package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class HoldfastFormatTest {
  private static final JsonMapper JSON = new JsonMapper();

  @Test
  void what_the_event_has_not_is_left_out() {
    assertThat(text(event("t", null, null, "1", null)))
        .isEqualTo("{\"id\":\"" + Id.text(Id.EVENT, 7) + "\",\"type\":\"t\",\"data\":1}");
  }

  @Test
  void data_and_previous_are_the_bytes_that_came_in() {
    assertThat(
            text(
                event(
                    "order.paid",
                    "order/7",
                    Instant.parse("2026-01-02T03:04:05.678Z"),
                    " {\"n\": 1.10, \"n\":1e400} ",
                    "null")))
        .isEqualTo(
            "{\"id\":\""
                + Id.text(Id.EVENT, 7)
                + "\",\"type\":\"order.paid\",\"subject\":\"order/7\","
                + "\"occurredAt\":\"2026-01-02T03:04:05.678Z\","
                + "\"data\": {\"n\": 1.10, \"n\":1e400} ,\"previous\":null}");
  }

  @Test
  void a_callers_id_is_the_id() {
    Event event = new Event(7, "default", "t", null, null, new byte[] {'1'}, null, "o\"1", null);
    assertThat(text(event)).startsWith("{\"id\":\"o\\\"1\",");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_000, 16_200, 16_300, 16_384, 20_000, 1_000_000})
  void small_and_large_bodies_read_the_same(int size) {
    String data = "\"" + "d".repeat(size) + "\"";
    for (@Nullable String previous : new @Nullable String[] {null, "[" + size + "]"}) {
      Event event = event("t", "s", Instant.EPOCH, data, previous);
      assertThat(text(event))
          .isEqualTo(
              "{\"id\":\""
                  + event.publicId()
                  + "\",\"type\":\"t\",\"subject\":\"s\",\"occurredAt\":\"1970-01-01T00:00:00Z\","
                  + "\"data\":"
                  + data
                  + (previous == null ? "" : ",\"previous\":" + previous)
                  + "}");
    }
  }

  @Test
  void a_large_body_refers_to_the_events_arrays() {
    Event event = event("t", null, null, "\"" + "d".repeat(100_000) + "\"", null);
    assertThat(HoldfastFormat.body(event).parts()[1]).isSameAs(event.data());
  }

  @Test
  void any_text_is_read_back_as_it_was() {
    Random random = new Random(20260304);
    for (int i = 0; i < 5_000; i++) {
      StringBuilder text = new StringBuilder();
      int length = random.nextInt(12);
      for (int j = 0; j < length; j++) {
        switch (random.nextInt(5)) {
          case 0 -> text.append((char) random.nextInt(0x20));
          case 1 -> text.append("\"\\/\u007f\u2028\u00e9\ufffd".charAt(random.nextInt(7)));
          case 2 -> text.append((char) random.nextInt(0x10000));
          case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
          default -> text.append((char) ('a' + random.nextInt(26)));
        }
      }
      String subject = text.toString();
      assertThat(
              JSON.readTree(text(event("t", subject, null, "1", null))).get("subject").asString())
          .isEqualTo(subject);
    }
  }

  private static Event event(
      String type,
      @Nullable String subject,
      @Nullable Instant occurredAt,
      String data,
      @Nullable String previous) {
    return new Event(
        7,
        "default",
        type,
        subject,
        occurredAt,
        data.getBytes(UTF_8),
        previous == null ? null : previous.getBytes(UTF_8),
        null,
        null);
  }

  private static String text(Event event) {
    Body body = HoldfastFormat.body(event);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : body.parts()) {
      bytes.writeBytes(part);
    }
    assertThat(bytes.size()).isEqualTo(body.length());
    return bytes.toString(UTF_8);
  }
}
