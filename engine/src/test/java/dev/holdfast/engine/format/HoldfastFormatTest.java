package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.engine.Seeds;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
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
  void any_event_is_read_back_as_it_was() {
    Seeds.each(
        2_000,
        random -> {
          Event event = Events.random(random);
          JsonNode read = JSON.readTree(text(event));
          assertThat(read.get("id").asString()).isEqualTo(event.publicId());
          assertThat(read.get("type").asString()).isEqualTo(event.type());
          assertThat(read.path("subject").asStringOpt().orElse(null)).isEqualTo(event.subject());
          assertThat(read.get("data")).isEqualTo(JSON.readTree(event.data()));
          assertThat(text(event)).contains(",\"data\":" + new String(event.data(), UTF_8));
        });
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
    return Events.text(HoldfastFormat.body(event));
  }
}
