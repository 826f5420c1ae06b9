package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.Delays.Percentiles;
import dev.holdfast.core.path.View.TenantNow;
import dev.holdfast.engine.Watcher;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Who listens to what happens; the test says what does, and when. */
@Timeout(60)
class LiveApiTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final String RIVAL_KEY = "rival-key";

  /** Limits that a stream outlives by far, were they kept for it. */
  private static final ApiLimits SHORT =
      new ApiLimits(
          1 << 20,
          32L << 20,
          1_000,
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(300));

  private final Vertx vertx = Vertx.vertx();
  private final FakeEngine engine = new FakeEngine(vertx);
  private final FakeKeys keys = TestServer.keys().give(RIVAL_KEY, "rival", Role.VIEWER);
  private final HttpClient client = HttpClient.newHttpClient();

  @SuppressWarnings("NullAway.Init")
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(engine, keys);
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    server.close();
    vertx.close().await();
  }

  /** One who listens. */
  private static final class Listener implements AutoCloseable {
    final HttpResponse<InputStream> response;
    private final BufferedReader lines;

    Listener(HttpResponse<InputStream> response) {
      this.response = response;
      this.lines =
          new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    /** The next event, or comment, without its empty line; absent at the end: empty. */
    String next() throws IOException {
      StringBuilder event = new StringBuilder();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isEmpty()) {
          return event.toString();
        }
        event.append(line).append('\n');
      }
      return "";
    }

    JsonNode data(String name) throws IOException {
      String event = next();
      assertThat(event).startsWith("event: " + name + "\ndata: {");
      return TestServer.MAPPER.readTree(event.substring(event.indexOf('{')));
    }

    @Override
    public void close() throws IOException {
      response.body().close();
    }
  }

  private Listener listen(String key) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/live"))
            .header("Authorization", "Bearer " + key)
            .build();
    return new Listener(client.send(request, BodyHandlers.ofInputStream()));
  }

  private static Watcher.Now now(long accepted) {
    return now(accepted, List.of(), false);
  }

  private static Watcher.Now now(long accepted, List<Endpoint> changed, boolean more) {
    return new Watcher.Now(
        NOW,
        accepted,
        2,
        3,
        new Percentiles(10, 20, 30),
        new TenantNow(4, 5, 6, 7, 8, 9),
        11,
        changed,
        more);
  }

  private void second(String tenant) {
    engine.tell(tenant, watcher -> watcher.now(now(1)));
  }

  private void awaitWatch() throws InterruptedException {
    assertThat(engine.watched.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void a_reader_is_told_each_second_what_happens_of_its_tenant() throws Exception {
    try (Listener acme = listen(TestServer.ACME_KEY)) {
      assertThat(acme.response.statusCode()).isEqualTo(200);
      assertThat(acme.response.headers().firstValue("content-type")).hasValue("text/event-stream");
      assertThat(acme.response.headers().firstValue("cache-control")).hasValue("no-store");
      second("acme");
      assertThat(acme.data("now"))
          .isEqualTo(
              TestServer.MAPPER.readTree(
                  """
                  {"at":"2026-03-01T12:00:00Z","accepted":1,"delivered":2,"failed":3,
                   "p50Millis":10,"p95Millis":20,"p99Millis":30,"pending":4,"waiting":5,"parked":6,
                   "droppedToday":11,"moreChanges":false,"endpoints":{"enabled":7,"disabled":8,"frozen":9}}
                  """));
      engine.tell(
          "acme",
          watcher ->
              watcher.now(
                  new Watcher.Now(NOW, 0, 0, 0, null, TenantNow.NOTHING, 0, List.of(), false)));
      assertThat(acme.data("now").get("p99Millis").isNull()).isTrue();
    }
  }

  @Test
  void a_reader_hears_of_changes_of_its_own_endpoints_only() throws Exception {
    try (Listener acme = listen(TestServer.ACME_KEY);
        Listener rival = listen(RIVAL_KEY)) {
      Endpoint endpoint =
          new Endpoint(77, "acme", "https://acme.test/hook?token=secret", Health.created(NOW));
      engine.tell("acme", watcher -> watcher.now(now(1, List.of(endpoint, endpoint), true)));
      second("rival");
      second("acme");
      JsonNode change = acme.data("change");
      assertThat(change.get("state").asString()).isEqualTo("enabled");
      assertThat(change.get("reason").asString()).isEqualTo("created");
      assertThat(change.get("at").asString()).isEqualTo("2026-03-01T12:00:00Z");
      assertThat(change.get("endpoint").asString()).startsWith("ep_");
      assertThat(change.get("url").asString())
          .startsWith("https://acme.test/hook")
          .doesNotContain("secret");
      assertThat(acme.data("change")).isEqualTo(change);
      assertThat(acme.data("now").get("moreChanges").asBoolean()).isTrue();
      assertThat(acme.data("now").get("moreChanges").asBoolean()).isFalse();
      assertThat(rival.next()).startsWith("event: now");
    }
  }

  @Test
  void a_further_reader_of_a_tenant_need_not_wait_for_a_second() throws Exception {
    try (Listener first = listen(TestServer.ACME_KEY)) {
      second("acme");
      assertThat(first.next()).startsWith("event: now");
      try (Listener further = listen(TestServer.ACME_KEY)) {
        assertThat(further.next()).startsWith("event: now");
      }
    }
  }

  @Test
  void a_comment_comes_every_fifteen_seconds() throws Exception {
    try (Listener acme = listen(TestServer.ACME_KEY)) {
      for (int i = 0; i < 30; i++) {
        second("acme");
      }
      List<Integer> comments = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        if (acme.next().equals(":\n")) {
          comments.add(i);
        }
      }
      assertThat(comments).containsExactly(15, 31);
    }
  }

  @Test
  void no_time_limit_ends_a_stream() throws Exception {
    server.close();
    server = TestServer.start(engine, SHORT);
    try (Listener acme = listen(TestServer.ACME_KEY);
        RawClient idle = new RawClient(server.port())) {
      // Whoever is idle is closed; so the limits are over, and swept for, by then.
      assertThat(idle.isClosed()).isTrue();
      try (RawClient later = new RawClient(server.port())) {
        assertThat(later.isClosed()).isTrue();
      }
      second("acme");
      assertThat(acme.next()).startsWith("event: now");
    }
  }

  @Test
  void one_who_does_not_read_loses_the_connection() throws Exception {
    try (RawClient deaf = new RawClient(server.port(), 4_096)) {
      deaf.send("GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acme-key\r\n\r\n");
      awaitWatch();
      while (!engine.watched.tryAcquire()) {
        second("acme");
      }
      assertThat(deaf.untilClosed(StandardCharsets.UTF_8)).startsWith("HTTP/1.1 200 OK");
    }
  }

  @Test
  void one_who_goes_is_watched_for_no_longer() throws Exception {
    RawClient reader = new RawClient(server.port());
    reader.send("GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acme-key\r\n\r\n");
    awaitWatch();
    reader.close();
    awaitWatch();
  }

  @Test
  void a_stream_ends_with_its_key() throws Exception {
    keys.give("passing", "acme", Role.VIEWER);
    try (Listener acme = listen("passing");
        Listener other = listen(TestServer.ACME_KEY)) {
      second("acme");
      assertThat(acme.next()).startsWith("event: now");
      keys.take("passing");
      second("acme");
      assertThat(acme.next()).isEmpty();
      assertThat(other.next()).startsWith("event: now");
      assertThat(other.next()).startsWith("event: now");
    }
  }

  @Test
  void a_connection_can_be_used_again_when_its_stream_has_ended() throws Exception {
    keys.give("passing", "acme", Role.VIEWER);
    try (RawClient reader = new RawClient(server.port())) {
      reader.send("GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer passing\r\n\r\n");
      awaitWatch();
      String head = reader.head();
      assertThat(head).contains("transfer-encoding: chunked");
      keys.giveExpired("passing", NOW);
      second("acme");
      // The chunk that ends the answer.
      assertThat(reader.head()).isEqualTo("0\r\n\r\n");
      reader.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(reader.head()).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void a_reader_of_http_1_0_gets_events_without_chunks_until_the_connection_ends()
      throws Exception {
    keys.give("passing", "acme", Role.VIEWER);
    try (RawClient reader = new RawClient(server.port())) {
      reader.send(
          "GET /v1/live HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Bearer passing\r\n\r\n");
      awaitWatch();
      assertThat(reader.head()).startsWith("HTTP/1.").doesNotContain("chunked", "content-length");
      second("acme");
      keys.take("passing");
      second("acme");
      assertThat(reader.untilClosed(StandardCharsets.UTF_8))
          .startsWith(":\n\nevent: now\ndata: {")
          .endsWith("}\n\n");
    }
  }

  @Test
  void all_streams_end_when_the_server_stops() throws Exception {
    Listener acme = listen(TestServer.ACME_KEY);
    long began = System.nanoTime();
    server.api.stop().await();
    assertThat(acme.next()).isEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(8));
  }

  @Test
  void a_tenant_may_have_as_many_readers_as_are_still_free() throws Exception {
    List<Listener> listeners = new ArrayList<>();
    try {
      while (listeners.size() < ApiLimits.LIVE_READERS / 2) {
        Listener one = listen(TestServer.ACME_KEY);
        assertThat(one.response.statusCode()).isEqualTo(200);
        listeners.add(one);
      }
      Reply refused = server.get("/v1/live", "Authorization", "Bearer " + TestServer.ACME_KEY);
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.header("retry-after")).isPresent();
      try (Listener rival = listen(RIVAL_KEY)) {
        assertThat(rival.response.statusCode()).isEqualTo(200);
      }
    } finally {
      for (Listener one : listeners) {
        one.close();
      }
    }
  }

  @Test
  void a_head_request_is_answered_and_ends() throws Exception {
    Reply reply = server.send("HEAD", "/v1/live", new byte[0]);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.header("content-type")).hasValue("text/event-stream");
    assertThat(engine.watched.availablePermits()).isZero();
  }
}
