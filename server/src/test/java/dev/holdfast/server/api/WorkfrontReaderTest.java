package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.server.api.Problem.Kind;
import dev.holdfast.server.api.RandomJson.Member;
import dev.holdfast.server.api.WorkfrontReader.AskedVersions;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkfrontReaderTest {
  private static final int MESSAGE_BYTES = 1_000;
  private static final String HEAD = "\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\"";

  private final WorkfrontReader reader =
      new WorkfrontReader(
          new SubscriptionReader(url -> url, InstantSource.system()), MESSAGE_BYTES);

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  private NewEvent event(String more) {
    return reader.event(bytes("{" + HEAD + "," + more + "}"), "the trace");
  }

  private Problem refused(String body) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> reader.event(bytes(body), null));
    assertThat(refusal).as(body).isNotNull();
    return refusal.problem();
  }

  private @Nullable Instant timeOf(String eventTime) {
    return event("\"newState\":{},\"eventTime\":" + eventTime).occurredAt();
  }

  // ---- events

  @Test
  void an_event_has_the_type_that_its_object_and_its_kind_make() {
    NewEvent event = event("\"objId\":\"7\",\"newState\":{ \"a\" : 1.50 },\"oldState\":{}");
    assertThat(event.type()).isEqualTo("PROJ.UPDATE");
    assertThat(event.subject()).isEqualTo("7");
    assertThat(text(event.data())).isEqualTo("{ \"a\" : 1.50 }");
    assertThat(text(event.previous())).isEqualTo("{}");
    assertThat(event.occurredAt()).isNull();
    assertThat(event.callerId()).isNull();
    assertThat(event.traceparent()).isEqualTo("the trace");
  }

  @Test
  void an_event_can_have_an_id_of_its_sender() {
    assertThat(event("\"newState\":{},\"id\":\"change-7\"").callerId()).isEqualTo("change-7");
    assertThat(event("\"newState\":{},\"id\":null").callerId()).isNull();
    for (String bad : List.of("7", "\"\"", "\"a b\"", "\"evt_1\"", "\"" + "x".repeat(257) + "\"")) {
      assertThat(refused("{" + HEAD + ",\"newState\":{},\"id\":" + bad + "}").field())
          .as(bad)
          .isEqualTo("id");
    }
  }

  @Test
  void an_old_state_of_null_and_an_object_without_a_name_are_none() {
    for (String nothing : List.of("null", "\"\"")) {
      assertThat(event("\"newState\":{},\"objId\":" + nothing).subject()).isNull();
    }
    assertThat(event("\"newState\":{},\"oldState\":null").previous()).isNull();
    assertThat(event("\"newState\":{}").previous()).isNull();
  }

  @Test
  void states_keep_their_bytes_wherever_they_stand() {
    Seeds.each(
        500,
        random -> {
          RandomJson json = new RandomJson(random);
          String newState = json.object(List.of(Member.of("n", "1.50"), Member.of("é", "[ ]")));
          String oldState = json.object(List.of(Member.of("o", "{\"x\" :\"}\\\"\"}")));
          List<Member> members = new ArrayList<>();
          members.add(Member.of("objCode", "\"TASK\""));
          members.add(Member.of("eventType", "\"DELETE\""));
          members.add(Member.of("newState", newState));
          members.add(Member.of("oldState", oldState));
          Collections.shuffle(members, new Random(random.nextLong()));
          NewEvent event = reader.event(bytes(json.object(members)), null);
          assertThat(text(event.data())).isEqualTo(newState);
          assertThat(text(event.previous())).isEqualTo(oldState);
          assertThat(event.type()).isEqualTo("TASK.DELETE");
        });
  }

  @Test
  void a_time_is_a_text_or_what_has_passed_since_1970() {
    assertThat(timeOf("null")).isNull();
    assertThat(timeOf("\"2026-03-01T13:00:00.123456789+01:00\""))
        .isEqualTo(Instant.parse("2026-03-01T12:00:00.123456Z"));
    assertThat(timeOf("{\"epochSecond\":1}")).isEqualTo(Instant.parse("1970-01-01T00:00:01Z"));
    assertThat(timeOf("{\"nano\":999999999,\"epochSecond\":-1}"))
        .isEqualTo(Instant.parse("1969-12-31T23:59:59.999999Z"));
    assertThat(timeOf("{\"epochSecond\":-62167219200}"))
        .isEqualTo(Instant.parse("0000-01-01T00:00:00Z"));
    assertThat(timeOf("{\"epochSecond\":253402300799,\"nano\":0}"))
        .isEqualTo(Instant.parse("9999-12-31T23:59:59Z"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          17                                | eventTime
          "today"                           | eventTime
          "2026-03-01T12:00:00"             | eventTime
          []                                | eventTime
          {}                                | eventTime.epochSecond
          {"nano":1}                        | eventTime.epochSecond
          {"epochSecond":null}              | eventTime.epochSecond
          {"epochSecond":"1"}               | eventTime.epochSecond
          {"epochSecond":1.0}               | eventTime.epochSecond
          {"epochSecond":1e3}               | eventTime.epochSecond
          {"epochSecond":-62167219201}      | eventTime.epochSecond
          {"epochSecond":253402300800}      | eventTime.epochSecond
          {"epochSecond":99999999999999999999999999} | eventTime.epochSecond
          {"epochSecond":1,"nano":-1}       | eventTime.nano
          {"epochSecond":1,"nano":1000000000} | eventTime.nano
          {"epochSecond":1,"nanos":1}       | eventTime.nanos
          {"epochSecond":1,"epochSecond":1} | eventTime.epochSecond
          """)
  void a_time_that_cannot_be_is_refused_with_its_place(String time, String field) {
    String body = "{" + HEAD + ",\"newState\":{},\"eventTime\":" + time + "}";
    assertThat(refused(body).field()).isEqualTo(field);
    assertThat(refused(body).kind().status).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"eventType":"UPDATE","newState":{}}                          | objCode
          {"objCode":"PROJ","newState":{}}                              | eventType
          {"objCode":"PROJ","eventType":"UPDATE"}                       | newState
          {"objCode":"PROJ","eventType":"update","newState":{}}         | eventType
          {"objCode":"PROJ","eventType":null,"newState":{}}             | eventType
          {"objCode":"PR.OJ","eventType":"UPDATE","newState":{}}        | objCode
          {"objCode":"","eventType":"UPDATE","newState":{}}             | objCode
          {"objCode":"PROJ","eventType":"UPDATE","newState":null}       | newState
          {"objCode":"PROJ","eventType":"UPDATE","newState":[]}         | newState
          {"objCode":"PROJ","eventType":"UPDATE","newState":"{}"}       | newState
          {"objCode":"PROJ","eventType":"UPDATE","newState":{},"oldState":1} | oldState
          {"objCode":"PROJ","eventType":"UPDATE","newState":{},"objId":7} | objId
          {"objCode":"PROJ","eventType":"UPDATE","newState":{},"id":"evt_x"} | id
          {"objCode":"PROJ","eventType":"UPDATE","newState":{},"newState":{}} | newState
          """)
  void an_event_that_cannot_be_is_refused_with_its_field(String body, String field) {
    assertThat(refused(body).field()).isEqualTo(field);
    assertThat(refused(body).kind().status).isEqualTo(400);
  }

  @Test
  void both_states_together_have_a_limit() {
    String half = "{\"a\":\"" + "x".repeat(MESSAGE_BYTES / 2 - 8) + "\"}";
    assertThat(half).hasSize(MESSAGE_BYTES / 2);
    assertThat(event("\"newState\":" + half + ",\"oldState\":" + half).data()).hasSize(500);
    String more = half.replace("x\"", "xx\"");
    Problem problem = refused("{" + HEAD + ",\"newState\":" + half + ",\"oldState\":" + more + "}");
    assertThat(problem.kind()).isEqualTo(Kind.TOO_LARGE);
    assertThat(problem.field()).isEqualTo("newState");
    assertThat(problem.detail()).startsWith("newState and oldState have 1001 bytes");
  }

  // ---- versions

  private static String id(int number) {
    return "\"sub_%013d\"".formatted(number);
  }

  @Test
  void ids_are_taken_as_they_stand() {
    String ids = String.join(",", id(1), id(1), id(2));
    AskedVersions asked =
        reader.versions(bytes("{\"subscriptionIds\":[" + ids + "],\"version\":\"v1\"}"));
    assertThat(asked.subscriptions()).containsExactly(1L, 1L, 2L);
    assertThat(asked.version()).isEqualTo(Version.V1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"allCustomerSubscriptions\":true,\"version\":\"v2\"}",
        "{\"allCustomerSubscriptions\":true,\"subscriptionIds\":null,\"version\":\"v2\"}"
      })
  void all_of_them_are_none_in_particular(String body) {
    assertThat(reader.versions(bytes(body)).subscriptions()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"allCustomerSubscriptions":true}                             | version
          {"allCustomerSubscriptions":true,"version":null}              | version
          {"allCustomerSubscriptions":true,"version":"v3"}              | version
          {"allCustomerSubscriptions":true,"version":"V1"}              | version
          {"allCustomerSubscriptions":true,"version":1}                 | version
          {"version":"v1"}                                              | subscriptionIds
          {"allCustomerSubscriptions":false,"version":"v1"}             | subscriptionIds
          {"allCustomerSubscriptions":null,"version":"v1"}              | subscriptionIds
          {"allCustomerSubscriptions":"true","version":"v1"}            | allCustomerSubscriptions
          {"subscriptionIds":null,"version":"v1"}                       | subscriptionIds
          {"subscriptionIds":[],"version":"v1"}                         | subscriptionIds
          {"subscriptionIds":"sub_0000000000001","version":"v1"}        | subscriptionIds
          {"subscriptionIds":["sub_0000000000001",7],"version":"v1"}    | subscriptionIds[1]
          {"subscriptionIds":["sub_0000000000001","x"],"version":"v1"}  | subscriptionIds[1]
          {"subscriptionIds":["ep_0000000000001"],"version":"v1"}       | subscriptionIds[0]
          {"subscriptionIds":["sub_0000000000001"],"allCustomerSubscriptions":true,"version":"v1"} | allCustomerSubscriptions
          {"subscriptionIds":["sub_0000000000001"],"version":"v1","x":1} | x
          """)
  void versions_that_cannot_be_are_refused_with_their_field(String body, String field) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> reader.versions(bytes(body)));
    assertThat(refusal).as(body).isNotNull();
    assertThat(refusal.problem().field()).isEqualTo(field);
    assertThat(refusal.problem().kind().status).isEqualTo(400);
  }

  @Test
  void ten_thousand_ids_are_taken_and_not_one_more() {
    String ids = String.join(",", Collections.nCopies(10_000, id(1)));
    assertThat(
            reader
                .versions(bytes("{\"subscriptionIds\":[" + ids + "],\"version\":\"v1\"}"))
                .subscriptions())
        .hasSize(10_000);
    String more = "{\"subscriptionIds\":[" + ids + "," + id(2) + "],\"version\":\"v1\"}";
    assertThat(more.length()).isLessThan(ApiLimits.VERSION_CHANGES_BYTES);
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> reader.versions(bytes(more)));
    assertThat(refusal.problem().field()).isEqualTo("subscriptionIds");
  }
}
