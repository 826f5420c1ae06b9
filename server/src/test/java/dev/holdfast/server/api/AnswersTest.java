package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.NotRetryable.Obstacle;
import dev.holdfast.core.path.Answer.Refused.Excess;
import dev.holdfast.core.path.Answer.Refused.Why;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** What each answer of the engine becomes for the caller. */
class AnswersTest {
  private static final String EVENT = "{\"type\":\"order.paid\",\"data\":{\"n\":1}}";
  private static final String BATCH = "{\"events\":[" + EVENT + "," + EVENT + "]}";
  private static final String RETRY = "/v1/messages/msg_0000000000001/retry";

  private static final String SUBSCRIPTIONS = "/v1/subscriptions";
  private static final String SUBSCRIPTION = "{\"url\":\"http://x/\",\"types\":[\"*\"]}";

  private final Vertx vertx = Vertx.vertx();
  private final FakeEngine engine = new FakeEngine(vertx);
  private final TestServer server;

  AnswersTest() throws IOException {
    server = TestServer.start(engine, ApiLimits.defaults());
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void an_event_that_was_accepted_before_is_200_with_the_first_result() throws Exception {
    engine.answer = _ -> new Answer.Accepted(List.of(new Receipt(1, "mine", 3, true)));
    Reply reply = server.post("/v1/events", EVENT);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("{\"id\":\"mine\",\"messages\":3}");
  }

  @Test
  void a_batch_is_202_unless_all_of_it_was_accepted_before() throws Exception {
    Receipt first = new Receipt(1, "mine", 3, true);
    Receipt second = new Receipt(2, "evt_0000000000002", 0, false);
    engine.answer = _ -> new Answer.Accepted(List.of(first, second));
    Reply reply = server.post("/v1/events/batch", BATCH);
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.text())
        .isEqualTo(
            "{\"events\":[{\"id\":\"mine\",\"messages\":3},{\"id\":\"evt_0000000000002\",\"messages\":0}]}");
    engine.answer = _ -> new Answer.Accepted(List.of(first, first));
    assertThat(server.post("/v1/events/batch", BATCH).status()).isEqualTo(200);
  }

  @Test
  void an_id_with_quotes_is_escaped_in_the_answer() throws Exception {
    Reply reply = server.post("/v1/events", "{\"type\":\"t\",\"data\":1,\"id\":\"a\\\"b\\\\c\"}");
    assertThat(reply.json().get("id").asString()).isEqualTo("a\"b\\c");
  }

  @Test
  void a_conflict_is_409_and_names_the_event() throws Exception {
    engine.answer = _ -> new Answer.Conflict(0);
    Reply one = server.post("/v1/events", EVENT);
    assertThat(one.status()).isEqualTo(409);
    assertThat(one.json().get("field").asString()).isEqualTo("id");
    assertThat(one.json().has("index")).isFalse();
    engine.answer = _ -> new Answer.Conflict(1);
    Reply batch = server.post("/v1/events/batch", BATCH);
    assertThat(batch.status()).isEqualTo(409);
    assertThat(batch.json().get("field").asString()).isEqualTo("events[1].id");
    assertThat(batch.json().get("index").asInt()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "OVERLOADED, 429, true",
    "TENANT_OVERLOADED, 429, true",
    "STORE_LOW, 503, true",
    "STORE_FULL, 503, true",
    "STOPPING, 503, true",
    "NOT_STORABLE, 422, false",
  })
  void a_refusal_says_what_to_do(Why why, int status, boolean retryAfter) throws Exception {
    engine.answer = _ -> new Answer.Refused(why);
    for (Reply reply :
        List.of(
            server.post("/v1/events", EVENT),
            server.post("/v1/events/batch", BATCH),
            server.post("/v1/subscriptions", "{\"url\":\"http://x/\",\"types\":[\"*\"]}"),
            server.delete("/v1/subscriptions/sub_0000000000001"),
            server.send("PATCH", "/v1/subscriptions/sub_0000000000001", "{}".getBytes(UTF_8)),
            server.post("/v1/subscriptions/sub_0000000000001/rotate", ""),
            server.post("/v1/subscriptions/import", "{\"subscriptions\":[]}"),
            server.post("/v1/endpoints/ep_0000000000001/enable", ""),
            server.send(
                "PATCH", "/v1/endpoints/ep_0000000000001", "{\"rateLimit\":1}".getBytes(UTF_8)),
            server.post(RETRY, ""))) {
      assertThat(reply.status()).isEqualTo(status);
      assertThat(reply.header("retry-after").isPresent()).isEqualTo(retryAfter);
      assertThat(reply.header("content-type")).contains("application/problem+json");
      assertThat(reply.json().get("detail").asString()).isNotBlank();
    }
  }

  @Test
  void a_history_that_is_under_way_is_shown_and_cancelled_like_any_replay() throws Exception {
    Replay history = Replay.of(1, "default", Selection.history(2, Instant.EPOCH));
    engine.answer = _ -> new Answer.ReplayIs(history.as(Replay.State.CANCELLED));
    Reply reply = server.post("/v1/replays/rpl_0000000000001/cancel", "");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text())
        .startsWith(
            "{\"id\":\"rpl_0000000000001\",\"kind\":\"history\",\"state\":\"cancelled\",\"total\":null,")
        .contains("\"subscription\":\"sub_0000000000002\",\"status\":[],");
    assertThat(engine.asked).containsExactly(new Request.CancelReplay("default", 1));
  }

  @Test
  void a_quota_that_is_used_up_is_named_with_its_value_and_when_to_come_again() throws Exception {
    engine.answer =
        _ -> new Answer.Refused(Why.EVENT_QUOTA, new Excess(10, 100, 2, Duration.ofMillis(2_001)));
    Reply reply = server.post("/v1/events/batch", BATCH);
    assertThat(reply.status()).isEqualTo(429);
    assertThat(reply.header("retry-after")).contains("3");
    assertThat(reply.json().get("type").asString())
        .isEqualTo("urn:holdfast:problem:quota-exceeded");
    assertThat(reply.json().get("detail").asString())
        .contains("10 events a second", "100 at once", "quota.events-per-second");
    engine.answer = _ -> new Answer.Refused(Why.STORED_QUOTA, new Excess(5_000, 4_900, 300, null));
    reply = server.post("/v1/events", EVENT);
    assertThat(reply.status()).isEqualTo(429);
    assertThat(reply.header("retry-after")).contains("60");
    assertThat(reply.json().get("detail").asString())
        .contains("5000 bytes", "4900", "300", "quota.stored-bytes");
    engine.answer = _ -> new Answer.Refused(Why.STORED_QUOTA, new Excess(5_000, 0, 5_001, null));
    reply = server.post("/v1/events", EVENT);
    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.json().get("detail").asString()).contains("never fit");
  }

  @Test
  void a_batch_that_no_quota_will_ever_take_is_413_and_says_so() throws Exception {
    engine.answer = _ -> new Answer.Refused(Why.EVENT_QUOTA, new Excess(10, 100, 101, null));
    Reply reply = server.post("/v1/events/batch", BATCH);
    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.header("retry-after")).isEmpty();
    assertThat(reply.json().get("detail").asString())
        .contains("This batch has 101", "never fit", "smaller");
  }

  @ParameterizedTest
  @CsvSource({
    "FINISHED, /v1/replays",
    "ENDPOINT_FROZEN, frozen",
    "BEING_SENT, being sent",
  })
  void a_message_that_cannot_be_retried_is_409(Obstacle obstacle, String word) throws Exception {
    engine.answer = _ -> new Answer.NotRetryable(obstacle);
    Reply reply = server.post(RETRY, "");
    assertThat(reply.status()).isEqualTo(409);
    assertThat(reply.json().get("detail").asString()).contains(word);
  }

  @Test
  void a_retry_is_202() throws Exception {
    engine.answer = _ -> new Answer.RetryStarted();
    Reply reply = server.post(RETRY, "");
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.json().get("id").asString()).isEqualTo("msg_0000000000001");
    assertThat(engine.asked).containsExactly(new Request.RetryNow("default", 1));
  }

  @Test
  void an_unknown_id_and_a_malformed_one_get_the_same_404() throws Exception {
    engine.view = FakeView::new;
    String unknown = server.get("/v1/endpoints/ep_0000000000001").text();
    for (Reply reply :
        List.of(
            server.get("/v1/endpoints/ep_0000000000001"),
            server.get("/v1/endpoints/ep_1"),
            server.get("/v1/endpoints/..."),
            server.get("/v1/endpoints/msg_0000000000001"),
            server.get("/v1/endpoints/%00"),
            server.get("/v1/endpoints/ep_0000000000001/changes"),
            server.get("/v1/subscriptions/sub_0000000000001"),
            server.get("/v1/subscriptions/sub"),
            server.delete("/v1/subscriptions/sub_0000000000001"),
            server.delete("/v1/subscriptions/x"),
            server.post("/v1/endpoints/ep_0000000000001/freeze", ""),
            server.post("/v1/endpoints/x/freeze", ""),
            server.post(RETRY, ""),
            server.post("/v1/messages/x/retry", ""),
            server.get("/v1/events/evt_x"),
            server.get("/v1/events/%C3%A9"),
            server.get("/v1/messages/x"))) {
      assertThat(reply.status()).isEqualTo(404);
      assertThat(reply.text()).isEqualTo(unknown);
    }
  }

  @Test
  void a_list_of_endpoints_looks_at_10000_and_goes_on_from_there() throws Exception {
    FakeView view = new FakeView();
    Health enabled = Health.created(Instant.EPOCH);
    Health frozen =
        new Health(
            Health.State.FROZEN,
            Instant.EPOCH,
            Health.Reason.OPERATOR,
            Instant.EPOCH,
            0,
            0,
            Health.Bucket.EMPTY,
            Health.Bucket.EMPTY,
            0,
            null,
            null);
    for (int id = 1; id <= 25_000; id++) {
      view.add(
          new Endpoint(id, "default", "http://x/" + id, id == 1 || id == 9_000 ? frozen : enabled));
    }
    engine.view = () -> view;
    List<Integer> sizes = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page = server.get("/v1/endpoints?state=frozen" + cursor).json();
      sizes.add(page.get("items").size());
      cursor = page.get("next").isNull() ? null : "&cursor=" + page.get("next").asString();
    }
    assertThat(sizes).containsExactly(0, 1, 1);
    JsonNode first = server.get("/v1/endpoints?state=frozen&limit=1000").json();
    assertThat(first.get("next").isNull()).isFalse();
    JsonNode page = server.get("/v1/endpoints?limit=2").json();
    assertThat(page.get("items").size()).isEqualTo(2);
    assertThat(page.get("items").get(1).get("url").asString()).isEqualTo("http://x/24999");
  }

  @Test
  void a_failure_of_ours_is_logged_once_and_answered_with_a_reference_only() throws Exception {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(Exchange.class);
    logged.start();
    logger.addAppender(logged);
    try {
      engine.answer =
          _ -> {
            throw new IllegalStateException("a secret detail");
          };
      Reply reply = server.post("/v1/events", EVENT);
      assertThat(reply.status()).isEqualTo(500);
      assertThat(reply.text()).doesNotContain("secret").doesNotContain("Exception");
      String reference = reply.json().get("reference").asString();
      assertThat(logged.list).hasSize(1);
      assertThat(logged.list.getFirst().getFormattedMessage())
          .startsWith("api.failed")
          .contains(reference)
          .contains("POST /v1/events");
    } finally {
      logger.detachAppender(logged);
    }
    engine.answer = engine::accept;
    assertThat(server.post("/v1/events", EVENT).status()).isEqualTo(202);
  }

  @Test
  void what_cannot_be_encoded_is_told_with_a_question_mark_instead() throws Exception {
    engine.answer = _ -> new Answer.Unfit("a\ud800", "half \udfff of a pair");
    JsonNode problem = refused(400, server.post(SUBSCRIPTIONS, SUBSCRIPTION));
    assertThat(problem.get("field").asString()).isEqualTo("a?");
    assertThat(problem.get("detail").asString()).isEqualTo("half ? of a pair");
  }

  @Test
  void a_history_too_many_is_409_and_says_where_the_others_are() throws Exception {
    engine.answer = _ -> new Answer.TooManyHistories(100);
    String since = SUBSCRIPTION.replace("}", ",\"since\":\"2026-01-01T00:00:00Z\"}");
    JsonNode problem = refused(409, server.post(SUBSCRIPTIONS, since));
    assertThat(problem.get("type").asString()).isEqualTo("urn:holdfast:problem:too-many-histories");
    assertThat(problem.get("field").asString()).isEqualTo("since");
    assertThat(problem.get("detail").asString()).contains("100", "cancel one", "GET /v1/replays");
  }

  @Test
  void an_import_that_would_not_fit_is_refused_with_its_place() throws Exception {
    engine.answer = _ -> new Answer.Unfit("subscriptions[0].secret", "Ten are valid already.");
    JsonNode problem =
        refused(
            400,
            server.post(SUBSCRIPTIONS + "/import", "{\"subscriptions\":[" + SUBSCRIPTION + "]}"));
    assertThat(problem.get("type").asString()).isEqualTo("urn:holdfast:problem:invalid-field");
    assertThat(problem.get("field").asString()).isEqualTo("subscriptions[0].secret");
    assertThat(problem.get("detail").asString()).isEqualTo("Ten are valid already.");
  }

  @Test
  void the_version_of_one_subscription_is_a_change_like_others() throws Exception {
    Endpoint endpoint = new Endpoint(1, "default", "http://x/", Health.created(Instant.EPOCH));
    Form form = new Form(Format.WORKFRONT, false, null, Collections.emptyNavigableMap(), List.of());
    Interest interest = new Interest(List.of(new TypePattern("PROJ.UPDATE")), null, Filters.NONE);
    Subscription found = new Subscription(2, "default", 1, interest, form, Instant.EPOCH);
    FakeView view = new FakeView();
    view.add(endpoint);
    view.add(found);
    engine.view = () -> view;
    Form.Change toV1 = Form.Change.to(Version.V1);
    Subscription changed =
        found.with(interest, toV1.applyTo(form, Instant.EPOCH), Instant.EPOCH.plusSeconds(1));
    engine.answer = _ -> new Answer.Updated(changed, endpoint);
    String id = Id.text(Id.SUBSCRIPTION, 2);
    String path = WorkfrontApi.PATH + "/subscriptions/" + id + "/version";
    byte[] v1 = "{\"version\":\"v1\"}".getBytes(UTF_8);

    Reply reply = server.send("PUT", path, v1);
    assertThat(reply.text()).isEqualTo("{\"id\":\"" + id + "\",\"version\":\"v1\"}");
    assertThat(engine.asked).containsExactly(new Request.Update("default", 2, Patch.of(toV1)));

    for (Answer meanwhile :
        List.of(new Answer.NotFound(), new Answer.Unfit("version", "It has another format."))) {
      engine.answer = _ -> meanwhile;
      refused(404, server.send("PUT", path, v1));
    }
  }

  private static JsonNode refused(int status, Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    return reply.json();
  }

  @Test
  void four_previews_are_made_at_once_and_one_more_is_429() throws Exception {
    String preview = SUBSCRIPTIONS + "/preview";
    String stored = "{\"subscription\":" + SUBSCRIPTION + "}";
    for (int i = 0; i < 10; i++) {
      assertThat(server.post(preview, "{}").status()).isEqualTo(400);
    }
    Promise<Void> readable = Promise.promise();
    engine.readable = readable.future();
    List<Future<Reply>> waiting = new ArrayList<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 4; i++) {
        waiting.add(callers.submit(() -> server.post(preview, stored)));
      }
      assertThat(engine.reads.tryAcquire(4, 20, TimeUnit.SECONDS)).isTrue();
      Reply fifth = server.post(preview, stored);
      assertThat(refused(429, fifth).get("type").asString())
          .isEqualTo("urn:holdfast:problem:overloaded");
      assertThat(fifth.header("retry-after")).hasValue("1");
      readable.complete();
      for (Future<Reply> reply : waiting) {
        assertThat(reply.get().status()).isEqualTo(200);
      }
    }
    assertThat(server.post(preview, stored).status()).isEqualTo(200);
  }

  @Test
  void an_answer_that_does_not_belong_to_the_request_is_our_failure() throws Exception {
    engine.answer = _ -> new Answer.RetryStarted();
    assertThat(server.post("/v1/events", EVENT).status()).isEqualTo(500);
    engine.answer = _ -> new Answer.Conflict(0);
    assertThat(server.post(RETRY, "").status()).isEqualTo(500);
  }

  @Test
  void a_store_that_does_not_answer_is_503() throws Exception {
    engine.history =
        () -> {
          throw new StoreException(
              StoreException.Kind.REFUSED, "too slow", new IOException("too slow"));
        };
    for (String path : List.of("/v1/messages", "/v1/messages/msg_0000000000001", "/v1/events/x")) {
      Reply reply = server.get(path);
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.header("retry-after")).isPresent();
      assertThat(reply.json().get("reference").asString()).isNotBlank();
    }
  }

  @Test
  void ready_means_that_the_engine_answers() throws Exception {
    engine.view = FakeView::new;
    assertThat(server.get("/health/ready").status()).isEqualTo(200);
    engine.view =
        () -> {
          throw new IllegalStateException("gone");
        };
    Reply reply = server.get("/health/ready");
    assertThat(reply.status()).isEqualTo(503);
    assertThat(server.get("/health/live").status()).isEqualTo(200);
  }

  @Test
  void metrics_show_the_gauges_without_endpoints_or_tenants() throws Exception {
    engine.view = FakeView::new;
    Reply reply = server.get("/metrics");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.header("content-type").orElse("")).startsWith("text/plain");
    assertThat(reply.text().lines())
        .contains(
            "holdfast_messages_unfinished{status=\"pending\"} 1.0",
            "holdfast_messages_unfinished{status=\"waiting\"} 2.0",
            "holdfast_messages_unfinished{status=\"parked\"} 3.0",
            "holdfast_attempts_in_flight 4.0",
            "holdfast_endpoints{state=\"enabled\"} 11.0",
            "holdfast_endpoints{state=\"disabled\"} 12.0",
            "holdfast_endpoints{state=\"frozen\"} 13.0",
            "holdfast_subscriptions 14.0",
            "holdfast_events_accepted_total 15.0",
            "holdfast_messages_accepted_total 16.0",
            "holdfast_messages_finished_total{status=\"delivered\"} 17.0",
            "holdfast_messages_finished_total{status=\"dropped\"} 18.0",
            "holdfast_attempts_total{outcome=\"success\"} 19.0",
            "holdfast_attempts_total{outcome=\"failure\"} 20.0",
            "holdfast_requests_refused_total 21.0",
            "holdfast_requests_over_quota_total 22.0",
            "holdfast_endpoints_gone 23.0");
    assertThat(reply.text()).doesNotContain("endpoint=").doesNotContain("tenant=");
  }
}
