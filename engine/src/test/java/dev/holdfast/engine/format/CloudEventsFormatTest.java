package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.core.model.Event;
import dev.holdfast.engine.Seeds;
import io.cloudevents.CloudEvent;
import io.cloudevents.SpecVersion;
import io.cloudevents.core.format.EventFormat;
import io.cloudevents.core.message.impl.GenericStructuredMessageReader;
import io.cloudevents.core.message.impl.MessageUtils;
import io.cloudevents.core.provider.EventFormatProvider;
import io.cloudevents.jackson.JsonCloudEventData;
import io.cloudevents.jackson.JsonFormat;
import io.cloudevents.rw.CloudEventRWException;
import java.net.URLDecoder;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads what is sent with the SDK that its receivers use. */
class CloudEventsFormatTest {
  private static final EventFormat SDK =
      Objects.requireNonNull(
          EventFormatProvider.getInstance().resolveFormat(JsonFormat.CONTENT_TYPE));

  @Test
  void an_event_is_told_with_its_attributes_and_its_very_data() {
    Event event =
        Events.event(
            "order.paid",
            "order/7",
            Instant.parse("2026-01-02T03:04:05.678Z"),
            "{\"n\": 1.10, \"n\":1e400}",
            null);
    assertThat(text(event))
        .isEqualTo(
            "{\"specversion\":\"1.0\",\"id\":\""
                + event.publicId()
                + "\",\"source\":\"/tenants/default\",\"type\":\"order.paid\","
                + "\"subject\":\"order/7\",\"time\":\"2026-01-02T03:04:05.678Z\","
                + "\"datacontenttype\":\"application/json\",\"data\":{\"n\": 1.10, \"n\":1e400}}");
  }

  @Test
  void without_a_time_of_its_own_an_event_has_that_of_its_acceptance() {
    Event event = Events.event("t", null, null, "1", null);
    assertThat(text(event))
        .isEqualTo(
            "{\"specversion\":\"1.0\",\"id\":\""
                + event.publicId()
                + "\",\"source\":\"/tenants/default\",\"type\":\"t\","
                + "\"time\":\"2026-03-04T05:06:07.890Z\","
                + "\"datacontenttype\":\"application/json\",\"data\":1}");
  }

  @Test
  void the_state_before_is_an_attribute_in_base64() {
    Event event = Events.event("t", null, null, "1", "{\"n\":\n1.10}");
    assertThat(text(event)).endsWith(",\"data\":1,\"previous\":\"eyJuIjoKMS4xMH0=\"}");
    assertThat(
            SDK.deserialize(Events.bytes(CloudEventsFormat.body(event))).getExtension("previous"))
        .isEqualTo("eyJuIjoKMS4xMH0=");
  }

  @ParameterizedTest
  @CsvSource({
    "default,/tenants/default",
    "a-b_c.d~9,/tenants/a-b_c.d~9",
    "a b/c,/tenants/a%20b%2Fc",
    "?q#f:%,/tenants/%3Fq%23f%3A%25",
    "Zürich,/tenants/Z%C3%BCrich"
  })
  void the_source_is_a_uri_reference_whatever_the_tenant_is_called(String tenant, String source) {
    Event event = new Event(7, tenant, "t", null, null, new byte[] {'1'}, null, null, null);
    assertThat(text(event)).contains(",\"source\":\"" + source + "\",");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_000, 16_100, 16_200, 16_384, 20_000, 1_000_000})
  void small_and_large_bodies_read_the_same(int size) {
    String data = "\"" + "d".repeat(size) + "\"";
    Event event = Events.event("t", "s", Instant.EPOCH, data, "[" + size + "]");
    assertThat(text(event))
        .isEqualTo(
            "{\"specversion\":\"1.0\",\"id\":\""
                + event.publicId()
                + "\",\"source\":\"/tenants/default\",\"type\":\"t\",\"subject\":\"s\","
                + "\"time\":\"1970-01-01T00:00:00Z\",\"datacontenttype\":\"application/json\","
                + "\"data\":"
                + data
                + ",\"previous\":\""
                + Base64.getEncoder().encodeToString(("[" + size + "]").getBytes(UTF_8))
                + "\"}");
  }

  @Test
  void the_sdk_reads_any_event_as_it_was() {
    ObjectMapper json = new ObjectMapper();
    Seeds.each(
        2_000,
        random -> {
          Event event = Events.random(random);
          byte[] body = Events.bytes(CloudEventsFormat.body(event));

          CloudEvent read = SDK.deserialize(body);

          Instant occurredAt = event.occurredAt();
          assertThat(read.getSpecVersion()).isEqualTo(SpecVersion.V1);
          assertThat(read.getId()).isEqualTo(event.publicId());
          assertThat(read.getType()).isEqualTo(event.type());
          assertThat(read.getSubject()).isEqualTo(event.subject());
          assertThat(Objects.requireNonNull(read.getTime()).toInstant())
              .isEqualTo(occurredAt == null ? event.acceptedAt() : occurredAt);
          assertThat(read.getDataContentType()).isEqualTo("application/json");
          assertThat(URLDecoder.decode(read.getSource().toString(), UTF_8))
              .isEqualTo("/tenants/" + new String(event.tenant().getBytes(UTF_8), UTF_8));
          byte[] previous = event.previous();
          assertThat(read.getExtension("previous"))
              .isEqualTo(previous == null ? null : Base64.getEncoder().encodeToString(previous));
          assertThat(((JsonCloudEventData) Objects.requireNonNull(read.getData())).getNode())
              .isEqualTo(json.readTree(event.data()));
          assertThat(new String(body, UTF_8))
              .contains(",\"data\":" + new String(event.data(), UTF_8));
        });
  }

  /** Why receivers are told to hand the body to the SDK themselves. */
  @Test
  void the_sdk_takes_a_request_for_a_structured_event_only_by_its_own_content_type() {
    byte[] body = Events.bytes(CloudEventsFormat.body(Events.event("t", null, null, "1", null)));
    assertThat(read("application/cloudevents+json", body).getType()).isEqualTo("t");
    assertThatThrownBy(() -> read("application/json", body))
        .isInstanceOf(CloudEventRWException.class)
        .hasMessageContaining("encoding");
    assertThat(SDK.deserialize(body).getType()).isEqualTo("t");
  }

  private static CloudEvent read(String contentType, byte[] body) {
    return MessageUtils.parseStructuredOrBinaryMessage(
            () -> contentType,
            format -> new GenericStructuredMessageReader(format, body),
            () -> null,
            version -> {
              throw new AssertionError("not structured");
            })
        .toEvent();
  }

  private static String text(Event event) {
    return Events.text(CloudEventsFormat.body(event));
  }
}
