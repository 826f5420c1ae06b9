package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.path.Request;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a request while the name in it is looked up. */
@Timeout(60)
class DestinationsTest {
  private static final String SUBSCRIPTION =
      "{\"url\":\"https://hook.test/\",\"types\":[\"order.*\"]}";

  private final Vertx vertx = Vertx.vertx();
  private final FakeEngine engine = new FakeEngine(vertx);
  private final BlockingQueue<Promise<Set<String>>> lookups = new LinkedBlockingQueue<>();
  private final TestServer server;

  private final class Urls implements EndpointUrls {
    @Override
    public String normalise(String url) {
      return url;
    }

    @Override
    public Optional<String> nameToLookUp(String url) {
      return Optional.of("hook.test");
    }

    @Override
    public Future<Set<String>> findForbidden(Set<String> names) {
      Promise<Set<String>> lookup = Promise.promise();
      lookups.add(lookup);
      return lookup.future();
    }
  }

  DestinationsTest() throws Exception {
    server = TestServer.start(engine, ApiLimits.defaults(), new Urls());
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().await();
  }

  @Test
  void nothing_is_made_before_the_name_is_known() throws Exception {
    try (RawClient client = create()) {
      Promise<Set<String>> lookup = nextLookup();
      assertThat(server.get("/health/live").status()).isEqualTo(200);
      assertThat(engine.asked).isEmpty();
      complete(lookup, Set.of());
      client.head();
      assertThat(engine.asked).hasSize(1).first().isInstanceOf(Request.Subscribe.class);
    }
  }

  @Test
  void nothing_is_made_if_the_name_is_forbidden() throws Exception {
    try (RawClient client = create()) {
      complete(nextLookup(), Set.of("hook.test"));
      assertThat(client.head()).startsWith("HTTP/1.1 400");
      assertThat(engine.asked).isEmpty();
    }
  }

  @Test
  void nothing_is_made_for_a_caller_who_has_left() throws Exception {
    engine.view = FakeView::new;
    Promise<Set<String>> lookup;
    try (RawClient _ = create()) {
      lookup = nextLookup();
    }
    while (!server.get("/metrics").text().contains("holdfast_http_connections 1.0")) {
      Thread.onSpinWait();
    }
    complete(lookup, Set.of());
    assertThat(server.get("/health/live").status()).isEqualTo(200);
    assertThat(engine.asked).isEmpty();
  }

  @Test
  void a_request_behind_it_waits_for_its_turn() throws Exception {
    try (RawClient client = create()) {
      Promise<Set<String>> lookup = nextLookup();
      client.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
      complete(lookup, Set.of("hook.test"));
      String head = client.head();
      assertThat(head).startsWith("HTTP/1.1 400");
      client.body(head);
      assertThat(client.head()).startsWith("HTTP/1.1 200");
    }
  }

  private RawClient create() throws Exception {
    return new RawClient(server.port())
        .send(
            "POST /v1/subscriptions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + TestServer.ADMIN_KEY
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + SUBSCRIPTION.length()
                + "\r\n\r\n"
                + SUBSCRIPTION);
  }

  private Promise<Set<String>> nextLookup() throws InterruptedException {
    Promise<Set<String>> lookup = lookups.poll(20, TimeUnit.SECONDS);
    if (lookup == null) {
      throw new AssertionError("no name was looked up");
    }
    return lookup;
  }

  private void complete(Promise<Set<String>> lookup, Set<String> forbidden) {
    engine.context().runOnContext(_ -> lookup.complete(forbidden));
  }
}
