package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.holdfast.server.api.LocalReceiver.Delivery;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** What a program sees that was written for Adobe Workfront, with a real engine and receivers. */
class WorkfrontApiTest {
  private static final String PREFIX = "/attask/eventsubscription/api/v1";
  private static final String PATH = PREFIX + "/subscriptions";
  private static final String LIST = PATH + "/list";
  private static final String VERSIONS = PATH + "/version";
  private static final String EVENTS = PREFIX + "/events";
  private static final String NOBODY = "sub_0000000000001";
  private static final String[] OF_ACME = {"Holdfast-Tenant", "acme"};

  private final LocalReceiver receiver;
  private final RealEngine engine;
  private final TestServer server;

  WorkfrontApiTest(@TempDir Path data) throws Exception {
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

  private static JsonNode answered(int status, Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    return reply.json();
  }

  private static void assertRefused(Reply reply, String field) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(text(reply.json(), "field")).isEqualTo(field);
  }

  /** A subscription to changes of this kind of object, with more fields. */
  private String wish(String objCode, String more) {
    return """
        {"objCode":"%s","eventType":"UPDATE","url":"%s","authToken":"the-token-1234"%s}"""
        .formatted(objCode, receiver.url("/hook"), more);
  }

  private String created(String objCode, String more, String... headers) throws Exception {
    return text(answered(201, server.post(PATH, wish(objCode, more), headers)), "id");
  }

  private String created(String objCode) throws Exception {
    return created(objCode, "");
  }

  private JsonNode shown(String id) throws Exception {
    return answered(200, server.get(PATH + "/" + id));
  }

  private Reply put(String path, String body, String... headers) throws Exception {
    return server.send("PUT", path, body.getBytes(UTF_8), headers);
  }

  private Reply delete(String id, String... headers) throws Exception {
    return server.send("DELETE", PATH + "/" + id, new byte[0], headers);
  }

  private JsonNode page(String query, String... headers) throws Exception {
    return answered(200, server.get(PATH + query, headers));
  }

  private int count(String... headers) throws Exception {
    return page("", headers).get("meta").get("total_count").asInt();
  }

  private JsonNode send(String event) throws Exception {
    return answered(202, server.post(EVENTS, event));
  }

  private static List<String> ids(JsonNode list) {
    List<String> ids = new ArrayList<>();
    list.forEach(item -> ids.add(text(item, "id")));
    return ids;
  }

  private static String quoted(List<String> ids) {
    return ids.stream().map(id -> "\"" + id + "\"").collect(Collectors.joining(",", "[", "]"));
  }

  // ---- who may

  @Test
  void a_key_is_sent_as_session_id_and_as_nothing_else() throws Exception {
    assertThat(server.sendKeyless("GET", PATH, new byte[0], "sessionID", "admin-key").status())
        .isEqualTo(200);
    String[][] others = {
      {},
      {"Authorization", "Bearer admin-key"},
      {"sessionID", "another-key"},
      {"sessionID", "Bearer admin-key"},
      {"sessionID", "admin-key" + "x".repeat(600)},
      {"sessionID", ""},
      {"apiKey", "admin-key"}
    };
    for (String[] headers : others) {
      for (String path : List.of(PATH, LIST, PATH + "/" + NOBODY)) {
        Reply reply = server.sendKeyless("GET", path, new byte[0], headers);
        assertThat(reply.status()).isEqualTo(401);
        assertThat(reply.header("www-authenticate")).contains("sessionID");
        assertThat(text(reply.json(), "detail"))
            .isEqualTo("Send the header \"sessionID: <key>\" with a valid key.");
      }
    }
    assertThat(
            server
                .sendKeyless("GET", "/v1/messages", new byte[0], "sessionID", "admin-key")
                .status())
        .isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(strings = {TestServer.OPERATOR_KEY, TestServer.VIEWER_KEY, TestServer.PUBLISHER_KEY})
  void only_an_admin_may_do_anything_but_send_events(String key) throws Exception {
    String id = created("PROJ");
    String[] header = {"sessionID", key};
    List<Reply> replies = new ArrayList<>();
    replies.add(server.post(PATH, wish("TASK", ""), header));
    replies.add(server.get(PATH, header));
    replies.add(server.get(LIST, header));
    replies.add(server.get(PATH + "/" + id, header));
    replies.add(delete(id, header));
    replies.add(put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}", header));
    replies.add(put(VERSIONS, "{\"allCustomerSubscriptions\":true,\"version\":\"v1\"}", header));
    assertThat(replies)
        .allSatisfy(
            reply -> {
              assertThat(reply.status()).isEqualTo(403);
              assertThat(text(reply.json(), "detail")).contains("admin");
            });
    assertThat(text(shown(id), "version")).isEqualTo("v2");
    assertThat(count()).isEqualTo(1);
    String event = "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{}}";
    assertThat(server.post(EVENTS, event, header).status())
        .isEqualTo(key.equals(TestServer.PUBLISHER_KEY) ? 202 : 403);
  }

  @Test
  void tenants_do_not_see_each_others() throws Exception {
    String[] acmeKey = {"sessionID", TestServer.ACME_KEY};
    String ours = created("PROJ");
    String theirs = created("PROJ", "", acmeKey);
    assertThat(ids(page("").get("subscriptions"))).containsExactly(ours);
    for (String[] acme : List.of(acmeKey, OF_ACME)) {
      assertThat(ids(page("", acme).get("subscriptions"))).containsExactly(theirs);
      assertThat(ids(answered(200, server.get(LIST, acme)))).containsExactly(theirs);
      assertThat(server.get(PATH + "/" + ours, acme).status()).isEqualTo(404);
      assertThat(delete(ours, acme).status()).isEqualTo(404);
      assertThat(put(PATH + "/" + ours + "/version", "{\"version\":\"v1\"}", acme).status())
          .isEqualTo(404);
      assertRefused(
          put(
              VERSIONS,
              "{\"subscriptionIds\":" + quoted(List.of(theirs, ours)) + ",\"version\":\"v1\"}",
              acme),
          "subscriptionIds[1]");
    }
    JsonNode all =
        answered(
            200, put(VERSIONS, "{\"allCustomerSubscriptions\":true,\"version\":\"v1\"}", OF_ACME));
    assertThat(all.get("subscription_ids").size()).isEqualTo(1);
    assertThat(text(shown(ours), "version")).isEqualTo("v2");
    assertThat(text(shown(ours), "customerId")).isEqualTo("default");
    assertThat(
            server
                .get(PATH, "sessionID", TestServer.ACME_KEY, "Holdfast-Tenant", "default")
                .status())
        .isEqualTo(403);
  }

  // ---- create and show

  @Test
  void a_subscription_is_created_and_its_place_is_told() throws Exception {
    Reply reply = server.post(PATH, wish("PROJ", ""));
    JsonNode json = answered(201, reply);
    assertThat(json.propertyNames()).containsExactly("id", "version");
    assertThat(text(json, "version")).isEqualTo("v2");
    String path = PATH + "/" + text(json, "id");
    assertThat(reply.header("location")).contains("http://127.0.0.1:" + server.port() + path);
    Reply proxied = server.post(PATH, wish("TASK", ""), "X-Forwarded-Proto", "https");
    assertThat(proxied.header("location").orElseThrow())
        .startsWith("https://127.0.0.1:" + server.port() + PATH);
    Reply strange = server.post(PATH, wish("OPTASK", ""), "X-Forwarded-Proto", "javascript");
    assertThat(strange.header("location").orElseThrow()).startsWith(PATH + "/sub_");
  }

  @Test
  void what_is_no_host_is_not_repeated_in_the_place() throws Exception {
    byte[] body = wish("PROJ", "").getBytes(UTF_8);
    try (RawClient client = new RawClient(server.port())) {
      client.send(
          "POST "
              + PATH
              + " HTTP/1.1\r\nHost: evil.example/x?\r\nX-Forwarded-Proto: https\r\nsessionID: "
              + TestServer.ADMIN_KEY
              + "\r\nContent-Type: application/json\r\nContent-Length: "
              + body.length
              + "\r\n\r\n");
      String answer = client.send(body).answer();
      assertThat(answer).contains("HTTP/1.1 201").contains("location: " + PATH + "/sub_");
      assertThat(answer).doesNotContain("evil");
    }
  }

  @Test
  void a_subscription_shows_all_that_was_asked_for() throws Exception {
    Instant before = Instant.now();
    String id =
        created(
            "PROJ",
            """
            ,"objId":"5a3f","base64Encoding":"true","version":"v1","filterConnector":"OR",
            "filters":[{"fieldName":"a","fieldValue":1.50,"comparison":"eq","state":"oldState"},
            {"fieldName":"b","comparison":"changed"}]""");
    JsonNode shown = shown(id);
    assertThat(shown.propertyNames())
        .containsExactlyInAnyOrder(
            "id",
            "dateCreated",
            "dateModified",
            "date_created",
            "date_modified",
            "version",
            "dateVersionUpdated",
            "customerId",
            "objId",
            "objCode",
            "url",
            "eventType",
            "authToken",
            "base64Encoding",
            "filters",
            "filterConnector",
            "subscription_url");
    assertThat(text(shown, "id")).isEqualTo(id);
    assertThat(text(shown, "objCode")).isEqualTo("PROJ");
    assertThat(text(shown, "eventType")).isEqualTo("UPDATE");
    assertThat(text(shown, "objId")).isEqualTo("5a3f");
    assertThat(text(shown, "url")).isEqualTo(receiver.url("/hook"));
    assertThat(text(shown, "authToken")).isEqualTo("****1234");
    assertThat(shown.get("base64Encoding").asBoolean()).isTrue();
    assertThat(text(shown, "version")).isEqualTo("v1");
    assertThat(text(shown, "filterConnector")).isEqualTo("OR");
    assertThat(text(shown, "customerId")).isEqualTo("default");
    assertThat(shown.get("dateVersionUpdated").isNull()).isTrue();
    assertThat(server.get(PATH + "/" + id).text())
        .contains(
            "\"filters\":[{\"fieldName\":\"a\",\"fieldValue\":1.50,\"comparison\":\"eq\","
                + "\"state\":\"oldState\"},{\"fieldName\":\"b\",\"comparison\":\"changed\"");
    assertThat(time(shown, "dateCreated"))
        .isBetween(before.minusMillis(1), Instant.now().plusMillis(1));
    for (String same : List.of("dateModified", "date_created", "date_modified")) {
      assertThat(text(shown, same)).isEqualTo(text(shown, "dateCreated"));
    }
    JsonNode url = shown.get("subscription_url");
    assertThat(url.propertyNames())
        .containsExactly(
            "url", "date_created", "successes", "failures", "disabled_at", "frozen_at");
    assertThat(text(url, "url")).isEqualTo(receiver.url("/hook"));
    assertThat(url.get("successes").asInt() + url.get("failures").asInt()).isZero();
    assertThat(url.get("disabled_at").isNull() && url.get("frozen_at").isNull()).isTrue();
  }

  private static Instant time(JsonNode json, String field) {
    assertThat(text(json, field)).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}");
    return LocalDateTime.parse(text(json, field)).toInstant(ZoneOffset.UTC);
  }

  @Test
  void a_url_is_shown_as_it_was_written_and_is_the_same_however_it_is_written() throws Exception {
    String body =
        """
        {"objCode":"PROJ","eventType":"UPDATE","url":"%s","authToken":"the-token-1234"}""";
    String written = "HTTP://Hooks.Example:80";
    String id = text(answered(201, server.post(PATH, body.formatted(written))), "id");
    assertThat(text(shown(id), "url")).isEqualTo(written);
    assertThat(text(shown(id).get("subscription_url"), "url")).isEqualTo(written);
    assertThat(text(page("").get("subscriptions").get(0), "url")).isEqualTo(written);
    JsonNode elsewhere = answered(200, server.get("/v1/subscriptions/" + id));
    assertThat(text(elsewhere, "url")).isEqualTo("http://hooks.example/");
    answered(409, server.post(PATH, body.formatted("http://hooks.example/")));

    server.send(
        "PATCH", "/v1/subscriptions/" + id, "{\"url\":\"http://other.EXAMPLE\"}".getBytes(UTF_8));
    assertThat(text(shown(id), "url")).isEqualTo("http://other.example/");
  }

  @Test
  void what_is_not_asked_for_is_as_usual() throws Exception {
    JsonNode shown = shown(created("PROJ"));
    assertThat(shown.get("objId").isNull()).isTrue();
    assertThat(shown.get("filters")).isEmpty();
    assertThat(text(shown, "filterConnector")).isEqualTo("AND");
    assertThat(shown.get("base64Encoding").asBoolean()).isFalse();
    for (String empty : List.of("null", "\"\"")) {
      String more =
          """
          ,"objId":%s,"filters":null,"filterConnector":null,"base64Encoding":%s,"version":null"""
              .formatted(empty, empty);
      assertThat(server.post(PATH, wish("PROJ", more)).status())
          .as("the same in every field")
          .isEqualTo(409);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          true    | true
          false   | false
          "true"  | true
          "false" | false
          ""      | false
          null    | false
          """)
  void base64_is_asked_for_in_several_ways(String given, boolean base64) throws Exception {
    String id = created("PROJ", ",\"base64Encoding\":" + given);
    assertThat(shown(id).get("base64Encoding").asBoolean()).isEqualTo(base64);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "objCode":"PROJ"                | "other":1           | other
          "objCode":"PROJ"                |                     | objCode
          "objCode":"PROJ"                | "objCode":null      | objCode
          "objCode":"PROJ"                | "objCode":7         | objCode
          "objCode":"PROJ"                | "objCode":""        | objCode
          "objCode":"PROJ"                | "objCode":"PR-OJ"   | objCode
          "objCode":"PROJ"                | "objCode":"*"       | objCode
          "objCode":"PROJ"                | "objCode":"PRÖJ"    | objCode
          "eventType":"UPDATE"            |                     | eventType
          "eventType":"UPDATE"            | "eventType":null    | eventType
          "eventType":"UPDATE"            | "eventType":"update" | eventType
          "eventType":"UPDATE"            | "eventType":"SHARE" | eventType
          "eventType":"UPDATE"            | "eventType":["UPDATE"] | eventType
          "url":"URL"                     |                     | url
          "url":"URL"                     | "url":null          | url
          "url":"URL"                     | "url":"nowhere"     | url
          "url":"URL"                     | "url":"ftp://x.example/" | url
          "url":"URL"                     | "url":"http://u:p@x.example/" | url
          "authToken":"the-token-1234"    |                     | authToken
          "authToken":"the-token-1234"    | "authToken":null    | authToken
          "authToken":"the-token-1234"    | "authToken":""      | authToken
          "authToken":"the-token-1234"    | "authToken":"a b"   | authToken
          "authToken":"the-token-1234"    | "authToken":"tökên" | authToken
          "authToken":"the-token-1234"    | "authToken":"****1234" | authToken
          "authToken":"the-token-1234"    | "authToken":7       | authToken
          "objId":"5"                     | "objId":7           | objId
          "objId":"5"                     | "objId":"a\\u0007b" | objId
          "filters":[]                    | "filters":{}        | filters
          "filters":[]                    | "filters":[{}]      | filters[0].fieldName
          "filters":[]                    | "filters":[{"fieldName":"a","comparison":"near"}] | filters[0].comparison
          "filterConnector":"OR"          | "filterConnector":"or" | filterConnector
          "filterConnector":"OR"          | "filterConnector":true | filterConnector
          "base64Encoding":true           | "base64Encoding":"yes" | base64Encoding
          "base64Encoding":true           | "base64Encoding":1  | base64Encoding
          "version":"v1"                  | "version":"v3"      | version
          "version":"v1"                  | "version":1         | version
          "version":"v1"                  | "version":"v1","version":"v1" | version
          "version":"v1"                  | "secret":"whsec_x"  | secret
          """)
  void what_cannot_be_is_refused_with_its_field_and_nothing_is_created(
      String good, String bad, String field) throws Exception {
    String body =
        """
        {"objCode":"PROJ","eventType":"UPDATE","url":"URL","authToken":"the-token-1234","objId":"5",
        "filterConnector":"OR","base64Encoding":true,"version":"v1","filters":[]}""";
    assertThat(body).contains(good);
    String changed =
        bad == null
            ? body.replace(good + ",", "").replace("," + good, "")
            : body.replace(good, bad);
    if (field.equals("other")) {
      changed = body.replace(good, good + "," + bad);
    }
    Reply reply = server.post(PATH, changed.replace("URL", receiver.url("/hook")));
    assertRefused(reply, field);
    assertThat(reply.text()).doesNotContain("the-token", "keeps");
    assertThat(count()).isZero();
    assertThat(answered(200, server.get(LIST))).isEmpty();
    assertThat(server.get("/v1/endpoints").json().get("items")).isEmpty();
    assertThat(server.post(PATH, body.replace("URL", receiver.url("/hook"))).status())
        .as("without the mistake")
        .isEqualTo(201);
  }

  @Test
  void filters_that_cannot_work_with_creations_are_refused() throws Exception {
    String filters = ",\"filters\":[{\"fieldName\":\"a\",\"comparison\":\"changed\"}]";
    assertRefused(
        server.post(PATH, wish("PROJ", filters).replace("UPDATE", "CREATE")), "filters[0]");
    assertThat(count()).isZero();
  }

  @Test
  void texts_have_limits() throws Exception {
    assertThat(server.post(PATH, wish("A".repeat(100), "")).status()).isEqualTo(201);
    assertRefused(server.post(PATH, wish("A".repeat(101), "")), "objCode");
    assertThat(server.post(PATH, wish("a_Z9", ",\"objId\":\"" + "é".repeat(256) + "\"")).status())
        .isEqualTo(201);
    assertRefused(
        server.post(PATH, wish("PROJ", ",\"objId\":\"" + "é".repeat(257) + "\"")), "objId");
    String token = "t".repeat(255);
    assertThat(server.post(PATH, wish("B", "").replace("the-token-1234", token)).status())
        .isEqualTo(201);
    assertRefused(
        server.post(PATH, wish("B", "").replace("the-token-1234", token + "t")), "authToken");
    assertThat(server.post(PATH, wish("C", "," + " ".repeat(65_000))).status()).isEqualTo(400);
    assertThat(server.post(PATH, wish("C", " ".repeat(66_000))).status()).isEqualTo(413);
    assertThat(count()).isEqualTo(3);
  }

  @Test
  void a_subscription_that_is_the_same_in_every_field_is_refused_with_the_id_of_the_other()
      throws Exception {
    String id = created("PROJ");
    Reply again = server.post(PATH, wish("PROJ", ""));
    assertThat(again.status()).isEqualTo(409);
    assertThat(text(again.json(), "type")).isEqualTo("urn:holdfast:problem:already-subscribed");
    assertThat(text(again.json(), "detail")).contains(id).doesNotContain("token");
    assertThat(count()).isEqualTo(1);
    List<String> others =
        List.of(
            wish("TASK", ""),
            wish("PROJ", "").replace("UPDATE", "DELETE"),
            wish("PROJ", "").replace("/hook", "/other"),
            wish("PROJ", "").replace("the-token", "another-token"),
            wish("PROJ", ",\"objId\":\"7\""),
            wish("PROJ", ",\"filterConnector\":\"OR\""),
            wish("PROJ", ",\"filters\":[{\"fieldName\":\"a\",\"comparison\":\"changed\"}]"),
            wish("PROJ", ",\"base64Encoding\":true"),
            wish("PROJ", ",\"version\":\"v1\""));
    for (String other : others) {
      assertThat(server.post(PATH, other).status()).as(other).isEqualTo(201);
      assertThat(server.post(PATH, other).status()).as(other).isEqualTo(409);
    }
    assertThat(server.post(PATH, wish("PROJ", ""), OF_ACME).status()).isEqualTo(201);
    assertThat(delete(id).status()).isEqualTo(200);
    assertThat(server.post(PATH, wish("PROJ", "")).status()).isEqualTo(201);
  }

  @Test
  void of_two_that_come_at_the_same_time_one_is_created() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int round = 0; round < 20; round++) {
        String body = wish("P" + round, "");
        List<Future<Reply>> replies =
            IntStream.range(0, 4)
                .mapToObj(_ -> threads.submit(() -> server.post(PATH, body)))
                .toList();
        List<Integer> statuses = new ArrayList<>();
        for (Future<Reply> reply : replies) {
          statuses.add(reply.get().status());
        }
        assertThat(statuses).containsExactlyInAnyOrder(201, 409, 409, 409);
        assertThat(count()).isEqualTo(round + 1);
      }
    }
  }

  @Test
  void the_token_is_masked_everywhere_and_neither_it_nor_the_key_is_told() throws Exception {
    List<String> told = new CopyOnWriteArrayList<>();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            told.add(event.getFormattedMessage());
          }
        };
    Logger log = (Logger) LoggerFactory.getLogger("dev.holdfast");
    Level before = log.getLevel();
    appender.start();
    log.addAppender(appender);
    log.setLevel(Level.DEBUG);
    try {
      receiver.status = 500;
      String wish = wish("PROJ", "").replace("the-token-1234", "PLANTED-1234");
      Reply created = server.post(PATH, wish);
      told.add(created.text());
      String path = PATH + "/" + text(answered(201, created), "id");
      for (String masked : List.of(path, PATH, LIST)) {
        Reply reply = server.get(masked);
        assertThat(reply.text()).contains("\"****1234\"");
        told.add(reply.text());
      }
      told.add(server.post(PATH, wish).text());
      told.add(server.post(PATH, wish.replace("}", ",\"x\":1}")).text());
      told.add(server.post(PATH, wish.replace("PLANTED", "PLANTED ")).text());
      told.add(server.post(PATH, wish.replace(",\"authToken\":", ",\"authToken\"")).text());
      told.add(put(path + "/version", "{\"version\":\"v1\"}").text());
      told.add(server.sendKeyless("GET", PATH, new byte[0], "sessionID", "PLANTED-key").text());
      send("{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{}}");
      receiver.next();
      server.eventually(
          "/v1/endpoints", json -> json.get("items").get(0).get("failures").asInt() > 0);
      told.add(delete(path.substring(PATH.length() + 1)).text());
    } finally {
      log.detachAppender(appender);
      log.setLevel(before);
    }
    assertThat(told).hasSizeGreaterThan(10).noneMatch(line -> line.contains("PLANTED"));
    assertThat(told).noneMatch(line -> line.contains(TestServer.ADMIN_KEY));
  }

  @Test
  void nothing_is_signed_until_somebody_gives_the_subscription_a_secret() throws Exception {
    String id = created("PROJ");
    assertThat(server.get("/v1/subscriptions/" + id).json().get("secrets")).isEmpty();
    Reply rotated = server.post("/v1/subscriptions/" + id + "/rotate", "");
    assertThat(answered(200, rotated).get("secrets").size()).isEqualTo(1);
    assertThat(text(rotated.json(), "secret")).startsWith("whsec_");
    assertThat(server.post(PATH, wish("PROJ", "")).status()).as("still the same").isEqualTo(409);
  }

  // ---- which are here

  @Test
  void subscriptions_that_cannot_be_said_in_these_words_do_not_exist_here() throws Exception {
    List<String> others =
        List.of(
            "\"types\":[\"PROJ.UPDATE\"]",
            "\"types\":[\"PROJ.UPDATE\"],\"format\":\"cloudevents\"",
            "\"types\":[\"PROJ.*\"],\"format\":\"workfront\"",
            "\"types\":[\"PROJ.SHARE\"],\"format\":\"workfront\"",
            "\"types\":[\".UPDATE\"],\"format\":\"workfront\"",
            "\"types\":[\"PROJ.UPDATE\",\"PROJ.CREATE\"],\"format\":\"workfront\"");
    for (String fields : others) {
      String wish = "{\"url\":\"" + receiver.url("/hook") + "\"," + fields + "}";
      String id = text(answered(201, server.post("/v1/subscriptions", wish)), "id");
      assertThat(server.get(PATH + "/" + id).status()).as(fields).isEqualTo(404);
      assertThat(delete(id).status()).isEqualTo(404);
      assertThat(put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}").status()).isEqualTo(404);
      assertRefused(
          put(VERSIONS, "{\"subscriptionIds\":[\"" + id + "\"],\"version\":\"v1\"}"),
          "subscriptionIds[0]");
      assertThat(server.get("/v1/subscriptions/" + id).status()).as("still there").isEqualTo(200);
    }
    assertThat(count()).isZero();
    assertThat(answered(200, server.get(LIST))).isEmpty();
    assertThat(
            answered(200, put(VERSIONS, "{\"allCustomerSubscriptions\":true,\"version\":\"v1\"}"))
                .get("subscription_ids"))
        .isEmpty();
  }

  @Test
  void a_subscription_from_elsewhere_that_can_be_said_is_here_also_without_a_token()
      throws Exception {
    String wish =
        "{\"url\":\"%s\",\"types\":[\"a b.c.DELETE\"],\"format\":\"workfront\"}"
            .formatted(receiver.url("/hook"));
    String id = text(answered(201, server.post("/v1/subscriptions", wish)), "id");
    JsonNode shown = shown(id);
    assertThat(text(shown, "objCode")).isEqualTo("a b.c");
    assertThat(text(shown, "eventType")).isEqualTo("DELETE");
    assertThat(shown.get("authToken").isNull()).isTrue();
    assertThat(answered(200, server.get(LIST)).get(0).get("auth_token").isNull()).isTrue();
    byte[] patch = "{\"types\":[\"other\"]}".getBytes(UTF_8);
    answered(200, server.send("PATCH", "/v1/subscriptions/" + id, patch));
    assertThat(server.get(PATH + "/" + id).status()).isEqualTo(404);
    assertThat(count()).isZero();
  }

  @Test
  void an_id_that_is_not_known_is_404() throws Exception {
    for (String id : List.of(NOBODY, "ep_0000000000001", "x", "5a3f", "sub_", "%20", "versions")) {
      assertThat(server.get(PATH + "/" + id).status()).as(id).isEqualTo(404);
      assertThat(delete(id).status()).as(id).isEqualTo(404);
      assertThat(put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}").status())
          .as(id)
          .isEqualTo(404);
    }
    Reply nowhere = server.get(PREFIX + "/nothing");
    assertThat(nowhere.status()).isEqualTo(404);
    assertThat(text(nowhere.json(), "detail")).contains("/v1/", PREFIX + "/");
    assertThat(delete("list").status()).isEqualTo(405);
    assertThat(server.get(VERSIONS).status()).isEqualTo(405);
    assertThat(put(PATH, "{}").status()).isEqualTo(405);
  }

  @Test
  void a_subscription_is_deleted_with_an_empty_200() throws Exception {
    String id = created("PROJ");
    Reply deleted = delete(id);
    assertThat(deleted.status()).isEqualTo(200);
    assertThat(deleted.text()).isEmpty();
    assertThat(deleted.header("content-length")).contains("0");
    assertThat(delete(id).status()).isEqualTo(404);
    assertThat(server.get(PATH + "/" + id).status()).isEqualTo(404);
    assertThat(server.get("/v1/subscriptions/" + id).status()).isEqualTo(404);
    assertThat(count()).isZero();
  }

  // ---- lists

  private static void assertMeta(JsonNode page, int number, int limit, int pages, int total) {
    assertThat(page.get("meta").toString())
        .isEqualTo(
            "{\"page\":%d,\"limit\":%d,\"page_count\":%d,\"total_count\":%d}"
                .formatted(number, limit, pages, total));
  }

  @Test
  void pages_have_numbers_and_begin_with_the_oldest() throws Exception {
    JsonNode none = page("");
    assertThat(none.propertyNames()).containsExactly("subscriptions", "meta");
    assertThat(none.get("subscriptions")).isEmpty();
    assertMeta(none, 1, 100, 0, 0);
    List<String> ids = new ArrayList<>();
    ids.add(created("P0"));
    assertMeta(page(""), 1, 100, 1, 1);
    for (int i = 1; i < 5; i++) {
      ids.add(created("P" + i));
    }
    List<String> paged = new ArrayList<>();
    for (int number = 1; number <= 3; number++) {
      JsonNode page = page("?page=" + number + "&limit=2");
      assertMeta(page, number, 2, 3, 5);
      paged.addAll(ids(page.get("subscriptions")));
    }
    assertThat(paged).isEqualTo(ids);
    assertThat(page("?page=2&limit=2").get("subscriptions").get(0)).isEqualTo(shown(ids.get(2)));
    assertMeta(page("?limit=5"), 1, 5, 1, 5);
    for (int beyond : new int[] {2, 100, 1_000_000_000}) {
      JsonNode page = page("?limit=1000&page=" + beyond);
      assertThat(page.get("subscriptions")).isEmpty();
      assertMeta(page, beyond, 1000, 1, 5);
    }
    delete(ids.remove(1));
    assertThat(ids(page("").get("subscriptions"))).isEqualTo(ids);
    assertThat(ids(answered(200, server.get(LIST)))).isEqualTo(ids);
  }

  @ParameterizedTest
  @CsvSource({
    "page=0,page",
    "page=-1,page",
    "page=x,page",
    "page=,page",
    "page=1000000001,page",
    "page=99999999999999999999,page",
    "page=1&page=2,page",
    "limit=0,limit",
    "limit=1001,limit",
    "limit=x,limit",
    "cursor=x,cursor"
  })
  void a_page_that_cannot_be_is_refused(String query, String field) throws Exception {
    assertRefused(server.get(PATH + "?" + query), field);
    assertThat(server.get(LIST + "?" + query).status()).isEqualTo(400);
  }

  @Test
  void the_list_that_comes_whole_has_other_names() throws Exception {
    String id =
        created(
            "PROJ",
            ",\"objId\":\"7\",\"filters\":[{\"fieldName\":\"a\",\"comparison\":\"changed\"}]");
    JsonNode list = answered(200, server.get(LIST));
    assertThat(list.isArray() && list.size() == 1).isTrue();
    JsonNode old = list.get(0);
    assertThat(old.propertyNames())
        .containsExactly(
            "id",
            "date_created",
            "date_modified",
            "version",
            "date_version_updated",
            "customer_id",
            "obj_id",
            "obj_code",
            "url",
            "event_type",
            "auth_token",
            "base64_encoding",
            "filters",
            "filter_connector",
            "subscription_url");
    JsonNode shown = shown(id);
    assertThat(old.get("date_created")).isEqualTo(shown.get("dateCreated"));
    assertThat(old.get("date_modified")).isEqualTo(shown.get("dateModified"));
    assertThat(old.get("date_version_updated")).isEqualTo(shown.get("dateVersionUpdated"));
    assertThat(old.get("obj_id")).isEqualTo(shown.get("objId"));
    assertThat(old.get("obj_code")).isEqualTo(shown.get("objCode"));
    assertThat(old.get("event_type")).isEqualTo(shown.get("eventType"));
    assertThat(old.get("auth_token")).isEqualTo(shown.get("authToken"));
    assertThat(old.get("base64_encoding")).isEqualTo(shown.get("base64Encoding"));
    assertThat(old.get("filters")).isEqualTo(shown.get("filters"));
    assertThat(old.get("subscription_url")).isEqualTo(shown.get("subscription_url"));
  }

  /** Has so many subscriptions at once. */
  private void have(int from, int count, String more) throws Exception {
    String subscriptions =
        IntStream.range(from, from + count)
            .mapToObj(
                i ->
                    "{\"url\":\"%s\",\"types\":[\"P%d.UPDATE\"],\"format\":\"workfront\"%s}"
                        .formatted(receiver.url("/hook"), i, more))
            .collect(Collectors.joining(","));
    answered(
        200,
        server.post("/v1/subscriptions/import", "{\"subscriptions\":[" + subscriptions + "]}"));
  }

  @Test
  void a_thousand_are_one_page_and_ten_thousand_one_list_and_one_change() throws Exception {
    have(0, 10_000, "");
    assertThat(ids(page("?limit=1000&page=10").get("subscriptions")))
        .hasSize(1_000)
        .doesNotHaveDuplicates()
        .isSorted();
    assertMeta(page("?limit=1000&page=11"), 11, 1_000, 10, 10_000);
    List<String> ids = ids(answered(200, server.get(LIST)));
    assertThat(ids).hasSize(10_000).doesNotHaveDuplicates().isSorted();
    String all = "{\"allCustomerSubscriptions\":true,\"version\":\"v1\"}";
    JsonNode changed = answered(200, put(VERSIONS, all));
    assertThat(changed.get("subscription_ids").size()).isEqualTo(10_000);
    JsonNode back =
        answered(
            200, put(VERSIONS, "{\"subscriptionIds\":" + quoted(ids) + ",\"version\":\"v2\"}"));
    assertThat(back.get("subscription_ids").valueStream().map(JsonNode::asString).toList())
        .isEqualTo(ids);
    have(10_000, 1, "");
    Reply tooLong = server.get(LIST);
    assertThat(tooLong.status()).isEqualTo(400);
    assertThat(text(tooLong.json(), "type")).isEqualTo("urn:holdfast:problem:list-too-long");
    assertThat(text(tooLong.json(), "detail")).contains("10001", "GET " + PATH + "?page=");
    assertRefused(put(VERSIONS, all), "allCustomerSubscriptions");
    assertThat(text(shown(ids.get(0)), "version")).isEqualTo("v2");
  }

  /** Filters of 200 KB. */
  private static String largeFilters() {
    return IntStream.range(0, 25)
        .mapToObj(
            i ->
                "{\"fieldName\":\"f%d\",\"fieldValue\":\"%s\",\"comparison\":\"eq\"}"
                    .formatted(i, "v".repeat(8_000)))
        .collect(Collectors.joining(",", ",\"filters\":[", "]"));
  }

  @Test
  void lists_of_more_than_16_megabytes_are_refused_and_smaller_pages_are_not() throws Exception {
    for (int from = 0; from < 120; from += 60) {
      have(from, 60, largeFilters());
    }
    assertRefused(server.get(PATH), "limit");
    Reply whole = server.get(LIST);
    assertThat(whole.status()).isEqualTo(400);
    assertThat(text(whole.json(), "detail")).contains("16777216", "?page=");
    Reply page = server.get(PATH + "?limit=60&page=2");
    assertThat(answered(200, page).get("subscriptions").size()).isEqualTo(60);
    assertThat(page.text().length()).isBetween(12_000_000, 16 << 20);
  }

  @Test
  void four_long_lists_wait_for_their_readers_and_one_more_is_429_until_one_is_taken_or_gone()
      throws Exception {
    have(0, 60, largeFilters());
    String request =
        "GET %s HTTP/1.1\r\nHost: h\r\nsessionID: " + TestServer.ADMIN_KEY + "\r\n\r\n";
    List<RawClient> readers = new ArrayList<>();
    List<String> heads = new ArrayList<>();
    try {
      for (String path : List.of(PATH, LIST, PATH + "?limit=51", PATH)) {
        RawClient reader = new RawClient(server.port(), 4_096);
        readers.add(reader);
        heads.add(reader.send(request.formatted(path)).head());
      }
      assertThat(heads).allMatch(head -> head.startsWith("HTTP/1.1 200"));
      for (String path : List.of(PATH, LIST, PATH + "?limit=51")) {
        Reply fifth = server.get(path);
        assertThat(fifth.status()).as(path).isEqualTo(429);
        assertThat(text(fifth.json(), "type")).isEqualTo("urn:holdfast:problem:overloaded");
        assertThat(text(fifth.json(), "detail")).contains("limit=50");
        assertThat(fifth.header("retry-after")).hasValue("1");
      }
      assertThat(page("?limit=50&page=2").get("subscriptions").size()).isEqualTo(10);

      readers.get(0).close();
      assertThat(listedAtLast()).as("one is gone").hasSize(60);
      assertThat(new String(readers.get(1).body(heads.get(1)), UTF_8)).endsWith("}]");
      readers.add(new RawClient(server.port(), 4_096));
      assertThat(readers.getLast().send(request.formatted(PATH)).head()).contains(" 200 ");
      assertThat(listedAtLast()).as("another is taken").hasSize(60);
    } finally {
      for (RawClient reader : readers) {
        reader.close();
      }
    }
  }

  /** The ids of the list that comes whole, once it does. */
  private List<String> listedAtLast() throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    Reply reply = server.get(LIST);
    while (reply.status() == 429 && System.nanoTime() < deadline) {
      Thread.onSpinWait();
      reply = server.get(LIST);
    }
    return ids(answered(200, reply));
  }

  // ---- versions

  @Test
  void the_version_of_one_is_changed_and_the_same_again_changes_nothing() throws Exception {
    String id = created("PROJ");
    JsonNode before = shown(id);
    JsonNode same = answered(200, put(PATH + "/" + id + "/version", "{\"version\":\"v2\"}"));
    assertThat(same.toString()).isEqualTo("{\"id\":\"" + id + "\",\"version\":\"v2\"}");
    assertThat(shown(id)).isEqualTo(before);
    JsonNode changed = answered(200, put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}"));
    assertThat(changed.toString()).isEqualTo("{\"id\":\"" + id + "\",\"version\":\"v1\"}");
    JsonNode after = shown(id);
    assertThat(text(after, "version")).isEqualTo("v1");
    assertThat(Duration.between(time(after, "dateVersionUpdated"), Instant.now()))
        .isBetween(Duration.ZERO, Duration.ofMinutes(1));
    assertThat(text(after, "dateModified")).isEqualTo(text(after, "dateVersionUpdated"));
    assertThat(text(after, "dateCreated")).isEqualTo(text(before, "dateCreated"));
    answered(200, put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}"));
    assertThat(shown(id)).isEqualTo(after);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                             | version
          {"version":null}               | version
          {"version":"v3"}               | version
          {"version":2}                  | version
          {"version":"v1","id":"x"}      | id
          """)
  void a_version_that_cannot_be_is_refused(String body, String field) throws Exception {
    String id = created("PROJ");
    assertRefused(put(PATH + "/" + id + "/version", body), field);
    assertThat(text(shown(id), "version")).isEqualTo("v2");
    assertThat(put(PATH + "/" + id + "/version", "[]").status()).isEqualTo(400);
    assertThat(server.send("PUT", PATH + "/" + id + "/version", new byte[0]).status())
        .isEqualTo(400);
  }

  @Test
  void the_version_of_many_is_changed_all_or_nothing() throws Exception {
    String first = created("P1");
    String second = created("P2");
    String third = created("P3", ",\"version\":\"v1\"");
    JsonNode changed =
        answered(
            200,
            put(
                VERSIONS,
                "{\"subscriptionIds\":"
                    + quoted(List.of(third, first, third, first))
                    + ",\"version\":\"v1\"}"));
    assertThat(changed.toString())
        .isEqualTo(
            "{\"subscription_ids\":[\"%s\",\"%s\"],\"version\":\"v1\"}".formatted(third, first));
    assertThat(text(shown(first), "version")).isEqualTo("v1");
    assertThat(text(shown(second), "version")).isEqualTo("v2");
    assertThat(shown(third).get("dateVersionUpdated").isNull()).isTrue();

    JsonNode before = page("");
    Reply unknown =
        put(
            VERSIONS,
            "{\"subscriptionIds\":"
                + quoted(List.of(first, first, second, NOBODY, third))
                + ",\"version\":\"v2\"}");
    assertRefused(unknown, "subscriptionIds[3]");
    assertThat(page("")).isEqualTo(before);

    JsonNode all =
        answered(200, put(VERSIONS, "{\"allCustomerSubscriptions\":true,\"version\":\"v1\"}"));
    assertThat(all.get("subscription_ids").size()).isEqualTo(3);
    for (String id : List.of(first, second, third)) {
      assertThat(text(shown(id), "version")).isEqualTo("v1");
    }
  }

  // ---- the endpoint

  @Test
  void what_becomes_of_the_endpoint_is_shown() throws Exception {
    String id = created("PROJ");
    String event = "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{}}";
    send(event);
    receiver.next();
    server.eventually(
        PATH + "/" + id, json -> json.get("subscription_url").get("successes").asInt() == 1);
    String endpoint =
        "/v1/endpoints/" + text(server.get("/v1/subscriptions/" + id).json(), "endpoint");
    answered(200, server.post(endpoint + "/disable", ""));
    JsonNode disabled = shown(id).get("subscription_url");
    assertThat(time(disabled, "disabled_at")).isAfterOrEqualTo(time(disabled, "date_created"));
    assertThat(disabled.get("frozen_at").isNull()).isTrue();
    answered(200, server.post(endpoint + "/freeze", ""));
    JsonNode frozen = shown(id).get("subscription_url");
    assertThat(frozen.get("disabled_at").isNull()).isTrue();
    assertThat(time(frozen, "frozen_at")).isAfterOrEqualTo(time(disabled, "disabled_at"));
    answered(200, server.post(endpoint + "/enable", ""));
    JsonNode enabled = shown(id).get("subscription_url");
    assertThat(enabled.get("disabled_at").isNull() && enabled.get("frozen_at").isNull()).isTrue();
  }

  // ---- events

  @Test
  void an_event_arrives_with_the_bytes_of_its_states() throws Exception {
    String id = created("PROJ", ",\"objId\":\"7\"");
    String newState = "{ \"b\" : 1.500, \"a\":[1e3,\"käse\\u00e9\"] }";
    JsonNode receipt =
        send(
            "{\"objId\":\"7\",\"objCode\":\"PROJ\",\"newState\":  "
                + newState
                + " ,\"oldState\":{\"b\": 1} ,\"eventTime\":{\"epochSecond\":1767225600,"
                + "\"nano\":250000000},\"eventType\":\"UPDATE\"}");
    assertThat(receipt.propertyNames()).containsExactly("id", "messages");
    assertThat(receipt.get("messages").asInt()).isEqualTo(1);
    Delivery delivery = receiver.next();
    assertThat(delivery.body())
        .startsWith("{\"eventType\":\"UPDATE\",\"subscriptionId\":\"" + id + "\"")
        .contains("\"eventTime\":{\"epochSecond\":1767225600,\"nano\":250000000}")
        .contains("\"newState\":" + newState + ",\"oldState\":{\"b\": 1}");
    JsonNode event = answered(200, server.get("/v1/events/" + text(receipt, "id")));
    assertThat(text(event, "type")).isEqualTo("PROJ.UPDATE");
    assertThat(text(event, "subject")).isEqualTo("7");
    assertThat(text(event, "occurredAt")).isEqualTo("2026-01-01T00:00:00.250Z");
  }

  @Test
  void object_kind_and_filters_decide_who_gets_an_event() throws Exception {
    created("PROJ", ",\"objId\":\"7\"");
    created(
        "PROJ",
        ",\"filters\":[{\"fieldName\":\"a\",\"comparison\":\"changed\"},"
            + "{\"fieldName\":\"a\",\"fieldValue\":2,\"comparison\":\"eq\"}]");
    String event =
        "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"objId\":%s,\"newState\":{\"a\":%d},"
            + "\"oldState\":%s}";
    assertThat(send(event.formatted("\"7\"", 2, "{\"a\":1}")).get("messages").asInt()).isEqualTo(2);
    assertThat(send(event.formatted("\"8\"", 2, "{\"a\":1}")).get("messages").asInt()).isEqualTo(1);
    assertThat(send(event.formatted("null", 1, "{\"a\":2}")).get("messages").asInt()).isZero();
    assertThat(send(event.formatted("\"\"", 2, "null")).get("messages").asInt()).isZero();
    assertThat(
            send(event.formatted("\"7\"", 2, "{}").replace("UPDATE", "DELETE"))
                .get("messages")
                .asInt())
        .isZero();
  }

  @Test
  void an_old_state_that_is_empty_is_kept_and_one_of_null_is_none() throws Exception {
    String event =
        "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{},\"oldState\":%s}";
    String empty = text(send(event.formatted("{ }")), "id");
    assertThat(server.get("/v1/events/" + empty).text()).contains("\"previous\":{ }");
    String none = text(send(event.formatted("null")), "id");
    assertThat(server.get("/v1/events/" + none).json().has("previous")).isFalse();
  }

  @Test
  void after_a_change_of_version_an_event_is_sent_in_both() throws Exception {
    String id = created("PROJ");
    answered(200, put(PATH + "/" + id + "/version", "{\"version\":\"v1\"}"));
    String event = "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{\"a\":[1]}}";
    assertThat(send(event).get("messages").asInt()).isEqualTo(2);
    receiver.next();
    receiver.next();
  }

  @Test
  void an_event_with_an_id_of_its_sender_is_accepted_once() throws Exception {
    created("PROJ");
    String event =
        "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{\"a\":1},\"id\":\"k\"}";
    Reply first = server.post(EVENTS, event);
    assertThat(answered(202, first).toString()).isEqualTo("{\"id\":\"k\",\"messages\":1}");
    Reply again = server.post(EVENTS, event);
    assertThat(answered(200, again)).isEqualTo(first.json());
    String elsewhere = "{\"type\":\"PROJ.UPDATE\",\"data\":{\"a\":1},\"id\":\"k\"}";
    assertThat(server.post("/v1/events", elsewhere).status()).as("the same").isEqualTo(200);
    for (String other :
        List.of(
            event.replace("\"a\":1", "\"a\":2"),
            event.replace("UPDATE", "DELETE"),
            event.replace("\"id\"", "\"objId\":\"7\",\"id\""),
            event.replace("\"id\"", "\"oldState\":{},\"id\""))) {
      Reply conflict = server.post(EVENTS, other);
      assertThat(conflict.status()).as(other).isEqualTo(409);
      assertThat(text(conflict.json(), "type")).isEqualTo("urn:holdfast:problem:id-conflict");
      assertThat(text(conflict.json(), "field")).isEqualTo("id");
    }
    assertThat(server.post(EVENTS, event, OF_ACME).status()).as("another tenant").isEqualTo(202);
    receiver.next();
    assertThat(server.get("/v1/messages").json().get("items").size()).isEqualTo(1);
  }

  @Test
  void an_event_that_cannot_be_is_refused_and_leaves_nothing() throws Exception {
    created("PROJ");
    String head = "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":";
    assertRefused(server.post(EVENTS, head + "[]}"), "newState");
    assertRefused(server.post(EVENTS, head + "{},\"more\":1}"), "more");
    assertRefused(
        server.post(EVENTS, head + "{},\"eventTime\":{\"nano\":1}}"), "eventTime.epochSecond");
    Reply large = server.post(EVENTS, head + "{\"a\":\"" + "x".repeat(1 << 20) + "\"}}");
    assertThat(large.status()).isEqualTo(413);
    assertThat(text(large.json(), "field")).isEqualTo("newState");
    assertThat(server.post(EVENTS, head + "{\"a\":\"" + "x".repeat(2 << 20) + "\"}}").status())
        .isEqualTo(413);
    assertThat(server.get("/v1/messages").json().get("items")).isEmpty();
    String largest = "{\"a\":\"" + "x".repeat((1 << 20) - 8) + "\"}";
    assertThat(send(head + largest + "}").get("messages").asInt()).isEqualTo(1);
    assertThat(receiver.next().body()).contains(largest);
  }

  @Test
  void a_trace_goes_with_the_event() throws Exception {
    created("PROJ");
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    answered(
        202,
        server.post(
            EVENTS,
            "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{}}",
            "traceparent",
            trace));
    assertThat(receiver.next().traceparent()).containsExactly(trace);
  }
}
