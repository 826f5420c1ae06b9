package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.LocalReceiver.Delivery;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Changing, pausing, testing and replaying from outside, with a real engine and receivers. */
class ManageApiTest {
  private final LocalReceiver receiver;
  private final RealEngine engine;
  private final TestServer server;

  ManageApiTest(@TempDir Path data) throws Exception {
    receiver = new LocalReceiver();
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    engine.close();
    receiver.close();
  }

  private JsonNode subscribe(String path, String type) throws Exception {
    Reply reply =
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"" + receiver.url(path) + "\",\"types\":[\"" + type + "\"]}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
    return server.get("/v1/subscriptions/" + text(reply.json(), "id")).json();
  }

  private static String text(JsonNode json, String field) {
    return json.get(field).asString();
  }

  private static String path(JsonNode subscription) {
    return "/v1/subscriptions/" + text(subscription, "id");
  }

  private Reply patch(JsonNode subscription, String body) throws Exception {
    return server.send("PATCH", path(subscription), body.getBytes(StandardCharsets.UTF_8));
  }

  private void send(String type) throws Exception {
    assertThat(server.post("/v1/events", "{\"type\":\"" + type + "\",\"data\":{}}").status())
        .isEqualTo(202);
  }

  private static boolean isOnly(JsonNode list, String status) {
    return list.get("items").size() == 1 && text(list.get("items").get(0), "status").equals(status);
  }

  @Test
  void a_subscription_is_changed_in_place_and_events_go_to_its_new_url() throws Exception {
    JsonNode subscription = subscribe("/old", "order");
    Reply reply =
        patch(
            subscription,
            "{\"url\":\"" + receiver.url("/new") + "\",\"types\":[\"invoice\"],\"subject\":\"s\"}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(text(reply.json(), "id")).isEqualTo(text(subscription, "id"));
    assertThat(text(reply.json(), "url")).isEqualTo(receiver.url("/new"));
    assertThat(text(reply.json(), "subject")).isEqualTo("s");
    assertThat(text(reply.json(), "endpoint")).isNotEqualTo(text(subscription, "endpoint"));
    assertThat(patch(subscription, "{\"subject\":null}").json().get("subject").isNull()).isTrue();
    send("order");
    send("invoice");
    assertThat(receiver.next().path()).isEqualTo("/new");
  }

  @Test
  void what_waits_at_the_old_url_goes_to_the_new_one() throws Exception {
    JsonNode subscription = subscribe("/old", "order");
    server.post("/v1/endpoints/" + text(subscription, "endpoint") + "/freeze", "");
    send("order");
    server.eventually("/v1/messages", list -> isOnly(list, "parked"));
    patch(subscription, "{\"url\":\"" + receiver.url("/new") + "\"}");
    assertThat(receiver.next().path()).isEqualTo("/new");
    server.eventually("/v1/messages", list -> isOnly(list, "delivered"));
  }

  @Test
  void a_merge_patch_may_say_that_it_is_one() throws Exception {
    JsonNode subscription = subscribe("/old", "order");
    byte[] body = "{\"types\":[\"a\"]}".getBytes(StandardCharsets.UTF_8);
    assertThat(
            server
                .send(
                    "PATCH",
                    path(subscription),
                    body,
                    "Content-Type",
                    "application/merge-patch+json")
                .status())
        .isEqualTo(200);
    assertThat(
            server
                .send("POST", "/v1/events", body, "Content-Type", "application/merge-patch+json")
                .status())
        .isEqualTo(415);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"url":"ftp://x.example/"}   | url
          {"url":null}                 | url
          {"types":[]}                 | types
          {"types":null}               | types
          {"subject":7}                | subject
          {"paused":true}              | paused
          {"secret":"whsec_x"}         | secret
          {"since":"2026-01-01T00:00:00Z"} | since
          {"filters":[{}]}             | filters[0].fieldName
          {"filters":7}                | filters
          {"filterConnector":"and"}    | filterConnector
          {"format":"xml"}             | format
          {"version":"v1"}             | version
          {"version":"v3"}             | version
          {"version":1}                | version
          {"base64Encoding":true}      | base64Encoding
          {"base64Encoding":"yes"}     | base64Encoding
          {"authToken":""}             | authToken
          {"headers":{"Host":null}}    | headers.Host
          {"headers":{"A":"b","a":null}} | headers.a
          {"authToken":"t","headers":{"authorization":"b"}} | authToken
          {"rateLimit":0}              | rateLimit
          {"colour":"red"}             | colour
          """)
  void a_bad_patch_is_refused_with_its_field_and_changes_nothing(String body, String field)
      throws Exception {
    JsonNode subscription = subscribe("/old", "order");
    Reply reply = patch(subscription, body);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo(field);
    assertThat(server.get(path(subscription)).json()).isEqualTo(subscription);
  }

  @Test
  void an_unknown_subscription_cannot_be_changed_or_paused() throws Exception {
    byte[] body = "{\"types\":[\"a\"]}".getBytes(StandardCharsets.UTF_8);
    assertThat(server.send("PATCH", "/v1/subscriptions/sub_0000000000001", body).status())
        .isEqualTo(404);
    assertThat(server.post("/v1/subscriptions/sub_0000000000001/pause", "").status())
        .isEqualTo(404);
  }

  @Test
  void a_paused_subscription_holds_its_messages_until_it_is_resumed() throws Exception {
    JsonNode subscription = subscribe("/hook", "order");
    assertThat(subscription.get("paused").asBoolean()).isFalse();
    for (int i = 0; i < 2; i++) {
      Reply paused = server.post(path(subscription) + "/pause", "");
      assertThat(paused.status()).isEqualTo(200);
      assertThat(paused.json().get("paused").asBoolean()).isTrue();
    }
    send("order");
    server.eventually("/v1/messages", list -> isOnly(list, "parked"));
    assertThat(server.post(path(subscription) + "/resume", "").json().get("paused").asBoolean())
        .isFalse();
    assertThat(receiver.next().path()).isEqualTo("/hook");
  }

  @Test
  void an_endpoint_is_tested_without_a_trace_in_its_counts() throws Exception {
    String endpoint = "/v1/endpoints/" + text(subscribe("/hook", "order"), "endpoint");
    JsonNode before = server.get(endpoint).json();
    Reply tested = server.post(endpoint + "/test", "");
    assertThat(tested.status()).as(tested.text()).isEqualTo(200);
    assertThat(text(tested.json(), "outcome")).isEqualTo("success");
    assertThat(receiver.next().body()).contains("\"type\":\"holdfast.test\"");
    receiver.status = 500;
    JsonNode failed = server.post(endpoint + "/test", "").json();
    assertThat(text(failed, "outcome")).isEqualTo("failure");
    assertThat(failed.get("status").asInt()).isEqualTo(500);
    assertThat(text(failed, "error")).isEqualTo("status");
    assertThat(server.get(endpoint).json()).isEqualTo(before);
    assertThat(server.get("/v1/messages").json().get("items")).isEmpty();
    assertThat(server.post("/v1/endpoints/ep_0000000000001/test", "").status()).isEqualTo(404);
  }

  @Test
  void finished_messages_are_replayed_as_new_ones() throws Exception {
    JsonNode subscription = subscribe("/hook", "order");
    send("order");
    Delivery first = receiver.next();
    server.eventually("/v1/messages", list -> isOnly(list, "delivered"));
    String body =
        "{\"subscription\":\"" + text(subscription, "id") + "\",\"status\":[\"delivered\"]}";
    Reply started = server.post("/v1/replays", body);
    assertThat(started.status()).as(started.text()).isEqualTo(202);
    String path = "/v1/replays/" + text(started.json(), "id");
    Delivery again = receiver.next();
    assertThat(again.messageId()).isNotEqualTo(first.messageId());
    assertThat(again.body()).isEqualTo(first.body());
    JsonNode done = server.eventually(path, replay -> text(replay, "state").equals("done"));
    assertThat(done.get("total").asInt()).isEqualTo(1);
    assertThat(done.get("done").asInt()).isEqualTo(1);
    assertThat(text(server.get("/v1/messages/" + again.messageId()).json(), "replayOf"))
        .isEqualTo(first.messageId());
    assertThat(server.get("/v1/replays").json().get("items").get(0)).isEqualTo(done);
    assertThat(server.post(path + "/cancel", "").json()).isEqualTo(done);
    JsonNode event =
        server
            .get(
                "/v1/events/"
                    + text(server.get("/v1/messages").json().get("items").get(0), "event"))
            .json();
    assertThat(event.get("messages").size()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"endpoint":"nonsense"}                                   | endpoint
          {"endpoint":"ep_0000000000001"}                           | status
          {"endpoint":"ep_0000000000001","status":["waiting"]}      | status[0]
          {"endpoint":"ep_0000000000001","status":[]}               | status
          {"endpoint":"ep_0000000000001","since":"yesterday"}       | since
          {"endpoint":"ep_0000000000001","again":"yes"}             | again
          {"endpoint":"ep_0000000000001","speed":9}                 | speed
          """)
  void a_bad_replay_is_refused_with_its_field(String body, String field) throws Exception {
    Reply reply = server.post("/v1/replays", body);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo(field);
  }

  @Test
  void an_unknown_endpoint_or_replay_is_not_found() throws Exception {
    assertThat(
            server
                .post("/v1/replays", "{\"endpoint\":\"ep_0000000000001\",\"status\":[\"dropped\"]}")
                .status())
        .isEqualTo(404);
    assertThat(server.get("/v1/replays/rpl_0000000000001").status()).isEqualTo(404);
    assertThat(server.post("/v1/replays/rpl_0000000000001/cancel", "").status()).isEqualTo(404);
  }

  @Test
  void a_change_of_state_is_told_to_its_subscriber() throws Exception {
    JsonNode subscription = subscribe("/hook", "order");
    subscribe("/ops", "endpoint.*");
    server.post("/v1/endpoints/" + text(subscription, "endpoint") + "/disable", "");
    Delivery told = receiver.next();
    assertThat(told.path()).isEqualTo("/ops");
    assertThat(told.body())
        .contains("\"type\":\"endpoint.disabled\"", text(subscription, "endpoint"));
  }

  @Test
  void nobody_else_sends_operational_events() throws Exception {
    Reply reply = server.post("/v1/events", "{\"type\":\"endpoint.disabled\",\"data\":{}}");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo("type");
  }
}
