package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Settings.Sources;
import dev.holdfast.server.tracing.Collector;
import io.vertx.core.Vertx;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces as a collector and a receiver see them, of a whole server. */
@Timeout(60)
class TracesTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String CAME = "00-" + TRACE + "-00f067aa0ba902b7-01";
  private static final long SERVER = 2;
  private static final long CLIENT = 3;

  @TempDir private Path directory = Path.of("");

  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void an_event_with_a_trace_is_one_trace_from_its_sender_to_its_receiver() throws Exception {
    try (Collector collector = new Collector();
        Hook hook = new Hook(503, 200)) {
      Server server = start("tracing.endpoint=" + collector.url(), "retry.unit=10ms");
      deliver(server, hook, CAME);
      String first = hook.next();
      String second = hook.next();
      server.stop().await();

      assertThat(collector.requests()).allMatch(request -> request.startsWith("POST /v1/traces "));
      assertThat(collector.spans()).hasSize(3).allMatch(span -> span.traceId().equals(TRACE));
      Collector.Span accepted = only(collector, SERVER);
      assertThat(accepted.name()).isEqualTo("POST /v1/events");
      assertThat(accepted.parentId()).isEqualTo("00f067aa0ba902b7");
      assertThat(accepted.attributes()).containsEntry("http.response.status_code", "202");
      List<Collector.Span> attempts =
          collector.spans().stream().filter(span -> span.kind() == CLIENT).toList();
      assertThat(attempts).allMatch(span -> span.parentId().equals(accepted.spanId()));
      assertThat(attempts)
          .extracting(span -> span.attributes().get("http.response.status_code"))
          .containsExactly("503", "200");
      assertThat(List.of(first, second))
          .containsExactlyElementsOf(
              attempts.stream().map(span -> "00-" + TRACE + "-" + span.spanId() + "-01").toList());
      assertThat(collector.spans().toString()).doesNotContain("hidden");
    }
  }

  @Test
  void an_event_without_a_trace_is_one_trace_from_its_acceptance_on() throws Exception {
    try (Collector collector = new Collector();
        Hook hook = new Hook(200)) {
      Server server = start("tracing.endpoint=" + collector.url());
      deliver(server, hook, null);
      hook.next();
      server.stop().await();

      Collector.Span accepted = only(collector, SERVER);
      Collector.Span attempt = only(collector, CLIENT);
      assertThat(accepted.parentId()).isEmpty();
      assertThat(attempt.traceId()).isEqualTo(accepted.traceId());
      assertThat(attempt.parentId()).isEqualTo(accepted.spanId());
    }
  }

  @Test
  void without_a_collector_a_trace_is_sent_on_as_it_came_and_none_begins() throws Exception {
    try (Hook hook = new Hook(200, 200)) {
      Server server = start();
      deliver(server, hook, CAME);
      assertThat(hook.next()).isEqualTo(CAME);
      post(server, "/v1/events", "{\"type\":\"order.paid\",\"data\":1}", null);
      assertThat(hook.next()).isEmpty();
      server.stop().await();
    }
  }

  @Test
  void a_collector_that_is_gone_stops_no_delivery_and_lost_spans_are_counted() throws Exception {
    try (Hook hook = new Hook(200)) {
      Server server = start("tracing.endpoint=http://127.0.0.1:1");
      deliver(server, hook, CAME);
      assertThat(hook.next()).startsWith("00-" + TRACE);
      System.gc();
      String metrics = "";
      while (!metrics.contains("holdfast_spans_total{outcome=\"dropped\"} 2.0")) {
        metrics = metrics(server);
      }
      assertThat(metrics).contains("holdfast_spans_total{outcome=\"exported\"} 0.0");
      server.stop().await();
    }
  }

  private static Collector.Span only(Collector collector, long kind) {
    List<Collector.Span> found =
        collector.spans().stream().filter(span -> span.kind() == kind).toList();
    assertThat(found).hasSize(1);
    return found.getFirst();
  }

  private Server start(String... assignments) throws Exception {
    List<String> all =
        new ArrayList<>(List.of("admin.key=k", "server.port=0", "egress.allow=127.0.0.0/8"));
    all.addAll(List.of(assignments));
    Settings settings =
        Settings.read(
            new Sources(null, Map.of("HOLDFAST_DATA", directory.toString()), all, Map.of()));
    return Wiring.start(
        settings, InstantSource.system(), new PrintWriter(Writer.nullWriter(), true));
  }

  private void deliver(Server server, Hook hook, @Nullable String traceparent) throws Exception {
    post(
        server,
        "/v1/subscriptions",
        "{\"url\":\"http://127.0.0.1:%d/hidden?token=hidden\",\"types\":[\"order.*\"]}"
            .formatted(hook.port),
        null);
    post(server, "/v1/events", "{\"type\":\"order.paid\",\"data\":\"hidden\"}", traceparent);
  }

  private void post(Server server, String path, String body, @Nullable String traceparent)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("Authorization", "Bearer k")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body));
    if (traceparent != null) {
      request.header("traceparent", traceparent);
    }
    assertThat(client.send(request.build(), BodyHandlers.discarding()).statusCode())
        .isBetween(200, 299);
  }

  private String metrics(Server server) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + "/metrics");
    HttpRequest request = HttpRequest.newBuilder(uri).header("Authorization", "Bearer k").build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  /** A receiver that answers with one status after the other and keeps each traceparent. */
  private static final class Hook implements AutoCloseable {
    private final Vertx vertx = Vertx.vertx();
    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> statuses = new LinkedBlockingQueue<>();
    final int port;

    Hook(Integer... answers) {
      statuses.addAll(List.of(answers));
      port =
          vertx
              .createHttpServer()
              .requestHandler(
                  request -> {
                    String traceparent = request.getHeader("traceparent");
                    seen.add(traceparent == null ? "" : traceparent);
                    request.response().setStatusCode(statuses.remove()).end();
                  })
              .listen(0, "127.0.0.1")
              .await()
              .actualPort();
    }

    String next() throws InterruptedException {
      String next = seen.poll(30, TimeUnit.SECONDS);
      assertThat(next).as("a delivery").isNotNull();
      return next;
    }

    @Override
    public void close() {
      vertx.close().await();
    }
  }
}
