package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request.Submit;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** How requests are taken in, whatever they ask for; from outside, over real connections. */
class IntakeTest {
  private static final String EVENT = "{\"type\":\"order.paid\",\"data\":{\"n\":1}}";
  private static final String HEAD =
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
          + TestServer.ADMIN_KEY
          + "\r\nContent-Type: application/json\r\n";

  private final Vertx vertx = Vertx.vertx();
  private final FakeEngine engine = new FakeEngine(vertx);
  private TestServer server;

  IntakeTest() throws IOException {
    server = TestServer.start(engine, ApiLimits.defaults());
  }

  @BeforeEach
  void nothing_was_asked_yet() {
    assertThat(engine.asked).isEmpty();
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private void restart(ApiLimits limits) throws IOException {
    server.close();
    server = TestServer.start(engine, limits);
  }

  private static void isProblem(Reply reply, int status) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    assertThat(reply.header("content-type")).contains("application/problem+json");
    assertThat(reply.json().get("status").asInt()).isEqualTo(status);
    assertThat(reply.json().get("type").asString()).startsWith("urn:holdfast:problem:");
    assertThat(reply.json().get("title").asString()).isNotBlank();
    assertThat(reply.json().get("detail").asString()).isNotBlank();
  }

  private static void isProblem(String answer, int status) {
    assertThat(answer).matches("(?s)HTTP/1\\.[01] " + status + " .*");
    assertThat(answer.toLowerCase(Locale.ROOT)).contains("content-type: application/problem+json");
    assertThat(answer).contains("\"status\":" + status);
  }

  @Test
  void an_event_is_accepted() throws Exception {
    Reply reply = server.post("/v1/events", EVENT);
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.text()).isEqualTo("{\"id\":\"evt_0000000000001\",\"messages\":1}");
    assertThat(reply.header("content-type")).contains("application/json");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1",
        "/v1/",
        "/v1/event",
        "/v1/events/",
        "/v1/events//",
        "/v2/events",
        "/V1/events",
        "/v1/events/a/b",
        "/v1/endpoints/a/explode",
        "/v1/events/%zz/x",
        "//v1/events",
      })
  void an_unknown_path_is_404(String path) throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      isProblem(client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").answer(), 404);
    }
  }

  @Test
  void a_wrong_method_is_405_and_names_the_right_ones() throws Exception {
    Reply reply = server.send("DELETE", "/v1/events", new byte[0]);
    isProblem(reply, 405);
    assertThat(reply.header("allow")).contains("GET, HEAD, POST");
    Reply put = server.send("PUT", "/v1/subscriptions/sub_0000000000001", new byte[0]);
    isProblem(put, 405);
    assertThat(put.header("allow")).contains("DELETE, GET, HEAD, PATCH");
    isProblem(server.send("BREW", "/health/live", new byte[0]), 405);
  }

  @Test
  void head_is_answered_like_get_without_the_body() throws Exception {
    Reply get = server.get("/health/live");
    Reply head = server.send("HEAD", "/health/live", new byte[0]);
    assertThat(get.text()).isEqualTo("{\"status\":\"live\"}");
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.text()).isEmpty();
    assertThat(head.header("content-length")).isEqualTo(get.header("content-length"));
  }

  @Test
  void health_needs_no_key_and_everything_else_does() throws Exception {
    assertThat(server.sendKeyless("GET", "/health/live", new byte[0]).status()).isEqualTo(200);
    for (String path : new String[] {"/metrics", "/v1/messages", "/v1/endpoints/x"}) {
      Reply reply = server.sendKeyless("GET", path, new byte[0]);
      isProblem(reply, 401);
      assertThat(reply.header("www-authenticate")).contains("Bearer");
    }
    isProblem(
        server.sendKeyless("POST", "/v1/events", EVENT.getBytes(StandardCharsets.UTF_8)), 401);
    assertThat(engine.asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong-key",
        "admin-key",
        "Basic YWRtaW46a2V5",
        "Bearer admin-key2",
        "Bearer admin key",
        "Bearer ADMIN-KEY",
      })
  void a_wrong_key_is_refused_and_told_to_nobody(String header) throws Exception {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    logged.start();
    root.addAppender(logged);
    try {
      Reply reply = server.post("/v1/events", EVENT, "Authorization", header);
      isProblem(reply, 401);
      assertThat(reply.text()).doesNotContain("wrong-key").doesNotContain("admin");
      assertThat(logged.list).noneMatch(event -> event.getFormattedMessage().contains("wrong-key"));
    } finally {
      root.detachAppender(logged);
    }
  }

  @Test
  void the_schemes_case_does_not_matter() throws Exception {
    assertThat(
            server
                .post("/v1/events", EVENT, "Authorization", "bearer " + TestServer.ADMIN_KEY)
                .status())
        .isEqualTo(202);
  }

  @Test
  void a_key_that_expired_is_told_when() throws Exception {
    Instant end = Instant.parse("2026-03-01T12:00:00Z");
    try (TestServer own = TestServer.start(engine, TestServer.keys().giveExpired("old-key", end))) {
      Reply reply = own.get("/v1/messages", "Authorization", "Bearer old-key");
      isProblem(reply, 401);
      assertThat(reply.text()).contains("key-expired", "2026-03-01T12:00:00Z");
      assertThat(reply.header("WWW-Authenticate")).contains("Bearer");
    }
  }

  @Test
  void many_keys_that_are_not_valid_are_asked_to_wait_and_valid_ones_are_not() throws Exception {
    for (int i = 0; i < ApiLimits.FAILED_KEYS; i++) {
      isProblem(server.get("/v1/messages", "Authorization", "Bearer wrong-" + i), 401);
    }
    Reply reply = server.get("/v1/messages", "Authorization", "Bearer wrong");
    isProblem(reply, 429);
    assertThat(reply.text()).contains("too-many-failed-keys").doesNotContain("wrong");
    assertThat(Integer.parseInt(reply.header("Retry-After").orElseThrow())).isBetween(1, 60);
    assertThat(server.post("/v1/events", EVENT).status()).isEqualTo(202);
    isProblem(server.sendKeyless("GET", "/v1/messages", new byte[0]), 401);
  }

  @Test
  void a_role_limits_what_a_key_may_do() throws Exception {
    String viewer = "Bearer " + TestServer.VIEWER_KEY;
    String operator = "Bearer " + TestServer.OPERATOR_KEY;
    String publisher = "Bearer " + TestServer.PUBLISHER_KEY;
    assertThat(server.post("/v1/events", EVENT, "Authorization", publisher).status())
        .isEqualTo(202);
    isProblem(server.post("/v1/events", EVENT, "Authorization", viewer), 403);
    isProblem(server.post("/v1/events", EVENT, "Authorization", operator), 403);
    isProblem(server.get("/v1/messages", "Authorization", publisher), 403);
    String retry = "/v1/messages/msg_0000000000001/retry";
    isProblem(server.post(retry, "", "Authorization", viewer), 403);
    isProblem(server.post(retry, "", "Authorization", publisher), 403);
    assertThat(server.post(retry, "", "Authorization", operator).status()).isEqualTo(404);
  }

  @Test
  void a_key_for_all_tenants_names_one_and_a_key_of_one_has_it() throws Exception {
    server.post("/v1/events", EVENT);
    server.post("/v1/events", EVENT, "Holdfast-Tenant", "a-tenant_1");
    server.post("/v1/events", EVENT, "Authorization", "Bearer " + TestServer.ACME_KEY);
    assertThat(engine.asked.stream().map(request -> request.tenant()))
        .containsExactly("default", "a-tenant_1", "acme");
    Reply other =
        server.post(
            "/v1/events",
            EVENT,
            "Authorization",
            "Bearer " + TestServer.ACME_KEY,
            "Holdfast-Tenant",
            "default");
    isProblem(other, 403);
    for (String bad : new String[] {"A", "a.b", "a b", "é", "x".repeat(65)}) {
      try (RawClient client = new RawClient(server.port())) {
        isProblem(
            client
                .send(
                    (HEAD + "Holdfast-Tenant: " + bad + "\r\nContent-Length: 2\r\n\r\n{}")
                        .getBytes(StandardCharsets.UTF_8))
                .answer(),
            400);
      }
    }
    assertThat(engine.asked).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=iso-8859-1",
        "application/jsonp",
        "json",
        "application/json charset=utf-8",
      })
  void a_body_that_is_not_json_is_415(String type) throws Exception {
    Reply reply = server.post("/v1/events", EVENT, "Content-Type", type);
    isProblem(reply, 415);
    assertThat(reply.json().get("field").asString()).isEqualTo("Content-Type");
    assertThat(engine.asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON ; charset=\"utf-8\"",
        "application/json; profile=x",
      })
  void json_in_utf_8_is_fine_however_it_is_written(String type) throws Exception {
    assertThat(server.post("/v1/events", EVENT, "Content-Type", type).status()).isEqualTo(202);
  }

  @Test
  void a_missing_content_type_is_415() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      String head = HEAD.replace("Content-Type: application/json\r\n", "");
      isProblem(client.send(head + "Content-Length: 2\r\n\r\n{}").answer(), 415);
    }
  }

  @Test
  void a_compressed_body_is_415() throws Exception {
    isProblem(server.post("/v1/events", EVENT, "Content-Encoding", "gzip"), 415);
  }

  @Test
  void a_missing_body_and_an_unwanted_one_are_refused() throws Exception {
    isProblem(server.send("POST", "/v1/events", new byte[0]), 400);
    isProblem(server.send("GET", "/v1/messages", new byte[] {'{', '}'}), 400);
    isProblem(
        server.send("DELETE", "/v1/subscriptions/sub_0000000000001", new byte[] {'{', '}'}), 400);
    String retry = "/v1/messages/msg_0000000000001/retry";
    isProblem(server.post(retry, "{\"now\":true}"), 400);
    isProblem(server.post(retry, "x".repeat(2_000)), 413);
    assertThat(engine.asked).isEmpty();
    for (String empty : new String[] {"", "{}", " { } \n"}) {
      assertThat(server.post(retry, empty).status()).isEqualTo(404);
    }
  }

  @Test
  void an_unknown_parameter_is_refused_by_name() throws Exception {
    Reply reply = server.post("/v1/events?dry-run=1", EVENT);
    isProblem(reply, 400);
    assertThat(reply.json().get("field").asString()).isEqualTo("dry-run");
    isProblem(server.get("/v1/messages?state=waiting"), 400);
    isProblem(server.get("/v1/messages?limit=0"), 400);
    isProblem(server.get("/v1/messages?cursor=broken"), 400);
    isProblem(server.get("/v1/messages?status=gone"), 400);
    isProblem(server.get("/v1/messages?since=yesterday"), 400);
    isProblem(server.get("/v1/messages?endpoint=17"), 400);
    isProblem(server.get("/v1/messages?event=evt_17"), 400);
    isProblem(server.get("/v1/endpoints?state=broken"), 400);
  }

  @Test
  void a_traceparent_is_kept_and_a_bad_one_ignored() throws Exception {
    String good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    server.post("/v1/events", EVENT, "traceparent", good);
    server.post("/v1/events", EVENT, "traceparent", "nonsense");
    assertThat(engine.asked.stream().map(asked -> ((Submit) asked).events().getFirst()))
        .extracting(event -> event.traceparent())
        .containsExactly(good, null);
  }

  @Test
  void a_body_that_says_it_is_too_large_is_refused_before_it_comes() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      long tooLarge = ApiLimits.defaults().eventRequestBytes() + 1L;
      String answer = client.send(HEAD + "Content-Length: " + tooLarge + "\r\n\r\n").answer();
      isProblem(answer, 413);
      assertThat(answer.toLowerCase(Locale.ROOT)).contains("connection: close");
    }
    try (RawClient client = new RawClient(server.port())) {
      isProblem(client.send(HEAD + "Content-Length: 9223372036854775807\r\n\r\n").answer(), 413);
    }
  }

  @Test
  void a_body_that_turns_out_too_large_is_refused_while_it_comes() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Transfer-Encoding: chunked\r\n\r\n");
      byte[] chunk = new byte[1 << 16];
      Arrays.fill(chunk, (byte) ' ');
      int chunks = 0;
      while (chunks * chunk.length <= ApiLimits.defaults().eventRequestBytes()) {
        client.send("10000\r\n").send(chunk).send("\r\n");
        chunks++;
      }
      isProblem(client.answer(), 413);
      client.send("0\r\n\r\n");
      assertThat(client.isClosed()).isTrue();
    }
    assertThat(engine.asked).isEmpty();
  }

  @Test
  void one_megabyte_exactly_is_accepted_and_one_byte_more_is_413() throws Exception {
    String start = "{\"type\":\"t\",\"data\":\"";
    int letters = (1 << 20) - 2;
    assertThat(server.post("/v1/events", start + "x".repeat(letters) + "\"}").status())
        .isEqualTo(202);
    assertThat(((Submit) engine.asked.getFirst()).events().getFirst().data()).hasSize(1 << 20);
    Reply reply = server.post("/v1/events", start + "x".repeat(letters + 1) + "\"}");
    isProblem(reply, 413);
    assertThat(reply.json().get("field").asString()).isEqualTo("data");
    assertThat(engine.asked).hasSize(1);
  }

  @Test
  void a_batch_of_sixteen_megabytes_is_accepted_and_more_is_413() throws Exception {
    String event = "{\"type\":\"t\",\"data\":\"" + "x".repeat(1_000_000) + "\"}";
    String batch = "{\"events\":[" + String.join(",", Collections.nCopies(16, event)) + "]";
    String exact = batch + " ".repeat(ApiLimits.BATCH_BYTES - batch.length() - 1) + "}";
    Reply accepted = server.post("/v1/events/batch", exact);
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.json().get("events").size()).isEqualTo(16);
    isProblem(server.post("/v1/events/batch", exact + " "), 413);
    assertThat(engine.asked).hasSize(1);
  }

  @Test
  void a_client_that_sends_a_much_too_large_body_still_sees_the_answer() throws Exception {
    isProblem(server.post("/v1/events", " ".repeat(20 << 20)), 413);
    isProblem(server.post("/v1/events", " ".repeat(8 << 20), "Authorization", "Bearer no"), 401);
    isProblem(server.post("/v1/nothing", " ".repeat(8 << 20)), 404);
  }

  @Test
  void a_body_that_never_ends_is_408_and_the_connection_is_closed() throws Exception {
    restart(limits(Duration.ofMillis(400), Duration.ofSeconds(75), Duration.ofSeconds(60)));
    try (RawClient client = new RawClient(server.port());
        RawClient dripping = new RawClient(server.port())) {
      client.send(HEAD + "Content-Length: 100\r\n\r\n{\"type\":");
      dripping.send(HEAD + "Transfer-Encoding: chunked\r\n\r\n");
      Thread drip =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        dripping.send("1\r\n \r\n");
                        Thread.sleep(20);
                      }
                    } catch (IOException | InterruptedException _) {
                      // the server has closed, or the test is over
                    }
                  });
      isProblem(client.answer(), 408);
      assertThat(client.isClosed()).isTrue();
      isProblem(dripping.answer(), 408);
      assertThat(dripping.isClosed()).isTrue();
      drip.interrupt();
      drip.join();
    }
    assertThat(engine.asked).isEmpty();
    assertThat(server.post("/v1/events", EVENT).status()).isEqualTo(202);
  }

  @Test
  void a_connection_without_a_request_is_closed_even_if_a_head_drips_in() throws Exception {
    restart(limits(Duration.ofSeconds(30), Duration.ofMillis(400), Duration.ofSeconds(60)));
    try (RawClient silent = new RawClient(server.port());
        RawClient used = new RawClient(server.port());
        RawClient dripping = new RawClient(server.port())) {
      used.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(used.answer()).startsWith("HTTP/1.1 200");
      dripping.send("GET /health/live HTTP/1.1\r\n");
      Thread drip =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        dripping.send("X: y\r\n");
                        Thread.sleep(20);
                      }
                    } catch (IOException | InterruptedException _) {
                      // the server has closed, or the test is over
                    }
                  });
      assertThat(silent.isClosed()).isTrue();
      assertThat(used.isClosed()).isTrue();
      assertThat(dripping.isClosed()).isTrue();
      drip.interrupt();
      drip.join();
    }
  }

  @Test
  void a_request_that_the_engine_does_not_answer_is_503() throws Exception {
    restart(limits(Duration.ofSeconds(30), Duration.ofSeconds(75), Duration.ofMillis(200)));
    engine.answer = _ -> null;
    Reply reply = server.post("/v1/events", EVENT);
    isProblem(reply, 503);
    assertThat(reply.header("retry-after")).isPresent();
  }

  private static ApiLimits limits(Duration request, Duration idle, Duration answer) {
    ApiLimits standard = ApiLimits.defaults();
    return new ApiLimits(
        standard.messageBytes(),
        standard.receivingBytes(),
        standard.connections(),
        request,
        idle,
        answer);
  }

  @Test
  void the_bytes_being_received_are_bounded_over_all_connections() throws Exception {
    ApiLimits standard = ApiLimits.defaults();
    restart(
        new ApiLimits(
            standard.messageBytes(),
            510_000,
            standard.connections(),
            standard.requestTime(),
            standard.idleTime(),
            standard.answerTime()));
    byte[] half = new byte[200_000];
    Arrays.fill(half, (byte) ' ');
    try (RawClient first = new RawClient(server.port())) {
      first.send(HEAD + "Content-Length: 250000\r\n\r\n").send(half);
      try (RawClient second = new RawClient(server.port())) {
        second.send(HEAD + "Content-Length: 250000\r\n\r\n").send(half);
        String answer = second.answer();
        isProblem(answer, 429);
        assertThat(answer.toLowerCase(Locale.ROOT)).contains("retry-after: 1");
      }
    }
    // The server may notice only after a while that the first two have gone.
    String answer = blanks(half);
    for (int again = 0; again < 1_000 && answer.startsWith("HTTP/1.1 429"); again++) {
      answer = blanks(half);
    }
    isProblem(answer, 400);
  }

  @Test
  void a_tenant_that_fills_what_can_be_received_leaves_room_for_others() throws Exception {
    restart(ApiLimits.defaults().withReceivingBytes(510_000));
    byte[] half = new byte[200_000];
    Arrays.fill(half, (byte) ' ');
    try (RawClient first = new RawClient(server.port());
        RawClient second = new RawClient(server.port());
        RawClient other = new RawClient(server.port())) {
      first.send(HEAD + "Content-Length: 250000\r\n\r\n").send(half);
      second.send(HEAD + "Content-Length: 250000\r\n\r\n").send(half);
      isProblem(second.answer(), 429);
      String event = "{\"type\":\"t\",\"data\":\"" + "x".repeat(50_000) + "\"}";
      other.send(
          HEAD
              + "Holdfast-Tenant: other\r\nContent-Length: "
              + event.length()
              + "\r\n\r\n"
              + event);
      assertThat(other.answer()).startsWith("HTTP/1.1 202");
    }
  }

  private String blanks(byte[] half) throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Content-Length: 250000\r\n\r\n").send(half);
      return client.send(" ".repeat(50_000)).answer();
    }
  }

  @Test
  void connections_beyond_the_limit_are_closed() throws Exception {
    ApiLimits standard = ApiLimits.defaults();
    restart(
        new ApiLimits(
            standard.messageBytes(),
            standard.receivingBytes(),
            2,
            standard.requestTime(),
            standard.idleTime(),
            standard.answerTime()));
    String ask = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    try (RawClient first = new RawClient(server.port());
        RawClient second = new RawClient(server.port())) {
      assertThat(first.send(ask).answer()).startsWith("HTTP/1.1 200");
      assertThat(second.send(ask).answer()).startsWith("HTTP/1.1 200");
      try (RawClient third = new RawClient(server.port())) {
        assertThat(third.isClosed()).isTrue();
      }
      assertThat(first.send(ask).answer()).startsWith("HTTP/1.1 200");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nno colon here\r\n\r\n",
        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\n",
        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nbad\u0001name: x\r\n\r\n",
      })
  void bad_http_is_400(String request) throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      isProblem(client.send(request).answer(), 400);
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void bad_chunks_are_400() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n");
      isProblem(client.answer(), 400);
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void a_line_or_head_that_is_too_long_is_refused() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      isProblem(
          client.send("GET /" + "x".repeat(9_000) + " HTTP/1.1\r\nHost: x\r\n\r\n").answer(), 414);
    }
    try (RawClient client = new RawClient(server.port())) {
      isProblem(
          client
              .send("GET /health/live HTTP/1.1\r\nX: " + "x".repeat(17_000) + "\r\n\r\n")
              .answer(),
          431);
    }
  }

  @Test
  void a_client_may_wait_for_continue() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Expect: 100-continue\r\nContent-Length: " + EVENT.length() + "\r\n\r\n");
      assertThat(client.answer()).startsWith("HTTP/1.1 100 ");
      assertThat(client.send(EVENT).answer()).startsWith("HTTP/1.1 202 ");
    }
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
      isProblem(client.answer(), 413);
    }
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD + "Expect: tea\r\nContent-Length: 2\r\n\r\n");
      isProblem(client.answer(), 417);
    }
  }

  @Test
  void requests_may_be_pipelined_and_a_connection_used_again() throws Exception {
    String request = HEAD + "Content-Length: " + EVENT.length() + "\r\n\r\n" + EVENT;
    try (RawClient client = new RawClient(server.port())) {
      client.send(request.repeat(50));
      for (int i = 1; i <= 50; i++) {
        assertThat(client.answer())
            .startsWith("HTTP/1.1 202 ")
            .contains("\"" + Id.text(Id.EVENT, i) + "\"");
      }
      assertThat(client.send(request).answer()).startsWith("HTTP/1.1 202 ");
      String bad = request.replace("order.paid", "order.****");
      assertThat(client.send(bad + request).answer()).startsWith("HTTP/1.1 400 ");
      assertThat(client.answer()).startsWith("HTTP/1.1 202 ");
    }
  }

  @Test
  void a_body_in_many_small_pieces_is_put_together() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      String event = "{\"type\":\"t\",\"data\":\"" + "abcdefghij".repeat(5_000) + "\"}";
      client.send(HEAD + "Transfer-Encoding: chunked\r\n\r\n");
      for (int i = 0; i < event.length(); i += 997) {
        String piece = event.substring(i, Math.min(event.length(), i + 997));
        client.send(Integer.toHexString(piece.length()) + "\r\n" + piece + "\r\n");
      }
      assertThat(client.send("0\r\n\r\n").answer()).startsWith("HTTP/1.1 202 ");
      byte[] data = ((Submit) engine.asked.getFirst()).events().getFirst().data();
      assertThat(new String(data, StandardCharsets.UTF_8))
          .isEqualTo("\"" + "abcdefghij".repeat(5_000) + "\"");
    }
  }

  @Test
  void a_client_that_goes_away_leaves_nothing_behind() throws Exception {
    for (int i = 0; i < 50; i++) {
      try (RawClient client = new RawClient(server.port())) {
        client.send(HEAD + "Content-Length: 100000\r\n\r\n" + " ".repeat(50_000));
      }
    }
    long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    engine.view = FakeView::new;
    while (!server.get("/metrics").text().contains("holdfast_http_held_bytes 0.0")) {
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
  }

  /** Found by fuzzing: {@link BytesFuzzTest}, seed 0. */
  @Test
  void requests_sent_ahead_by_a_client_that_goes_away_leave_no_buffer_behind() throws Exception {
    engine.answer = _ -> null;
    String request = HEAD + "Content-Length: " + EVENT.length() + "\r\n\r\n" + EVENT;
    try (Leaks leaks = new Leaks()) {
      for (int i = 0; i < 20; i++) {
        try (RawClient client = new RawClient(server.port())) {
          client.send(request.repeat(4));
          awaitAsked(i + 1);
          client.reset();
        }
      }
      server.close();
      leaks.assertNone();
    }
    server = TestServer.start(engine, ApiLimits.defaults());
  }

  private void awaitAsked(int count) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (engine.asked.size() < count) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  /** Found by fuzzing: {@link BytesFuzzTest}, seed 0. */
  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.9", "HTTP/2.0", "HTTP/0.9", "RTSP/1.0", "HTTP/9.9"})
  void a_version_that_is_not_spoken_here_is_refused_like_all_that_is_not_http(String version)
      throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      client.send(HEAD.replace("HTTP/1.1", version) + "Content-Length: 2\r\n\r\n{}");
      isProblem(client.answer(), 400);
      assertThat(client.isClosed()).isTrue();
    }
    assertThat(engine.asked).isEmpty();
  }

  @Test
  void an_old_client_is_served_and_its_connection_closed() throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      assertThat(client.send("GET /health/live HTTP/1.0\r\n\r\n").answer())
          .startsWith("HTTP/1.0 200 ");
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void a_client_that_does_not_take_its_answers_is_cut_off() throws Exception {
    restart(limits(Duration.ofSeconds(30), Duration.ofMillis(500), Duration.ofSeconds(60)));
    engine.view = FakeView::new;
    String ask =
        "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
            + TestServer.ADMIN_KEY
            + "\r\n\r\n";
    try (RawClient client = new RawClient(server.port())) {
      Thread asking =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        client.send(ask);
                      }
                    } catch (IOException _) {
                      // cut off, as expected
                    }
                  });
      assertThat(asking.join(Duration.ofSeconds(20))).isTrue();
    }
    assertThat(server.get("/health/live").status()).isEqualTo(200);
  }

  @Test
  void stopping_answers_what_is_under_way_and_closes_the_rest() throws Exception {
    AtomicReference<Consumer<Answer>> waiting = new AtomicReference<>();
    CountDownLatch asked = new CountDownLatch(1);
    engine.unanswered =
        replyTo -> {
          waiting.set(replyTo);
          asked.countDown();
        };
    engine.answer = _ -> null;
    try (RawClient idle = new RawClient(server.port());
        RawClient busy = new RawClient(server.port())) {
      assertThat(idle.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").answer())
          .startsWith("HTTP/1.1 200 ");
      busy.send(HEAD + "Content-Length: " + EVENT.length() + "\r\n\r\n" + EVENT);
      assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
      Future<Void> stopped = server.api.stop();
      assertThat(idle.isClosed()).isTrue();
      assertThat(stopped.isComplete()).isFalse();
      engine
          .context()
          .runOnContext(_ -> waiting.get().accept(engine.accept(engine.asked.getFirst())));
      assertThat(busy.answer()).startsWith("HTTP/1.1 202 ");
      assertThat(busy.isClosed()).isTrue();
      stopped.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
    assertThatThrownBy(() -> new RawClient(server.port()).close()).isInstanceOf(IOException.class);
  }

  @Test
  void a_late_answer_of_the_engine_is_dropped() throws Exception {
    restart(limits(Duration.ofSeconds(30), Duration.ofSeconds(75), Duration.ofMillis(200)));
    List<Consumer<Answer>> waiting = new CopyOnWriteArrayList<>();
    engine.unanswered = waiting::add;
    engine.answer = _ -> null;
    isProblem(server.post("/v1/events", EVENT), 503);
    engine.answer = engine::accept;
    engine
        .context()
        .runOnContext(_ -> waiting.getFirst().accept(engine.accept(engine.asked.getFirst())));
    assertThat(server.post("/v1/events", EVENT).status()).isEqualTo(202);
  }
}
