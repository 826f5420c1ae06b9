package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.LocalReceiver.Delivery;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What people look at: events, attempts, matches and requests, with a real engine. */
class HistoryCallsTest {
  private static final String UNKNOWN = "ep_0000000000001";

  private final LocalReceiver receiver;
  private final RealEngine engine;
  private final TestServer server;

  HistoryCallsTest(@TempDir Path data) throws Exception {
    receiver = new LocalReceiver();
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
    receiver.close();
  }

  private JsonNode subscribe(String path, String more) throws Exception {
    return made(
        server.post("/v1/subscriptions", "{\"url\":\"" + receiver.url(path) + "\"," + more + "}"));
  }

  private String send(String json) throws Exception {
    return text(made(server.post("/v1/events", json)), "id");
  }

  private static JsonNode made(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isBetween(200, 299);
    return reply.json();
  }

  private JsonNode get(String path) throws Exception {
    return made(server.get(path));
  }

  private static String text(JsonNode json, String field) {
    return json.get(field).asString();
  }

  private static List<String> all(JsonNode list, String field) {
    return list.get("items").valueStream().map(item -> text(item, field)).toList();
  }

  /** The message of an event, once it has that status. */
  private JsonNode message(String event, String status) throws Exception {
    return server
        .eventually(
            "/v1/messages?event=" + event,
            list ->
                list.get("items").size() == 1
                    && text(list.get("items").get(0), "status").equals(status))
        .get("items")
        .get(0);
  }

  @Test
  void the_subscriptions_of_one_endpoint_are_found_among_others() throws Exception {
    String first = text(subscribe("/a", "\"types\":[\"one\"]"), "id");
    JsonNode other = subscribe("/b", "\"types\":[\"*\"]");
    JsonNode second = subscribe("/a", "\"types\":[\"two\"]");
    String path = "/v1/subscriptions?endpoint=" + text(second, "endpoint");
    assertThat(all(get(path), "id")).containsExactly(text(second, "id"), first);
    JsonNode page = get(path + "&limit=1");
    assertThat(all(page, "id")).containsExactly(text(second, "id"));
    assertThat(all(get(path + "&limit=1&cursor=" + text(page, "next")), "id"))
        .containsExactly(first);
    assertThat(all(get("/v1/subscriptions?endpoint=" + text(other, "endpoint")), "id"))
        .containsExactly(text(other, "id"));
    assertThat(get("/v1/subscriptions?endpoint=" + UNKNOWN).get("items")).isEmpty();
    assertThat(server.get("/v1/subscriptions?endpoint=x").status()).isEqualTo(400);
  }

  // ---- events

  @Test
  void events_are_listed_newest_first_with_the_states_of_their_messages() throws Exception {
    assertThat(get("/v1/events").toString()).isEqualTo("{\"items\":[],\"next\":null}");
    subscribe("/hook", "\"types\":[\"order.*\"]");
    send("{\"type\":\"order.paid\",\"subject\":\"o-1\",\"id\":\"mine\",\"data\":{\"n\":1}}");
    message("mine", "delivered");
    String second =
        send(
            "{\"type\":\"other\",\"occurredAt\":\"2026-03-01T12:00:00Z\",\"data\":1,\"previous\":2}");
    JsonNode list = get("/v1/events");
    assertThat(all(list, "id")).containsExactly(second, "mine");
    JsonNode newest = list.get("items").get(0);
    assertThat(text(newest, "type")).isEqualTo("other");
    assertThat(newest.get("subject").isNull()).isTrue();
    assertThat(text(newest, "occurredAt")).isEqualTo("2026-03-01T12:00:00Z");
    assertThat(newest.get("bytes").asInt()).isEqualTo(2);
    JsonNode mine = list.get("items").get(1);
    assertThat(text(mine, "subject")).isEqualTo("o-1");
    assertThat(mine.get("messages").toString())
        .isEqualTo("{\"pending\":0,\"waiting\":0,\"parked\":0,\"delivered\":1,\"dropped\":0}");
    assertThat(text(mine, "acceptedAt"))
        .isEqualTo(text(get("/v1/events/mine"), "acceptedAt"))
        .endsWith("Z");
  }

  @Test
  void events_are_read_page_by_page_and_found_by_type_subject_and_time() throws Exception {
    List<String> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String type = i % 2 == 0 ? "order.paid" : "order.sent";
      sent.addFirst(send("{\"type\":\"" + type + "\",\"subject\":\"s" + i + "\",\"data\":1}"));
    }
    List<String> found = new ArrayList<>();
    String next = "";
    while (next != null) {
      JsonNode page = get("/v1/events?limit=2" + (next.isEmpty() ? "" : "&cursor=" + next));
      found.addAll(all(page, "id"));
      next = page.get("next").isNull() ? null : text(page, "next");
    }
    assertThat(found).isEqualTo(sent);
    assertThat(all(get("/v1/events?type=order.paid"), "subject")).containsExactly("s4", "s2", "s0");
    assertThat(all(get("/v1/events?type=*.sent"), "subject")).containsExactly("s3", "s1");
    assertThat(all(get("/v1/events?type=order.*&subject=s3"), "subject")).containsExactly("s3");
    assertThat(all(get("/v1/events?type=order"), "id")).isEmpty();
    assertThat(all(get("/v1/events?since=2999-01-01T00:00:00Z"), "id")).isEmpty();
    assertThat(all(get("/v1/events?until=2999-01-01T00:00:00Z"), "id")).hasSize(5);
  }

  @Test
  void an_event_says_which_subscriptions_it_matches_and_why_not() throws Exception {
    String filter =
        "\"filters\":[{\"fieldName\":\"n\",\"comparison\":\"eq\",\"fieldValue\":\"%s\"}]";
    Map<String, @Nullable String> expected = new HashMap<>();
    expected.put(text(subscribe("/a?token=abc", "\"types\":[\"order.*\"]"), "id"), null);
    expected.put(text(subscribe("/b", "\"types\":[\"invoice\"]"), "id"), "type");
    expected.put(
        text(subscribe("/c", "\"types\":[\"order.*\"],\"subject\":\"x\""), "id"), "subject");
    expected.put(
        text(subscribe("/d", "\"types\":[\"order.*\"]," + filter.formatted("2")), "id"), "filters");
    String paused = text(subscribe("/e", "\"types\":[\"order.*\"]," + filter.formatted("1")), "id");
    expected.put(paused, "paused");
    made(server.post("/v1/subscriptions/" + paused + "/pause", ""));
    String event = send("{\"type\":\"order.paid\",\"subject\":\"s\",\"data\":{\"n\":1}}");
    String late = text(subscribe("/f", "\"types\":[\"*\"]"), "id");
    expected.put(late, null);
    JsonNode list = get("/v1/events/" + event + "/matches");
    assertThat(list.get("next").isNull()).isTrue();
    assertThat(all(list, "subscription")).first().isEqualTo(late);
    Map<String, @Nullable String> why = new HashMap<>();
    for (JsonNode item : list.get("items")) {
      boolean matched = item.get("matched").asBoolean();
      String reason = item.get("why").isNull() ? null : text(item, "why");
      why.put(text(item, "subscription"), reason);
      assertThat(matched).isEqualTo(reason == null || reason.equals("paused"));
      boolean hasMessage = matched && !text(item, "subscription").equals(late);
      assertThat(item.get("message").isNull()).isEqualTo(!hasMessage);
    }
    assertThat(why).isEqualTo(expected);
    assertThat(list.toString()).contains("/a?token=****").doesNotContain("abc");
    JsonNode first = get("/v1/events/" + event + "/matches?limit=4");
    JsonNode rest = get("/v1/events/" + event + "/matches?limit=4&cursor=" + text(first, "next"));
    List<String> both = new ArrayList<>(all(first, "subscription"));
    both.addAll(all(rest, "subscription"));
    assertThat(both).isEqualTo(all(list, "subscription"));
    assertThat(server.get("/v1/events/nobodys/matches").status()).isEqualTo(404);
  }

  // ---- messages

  @Test
  void messages_are_found_by_the_type_and_the_subject_of_their_events() throws Exception {
    subscribe("/hook", "\"types\":[\"*\"]");
    String paid = send("{\"type\":\"order.paid\",\"subject\":\"a b\",\"data\":1}");
    String sent = send("{\"type\":\"order.sent\",\"data\":1}");
    assertThat(all(get("/v1/messages?type=order.*"), "event")).containsExactly(sent, paid);
    assertThat(all(get("/v1/messages?type=*paid"), "event")).containsExactly(paid);
    assertThat(all(get("/v1/messages?subject=a%20b"), "event")).containsExactly(paid);
    assertThat(all(get("/v1/messages?subject=a"), "event")).isEmpty();
    assertThat(all(get("/v1/messages?type=order.sent&subject=a%20b"), "event")).isEmpty();
  }

  // ---- requests

  @Test
  void the_request_that_is_shown_is_the_one_that_is_sent_without_its_secrets() throws Exception {
    subscribe(
        "/hook?key=q-secret",
        "\"types\":[\"*\"],\"authToken\":\"t-secret\",\"headers\":{\"X-Own\":\"h-secret\"},"
            + "\"signature\":\"v1\"");
    String event =
        send(
            "{\"type\":\"order.paid\",\"subject\":\"s\",\"data\":{\"a\":\"ü 😀\"},\"previous\":[]}");
    Delivery delivery = receiver.next();
    JsonNode message = message(event, "delivered");
    JsonNode request = get("/v1/messages/" + text(message, "id") + "/request");
    assertThat(text(request, "method")).isEqualTo("POST");
    assertThat(text(request, "url")).isEqualTo(receiver.url("/hook?key=****"));
    assertThat(text(request, "body")).isEqualTo(delivery.body());
    assertThat(request.get("bodyCut").asBoolean()).isFalse();
    assertThat(request.get("bodyBytes").asInt())
        .isEqualTo(delivery.body().getBytes(StandardCharsets.UTF_8).length);
    Map<String, String> headers = new HashMap<>();
    request
        .get("headers")
        .forEach(header -> headers.put(text(header, "name"), text(header, "value")));
    assertThat(headers)
        .containsEntry("Authorization", "****")
        .containsEntry("X-Own", "****")
        .containsEntry("webhook-signature", "****")
        .containsEntry("webhook-id", delivery.messageId())
        .containsEntry("User-Agent", "Holdfast/test")
        .containsEntry("Content-Type", "application/json")
        .containsEntry("Content-Length", request.get("bodyBytes").asString())
        .containsKeys("Host", "webhook-timestamp");
    assertThat(request.toString()).doesNotContain("q-secret", "t-secret", "h-secret", "whsec");
    assertThat(text(request, "curl"))
        .contains("-H 'Authorization: ****'")
        .doesNotContain("Host:", "Content-Length:");
  }

  @Test
  void a_long_body_is_shown_cut_between_characters_and_said_to_be() throws Exception {
    subscribe("/hook", "\"types\":[\"*\"]");
    String event = send("{\"type\":\"t\",\"data\":\"" + "aü".repeat(120_000) + "\"}");
    JsonNode message = message(event, "delivered");
    JsonNode request = get("/v1/messages/" + text(message, "id") + "/request");
    byte[] whole = receiver.next().body().getBytes(StandardCharsets.UTF_8);
    byte[] shown = text(request, "body").getBytes(StandardCharsets.UTF_8);
    assertThat(request.get("bodyCut").asBoolean()).isTrue();
    assertThat(request.get("bodyBytes").asInt()).isEqualTo(whole.length);
    assertThat(shown.length).isBetween(ApiLimits.SHOWN_BODY_BYTES - 3, ApiLimits.SHOWN_BODY_BYTES);
    assertThat(whole).startsWith(shown);
    assertThat(text(request, "curl")).endsWith(" --data-binary @body.json");
  }

  @Test
  void nothing_is_shown_for_a_message_that_is_not_there_or_whose_subscription_is_gone()
      throws Exception {
    JsonNode subscription = subscribe("/hook", "\"types\":[\"*\"]");
    String event = send("{\"type\":\"t\",\"data\":1}");
    String path = "/v1/messages/" + text(message(event, "delivered"), "id") + "/request";
    assertThat(server.get(path).status()).isEqualTo(200);
    assertThat(server.delete("/v1/subscriptions/" + text(subscription, "id")).status())
        .isEqualTo(204);
    assertThat(server.get(path).status()).isEqualTo(404);
    assertThat(server.get("/v1/messages/msg_0000000000001/request").status()).isEqualTo(404);
    assertThat(server.get("/v1/messages/nonsense/request").status()).isEqualTo(404);
  }

  // ---- attempts

  @Test
  void the_attempts_of_an_endpoint_are_listed_and_the_latest_shown_in_few_words() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"types\":[\"*\"]");
    String endpoint = text(subscription, "endpoint");
    assertThat(get("/v1/endpoints/" + endpoint + "/attempts").get("items")).isEmpty();
    receiver.status = 503;
    String failed = send("{\"type\":\"t\",\"data\":1}");
    JsonNode waiting = message(failed, "waiting");
    receiver.status = 200;
    String delivered = send("{\"type\":\"t\",\"data\":2}");
    JsonNode done = message(delivered, "delivered");
    JsonNode list = get("/v1/endpoints/" + endpoint + "/attempts");
    assertThat(all(list, "message")).containsExactly(text(done, "id"), text(waiting, "id"));
    assertThat(all(list, "outcome")).containsExactly("success", "failure");
    JsonNode failure = list.get("items").get(1);
    assertThat(failure.get("number").asInt()).isEqualTo(1);
    assertThat(failure.get("status").asInt()).isEqualTo(503);
    assertThat(text(failure, "error")).isEqualTo("status");
    assertThat(failure.get("scheduled").asBoolean()).isTrue();
    assertThat(failure.get("durationMillis").asLong()).isNotNegative();
    assertThat(failure.has("response")).isFalse();
    JsonNode first = get("/v1/endpoints/" + endpoint + "/attempts?limit=1");
    JsonNode rest =
        get("/v1/endpoints/" + endpoint + "/attempts?limit=1&cursor=" + text(first, "next"));
    assertThat(all(rest, "message")).containsExactly(text(waiting, "id"));
    String attempts = "/v1/endpoints/" + endpoint + "/attempts?";
    assertThat(get(attempts + "since=2999-01-01T00:00:00Z").get("items")).isEmpty();
    assertThat(get(attempts + "until=" + text(failure, "at")).get("items")).isEmpty();
    assertThat(get(attempts + "since=" + text(failure, "at")).get("items")).hasSize(2);
    JsonNode recent = get("/v1/endpoints/recent?ids=" + endpoint + "," + UNKNOWN);
    assertThat(all(recent, "endpoint")).containsExactly(endpoint);
    assertThat(all(recent, "url")).containsExactly(text(get("/v1/endpoints/" + endpoint), "url"));
    JsonNode drawn = recent.get("items").get(0).get("attempts");
    assertThat(drawn.valueStream().map(one -> text(one, "outcome")))
        .containsExactly("failure", "success");
    assertThat(text(drawn.get(0), "at")).isEqualTo(text(failure, "at"));
    assertThat(server.get("/v1/endpoints/" + UNKNOWN + "/attempts").status()).isEqualTo(404);
    assertThat(get("/v1/endpoints/recent?ids=" + UNKNOWN).get("items")).isEmpty();
  }

  // ---- what is refused

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /v1/events?type=                              | type
          /v1/events?subject=                           | subject
          /v1/events?since=yesterday                    | since
          /v1/events?until=2026-01-01                   | until
          /v1/events?limit=0                            | limit
          /v1/events?limit=1001                         | limit
          /v1/events?cursor=nonsense                    | cursor
          /v1/events?status=pending                     | status
          /v1/events/x/matches?limit=101                | limit
          /v1/events/x/matches?cursor=nonsense          | cursor
          /v1/events/x/matches?type=x                   | type
          /v1/messages?type=                            | type
          /v1/messages?subject=                         | subject
          /v1/messages/msg_0000000000001/request?x=1    | x
          /v1/endpoints?q=                              | q
          /v1/endpoints?sort=size                       | sort
          /v1/endpoints?sort=url&cursor=nonsense        | cursor
          /v1/endpoints/ep_0000000000001/attempts?since=x  | since
          /v1/endpoints/ep_0000000000001/attempts?limit=x  | limit
          /v1/endpoints/ep_0000000000001/attempts?cursor=x | cursor
          /v1/endpoints/ep_0000000000001/attempts?q=x      | q
          /v1/endpoints/recent                          | ids
          /v1/endpoints/recent?ids=                     | ids
          /v1/endpoints/recent?ids=ep_0000000000001,x   | ids
          /v1/endpoints/recent?limit=1                  | limit
          """)
  void a_bad_parameter_is_refused_by_its_name(String path, String parameter) throws Exception {
    Reply reply = server.get(path);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo(parameter);
    assertThat(text(reply.json(), "detail")).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {257, 3_000})
  void a_search_that_is_too_long_is_refused(int chars) throws Exception {
    String long1 = "x".repeat(chars);
    for (String path : List.of("/v1/events?type=", "/v1/messages?subject=", "/v1/endpoints?q=")) {
      assertThat(server.get(path + long1).status()).isEqualTo(400);
    }
    assertThat(server.get("/v1/events?subject=" + "%F0%9F%98%80".repeat(256)).status())
        .isEqualTo(200);
  }

  @Test
  void more_endpoints_than_can_be_drawn_at_once_are_refused() throws Exception {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i <= ApiLimits.RECENT_ENDPOINTS; i++) {
      ids.add("ep_%013d".formatted(i));
    }
    assertThat(server.get("/v1/endpoints/recent?ids=" + String.join(",", ids)).status())
        .isEqualTo(400);
    assertThat(
            server
                .get("/v1/endpoints/recent?ids=" + String.join(",", ids.subList(1, 101)))
                .status())
        .isEqualTo(200);
  }

  @Test
  void a_cursor_of_another_list_is_refused() throws Exception {
    List<String> lists =
        List.of(
            "/v1/events?",
            "/v1/messages?",
            "/v1/endpoints?",
            "/v1/endpoints?sort=url&",
            "/v1/endpoints?sort=state&",
            "/v1/endpoints?sort=failures&",
            "/v1/endpoints?sort=waiting&",
            "/v1/endpoints/{endpoint}/attempts?",
            "/v1/events/{event}/matches?");
    String endpoint = text(subscribe("/a", "\"types\":[\"t\"]"), "endpoint");
    subscribe("/b", "\"types\":[\"t\"]");
    String event = "";
    for (int i = 0; i < 3; i++) {
      event = send("{\"type\":\"t\",\"data\":1}");
    }
    server.eventually("/v1/messages?status=delivered", list -> list.get("items").size() == 6);
    Map<String, String> cursors = new HashMap<>();
    for (String list : lists) {
      String path = list.replace("{endpoint}", endpoint).replace("{event}", event);
      cursors.put(path, text(get(path + "limit=1"), "next"));
    }
    for (String path : cursors.keySet()) {
      for (Map.Entry<String, String> cursor : cursors.entrySet()) {
        assertThat(server.get(path + "cursor=" + cursor.getValue()).status())
            .as(path + " with one of " + cursor.getKey())
            .isEqualTo(path.equals(cursor.getKey()) ? 200 : 400);
      }
    }
  }
}
