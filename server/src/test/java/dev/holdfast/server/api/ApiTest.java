package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.LocalReceiver.Delivery;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The interface from outside: a real engine, a real store, real receivers, a real client. */
class ApiTest {
  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final String[] OF_ACME = {"Holdfast-Tenant", "acme"};

  private final LocalReceiver receiver;
  private RealEngine engine;
  private TestServer server;

  ApiTest(@TempDir Path data) throws Exception {
    receiver = new LocalReceiver();
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
  }

  @BeforeEach
  void it_is_ready() throws Exception {
    assertThat(server.get("/health/ready").status()).isEqualTo(200);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    engine.close();
    receiver.close();
  }

  private JsonNode subscribe(String path, String types, String... headers) throws Exception {
    Reply reply =
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"" + receiver.url(path) + "\",\"types\":[" + types + "]}",
            headers);
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
    return reply.json();
  }

  private Reply submit(String event, String... headers) throws Exception {
    return server.post("/v1/events", event, headers);
  }

  private static String text(JsonNode json, String field) {
    return json.get(field).asString();
  }

  private JsonNode ok(String path, String... headers) throws Exception {
    Reply reply = server.get(path, headers);
    assertThat(reply.status()).as("%s: %s", path, reply.text()).isEqualTo(200);
    return reply.json();
  }

  private JsonNode onlyMessage(String query, String status) throws Exception {
    JsonNode list =
        server.eventually(
            "/v1/messages?" + query,
            json ->
                json.get("items").size() == 1
                    && text(json.get("items").get(0), "status").equals(status));
    return list.get("items").get(0);
  }

  private Reply patch(String path, String body) throws Exception {
    return server.send(
        "PATCH", path, body.getBytes(StandardCharsets.UTF_8), "Content-Type", MERGE_PATCH);
  }

  @Test
  void an_endpoint_has_a_rate_limit_that_its_subscriptions_show() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"t\"");
    String path = "/v1/endpoints/" + text(subscription, "endpoint");
    assertThat(subscription.get("rateLimit").isNull()).isTrue();
    for (String limit : List.of("5", "0.5", "10000", "0.001", "null")) {
      Reply reply = patch(path, "{\"rateLimit\":" + limit + "}");
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(reply.text()).contains("\"rateLimit\":" + limit + ",");
      assertThat(ok(path).toString()).isEqualTo(reply.json().toString());
      assertThat(ok("/v1/subscriptions/" + text(subscription, "id")).get("rateLimit").toString())
          .isEqualTo(reply.json().get("rateLimit").toString());
    }
    assertThat(patch(path, "{}").status()).isEqualTo(200);
    Reply created =
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"" + receiver.url("/hook") + "\",\"types\":[\"u\"],\"rateLimit\":3}");
    assertThat(created.json().get("rateLimit").asInt()).isEqualTo(3);
    assertThat(ok(path).get("rateLimit").asInt()).isEqualTo(3);
  }

  @Test
  void a_rate_limit_that_cannot_be_is_refused_and_named() throws Exception {
    String path = "/v1/endpoints/" + text(subscribe("/hook", "\"t\""), "endpoint");
    for (String limit : List.of("0", "-1", "10001", "1e999", "\"5\"", "true", "[]", "0.0001")) {
      Reply reply = patch(path, "{\"rateLimit\":" + limit + "}");
      assertThat(reply.status()).as(limit).isEqualTo(400);
      assertThat(text(reply.json(), "field")).isEqualTo("rateLimit");
    }
    assertThat(patch(path, "{\"url\":\"http://x/\"}").status()).isEqualTo(400);
    assertThat(patch(path, "{\"rateLimit\":1,\"rateLimit\":2}").status()).isEqualTo(400);
    assertThat(patch("/v1/endpoints/ep_0000000000001", "{\"rateLimit\":1}").status())
        .isEqualTo(404);
  }

  @Test
  void an_endpoint_that_answers_410_is_shown_as_gone_until_it_answers_otherwise() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"t\"");
    String path = "/v1/endpoints/" + text(subscription, "endpoint");
    receiver.status = 410;
    submit("{\"type\":\"t\",\"data\":1}");
    JsonNode gone = server.eventually(path, json -> !json.get("goneAt").isNull());
    assertThat(gone.get("failures").asInt()).isEqualTo(1);
    assertThat(ok("/v1/subscriptions/" + text(subscription, "id")).get("goneAt"))
        .isEqualTo(gone.get("goneAt"));
    assertThat(server.get("/metrics").text()).contains("holdfast_endpoints_gone 1.0");
    receiver.status = 200;
    submit("{\"type\":\"t\",\"data\":1}");
    server.eventually(path, json -> json.get("goneAt").isNull());
  }

  @Test
  void an_event_is_delivered_as_it_came_and_can_be_looked_at() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"order.*\"");
    String data = "{ \"b\" : 1.500, \"a\":[1e3,\"käse\\u00e9\"] }";
    Reply reply =
        submit(
            "{\"type\":\"order.paid\",\"subject\":\"order/17\",\"id\":\"my/17\",\"data\":  "
                + data
                + " ,\"occurredAt\":\"2026-03-01T13:00:00.123456789+01:00\",\"previous\": null}",
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.text()).isEqualTo("{\"id\":\"my/17\",\"messages\":1}");

    Delivery delivery = receiver.next();
    assertThat(delivery.path()).isEqualTo("/hook");
    assertThat(delivery.body()).contains("\"data\":" + data).contains("\"id\":\"my/17\"");
    assertThat(delivery.traceparent())
        .containsExactly("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    JsonNode event =
        server.eventually(
            "/v1/events/my%2F17",
            json -> text(json.get("messages").get(0), "status").equals("delivered"));
    assertThat(text(event, "id")).isEqualTo("my/17");
    assertThat(text(event, "type")).isEqualTo("order.paid");
    assertThat(text(event, "subject")).isEqualTo("order/17");
    assertThat(text(event, "occurredAt")).isEqualTo("2026-03-01T12:00:00.123456Z");
    assertThat(Instant.parse(text(event, "acceptedAt"))).isBeforeOrEqualTo(Instant.now());
    assertThat(server.get("/v1/events/my%2F17").text())
        .contains("\"data\":" + data + ",\"previous\":null,");
    assertThat(text(event.get("messages").get(0), "id")).isEqualTo(delivery.messageId());

    JsonNode message = ok("/v1/messages/" + delivery.messageId());
    assertThat(message.propertyNames())
        .containsExactly(
            "id",
            "event",
            "subscription",
            "endpoint",
            "type",
            "subject",
            "status",
            "reason",
            "createdAt",
            "deadline",
            "nextAttemptAt",
            "replayOf",
            "version",
            "attempts");
    assertThat(text(message, "event")).isEqualTo("my/17");
    assertThat(text(message, "subscription")).isEqualTo(text(subscription, "id"));
    assertThat(text(message, "endpoint")).isEqualTo(text(subscription, "endpoint"));
    assertThat(message.get("deadline").isNull()).isTrue();
    assertThat(message.get("nextAttemptAt").isNull()).isTrue();
    assertThat(message.get("reason").isNull()).isTrue();
    assertThat(message.get("attempts").size()).isEqualTo(1);
    JsonNode attempt = message.get("attempts").get(0);
    assertThat(attempt.propertyNames())
        .containsExactly(
            "number",
            "at",
            "durationMillis",
            "scheduled",
            "outcome",
            "status",
            "error",
            "response");
    assertThat(attempt.get("number").asInt()).isEqualTo(1);
    assertThat(attempt.get("scheduled").asBoolean()).isTrue();
    assertThat(text(attempt, "outcome")).isEqualTo("success");
    assertThat(attempt.get("status").asInt()).isEqualTo(200);
    assertThat(attempt.get("error").isNull()).isTrue();
    assertThat(text(attempt, "response")).isEqualTo("seen, grüße");
  }

  @Test
  void an_event_without_an_id_gets_one_and_without_a_subscription_no_messages() throws Exception {
    Reply reply = submit("{\"type\":\"t\",\"data\":17}");
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.json().get("messages").asInt()).isZero();
    String id = text(reply.json(), "id");
    assertThat(id).matches("evt_[0-9A-Z]{13}");
    JsonNode event = ok("/v1/events/" + id);
    assertThat(event.get("messages").size()).isZero();
    assertThat(event.get("occurredAt").isNull()).isTrue();
    assertThat(event.has("previous")).isFalse();
    assertThat(server.get("/v1/events/evt_0000000000001").status()).isEqualTo(404);
    assertThat(server.get("/v1/events/nobodys").status()).isEqualTo(404);
  }

  @Test
  void types_and_subject_decide_who_gets_an_event() throws Exception {
    subscribe("/any", "\"*\"");
    subscribe("/orders", "\"order.*\",\"cart.left\"");
    Reply only =
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"" + receiver.url("/7") + "\",\"types\":[\"*\"],\"subject\":\"7\"}");
    assertThat(only.status()).isEqualTo(201);
    assertThat(submit("{\"type\":\"order.paid\",\"data\":1}").json().get("messages").asInt())
        .isEqualTo(2);
    assertThat(submit("{\"type\":\"user.made\",\"data\":1}").json().get("messages").asInt())
        .isEqualTo(1);
    assertThat(
            submit("{\"type\":\"cart.left\",\"data\":1,\"subject\":\"7\"}")
                .json()
                .get("messages")
                .asInt())
        .isEqualTo(3);
  }

  @Test
  void the_same_event_again_is_200_and_another_with_its_id_is_409() throws Exception {
    subscribe("/hook", "\"*\"");
    String event = "{\"type\":\"t\",\"id\":\"k\",\"data\":{\"n\":1}}";
    assertThat(submit(event).status()).isEqualTo(202);
    Reply again = submit(event);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.text()).isEqualTo("{\"id\":\"k\",\"messages\":1}");
    assertThat(submit("{\"data\":{\"n\":1},\"id\":\"k\",\"type\":\"t\"}").status()).isEqualTo(200);
    for (String other :
        List.of(
            event.replace("{\"n\":1}", "{\"n\": 1}"),
            event.replace("\"t\"", "\"u\""),
            event.replace("\"id\"", "\"subject\":\"s\",\"id\""),
            event.replace("\"id\"", "\"previous\":1,\"id\""))) {
      Reply reply = submit(other);
      assertThat(reply.status()).as(other).isEqualTo(409);
      assertThat(text(reply.json(), "field")).isEqualTo("id");
    }
    receiver.next();
    JsonNode event1 =
        server.eventually(
            "/v1/events/k",
            json -> text(json.get("messages").get(0), "status").equals("delivered"));
    assertThat(event1.get("messages").size()).isEqualTo(1);
    assertThat(receiver.isEmpty()).isTrue();
    assertThat(submit(event, OF_ACME).status()).as("another tenant").isEqualTo(202);
  }

  @Test
  void a_batch_is_accepted_whole_or_not_at_all() throws Exception {
    subscribe("/hook", "\"wanted\"");
    assertThat(submit("{\"type\":\"t\",\"id\":\"taken\",\"data\":1}").status()).isEqualTo(202);
    Reply conflict =
        server.post(
            "/v1/events/batch",
            "{\"events\":[{\"type\":\"wanted\",\"id\":\"new\",\"data\":1},"
                + "{\"type\":\"t\",\"id\":\"taken\",\"data\":2}]}");
    assertThat(conflict.status()).isEqualTo(409);
    assertThat(conflict.json().get("index").asInt()).isEqualTo(1);
    assertThat(text(conflict.json(), "field")).isEqualTo("events[1].id");
    assertThat(server.get("/v1/events/new").status()).isEqualTo(404);
    Reply invalid =
        server.post(
            "/v1/events/batch",
            "{\"events\":[{\"type\":\"wanted\",\"id\":\"new\",\"data\":1},{\"type\":\"t\"}]}");
    assertThat(invalid.status()).isEqualTo(400);
    assertThat(text(invalid.json(), "field")).isEqualTo("events[1].data");
    assertThat(server.get("/v1/events/new").status()).isEqualTo(404);

    String good =
        "{\"events\":[{\"type\":\"wanted\",\"id\":\"new\",\"data\":1},"
            + "{\"type\":\"t\",\"id\":\"taken\",\"data\":1}]}";
    Reply accepted = server.post("/v1/events/batch", good);
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.text())
        .isEqualTo(
            "{\"events\":[{\"id\":\"new\",\"messages\":1},{\"id\":\"taken\",\"messages\":0}]}");
    Reply again = server.post("/v1/events/batch", good);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.text()).isEqualTo(accepted.text());
    assertThat(receiver.next().body()).contains("\"id\":\"new\"");
  }

  @Test
  void a_subscription_is_created_shown_listed_and_deleted() throws Exception {
    Reply created =
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"HTTP://LOCALHOST:80\",\"types\":[\"order.*\"],\"subject\":\"s\"}");
    assertThat(created.status()).isEqualTo(201);
    JsonNode json = created.json();
    assertThat(json.propertyNames())
        .containsExactly(
            "id",
            "url",
            "types",
            "subject",
            "filters",
            "filterConnector",
            "format",
            "version",
            "base64Encoding",
            "authToken",
            "headers",
            "secrets",
            "endpoint",
            "paused",
            "rateLimit",
            "tls",
            "goneAt",
            "createdAt",
            "changedAt",
            "secret",
            "history");
    ((ObjectNode) json).remove(List.of("secret", "history"));
    assertThat(text(json, "url")).isEqualTo("http://localhost/");
    String path = "/v1/subscriptions/" + text(json, "id");
    assertThat(created.header("location")).contains(path);
    assertThat(ok(path)).isEqualTo(json);
    assertThat(ok("/v1/subscriptions").get("items").get(0)).isEqualTo(json);
    assertThat(server.get(path, OF_ACME).status()).isEqualTo(404);
    assertThat(server.send("DELETE", path, new byte[0], OF_ACME).status()).isEqualTo(404);
    Reply deleted = server.delete(path);
    assertThat(deleted.status()).isEqualTo(204);
    assertThat(deleted.text()).isEmpty();
    assertThat(server.get(path).status()).isEqualTo(404);
    assertThat(server.delete(path).status()).isEqualTo(404);
    assertThat(ok("/v1/subscriptions").get("items").size()).isZero();
  }

  @Test
  void a_url_that_cannot_be_delivered_to_is_refused() throws Exception {
    for (String url : List.of("ftp://x/", "http://", "http://u:p@x/", "nonsense", "http://a b/")) {
      Reply reply =
          server.post("/v1/subscriptions", "{\"url\":\"" + url + "\",\"types\":[\"order.*\"]}");
      assertThat(reply.status()).as(url).isEqualTo(400);
      assertThat(text(reply.json(), "field")).isEqualTo("url");
    }
  }

  @Test
  void lists_go_newest_first_page_by_page() throws Exception {
    List<String> created = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      created.addFirst(text(subscribe("/" + i, "\"none\""), "id"));
    }
    List<String> listed = new ArrayList<>();
    String query = "?limit=3";
    int pages = 0;
    while (true) {
      JsonNode page = ok("/v1/subscriptions" + query);
      pages++;
      page.get("items").forEach(item -> listed.add(text(item, "id")));
      if (page.get("next").isNull()) {
        break;
      }
      query = "?limit=3&cursor=" + text(page, "next");
    }
    assertThat(pages).isEqualTo(3);
    assertThat(listed).isEqualTo(created);
    JsonNode endpoints = ok("/v1/endpoints?limit=4&state=enabled");
    assertThat(endpoints.get("items").size()).isEqualTo(4);
    String next = text(endpoints, "next");
    assertThat(ok("/v1/endpoints?limit=4&cursor=" + next).get("items").size()).isEqualTo(3);
    assertThat(server.get("/v1/subscriptions?cursor=" + next).status()).isEqualTo(400);
  }

  @Test
  void a_long_list_is_complete() throws Exception {
    for (int i = 0; i < 120; i++) {
      subscribe("/long/" + i, "\"none\"");
    }
    HashSet<String> urls = new HashSet<>();
    ok("/v1/endpoints?limit=1000").get("items").forEach(item -> urls.add(text(item, "url")));
    assertThat(urls).hasSize(120);
    assertThat(ok("/v1/endpoints").get("items").size()).isEqualTo(100);
  }

  @Test
  void an_endpoint_shows_its_health_and_obeys() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"*\"");
    String path = "/v1/endpoints/" + text(subscription, "endpoint");
    JsonNode endpoint = ok(path);
    assertThat(endpoint.propertyNames())
        .containsExactly(
            "id",
            "url",
            "state",
            "since",
            "reason",
            "successes",
            "failures",
            "sinceEnabled",
            "consecutiveFailures",
            "lastSuccessAt",
            "nextProbeAt",
            "rateLimit",
            "tls",
            "goneAt",
            "pending",
            "waiting",
            "parked");
    assertThat(text(endpoint, "state")).isEqualTo("enabled");
    assertThat(text(endpoint, "reason")).isEqualTo("created");
    assertThat(endpoint.get("sinceEnabled").propertyNames())
        .containsExactly("attempts", "failures");

    for (int i = 0; i < 2; i++) {
      Reply disabled = server.post(path + "/disable", "");
      assertThat(disabled.status()).isEqualTo(200);
      assertThat(text(disabled.json(), "state")).isEqualTo("disabled");
      assertThat(text(disabled.json(), "reason")).isEqualTo("operator");
    }
    submit("{\"type\":\"t\",\"id\":\"parked\",\"data\":1}");
    JsonNode message = onlyMessage("event=parked", "parked");
    assertThat(Instant.parse(text(message, "deadline")))
        .isAfter(Instant.now().plus(Duration.ofHours(48)));
    assertThat(message.get("nextAttemptAt").isNull()).isTrue();
    assertThat(message.get("attempts").asInt()).isZero();
    assertThat(ok(path).get("parked").asInt()).isEqualTo(1);
    assertThat(ok("/v1/endpoints?state=disabled").get("items").size()).isEqualTo(1);
    assertThat(ok("/v1/endpoints?state=enabled").get("items").size()).isZero();

    assertThat(text(server.post(path + "/freeze", "{}").json(), "state")).isEqualTo("frozen");
    Reply retry = server.post("/v1/messages/" + text(message, "id") + "/retry", "");
    assertThat(retry.status()).isEqualTo(409);
    assertThat(text(retry.json(), "detail")).contains("frozen");

    assertThat(server.post(path + "/enable", "", OF_ACME).status()).isEqualTo(404);
    assertThat(receiver.isEmpty()).isTrue();
    assertThat(text(server.post(path + "/enable", "").json(), "state")).isEqualTo("enabled");
    assertThat(receiver.next().messageId()).isEqualTo(text(message, "id"));
    JsonNode healthy = server.eventually(path, json -> json.get("successes").asInt() == 1);
    assertThat(healthy.get("lastSuccessAt").isNull()).isFalse();

    List<String> states = new ArrayList<>();
    ok(path + "/changes").get("items").forEach(change -> states.add(text(change, "state")));
    assertThat(states).startsWith("enabled", "frozen", "disabled");
    assertThat(server.get(path + "/changes", OF_ACME).status()).isEqualTo(404);
  }

  @Test
  void a_failed_message_waits_and_can_be_retried_by_hand_until_it_is_final() throws Exception {
    JsonNode subscription = subscribe("/hook", "\"*\"");
    receiver.status = 500;
    submit("{\"type\":\"t\",\"id\":\"k\",\"data\":1}");
    receiver.next();
    JsonNode message = onlyMessage("event=k&status=waiting", "waiting");
    Instant createdAt = Instant.parse(text(message, "createdAt"));
    assertThat(Instant.parse(text(message, "nextAttemptAt")))
        .isBetween(createdAt.plusMillis(84_800), createdAt.plusMillis(90_000));
    assertThat(Instant.parse(text(message, "deadline")))
        .isBetween(createdAt.plusMillis(173_585_600), createdAt.plusMillis(173_591_000));
    String path = "/v1/messages/" + text(message, "id");
    JsonNode attempt = ok(path).get("attempts").get(0);
    assertThat(text(attempt, "outcome")).isEqualTo("failure");
    assertThat(text(attempt, "error")).isEqualTo("status");
    assertThat(attempt.get("status").asInt()).isEqualTo(500);

    assertThat(server.post(path + "/retry", "", OF_ACME).status()).isEqualTo(404);
    receiver.status = 200;
    assertThat(server.post(path + "/retry", "").status()).isEqualTo(202);
    assertThat(receiver.next().messageId()).isEqualTo(text(message, "id"));
    JsonNode delivered = server.eventually(path, json -> text(json, "status").equals("delivered"));
    assertThat(delivered.get("attempts").size()).isEqualTo(2);
    assertThat(delivered.get("attempts").get(1).get("scheduled").asBoolean()).isFalse();

    Reply again = server.post(path + "/retry", "");
    assertThat(again.status()).isEqualTo(409);
    assertThat(text(again.json(), "detail")).contains("/v1/replays");
    assertThat(server.post("/v1/messages/msg_0000000000001/retry", "").status()).isEqualTo(404);

    receiver.status = 503;
    submit("{\"type\":\"t\",\"id\":\"dropped\",\"data\":1}");
    receiver.next();
    onlyMessage("event=dropped&status=waiting", "waiting");
    assertThat(server.delete("/v1/subscriptions/" + text(subscription, "id")).status())
        .isEqualTo(204);
    JsonNode dropped = onlyMessage("event=dropped&status=dropped", "dropped");
    assertThat(text(dropped, "reason")).isEqualTo("unsubscribed");
  }

  @Test
  void messages_are_found_by_every_filter() throws Exception {
    JsonNode first = subscribe("/first", "\"a\"");
    JsonNode second = subscribe("/second", "\"a\",\"b\"");
    submit("{\"type\":\"a\",\"id\":\"one\",\"data\":1}");
    submit("{\"type\":\"b\",\"id\":\"two\",\"data\":1}");
    String own = text(submit("{\"type\":\"b\",\"data\":1}").json(), "id");
    server.eventually("/v1/messages?status=delivered", json -> json.get("items").size() == 4);
    assertThat(found("event=one")).isEqualTo(2);
    assertThat(found("event=" + own)).isEqualTo(1);
    assertThat(found("event=unknown")).isZero();
    assertThat(found("endpoint=" + text(first, "endpoint"))).isEqualTo(1);
    assertThat(found("endpoint=" + text(second, "endpoint"))).isEqualTo(3);
    assertThat(found("subscription=" + text(second, "id") + "&event=one")).isEqualTo(1);
    assertThat(found("endpoint=ep_0000000000001")).isZero();
    assertThat(found("status=pending,waiting&status=parked")).isZero();
    assertThat(found("status=dropped")).isZero();
    String soon = Instant.now().plusSeconds(60).toString();
    String longAgo = "2026-01-01T00:00:00+01:00";
    assertThat(found("since=" + longAgo + "&until=" + soon)).isEqualTo(4);
    assertThat(found("since=" + soon)).isZero();
    assertThat(found("until=" + longAgo)).isZero();
    JsonNode page = ok("/v1/messages?limit=3");
    assertThat(page.get("items").size()).isEqualTo(3);
    JsonNode rest = ok("/v1/messages?limit=3&cursor=" + text(page, "next"));
    assertThat(rest.get("items").size()).isEqualTo(1);
    assertThat(ok("/v1/messages", OF_ACME).get("items").size()).isZero();
    String id = text(page.get("items").get(0), "id");
    assertThat(server.get("/v1/messages/" + id, OF_ACME).status()).isEqualTo(404);
    assertThat(server.get("/v1/events/one", OF_ACME).status()).isEqualTo(404);
  }

  private int found(String query) throws Exception {
    return ok("/v1/messages?" + query).get("items").size();
  }

  @Test
  void one_megabyte_is_delivered_and_one_byte_more_is_not_stored() throws Exception {
    subscribe("/hook", "\"*\"");
    String start = "{\"type\":\"t\",\"id\":\"%s\",\"data\":\"";
    String data = "x".repeat((1 << 20) - 2);
    assertThat(submit(start.formatted("exact") + data + "\"}").status()).isEqualTo(202);
    assertThat(receiver.next().body()).contains("\"" + data + "\"");
    assertThat(submit(start.formatted("more") + data + "x\"}").status()).isEqualTo(413);
    assertThat(server.get("/v1/events/more").status()).isEqualTo(404);
    assertThat(server.get("/v1/events/exact").text()).contains(data);
  }

  @Test
  void metrics_count_what_happened() throws Exception {
    subscribe("/hook", "\"*\"");
    submit("{\"type\":\"t\",\"id\":\"k\",\"data\":1}");
    receiver.next();
    onlyMessage("event=k", "delivered");
    assertThat(server.get("/metrics").text().lines())
        .contains(
            "holdfast_events_accepted_total 1.0",
            "holdfast_messages_finished_total{status=\"delivered\"} 1.0",
            "holdfast_attempts_total{outcome=\"success\"} 1.0",
            "holdfast_endpoints{state=\"enabled\"} 1.0",
            "holdfast_subscriptions 1.0");
  }

  @Test
  void what_was_accepted_is_there_after_a_restart(@TempDir Path other) throws Exception {
    server.close();
    engine.close();
    engine = new RealEngine(other);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
    JsonNode subscription = subscribe("/hook", "\"*\"");
    server.post("/v1/endpoints/" + text(subscription, "endpoint") + "/disable", "");
    submit("{\"type\":\"t\",\"id\":\"k\",\"data\":{\"n\":1.0}}");
    String before = server.get("/v1/events/k").text();
    server.close();
    engine.close();
    engine = new RealEngine(other);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
    assertThat(server.get("/v1/events/k").text()).isEqualTo(before);
    assertThat(submit("{\"type\":\"t\",\"id\":\"k\",\"data\":{\"n\":1.0}}").status())
        .isEqualTo(200);
  }
}
