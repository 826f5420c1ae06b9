package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.RandomJson.Member;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Requests that are HTTP, and nearly or not at all what the API takes. An event that is refused
 * leaves nothing, and one that is accepted is there whole.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class RequestFuzzTest {
  private static final int ROUNDS = 20;
  private static final int REQUESTS = 60;

  private static final List<String> METHODS =
      List.of("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW", "HEAD");

  private static final String WORKFRONT = WorkfrontApi.PATH;

  private static final List<String> PATHS =
      List.of(
          "/v1/events",
          "/v1/events/batch",
          "/v1/events/ID",
          "/v1/subscriptions",
          "/v1/subscriptions/ID",
          "/v1/subscriptions/ID/pause",
          "/v1/subscriptions/ID/resume",
          "/v1/subscriptions/ID/rotate",
          "/v1/subscriptions/preview",
          "/v1/subscriptions/import",
          "/v1/endpoints",
          "/v1/endpoints/ID",
          "/v1/endpoints/ID/enable",
          "/v1/endpoints/ID/disable",
          "/v1/endpoints/ID/freeze",
          "/v1/endpoints/ID/test",
          "/v1/endpoints/ID/changes",
          "/v1/messages",
          "/v1/messages/ID",
          "/v1/messages/ID/retry",
          "/v1/replays",
          "/v1/replays/ID",
          "/v1/replays/ID/cancel",
          "/v1/session",
          "/v1/settings",
          "/v1/activity",
          "/v1/changes",
          WORKFRONT + "/subscriptions",
          WORKFRONT + "/subscriptions/list",
          WORKFRONT + "/subscriptions/version",
          WORKFRONT + "/subscriptions/ID",
          WORKFRONT + "/subscriptions/ID/version",
          WORKFRONT + "/events",
          WORKFRONT + "/ID",
          "/health/live",
          "/health/ready",
          "/metrics",
          "/openapi.yaml",
          "/",
          "/v1/ID/ID");

  /** What a subscription may have beside its URL and types, with values right and wrong. */
  private static final Map<String, List<String>> FIELDS =
      new TreeMap<>(
          Map.of(
              "filterConnector",
              List.of("\"AND\"", "\"OR\"", "null"),
              "format",
              List.of("\"holdfast\"", "\"cloudevents\"", "\"workfront\"", "null"),
              "version",
              List.of("\"v1\"", "\"v2\"", "\"v3\"", "null"),
              "base64Encoding",
              List.of("true", "false", "null"),
              "authToken",
              List.of("\"t0ken\"", "\"" + "t".repeat(255) + "\"", "\"****oken\"", "null"),
              "headers",
              List.of(
                  "{\"X-A\":\"b\"}",
                  "{\"x-a\":null,\"Authorization\":\"x\"}",
                  "{\"Host\":\"x\"}",
                  "{\"a\":\"1\",\"A\":\"2\"}",
                  "{\"a\":\"\\r\\nb: c\"}",
                  "{\"\":\"\"}",
                  "{}",
                  "null"),
              "secret",
              List.of(
                  "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=\"", "\"whsec_\"", "null"),
              "signature",
              List.of("\"v1a\"", "\"v1\"", "\"v2\"", "null"),
              "rateLimit",
              List.of("1000", "0.001", "1e-400", "null"),
              "since",
              List.of(
                  "\"2026-01-01T00:00:00Z\"",
                  "\"0000-01-01T00:00:00Z\"",
                  "\"9999-01-01T00:00:00Z\"",
                  "null")));

  static {
    FIELDS.put(
        "tls",
        List.of(
            "{\"roots\":\"-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\"}",
            "{\"certificate\":null,\"privateKey\":null}",
            "{\"roots\":null}",
            "{}",
            "[]",
            "null"));
  }

  private static final List<String> PARAMETERS =
      List.of(
          "status",
          "endpoint",
          "subscription",
          "event",
          "since",
          "until",
          "cursor",
          "limit",
          "page",
          "state",
          "unknown",
          "",
          "Limit");

  private static final List<String> PARAMETER_VALUES =
      List.of(
          "",
          "0",
          "1",
          "-1",
          "1000",
          "1001",
          "1000000000",
          "1000000001",
          "99999999999999999999",
          "1e3",
          "pending",
          "waiting,parked,delivered,dropped",
          ",,,",
          "enabled",
          "frozen",
          "2026-01-01T00:00:00Z",
          "2026-01-01T00:00:00+01:00",
          "0000-01-01T00:00:00Z",
          "9999-12-31T23:59:59.999999999Z",
          "+292278994-08-17T07:12:55Z",
          "today",
          "evt_00HN3XW5G0400",
          "ep_7ZZZZZZZZZZZZ",
          "ep_ZZZZZZZZZZZZZ",
          "sub_0000000000000",
          "bQAAAAAAAAABAAAAAA",
          "é🙂",
          "a b",
          "%",
          "\u0000");

  private static final List<String> AUTHORIZATIONS =
      List.of(
          "",
          "Authorization: \r\n",
          "Authorization: Bearer\r\n",
          "Authorization: Bearer \r\n",
          "Authorization: Bearer x" + TestServer.ADMIN_KEY + "\r\n",
          "Authorization: Bearer " + TestServer.ADMIN_KEY + "x\r\n",
          "Authorization: " + TestServer.ADMIN_KEY + "\r\n",
          "Authorization: Basic YWRtaW46YWRtaW4=\r\n",
          "Authorization: Bearer\t" + TestServer.ADMIN_KEY + "\r\n",
          "Authorization: Bearer " + TestServer.ADMIN_KEY + ", " + TestServer.ADMIN_KEY + "\r\n",
          "Authorization: Bearer " + "k".repeat(5_000) + "\r\n",
          "Authorization: Bearer \u00e9\u00ff\r\n",
          "Authorization: Basic x\r\nAuthorization: Bearer " + TestServer.ADMIN_KEY + "\r\n",
          "Proxy-Authorization: Bearer " + TestServer.ADMIN_KEY + "\r\n",
          "X-Api-Key: " + TestServer.ADMIN_KEY + "\r\n");

  private static final List<String> SESSIONS =
      List.of(
          "",
          "sessionID: \r\n",
          "sessionID: x" + TestServer.ADMIN_KEY + "\r\n",
          "sessionID: " + TestServer.ADMIN_KEY + "x\r\n",
          "sessionID: Bearer " + TestServer.ADMIN_KEY + "\r\n",
          "sessionID: " + TestServer.ADMIN_KEY + ", " + TestServer.ADMIN_KEY + "\r\n",
          "sessionID: " + "k".repeat(5_000) + "\r\n",
          "sessionID: \u00e9\u00ff\r\n",
          "sessionID: x\r\nsessionID: " + TestServer.ADMIN_KEY + "\r\n",
          "Authorization: Bearer " + TestServer.ADMIN_KEY + "\r\n",
          "Cookie: sessionID=" + TestServer.ADMIN_KEY + "\r\n");

  private static final List<String> EXTRA_HEADERS =
      List.of(
          "X-Forwarded-Proto: https\r\n",
          "X-Forwarded-Proto: javascript\r\n",
          "X-Forwarded-Host: x\"y\r\n",
          "Holdfast-Tenant: acme\r\n",
          "Holdfast-Tenant: ../etc\r\n",
          "Holdfast-Tenant: \r\n",
          "Holdfast-Tenant: " + "t".repeat(100) + "\r\n",
          "Content-Encoding: gzip\r\n",
          "Content-Encoding: identity\r\n",
          "Expect: 100-continue\r\n",
          "Expect: nothing\r\n",
          "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n",
          "traceparent: 00-x\r\n",
          "traceparent: \u00ff\r\n",
          "Accept: text/html\r\n",
          "Range: bytes=0-1\r\n",
          "If-None-Match: *\r\n",
          "X-Http-Method-Override: DELETE\r\n",
          "Connection: keep-alive, close\r\n",
          "Upgrade: websocket\r\n");

  private static final List<String> CONTENT_TYPES =
      List.of(
          "Content-Type: text/plain\r\n",
          "Content-Type: application/json; charset=utf-8\r\n",
          "Content-Type: application/json; charset=utf-16\r\n",
          "Content-Type: application/json;;;=\r\n",
          "Content-Type: application/cloudevents+json\r\n",
          "Content-Type: \r\n",
          "Content-Type: multipart/form-data; boundary=x\r\n",
          "");

  @Test
  void no_request_makes_the_server_fail(@TempDir Path data) throws Exception {
    int[] answers = new int[6];
    int[] verdicts = new int[2];
    try (Leaks leaks = new Leaks()) {
      try (FuzzedServer server = new FuzzedServer(data, ApiLimits.defaults())) {
        Seeds.each(
            ROUNDS,
            random -> {
              try (Round round = new Round(server, random, answers, verdicts)) {
                round.run();
              }
            });
        server.assertNothingLeft();
      }
      leaks.assertNone();
    }
    if (Seeds.areAllRun()) {
      assertThat(answers[2]).as("some requests must be good").isPositive();
      assertThat(answers[4]).as("some requests must be bad").isPositive();
      assertThat(verdicts).as("some events must be wanted, some not").doesNotContain(0);
    }
  }

  private static final class Round implements AutoCloseable {
    private final FuzzedServer server;
    private final SplittableRandom random;
    private final RandomJson json;
    private final int[] answers;
    private final int[] verdicts;
    private final String name;
    private final List<String> ids = new ArrayList<>();
    private RawClient client;
    private int count;

    Round(FuzzedServer server, SplittableRandom random, int[] answers, int[] verdicts)
        throws IOException {
      this.server = server;
      this.random = random;
      this.json = new RandomJson(random);
      this.answers = answers;
      this.verdicts = verdicts;
      this.name = "fuzz-" + Long.toHexString(random.nextLong());
      this.client = new RawClient(server.port());
    }

    /** What came back. */
    private record Answer(int status, JsonNode body) {}

    void run() throws Exception {
      server.assertServes(name);
      ids.add(name);
      for (String list : List.of("/v1/messages", "/v1/endpoints", "/v1/subscriptions")) {
        JsonNode page = server.server.get(list + "?limit=2").json();
        page.get("items").forEach(item -> ids.add(item.get("id").asString()));
        ids.add(page.get("next").asString("none"));
      }
      for (int i = 0; i < REQUESTS; i++) {
        switch (random.nextInt(17)) {
          case 0, 1, 2 -> oneEvent();
          case 3 -> batch();
          case 4, 5 -> subscription();
          case 6 -> change();
          case 7 -> takeIn();
          case 8 -> preview();
          case 9 -> previewAndSend();
          case 10 -> nonsenseForAKey();
          case 11, 12 -> workfrontSubscription();
          case 13 -> workfrontVersions();
          case 14 -> workfrontEvent();
          default -> anything();
        }
      }
      server.assertServes(name + "-after");
    }

    private void oneEvent() throws Exception {
      String id = name + "." + count++;
      List<Member> event = event(id);
      boolean known = event.contains(Member.of("id", "\"" + id + "\""));
      byte[] body = json.object(event).getBytes(UTF_8);
      if (random.nextInt(6) == 0) {
        body = json.broken(body);
        known = false;
      }
      String headers = headers();
      Answer answer = send("POST", "/v1/events", key() + headers, body);
      if (known) {
        boolean accepted = answer.status() < 300;
        assertThat(server.messagesOf(id, tenant(headers)))
            .as("messages of %s, answered %d %s", id, answer.status(), answer.body())
            .isEqualTo(accepted ? answer.body().get("messages").asInt() : -1);
        if (accepted && random.nextInt(4) == 0) {
          assertThat(send("POST", "/v1/events", key() + headers, body).status()).isEqualTo(200);
        }
      }
    }

    private List<Member> event(String id) {
      List<Member> event = new ArrayList<>();
      event.add(Member.of("type", json.pick(List.of("\"order.paid\"", "\"cart\"", "\"é\""))));
      event.add(Member.of("data", json.value()));
      event.add(Member.of("id", "\"" + id + "\""));
      if (random.nextBoolean()) {
        event.add(Member.of("subject", "\"s\""));
        event.add(Member.of("occurredAt", "\"2026-03-01T12:00:00.123456789+01:00\""));
        event.add(Member.of("previous", json.value()));
      }
      return random.nextInt(3) == 0 ? event : json.changed(event);
    }

    private void batch() throws Exception {
      List<String> known = new ArrayList<>();
      List<String> events = new ArrayList<>();
      for (int i = random.nextInt(6); i > 0; i--) {
        String id = name + "." + count++;
        List<Member> event = random.nextInt(4) == 0 ? event(id) : simpleEvent(id);
        if (event.contains(Member.of("id", "\"" + id + "\""))) {
          known.add(id);
        }
        events.add(json.object(event));
      }
      List<Member> batch = List.of(Member.of("events", "[" + String.join(",", events) + "]"));
      if (random.nextInt(8) == 0) {
        batch = json.changed(batch);
        known.clear();
      }
      byte[] body = json.object(batch).getBytes(UTF_8);
      if (random.nextInt(8) == 0) {
        body = json.broken(body);
        known.clear();
      }
      String headers = headers();
      Answer answer = send("POST", "/v1/events/batch", key() + headers, body);
      for (String id : known) {
        assertThat(server.messagesOf(id, tenant(headers)) >= 0)
            .as("whether %s is there, answered %d %s", id, answer.status(), answer.body())
            .isEqualTo(answer.status() < 300);
      }
    }

    private static List<Member> simpleEvent(String id) {
      return List.of(
          Member.of("type", "\"order.paid\""),
          Member.of("data", "{\"a\": 1.0}"),
          Member.of("id", "\"" + id + "\""));
    }

    private void subscription() throws Exception {
      List<Member> wish = new ArrayList<>();
      wish.add(Member.of("url", "\"http://127.0.0.1:9/" + random.nextInt(5) + "\""));
      wish.add(Member.of("types", "[\"cart.*\",\"x\"]"));
      if (random.nextBoolean()) {
        wish.add(Member.of("subject", "\"s\""));
        wish.addAll(fields());
      }
      byte[] body = json.object(random.nextBoolean() ? wish : json.changed(wish)).getBytes(UTF_8);
      String headers = headers();
      Answer answer = send("POST", "/v1/subscriptions", key() + headers, body);
      if (answer.status() == 201 && random.nextBoolean()) {
        String id = answer.body().get("id").asString();
        String named = key() + "Holdfast-Tenant: " + tenant(headers) + "\r\n";
        assertThat(send("DELETE", "/v1/subscriptions/" + id, named, new byte[0]).status())
            .isEqualTo(204);
      }
    }

    /** Some of what can be asked for of a subscription, now and then as it cannot be. */
    private List<Member> fields() {
      List<Member> fields = new ArrayList<>();
      FIELDS.forEach(
          (name, values) -> {
            if (random.nextInt(4) == 0) {
              String value = random.nextInt(8) == 0 ? json.value() : json.pick(values);
              fields.add(Member.of(name, value));
            }
          });
      if (random.nextBoolean()) {
        fields.add(Member.of("filters", json.filters()));
      }
      return fields;
    }

    private void change() throws Exception {
      String path = "/v1/subscriptions/" + visible(json.pick(ids));
      List<Member> fields = new ArrayList<>(fields());
      if (random.nextInt(3) == 0) {
        List<Member> rotation = new ArrayList<>();
        rotation.add(
            Member.of(
                "oldValidFor",
                json.pick(List.of("\"0s\"", "\"30d\"", "\"31d\"", "\"1\"", "null"))));
        byte[] body = json.object(json.changed(rotation)).getBytes(UTF_8);
        send("POST", path + "/rotate", key() + headers(), body);
      } else {
        byte[] body =
            json.object(random.nextBoolean() ? fields : json.changed(fields)).getBytes(UTF_8);
        send("PATCH", path, key() + headers(), body);
      }
    }

    /** An import that is refused leaves nothing, and one that is done is there whole. */
    private void takeIn() throws Exception {
      String type = name + ".imported." + count++;
      List<String> wishes = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        List<Member> wish = new ArrayList<>();
        wish.add(Member.of("url", "\"http://127.0.0.1:9/" + random.nextInt(3) + "\""));
        wish.add(Member.of("types", "[\"" + type + "\"]"));
        if (random.nextInt(3) == 0) {
          wish.addAll(fields());
        }
        wishes.add(json.object(wish));
      }
      boolean dryRun = random.nextInt(4) == 0;
      List<Member> members =
          List.of(
              Member.of("subscriptions", "[" + String.join(",", wishes) + "]"),
              Member.of("dryRun", Boolean.toString(dryRun)));
      boolean known = random.nextInt(6) != 0;
      byte[] body = json.object(known ? members : json.changed(members)).getBytes(UTF_8);
      Answer answer = send("POST", "/v1/subscriptions/import", key() + contentType(), body);
      if (known) {
        JsonNode newest = server.server.get("/v1/subscriptions?limit=5").json().get("items");
        long there =
            newest
                .valueStream()
                .filter(one -> one.get("types").get(0).asString().equals(type))
                .count();
        boolean isDone = answer.status() == 200 && !dryRun;
        assertThat(there)
            .as("imported, answered %d %s", answer.status(), answer.body())
            .isEqualTo(isDone ? wishes.size() : 0);
      }
    }

    private void preview() throws Exception {
      List<Member> wish = new ArrayList<>();
      wish.add(Member.of("types", json.pick(List.of("[\"*\"]", "[\"order.*\",\"é\"]"))));
      wish.addAll(fields());
      List<Member> preview = new ArrayList<>();
      boolean byId = random.nextInt(4) == 0;
      preview.add(
          Member.of("subscription", byId ? "\"" + json.pick(ids) + "\"" : json.object(wish)));
      if (random.nextBoolean()) {
        preview.add(Member.of("event", json.object(event("unused"))));
      }
      byte[] body =
          json.object(random.nextInt(3) == 0 ? json.changed(preview) : preview).getBytes(UTF_8);
      send("POST", "/v1/subscriptions/preview", key() + headers(), body);
    }

    /** What a preview says is what happens. */
    private void previewAndSend() throws Exception {
      String type = name + ".previewed." + count++;
      List<Member> wish =
          List.of(
              Member.of("url", "\"http://127.0.0.1:9/\""),
              Member.of("types", "[\"" + type + "\"]"),
              Member.of("filters", json.filters()),
              Member.of("filterConnector", json.pick(List.of("\"AND\"", "\"OR\""))));
      String headers = key() + contentType();
      Answer created =
          send("POST", "/v1/subscriptions", headers, json.object(wish).getBytes(UTF_8));
      if (created.status() != 201) {
        return;
      }
      List<Member> event = new ArrayList<>();
      event.add(Member.of("type", "\"" + type + "\""));
      event.add(Member.of("data", json.payload()));
      if (random.nextBoolean()) {
        event.add(Member.of("previous", json.payload()));
      }
      String id = created.body().get("id").asString();
      List<Member> preview =
          List.of(
              Member.of("subscription", "\"" + id + "\""), Member.of("event", json.object(event)));
      Answer previewed =
          send("POST", "/v1/subscriptions/preview", headers, json.object(preview).getBytes(UTF_8));
      Answer sent = send("POST", "/v1/events", headers, json.object(event).getBytes(UTF_8));
      assertThat(previewed.status() == 200).isEqualTo(sent.status() == 202);
      if (sent.status() == 202) {
        assertThat(sent.body().get("messages").asInt())
            .as("%s of %s, previewed as %s", json.object(event), wish, previewed.body())
            .isEqualTo(previewed.body().get("matches").asBoolean() ? 1 : 0);
        verdicts[previewed.body().get("matches").asBoolean() ? 1 : 0]++;
      }
    }

    private void nonsenseForAKey() throws Exception {
      if (random.nextInt(3) == 0) {
        String header = json.pick(SESSIONS);
        Answer answer = send("GET", WORKFRONT + "/subscriptions", header, new byte[0]);
        assertThat(answer.status()).as(header).isIn(400, 401, 429);
        return;
      }
      String header = json.pick(AUTHORIZATIONS);
      byte[] body = json.object(simpleEvent(name + "-never")).getBytes(UTF_8);
      Answer answer =
          random.nextBoolean()
              ? send("POST", "/v1/events", header + "Content-Type: application/json\r\n", body)
              : send("GET", "/v1/messages", header, new byte[0]);
      assertThat(answer.status()).as(header).isIn(400, 401, 429);
    }

    /** One that is refused leaves nothing, and one that is created is there once. */
    private void workfrontSubscription() throws Exception {
      String objCode = "F" + Long.toHexString(random.nextLong());
      List<Member> wish = new ArrayList<>();
      wish.add(Member.of("objCode", "\"" + objCode + "\""));
      wish.add(
          Member.of("eventType", json.pick(List.of("\"CREATE\"", "\"UPDATE\"", "\"DELETE\""))));
      wish.add(Member.of("url", "\"http://127.0.0.1:9/" + random.nextInt(5) + "\""));
      wish.add(Member.of("authToken", "\"t0ken\""));
      if (random.nextBoolean()) {
        wish.add(Member.of("objId", json.pick(List.of("\"7\"", "\"\"", "null", "7"))));
        wish.add(Member.of("filters", json.filters()));
        wish.add(Member.of("filterConnector", json.pick(List.of("\"AND\"", "\"OR\"", "null"))));
        wish.add(
            Member.of(
                "base64Encoding",
                json.pick(List.of("true", "\"true\"", "\"false\"", "\"\"", "null"))));
        wish.add(Member.of("version", json.pick(List.of("\"v1\"", "\"v2\"", "null", "\"v3\""))));
      }
      byte[] body = json.object(random.nextBoolean() ? wish : json.changed(wish)).getBytes(UTF_8);
      if (random.nextInt(8) == 0) {
        body = json.broken(body);
      }
      String path = WORKFRONT + "/subscriptions";
      String headers = session() + contentType();
      int before = workfrontCount();
      Answer answer = send("POST", path, headers, body);
      assertThat(workfrontCount() - before).isEqualTo(answer.status() == 201 ? 1 : 0);
      if (answer.status() == 201) {
        assertThat(send("POST", path, headers, body).status()).isEqualTo(409);
        String id = answer.body().get("id").asString();
        ids.add(id);
        if (random.nextBoolean()) {
          assertThat(send("DELETE", path + "/" + id, session(), new byte[0]).status())
              .isEqualTo(200);
        }
      }
    }

    private int workfrontCount() throws Exception {
      String path = WORKFRONT + "/subscriptions?limit=1";
      return server.server.get(path).json().get("meta").get("total_count").asInt();
    }

    private void workfrontVersions() throws Exception {
      List<Member> wish = new ArrayList<>();
      wish.add(Member.of("version", json.pick(List.of("\"v1\"", "\"v2\""))));
      String path = WORKFRONT + "/subscriptions/" + visible(json.pick(ids)) + "/version";
      if (random.nextBoolean()) {
        path = WORKFRONT + "/subscriptions/version";
        wish.add(
            random.nextBoolean()
                ? Member.of("allCustomerSubscriptions", json.pick(List.of("true", "false")))
                : Member.of("subscriptionIds", "[\"" + json.pick(ids) + "\"]"));
      }
      byte[] body = json.object(random.nextInt(3) == 0 ? json.changed(wish) : wish).getBytes(UTF_8);
      send("PUT", path, session() + headers(), body);
    }

    private void workfrontEvent() throws Exception {
      List<Member> event = new ArrayList<>();
      event.add(Member.of("objCode", "\"PROJ\""));
      event.add(Member.of("eventType", "\"UPDATE\""));
      event.add(Member.of("newState", random.nextInt(4) == 0 ? json.value() : json.payload()));
      if (random.nextBoolean()) {
        event.add(Member.of("oldState", json.payload()));
        event.add(Member.of("objId", json.pick(List.of("\"7\"", "\"\"", "null"))));
        event.add(
            Member.of(
                "eventTime",
                json.pick(
                    List.of(
                        "{\"epochSecond\":1767225600,\"nano\":1}",
                        "{\"epochSecond\":" + "9".repeat(400) + "}",
                        "{\"epochSecond\":1e400}",
                        "{\"epochSecond\":-0}",
                        "\"2026-01-01T00:00:00Z\"",
                        "null"))));
      }
      byte[] body = json.object(random.nextBoolean() ? event : json.changed(event)).getBytes(UTF_8);
      if (random.nextInt(6) == 0) {
        body = json.broken(body);
      }
      Answer answer = send("POST", WORKFRONT + "/events", session() + contentType(), body);
      if (answer.status() == 202) {
        assertThat(server.messagesOf(answer.body().get("id").asString(), "default"))
            .isEqualTo(answer.body().get("messages").asInt());
      }
    }

    private void anything() throws Exception {
      String path = json.pick(PATHS);
      while (path.contains("ID")) {
        path = path.replaceFirst("ID", visible(random.nextInt(3) == 0 ? value() : json.pick(ids)));
      }
      if (random.nextInt(4) == 0) {
        path = mutated(path);
      }
      String method = random.nextBoolean() ? "GET" : json.pick(METHODS);
      byte[] body =
          random.nextInt(3) == 0 ? json.value().getBytes(UTF_8) : new byte[random.nextInt(2)];
      String key = path.startsWith(WORKFRONT) ? session() : key();
      send(method, path + query(), key + headers(), body);
    }

    private String query() {
      StringBuilder query = new StringBuilder();
      for (int i = random.nextInt(4); i > 0; i--) {
        query.append(query.isEmpty() ? '?' : '&').append(json.pick(PARAMETERS));
        query.append(random.nextInt(9) == 0 ? "" : "=");
        query.append(visible(random.nextInt(3) == 0 ? json.pick(ids) : value()));
      }
      return random.nextInt(6) == 0 ? mutated(query.toString()) : query.toString();
    }

    private String value() {
      return json.pick(PARAMETER_VALUES);
    }

    private static String visible(String text) {
      return URLEncoder.encode(text, UTF_8).replace("$", "%24").replace("\\", "%5C");
    }

    /** Changed, but still one word of visible characters. */
    private String mutated(String text) {
      if (text.isEmpty()) {
        return text;
      }
      int at = random.nextInt(1, text.length() + 1);
      String piece =
          json.pick(List.of("%", "%zz", "%00", "%2F", "%ff", "//", "..", "?", "&", "=", ";", "#"));
      return switch (random.nextInt(3)) {
        case 0 -> text.substring(0, at) + piece + text.substring(at);
        case 1 -> text.substring(0, at);
        default -> text.substring(0, at) + (char) random.nextInt(33, 127) + text.substring(at);
      };
    }

    private static String key() {
      return "Authorization: Bearer " + TestServer.ADMIN_KEY + "\r\n";
    }

    private static String session() {
      return "sessionID: " + TestServer.ADMIN_KEY + "\r\n";
    }

    private String headers() {
      return (random.nextInt(8) == 0 ? json.pick(EXTRA_HEADERS) : "")
          + (random.nextInt(12) == 0 ? json.pick(CONTENT_TYPES) : contentType());
    }

    private static String tenant(String headers) {
      return headers.contains("Tenant: acme") ? "acme" : "default";
    }

    private static String contentType() {
      return "Content-Type: application/json\r\n";
    }

    private Answer send(String method, String target, String headers, byte[] body)
        throws Exception {
      String head =
          method
              + " "
              + target
              + " HTTP/1.1\r\nHost: x\r\n"
              + headers
              + "Content-Length: "
              + body.length
              + "\r\n\r\n";
      try {
        byte[] request = Arrays.copyOf(head.getBytes(ISO_8859_1), head.length() + body.length);
        System.arraycopy(body, 0, request, head.length(), body.length);
        client.send(request);
        return answer(new Documented.Request(method, target, body));
      } catch (IOException | RuntimeException | AssertionError e) {
        String shown = head + new String(body, UTF_8);
        throw new AssertionError(shown.substring(0, Math.min(2_000, shown.length())), e);
      }
    }

    private Answer answer(Documented.Request request) throws IOException {
      boolean isHead = request.method().equals("HEAD");
      String head = client.head();
      while (head.startsWith("HTTP/1.1 100")) {
        head = client.head();
      }
      byte[] body = isHead ? new byte[0] : client.body(head);
      int status = Integer.parseInt(head.substring(9, 12));
      FuzzedServer.check(status, head, body, isHead);
      Documented.check(request, Documented.Answer.of(head, body));
      answers[status / 100]++;
      if (head.toLowerCase(Locale.ROOT).contains("connection: close")) {
        client.close();
        client = new RawClient(server.port());
      }
      boolean isJson = body.length > 0 && head.contains("json");
      return new Answer(
          status, isJson ? TestServer.MAPPER.readTree(body) : TestServer.MAPPER.nullNode());
    }

    @Override
    public void close() throws IOException {
      client.close();
    }
  }
}
