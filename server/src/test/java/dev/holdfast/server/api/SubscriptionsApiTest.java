package dev.holdfast.server.api;

import static java.util.Comparator.reverseOrder;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.holdfast.server.api.LocalReceiver.Delivery;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The whole life of subscriptions from outside, with a real engine and receivers. */
class SubscriptionsApiTest {
  private static final String PATH = "/v1/subscriptions";
  private static final String PREVIEW = PATH + "/preview";
  private static final String IMPORT = PATH + "/import";
  private static final String OWN_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
  private static final String[] AS_VIEWER = {"Authorization", "Bearer " + TestServer.VIEWER_KEY};
  private static final String[] AS_OPERATOR = {
    "Authorization", "Bearer " + TestServer.OPERATOR_KEY
  };
  private static final String[] AS_PUBLISHER = {
    "Authorization", "Bearer " + TestServer.PUBLISHER_KEY
  };
  private static final String[] OF_ACME = {"Holdfast-Tenant", "acme"};

  private final LocalReceiver receiver;
  private final RealEngine engine;
  private final TestServer server;

  SubscriptionsApiTest(@TempDir Path data) throws Exception {
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

  private static String text(JsonNode json, String field) {
    return json.get(field).asString();
  }

  /** A subscription to this path of the receiver with these fields. */
  private String wish(String path, String fields) {
    return "{\"url\":\"" + receiver.url(path) + "\"," + fields + "}";
  }

  private JsonNode created(String path, String fields) throws Exception {
    return answered(201, server.post(PATH, wish(path, fields)));
  }

  private static JsonNode answered(int status, Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    return reply.json();
  }

  private static void assertRefused(Reply reply, String field) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo(field);
  }

  private JsonNode show(JsonNode subscription) throws Exception {
    return answered(200, server.get(path(subscription)));
  }

  private static String path(JsonNode subscription) {
    return PATH + "/" + text(subscription, "id");
  }

  private Reply patch(JsonNode subscription, String body) throws Exception {
    return server.send("PATCH", path(subscription), body.getBytes(StandardCharsets.UTF_8));
  }

  private JsonNode patched(JsonNode subscription, String body) throws Exception {
    JsonNode changed = answered(200, patch(subscription, body));
    assertThat(show(subscription)).isEqualTo(changed);
    return changed;
  }

  private int send(String event) throws Exception {
    return answered(202, server.post("/v1/events", event)).get("messages").asInt();
  }

  private JsonNode list() throws Exception {
    return answered(200, server.get(PATH)).get("items");
  }

  @Test
  void a_page_of_large_subscriptions_ends_early_and_the_next_goes_on() throws Exception {
    String value = "v".repeat(8_000);
    String filters =
        IntStream.range(0, 7)
            .mapToObj(
                i ->
                    "{\"fieldName\":\"f%d\",\"fieldValue\":\"%s\",\"comparison\":\"eq\"}"
                        .formatted(i, value))
            .collect(Collectors.joining(","));
    String subscriptions =
        IntStream.range(0, 180)
            .mapToObj(i -> wish("/" + i, "\"types\":[\"*\"],\"filters\":[" + filters + "]"))
            .collect(Collectors.joining(","));
    answered(200, server.post(IMPORT, "{\"subscriptions\":[" + subscriptions + "]}"));

    List<Integer> lengths = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      Reply reply = server.get(PATH + "?limit=1000" + cursor);
      JsonNode page = answered(200, reply);
      lengths.add(reply.text().length());
      page.get("items").forEach(item -> ids.add(text(item, "id")));
      cursor = page.get("next").isNull() ? null : "&cursor=" + text(page, "next");
    }
    assertThat(lengths).hasSize(3).allMatch(length -> length < (4 << 20) + (256 << 10));
    assertThat(lengths.subList(0, 2)).allMatch(length -> length >= 4 << 20);
    assertThat(ids).hasSize(180).doesNotHaveDuplicates().isSortedAccordingTo(reverseOrder());
  }

  // ---- create and show

  @Test
  void a_subscription_shows_what_was_asked_for_and_hides_what_only_its_receiver_should_know()
      throws Exception {
    JsonNode created =
        created(
            "/hook",
            """
            "types":["order.*"],"subject":"s","filterConnector":"OR","format":"workfront","version":"v1",
            "filters":[{"fieldName":"amount","fieldValue":10.50,"comparison":"gt"},
              {"type":"group","connector":"AND","filters":[
                {"fieldName":"state","comparison":"changed"},
                {"fieldName":"state","fieldValue":"open","comparison":"eq","state":"oldState"}]}],
            "base64Encoding":true,"authToken":"abcdefghi","rateLimit":7,
            "headers":{"X-Long":"123456789","x-short":"12345678"}
            """);
    assertThat(text(created, "secret")).matches("whsec_[A-Za-z0-9+/]{43}=");
    assertThat(created.get("history").isNull()).isTrue();
    JsonNode shown = show(created);
    assertThat(server.get(path(created)).text())
        .contains(
            "\"filters\":[{\"fieldName\":\"amount\",\"fieldValue\":10.50,\"comparison\":\"gt\"",
            "\"connector\":\"AND\"",
            "\"filterConnector\":\"OR\",\"format\":\"workfront\",\"version\":\"v1\",\"base64Encoding\":true",
            "\"authToken\":\"****fghi\",\"headers\":{\"X-Long\":\"****6789\",\"x-short\":\"****\"}",
            "\"rateLimit\":7");
    assertThat(shown.has("secret") || shown.has("history")).isFalse();
    assertThat(shown.get("secrets").size()).isEqualTo(1);
    assertThat(shown.get("secrets").get(0).get("validUntil").isNull()).isTrue();
    assertThat(
            Duration.between(
                Instant.parse(text(shown.get("secrets").get(0), "createdAt")), Instant.now()))
        .isBetween(Duration.ZERO, Duration.ofMinutes(1));
    assertThat(list().get(0)).isEqualTo(shown);
  }

  @Test
  void a_secret_that_the_caller_gave_is_never_shown() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"*\"],\"secret\":\"" + OWN_SECRET + "\"");
    assertThat(created.has("secret")).isFalse();
    assertThat(created.toString() + show(created)).doesNotContain(OWN_SECRET);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "types":["*"],"filters":[{"fieldName":"a","comparison":"near"}] | filters[0].comparison
          "types":["A.CREATE"],"filters":[{"fieldName":"a","comparison":"changed"}] | filters[0]
          "types":["*"],"authToken":"a b"                        | authToken
          "types":["*"],"authToken":"a","headers":{"Authorization":"b"} | headers
          "types":["*"],"headers":{"Host":"x"}                   | headers.Host
          "types":["*"],"secret":"mine"                          | secret
          "types":["*"],"since":"2999-01-01T00:00:00Z"           | since
          "types":["*"],"base64Encoding":true                    | base64Encoding
          "types":["*"],"version":"v1"                           | version
          "types":["*"],"format":"cloudevents","version":"v2"    | version
          "types":["*"],"format":"workfront","version":"v3"      | version
          "types":["*"],"format":"soap"                          | format
          """)
  void what_cannot_be_is_refused_with_its_field_and_nothing_is_created(String fields, String field)
      throws Exception {
    assertRefused(server.post(PATH, wish("/hook", fields)), field);
    assertThat(list()).isEmpty();
    assertThat(server.get("/v1/endpoints").json().get("items")).isEmpty();
  }

  @Test
  void filters_decide_which_events_are_delivered() throws Exception {
    created(
        "/large",
        "\"types\":[\"order\"],\"filters\":[{\"fieldName\":\"amount\",\"fieldValue\":100,\"comparison\":\"gte\"}]");
    assertThat(send("{\"type\":\"order\",\"data\":{\"amount\":99.99}}")).isZero();
    assertThat(send("{\"type\":\"order\",\"data\":{\"amount\":100.0}}")).isEqualTo(1);
    assertThat(receiver.next().body()).contains("100.0");
  }

  // ---- what was before

  @Test
  void a_subscription_with_since_gets_what_was_before_it_and_tells_how_far_that_is()
      throws Exception {
    for (int i = 0; i < 5; i++) {
      send("{\"type\":\"order\",\"id\":\"e" + i + "\",\"data\":{\"n\":" + i + "}}");
    }
    send("{\"type\":\"cart\",\"data\":{\"n\":9}}");
    JsonNode created =
        created(
            "/hook",
            """
            "types":["order"],"since":"0000-01-01T00:00:00Z",
            "filters":[{"fieldName":"n","fieldValue":0,"comparison":"ne"}]
            """);
    String replay = "/v1/replays/" + text(created, "history");
    Set<String> events = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      events.add(TestServer.MAPPER.readTree(receiver.next().body()).get("id").asString());
    }
    assertThat(events).containsExactlyInAnyOrder("e1", "e2", "e3", "e4");
    JsonNode done = server.eventually(replay, json -> text(json, "state").equals("done"));
    assertThat(text(done, "kind")).isEqualTo("history");
    assertThat(done.get("status")).isEmpty();
    assertThat(text(done, "subscription")).isEqualTo(text(created, "id"));
    assertThat(text(done, "since")).isEqualTo("0000-01-01T00:00:00Z");
    assertThat(done.get("done").asInt()).isEqualTo(4);
    assertThat(server.get("/v1/replays").json().get("items").get(0)).isEqualTo(done);
    assertThat(answered(200, server.post(replay + "/cancel", ""))).isEqualTo(done);
    assertThat(send("{\"type\":\"order\",\"data\":{\"n\":7}}")).isEqualTo(1);
    assertThat(receiver.next().body()).contains("{\"n\":7}");
    assertThat(receiver.isEmpty()).isTrue();
  }

  @Test
  void a_subscription_with_since_gets_nothing_from_before_that() throws Exception {
    send("{\"type\":\"order\",\"data\":1}");
    Instant later = Instant.now().plusMillis(2);
    while (!Instant.now().isAfter(later)) {
      Thread.onSpinWait();
    }
    JsonNode created = created("/hook", "\"types\":[\"order\"],\"since\":\"" + later + "\"");
    server.eventually(
        "/v1/replays/" + text(created, "history"), json -> text(json, "state").equals("done"));
    assertThat(server.get("/v1/messages").json().get("items")).isEmpty();
  }

  // ---- change in place

  @Test
  void everything_is_changed_in_place_and_what_is_absent_stays() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"],\"authToken\":\"first-token\"");
    JsonNode changed =
        patched(
            created,
            """
            {"types":["b"],"subject":"s","filters":[{"fieldName":"n","comparison":"changed"}],
             "filterConnector":"OR","format":"workfront","version":"v1","base64Encoding":true,
             "authToken":"second-taken","headers":{"A":"1","B":"2"},"rateLimit":5}
            """);
    assertThat(text(changed, "id")).isEqualTo(text(created, "id"));
    assertThat(changed.get("secrets")).isEqualTo(created.get("secrets"));
    assertThat(changed.get("createdAt")).isEqualTo(created.get("createdAt"));
    assertThat(text(changed, "authToken")).isEqualTo("****aken");
    assertThat(text(changed, "version")).isEqualTo("v1");
    for (String nothing : List.of("{}", "{\"version\":null}")) {
      assertThat(unchanged(patched(created, nothing))).isEqualTo(unchanged(changed));
    }
    assertThat(patched(created, "{\"headers\":{\"a\":\"another one\",\"B\":null}}").get("headers"))
        .hasToString("{\"a\":\"**** one\"}");
    JsonNode plain = patched(created, "{\"format\":\"cloudevents\"}");
    assertThat(plain.get("version").isNull()).isTrue();
    assertThat(plain.get("base64Encoding").asBoolean()).isFalse();
    JsonNode back =
        patched(
            created,
            """
            {"subject":null,"filters":null,"filterConnector":null,"format":null,
             "base64Encoding":null,"authToken":null,"headers":null,"rateLimit":null}
            """);
    assertThat(back.toString())
        .contains(
            "\"subject\":null,\"filters\":[],\"filterConnector\":\"AND\",\"format\":\"holdfast\","
                + "\"version\":null,\"base64Encoding\":false,\"authToken\":null,\"headers\":{}")
        .contains("\"rateLimit\":null");
    assertThat(back.get("types")).hasToString("[\"b\"]");
  }

  /** Without when it was last changed. */
  private static JsonNode unchanged(JsonNode subscription) {
    return ((ObjectNode) subscription.deepCopy()).without("changedAt");
  }

  @Test
  void a_subscription_tells_when_it_was_changed() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"]");
    assertThat(created.get("changedAt")).isEqualTo(created.get("createdAt"));
    Instant before = Instant.parse(text(created, "changedAt"));
    JsonNode changed = patched(created, "{\"subject\":\"s\"}");
    assertThat(Instant.parse(text(changed, "changedAt"))).isAfter(before);
    assertThat(changed.get("createdAt")).isEqualTo(created.get("createdAt"));
    assertThat(show(created)).isEqualTo(changed);
  }

  @Test
  void a_change_of_version_sends_each_event_in_both_for_a_while() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"PROJ.UPDATE\"],\"format\":\"workfront\"");
    assertThat(text(created, "version")).isEqualTo("v2");
    String event = "{\"type\":\"PROJ.UPDATE\",\"data\":{\"a\":[\"b\"]}}";
    assertThat(send(event)).isEqualTo(1);
    assertThat(receiver.next().body())
        .contains("\"eventVersion\":\"v2\",\"subscriptionVersion\":\"v2\"")
        .contains("\"newState\":{\"a\":[\"b\"]}");

    assertThat(text(patched(created, "{\"version\":\"v1\"}"), "version")).isEqualTo("v1");
    assertThat(send(event)).isEqualTo(2);
    List<String> bodies = List.of(receiver.next().body(), receiver.next().body());

    assertThat(bodies).allMatch(body -> body.contains("\"subscriptionVersion\":\"v1\""));
    assertThat(bodies)
        .anyMatch(
            body ->
                body.contains("\"eventVersion\":\"v1\"")
                    && body.contains("\"newState\":{\"a\":\"b\"}"))
        .anyMatch(
            body ->
                body.contains("\"eventVersion\":\"v2\"")
                    && body.contains("\"newState\":{\"a\":[\"b\"]}"));
  }

  @Test
  void a_change_that_does_not_go_with_what_stays_is_refused_with_its_field() throws Exception {
    JsonNode created =
        created(
            "/hook",
            "\"types\":[\"T.UPDATE\"],\"filters\":[{\"fieldName\":\"n\",\"comparison\":\"changed\"}],"
                + "\"authToken\":\"t\"");
    JsonNode before = show(created);
    assertRefused(patch(created, "{\"types\":[\"T.CREATE\"]}"), "filters[0]");
    assertRefused(patch(created, "{\"headers\":{\"Authorization\":\"x\"}}"), "headers");
    assertRefused(patch(created, "{\"base64Encoding\":true}"), "base64Encoding");
    assertRefused(patch(created, "{\"version\":\"v1\"}"), "version");
    assertRefused(patch(created, "{\"version\":\"v2\"}"), "version");
    assertRefused(patch(created, "{\"version\":\"v2\",\"format\":\"cloudevents\"}"), "version");
    String headers =
        IntStream.range(0, 20)
            .mapToObj(i -> "\"h" + i + "\":\"v\"")
            .collect(Collectors.joining(","));
    assertThat(show(created)).isEqualTo(before);
    patched(created, "{\"headers\":{" + headers + "}}");
    assertRefused(patch(created, "{\"headers\":{\"one-more\":\"v\"}}"), "headers");
    assertThat(patched(created, "{\"types\":[\"T.CREATE\"],\"filters\":[]}").get("filters"))
        .isEmpty();
  }

  @Test
  void a_masked_value_that_comes_back_is_refused_and_the_real_one_stays() throws Exception {
    JsonNode created =
        created("/hook", "\"types\":[\"a\"],\"authToken\":\"the-token\",\"headers\":{\"A\":\"b\"}");
    JsonNode shown = show(created);
    String masked = "{\"authToken\":" + shown.get("authToken") + "}";
    assertRefused(patch(created, masked), "authToken");
    assertRefused(patch(created, "{\"headers\":" + shown.get("headers") + "}"), "headers.A");
    assertThat(show(created)).isEqualTo(shown);
  }

  @Test
  void what_the_query_of_a_url_says_is_shown_nowhere() throws Exception {
    JsonNode created = created("/hook?token=geheim&v=2", "\"types\":[\"a\"]");
    assertThat(text(created, "url")).endsWith("/hook?token=****&v=****");
    assertThat(text(show(created), "url")).isEqualTo(text(created, "url"));
    String endpoint = "/v1/endpoints/" + text(created, "endpoint");
    for (String path : List.of("/v1/subscriptions", "/v1/endpoints", endpoint)) {
      assertThat(server.get(path).text()).contains("?token=****&v=****").doesNotContain("geheim");
    }
    assertRefused(patch(created, "{\"url\":" + created.get("url") + "}"), "url");
  }

  // ---- rotate

  @Test
  void of_a_pair_of_keys_only_the_public_one_is_ever_shown() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"],\"signature\":\"v1a\"");
    assertThat(created.has("secret")).isFalse();
    assertThat(text(created, "publicKey")).matches("whpk_[A-Za-z0-9+/]{43}=");
    JsonNode secret = created.get("secrets").get(0);
    assertThat(text(secret, "signature")).isEqualTo("v1a");
    assertThat(text(secret, "publicKey")).isEqualTo(text(created, "publicKey"));
    assertThat(show(created).get("secrets")).isEqualTo(created.get("secrets"));
    assertThat(show(created).has("publicKey")).isFalse();

    JsonNode rotated =
        answered(200, server.post(path(created) + "/rotate", "{\"signature\":\"v1\"}"));
    assertThat(text(rotated, "secret")).startsWith("whsec_");
    assertThat(text(rotated.get("secrets").get(0), "signature")).isEqualTo("v1");
    assertThat(rotated.get("secrets").get(0).has("publicKey")).isFalse();
    assertThat(rotated.get("secrets").get(1).get("publicKey")).isEqualTo(secret.get("publicKey"));
    JsonNode back =
        answered(200, server.post(path(created) + "/rotate", "{\"signature\":\"v1a\"}"));
    assertThat(back.has("secret")).isFalse();
    assertThat(back.get("secrets").get(0).get("publicKey")).isEqualTo(back.get("publicKey"));
    assertThat(back.get("publicKey")).isNotEqualTo(secret.get("publicKey"));
    assertRefused(patch(created, "{\"signature\":\"v1\"}"), "signature");
  }

  @Test
  void a_rotated_secret_is_shown_once_and_the_old_one_goes_on_for_a_while() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"]");
    JsonNode rotated = answered(200, server.post(path(created) + "/rotate", "{}"));
    assertThat(text(rotated, "secret")).startsWith("whsec_").isNotEqualTo(text(created, "secret"));
    JsonNode secrets = rotated.get("secrets");
    assertThat(secrets.size()).isEqualTo(2);
    assertThat(secrets.get(0).get("validUntil").isNull()).isTrue();
    assertThat(secrets.get(1).get("createdAt"))
        .isEqualTo(created.get("secrets").get(0).get("createdAt"));
    assertThat(Instant.parse(text(secrets.get(1), "validUntil")))
        .isEqualTo(Instant.parse(text(secrets.get(0), "createdAt")).plus(Duration.ofHours(24)));
    assertThat(show(created).get("secrets")).isEqualTo(secrets);
    JsonNode own =
        answered(
            200,
            server.post(
                path(created) + "/rotate",
                "{\"secret\":\"" + OWN_SECRET + "\",\"oldValidFor\":\"0s\"}"));
    assertThat(own.has("secret")).isFalse();
    assertThat(own.get("secrets").size()).isEqualTo(1);
    assertRefused(
        server.post(path(created) + "/rotate", "{\"secret\":\"" + OWN_SECRET + "\"}"), "secret");
    assertRefused(
        server.post(path(created) + "/rotate", "{\"oldValidFor\":\"31d\"}"), "oldValidFor");
    assertThat(server.post(PATH + "/sub_0000000000001/rotate", "{}").status()).isEqualTo(404);
    assertThat(server.post(PATH + "/nonsense/rotate", "").status()).isEqualTo(404);
  }

  @Test
  void the_eleventh_secret_that_would_be_valid_at_once_is_a_409() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"]");
    for (int i = 0; i < 9; i++) {
      answered(200, server.post(path(created) + "/rotate", ""));
    }
    JsonNode problem = answered(409, server.post(path(created) + "/rotate", ""));
    assertThat(text(problem, "type")).isEqualTo("urn:holdfast:problem:too-many-secrets");
    assertThat(show(created).get("secrets").size()).isEqualTo(10);
    assertThat(
            answered(200, server.post(path(created) + "/rotate", "{\"oldValidFor\":\"0s\"}"))
                .get("secrets")
                .size())
        .isEqualTo(1);
  }

  // ---- nothing is told twice

  @Test
  void no_answer_and_no_line_of_the_log_tells_a_token_secret_or_header() throws Exception {
    List<String> told = new CopyOnWriteArrayList<>();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            told.add(
                event.getFormattedMessage()
                    + (event.getThrowableProxy() == null
                        ? ""
                        : ThrowableProxyUtil.asString(event.getThrowableProxy())));
          }
        };
    Logger log = (Logger) LoggerFactory.getLogger("dev.holdfast");
    Level before = log.getLevel();
    appender.start();
    log.addAppender(appender);
    log.setLevel(Level.DEBUG);
    try {
      receiver.status = 500;
      String planted =
          "\"types\":[\"a\"],\"authToken\":\"PLANTED-token\",\"headers\":{\"A\":\"PLANTED-value\"},"
              + "\"secret\":\"whsec_PLANTEDxPLANTEDxPLANTEDxPLANTEDx\"";
      JsonNode created = created("/hook", planted);
      told.add(created.toString());
      for (String call : List.of(path(created), PATH, "/v1/endpoints")) {
        told.add(server.get(call).text());
      }
      told.add(server.post(PATH, wish("/hook", planted)).text());
      told.add(server.post(PATH, wish("/hook", planted + ",\"wrong\":1")).text());
      told.add(patch(created, "{\"authToken\":\"PLANTED-two\",\"headers\":{\"A\":null}}").text());
      told.add(patch(created, "{\"headers\":{\"Authorization\":\"PLANTED\"}}").text());
      told.add(
          server
              .post(
                  path(created) + "/rotate",
                  "{\"secret\":\"whsec_PLANTEDxPLANTEDxPLANTEDxPLANTED2\"}")
              .text());
      told.add(server.post(path(created) + "/pause", "").text());
      told.add(server.post(path(created) + "/resume", "").text());
      String entry = wish("/hook", planted);
      told.add(server.post(IMPORT, "{\"subscriptions\":[" + entry + "]}").text());
      told.add(server.post(IMPORT, "{\"subscriptions\":[" + entry + ",{}]}").text());
      told.add(server.post(PREVIEW, "{\"subscription\":" + entry + "}").text());
      send("{\"type\":\"a\",\"data\":1}");
      receiver.next();
      told.add(server.get("/v1/messages").text());
      told.add(server.get("/metrics").text());
      server.delete(path(created));
    } finally {
      log.detachAppender(appender);
      log.setLevel(before);
    }
    assertThat(told).hasSizeGreaterThan(15).noneMatch(line -> line.contains("PLANTED"));
  }

  // ---- preview

  private JsonNode preview(String subscription, String event) throws Exception {
    return answered(
        200,
        server.post(PREVIEW, "{\"subscription\":" + subscription + ",\"event\":" + event + "}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"type":"cart","data":{}}                                      | false | types
          {"type":"order.paid","data":{}}                                | false | subject
          {"type":"order.paid","subject":"s","data":{"n":1}}             | false | filters[0]
          {"type":"order.paid","subject":"s","data":{"n":5},"previous":{"n":5}} | false | filters[1]
          {"type":"order.paid","subject":"s","data":{"n":5},"previous":{"n":4}} | true | null
          """)
  void a_preview_says_what_decides_about_an_event(String event, boolean matches, String decidedBy)
      throws Exception {
    String subscription =
        """
        {"types":["order.*"],"subject":"s","filters":[
          {"fieldName":"n","fieldValue":3,"comparison":"gt"},
          {"fieldName":"n","comparison":"changed"}]}
        """;
    JsonNode verdict = preview(subscription, event);
    assertThat(verdict.get("matches").asBoolean()).isEqualTo(matches);
    assertThat(verdict.get("decidedBy").asString("null")).isEqualTo(decidedBy);
    assertThat(verdict.get("filters").size()).isEqualTo(2);
    assertThat(text(verdict.get("filters").get(1), "filter")).isEqualTo("filters[1]");
  }

  @Test
  void a_preview_tells_of_filters_in_groups() throws Exception {
    String subscription =
        """
        {"types":["*"],"filterConnector":"OR","filters":[
          {"fieldName":"n","fieldValue":1,"comparison":"eq"},
          {"type":"group","connector":"OR","filters":[
            {"fieldName":"n","fieldValue":2,"comparison":"eq"},
            {"fieldName":"n","fieldValue":3,"comparison":"eq"}]}]}
        """;
    JsonNode verdict = preview(subscription, "{\"type\":\"t\",\"data\":{\"n\":3}}");
    assertThat(verdict)
        .hasToString(
            "{\"matches\":true,\"decidedBy\":\"filters[1].filters[1]\",\"filters\":["
                + "{\"filter\":\"filters[0]\",\"holds\":false},"
                + "{\"filter\":\"filters[1]\",\"holds\":true},"
                + "{\"filter\":\"filters[1].filters[0]\",\"holds\":false},"
                + "{\"filter\":\"filters[1].filters[1]\",\"holds\":true}]}");
  }

  @Test
  void a_preview_of_what_is_stored_looks_at_the_last_hundred_events_of_the_tenant()
      throws Exception {
    server.post("/v1/events", "{\"type\":\"order\",\"data\":{\"n\":0}}", OF_ACME);
    for (int i = 0; i < 104; i++) {
      send("{\"type\":\"order\",\"id\":\"e" + i + "\",\"data\":{\"n\":" + i + "}}");
    }
    send("{\"type\":\"cart\",\"subject\":\"s\",\"data\":1}");
    String body =
        "{\"subscription\":{\"types\":[\"order\"],\"filters\":[{\"fieldName\":\"n\",\"fieldValue\":100,"
            + "\"comparison\":\"gte\"}]}}";
    JsonNode stored = answered(200, server.post(PREVIEW, body));
    assertThat(stored.get("looked").asInt()).isEqualTo(100);
    assertThat(stored.get("matching").asInt()).isEqualTo(4);
    JsonNode newest = stored.get("items").get(0);
    assertThat(text(newest, "type")).isEqualTo("cart");
    assertThat(text(newest, "subject")).isEqualTo("s");
    assertThat(text(newest, "decidedBy")).isEqualTo("types");
    assertThat(text(stored.get("items").get(1), "event")).isEqualTo("e103");
    assertThat(stored.get("items").get(1).get("matches").asBoolean()).isTrue();
    assertThat(text(stored.get("items").get(5), "decidedBy")).isEqualTo("filters[0]");
    JsonNode acme = answered(200, server.post(PREVIEW, body, OF_ACME));
    assertThat(acme.get("looked").asInt()).isEqualTo(1);
    assertThat(list()).isEmpty();
    assertThat(receiver.isEmpty()).isTrue();
  }

  @Test
  void a_preview_takes_a_subscription_that_is_there() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"order\"],\"subject\":\"s\"");
    String id = "\"" + text(created, "id") + "\"";
    assertThat(text(preview(id, "{\"type\":\"order\",\"data\":1}"), "decidedBy"))
        .isEqualTo("subject");
    assertThat(preview(id, "null").get("looked").asInt()).isZero();
    assertThat(server.post(PREVIEW, "{\"subscription\":" + id + "}", OF_ACME).status())
        .isEqualTo(404);
    assertThat(server.post(PREVIEW, "{\"subscription\":\"sub_0000000000001\"}").status())
        .isEqualTo(404);
  }

  @Test
  void a_large_event_with_a_deep_payload_can_be_previewed() throws Exception {
    String deep = "[".repeat(500) + "]".repeat(500);
    String large = "\"" + "x".repeat(1_000_000) + "\"";
    String subscription =
        "{\"types\":[\"*\"],\"filters\":[{\"fieldName\":\"b\",\"fieldValue\":\"x\",\"comparison\":\"contains\"}]}";
    String event = "{\"type\":\"t\",\"data\":{\"b\":" + large + "},\"previous\":" + deep + "}";
    assertThat(preview(subscription, event).get("matches").asBoolean()).isTrue();
    assertThat(
            preview(subscription, event.replace("\"data\":{", "\"data\":{\"a\":" + "[1],"))
                .get("matches")
                .asBoolean())
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                                             | subscription
          {"subscription":null}                                          | subscription
          {"subscription":7}                                             | subscription
          {"subscription":"ep_0000000000001"}                            | subscription
          {"subscription":{}}                                            | subscription.types
          {"subscription":{"types":["a"],"url":"ftp://x/"}}              | subscription.url
          {"subscription":{"types":["a"],"secret":"x"}}                  | subscription.secret
          {"subscription":{"types":["a"],"filters":[{}]}}                | subscription.filters[0].fieldName
          {"subscription":{"types":["a"],"base64Encoding":true}}         | subscription.base64Encoding
          {"subscription":{"types":["a"],"version":"v1"}}                | subscription.version
          {"subscription":{"types":["a"]},"event":[]}                    | event
          {"subscription":{"types":["a"]},"event":{"type":"t"}}          | event.data
          {"subscription":{"types":["a"]},"event":{"type":"*","data":1}} | event.type
          {"subscription":{"types":["a"]},"since":"x"}                   | since
          """)
  void a_bad_preview_is_refused_with_the_place(String body, String field) throws Exception {
    assertRefused(server.post(PREVIEW, body), field);
  }

  // ---- import

  private JsonNode imported(boolean dryRun, String... subscriptions) throws Exception {
    return answered(
        200,
        server.post(
            IMPORT,
            "{\"dryRun\":"
                + dryRun
                + ",\"subscriptions\":["
                + String.join(",", subscriptions)
                + "]}"));
  }

  private static List<String> results(JsonNode imported) {
    List<String> results = new ArrayList<>();
    imported.get("subscriptions").forEach(one -> results.add(text(one, "result")));
    return results;
  }

  @Test
  void the_same_import_once_more_changes_nothing() throws Exception {
    String[] wishes = {
      wish("/a", "\"types\":[\"order.*\"],\"authToken\":\"token-of-a\""),
      wish("/a", "\"types\":[\"order.*\"],\"subject\":\"s\""),
      wish(
          "/b",
          "\"types\":[\"order.*\"],\"secret\":\"" + OWN_SECRET + "\",\"format\":\"cloudevents\""),
    };
    JsonNode first = imported(false, wishes);
    assertThat(results(first)).containsOnly("created");
    assertThat(first.get("created").asInt()).isEqualTo(3);
    assertThat(text(first.get("subscriptions").get(0), "secret")).startsWith("whsec_");
    assertThat(first.get("subscriptions").get(2).has("secret")).isFalse();
    JsonNode before = list();
    JsonNode second = imported(false, wishes);
    assertThat(results(second)).containsOnly("unchanged");
    assertThat(second.get("unchanged").asInt()).isEqualTo(3);
    for (int i = 0; i < 3; i++) {
      assertThat(second.get("subscriptions").get(i).has("secret")).isFalse();
      assertThat(second.get("subscriptions").get(i).get("id"))
          .isEqualTo(first.get("subscriptions").get(i).get("id"));
    }
    assertThat(list()).isEqualTo(before);
    assertThat(before.size()).isEqualTo(3);
  }

  @Test
  void an_import_changes_in_place_what_has_the_same_url_types_and_subject() throws Exception {
    JsonNode there = created("/a", "\"types\":[\"order\"],\"headers\":{\"A\":\"b\"}");
    JsonNode other = created("/b", "\"types\":[\"order\"]");
    JsonNode imported =
        imported(
            false,
            wish(
                "/a",
                "\"types\":[\"order\"],\"filters\":[{\"fieldName\":\"n\",\"comparison\":\"changed\"}]"),
            wish("/a", "\"types\":[\"cart\"]"));
    assertThat(results(imported)).containsExactly("changed", "created");
    assertThat(imported.get("changed").asInt()).isEqualTo(1);
    assertThat(imported.get("subscriptions").get(0).get("id")).isEqualTo(there.get("id"));
    JsonNode changed = show(there);
    assertThat(changed.get("filters").size()).isEqualTo(1);
    assertThat(changed.get("headers")).isEmpty();
    assertThat(changed.get("secrets")).isEqualTo(there.get("secrets"));
    assertThat(show(other).get("secrets")).isEqualTo(other.get("secrets"));
    assertThat(list().size()).isEqualTo(3);
  }

  @Test
  void an_import_with_one_bad_subscription_does_nothing() throws Exception {
    Reply reply =
        server.post(
            IMPORT,
            "{\"subscriptions\":[%s,%s]}"
                .formatted(
                    wish("/a", "\"types\":[\"order\"]"),
                    wish(
                        "/b",
                        "\"types\":[\"order\"],\"filters\":[{\"fieldName\":\"n\",\"comparison\":\"?\"}]")));
    assertRefused(reply, "subscriptions[1].filters[0].comparison");
    assertThat(list()).isEmpty();
  }

  @Test
  void a_dry_run_says_what_would_be_done_and_does_nothing() throws Exception {
    JsonNode there = created("/a", "\"types\":[\"order\"],\"subject\":\"s\"");
    JsonNode before = list();
    JsonNode plan =
        imported(
            true,
            wish("/a", "\"types\":[\"order\"],\"subject\":\"s\",\"rateLimit\":3"),
            wish("/new", "\"types\":[\"order\"]"));
    assertThat(plan.get("dryRun").asBoolean()).isTrue();
    assertThat(results(plan)).containsExactly("changed", "created");
    assertThat(plan.get("subscriptions").get(0).get("id")).isEqualTo(there.get("id"));
    assertThat(plan.get("subscriptions").get(1).get("id").isNull()).isTrue();
    assertThat(text(plan.get("subscriptions").get(1), "url")).isEqualTo(receiver.url("/new"));
    assertThat(plan.toString()).doesNotContain("whsec_");
    assertThat(list()).isEqualTo(before);
    assertThat(server.get("/v1/endpoints").json().get("items").size()).isEqualTo(1);
  }

  @Test
  void ten_thousand_subscriptions_are_imported_at_once_and_work() throws Exception {
    String[] wishes =
        IntStream.range(0, 10_000)
            .mapToObj(i -> wish("/" + i % 50, "\"types\":[\"type." + i + "\"]"))
            .toArray(String[]::new);
    assertThat(imported(false, wishes).get("created").asInt()).isEqualTo(10_000);
    assertThat(imported(false, wishes).get("unchanged").asInt()).isEqualTo(10_000);
    assertThat(send("{\"type\":\"type.9999\",\"data\":1}")).isEqualTo(1);
    Delivery delivery = receiver.next();
    assertThat(delivery.path()).isEqualTo("/49");
  }

  // ---- who may

  @Test
  void who_manages_may_rotate_and_import_and_who_looks_may_preview() throws Exception {
    JsonNode created = created("/hook", "\"types\":[\"a\"]");
    String preview = "{\"subscription\":{\"types\":[\"a\"]}}";
    String imports = "{\"subscriptions\":[]}";
    assertThat(server.post(PREVIEW, preview, AS_VIEWER).status()).isEqualTo(200);
    assertThat(server.post(PREVIEW, preview, AS_PUBLISHER).status()).isEqualTo(403);
    assertThat(server.post(IMPORT, imports, AS_OPERATOR).status()).isEqualTo(200);
    assertThat(server.post(IMPORT, imports, AS_VIEWER).status()).isEqualTo(403);
    assertThat(server.post(path(created) + "/rotate", "", AS_OPERATOR).status()).isEqualTo(200);
    assertThat(server.post(path(created) + "/rotate", "", AS_VIEWER).status()).isEqualTo(403);
    assertThat(server.post(path(created) + "/rotate", "", OF_ACME).status()).isEqualTo(404);
    for (String path : List.of(PREVIEW, IMPORT)) {
      assertThat(server.get(path).status()).as("no id").isEqualTo(405);
    }
  }
}
