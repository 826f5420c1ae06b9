package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.Seeds;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class WorkfrontFormatTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final long SUBSCRIPTION = 12_345;
  private static final String SUBSCRIPTION_ID = Id.text(Id.SUBSCRIPTION, SUBSCRIPTION);

  @Test
  void an_event_is_told_as_a_change_from_one_state_to_another() {
    Event event =
        Events.event(
            "PROJ.UPDATE",
            "59d7",
            Instant.parse("2026-01-02T03:04:05.678Z"),
            "{\"n\": 1.10, \"n\":1e400}",
            "{\"n\":\t1.0}");
    assertThat(text(event, false))
        .isEqualTo(
            "{\"eventType\":\"UPDATE\",\"subscriptionId\":\""
                + SUBSCRIPTION_ID
                + "\",\"eventTime\":{\"epochSecond\":1767323045,\"nano\":678000000},"
                + "\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v2\","
                + "\"newState\":{\"n\": 1.10, \"n\":1e400},\"oldState\":{\"n\":\t1.0}}");
  }

  @Test
  void without_a_state_before_the_old_state_is_empty_and_the_time_that_of_acceptance() {
    assertThat(text(Events.event("PROJ.CREATE", null, null, "{\"a\":1}", null), false))
        .isEqualTo(
            "{\"eventType\":\"CREATE\",\"subscriptionId\":\""
                + SUBSCRIPTION_ID
                + "\",\"eventTime\":{\"epochSecond\":1772600767,\"nano\":890000000},"
                + "\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v2\","
                + "\"newState\":{\"a\":1},\"oldState\":{}}");
  }

  @Test
  void in_base64_each_state_is_a_text_of_its_bytes() {
    assertThat(text(Events.event("PROJ.UPDATE", null, null, "{\"a\": 1}", "{ }"), true))
        .endsWith(",\"newState\":\"eyJhIjogMX0=\",\"oldState\":\"eyB9\"}");
    assertThat(text(Events.event("PROJ.CREATE", null, null, "{\"a\": 1}", null), true))
        .endsWith(",\"newState\":\"eyJhIjogMX0=\",\"oldState\":\"e30=\"}");
  }

  @Test
  void in_version_1_an_array_with_one_simple_value_is_that_value() {
    Event event =
        Events.event(
            "TASK.UPDATE",
            null,
            null,
            "{\"a\": [ 1.10 ],\"parameterValues\":{\"b\":[\"c\"]},\"d\":{\"e\":[1]}}",
            "{\"a\": [1,2]}");
    assertThat(text(event, false, Version.V1, null))
        .endsWith(
            ",\"eventVersion\":\"v1\",\"subscriptionVersion\":\"v1\","
                + "\"newState\":{\"a\": 1.10,\"parameterValues\":{\"b\":\"c\"},\"d\":{\"e\":[1]}},"
                + "\"oldState\":{\"a\": [1,2]}}");
    assertThat(text(event, false, Version.V2, null))
        .endsWith(
            ",\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v2\","
                + "\"newState\":{\"a\": [ 1.10 ],\"parameterValues\":{\"b\":[\"c\"]},\"d\":{\"e\":[1]}},"
                + "\"oldState\":{\"a\": [1,2]}}");
  }

  @Test
  void a_message_with_a_version_of_its_own_is_in_that_whatever_its_subscription_has() {
    Event event = Events.event("TASK.UPDATE", null, null, "{\"a\":[1]}", "{\"a\":[2]}");
    assertThat(text(event, false, Version.V2, Version.V1))
        .endsWith(
            ",\"eventVersion\":\"v1\",\"subscriptionVersion\":\"v2\","
                + "\"newState\":{\"a\":1},\"oldState\":{\"a\":2}}");
    assertThat(text(event, false, Version.V1, Version.V2))
        .endsWith(
            ",\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v1\","
                + "\"newState\":{\"a\":[1]},\"oldState\":{\"a\":[2]}}");
    assertThat(text(event, false, Version.V1, Version.V1))
        .isEqualTo(text(event, false, Version.V1, null));
  }

  @Test
  void in_base64_the_text_is_that_of_the_version() {
    Event event = Events.event("TASK.UPDATE", null, null, "{\"a\":[1]}", "{\"a\":[2]}");
    assertThat(text(event, true, Version.V1, null))
        .endsWith(
            ",\"newState\":\""
                + encoded("{\"a\":1}".getBytes(UTF_8))
                + "\",\"oldState\":\""
                + encoded("{\"a\":2}".getBytes(UTF_8))
                + "\"}");
  }

  @ParameterizedTest
  @CsvSource({
    "PROJ.DELETE,DELETE",
    "order.line.added,added",
    "ping,ping",
    "ends.,ends.",
    ".UPDATE,UPDATE",
    ".,."
  })
  void the_event_type_is_what_follows_the_last_dot(String type, String eventType) {
    assertThat(text(Events.event(type, null, null, "1", null), false))
        .startsWith("{\"eventType\":\"" + eventType + "\",");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_000, 11_000, 12_200, 16_100, 16_200, 16_384, 20_000, 1_000_000})
  void small_and_large_bodies_read_the_same(int size) {
    String data = "\"" + "d".repeat(size) + "\"";
    Event event = Events.event("T.UPDATE", "s", Instant.EPOCH, data, "[" + size + "]");
    String head =
        "{\"eventType\":\"UPDATE\",\"subscriptionId\":\""
            + SUBSCRIPTION_ID
            + "\",\"eventTime\":{\"epochSecond\":0,\"nano\":0},"
            + "\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v2\"";
    assertThat(text(event, false))
        .isEqualTo(head + ",\"newState\":" + data + ",\"oldState\":[" + size + "]}");
    assertThat(text(event, true))
        .isEqualTo(
            head
                + ",\"newState\":\""
                + encoded(data.getBytes(UTF_8))
                + "\",\"oldState\":\""
                + encoded(("[" + size + "]").getBytes(UTF_8))
                + "\"}");
  }

  @Test
  void any_event_is_read_as_it_was() {
    Seeds.each(
        2_000,
        random -> {
          Event event = Events.random(random);
          byte[] previous = event.previous();
          byte[] before = previous == null ? new byte[] {'{', '}'} : previous;
          boolean base64 = random.nextBoolean();

          String text = text(event, base64);

          JsonNode read = JSON.readTree(text);
          Instant occurredAt = event.occurredAt();
          Instant time = occurredAt == null ? event.acceptedAt() : occurredAt;
          assertThat(event.type()).endsWith(read.get("eventType").asString());
          assertThat(read.get("subscriptionId").asString()).isEqualTo(SUBSCRIPTION_ID);
          assertThat(read.get("eventTime").get("epochSecond").asLong())
              .isEqualTo(time.getEpochSecond());
          assertThat(read.get("eventTime").get("nano").asInt()).isEqualTo(time.getNano());
          assertThat(text)
              .endsWith(
                  base64
                      ? ",\"newState\":\""
                          + encoded(event.data())
                          + "\",\"oldState\":\""
                          + encoded(before)
                          + "\"}"
                      : ",\"newState\":"
                          + new String(event.data(), UTF_8)
                          + ",\"oldState\":"
                          + new String(before, UTF_8)
                          + "}");
          if (base64) {
            assertThat(Base64.getDecoder().decode(read.get("newState").asString()))
                .isEqualTo(event.data());
          } else {
            assertThat(read.get("newState")).isEqualTo(JSON.readTree(event.data()));
          }
        });
  }

  private static String encoded(byte[] state) {
    return Base64.getEncoder().encodeToString(state);
  }

  private static String text(Event event, boolean base64) {
    return text(event, base64, Version.V2, null);
  }

  private static String text(
      Event event, boolean base64, Version version, @Nullable Version messageVersion) {
    Form form =
        new Form(
            Format.WORKFRONT, new Edition(version, null), base64, null, new TreeMap<>(), List.of());
    Subscription subscription =
        new Subscription(
            SUBSCRIPTION,
            event.tenant(),
            1,
            new Interest(List.of(new TypePattern("*")), null, Filters.NONE),
            form,
            Events.ACCEPTED_AT);
    Message message = Message.pending(1, event.id(), SUBSCRIPTION, 1, event.size(), messageVersion);
    return Events.text(
        Body.of(
            new Delivery(message, event, subscription, "http://a.example/", Events.ACCEPTED_AT)));
  }
}
