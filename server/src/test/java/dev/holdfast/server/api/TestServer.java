package dev.holdfast.server.api;

import dev.holdfast.engine.egress.EndpointUrl;
import dev.holdfast.server.api.Principal.Role;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A server under test, and a client that speaks to it from outside. Whatever is answered must be as
 * the OpenAPI document says.
 */
final class TestServer implements AutoCloseable {
  static final String ADMIN_KEY = "admin-key";
  static final String VIEWER_KEY = "viewer-key";
  static final String OPERATOR_KEY = "operator-key";
  static final String PUBLISHER_KEY = "publisher-key";
  static final String ACME_KEY = "acme-key";

  private static final ApiServer.Dashboard DASHBOARD =
      new ApiServer.Dashboard(
          Duration.ofHours(12),
          "1.2.3",
          1,
          List.of(new SettingInUse("one.thing", "2s", "1s", SettingInUse.From.FILE, "A thing.")));

  /** Reads whatever an event may carry. */
  static final JsonMapper MAPPER =
      new JsonMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(2 * ApiLimits.NESTING)
                      .maxNumberLength(Integer.MAX_VALUE)
                      .maxNameLength(Integer.MAX_VALUE)
                      .build())
              .build());

  /** The keys that every server under test knows. */
  static FakeKeys keys() {
    return new FakeKeys()
        .give(ADMIN_KEY, null, Role.ADMIN)
        .give(VIEWER_KEY, null, Role.VIEWER)
        .give(OPERATOR_KEY, null, Role.OPERATOR)
        .give(PUBLISHER_KEY, null, Role.PUBLISHER)
        .give(ACME_KEY, "acme", Role.ADMIN);
  }

  final ApiServer api;
  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

  /** What came back. */
  record Reply(int status, HttpResponse<byte[]> response, String text) {
    JsonNode json() {
      return MAPPER.readTree(text);
    }

    Optional<String> header(String name) {
      return response.headers().firstValue(name);
    }
  }

  private TestServer(ApiServer api) {
    this.api = api;
  }

  static TestServer start(Engine engine, ApiLimits limits) throws IOException {
    return start(engine, limits, TestServer::normalised);
  }

  static TestServer start(Engine engine, ApiLimits limits, EndpointUrls urls) throws IOException {
    return start(engine, limits, urls, 0, keys());
  }

  static TestServer start(Engine engine, int port) throws IOException {
    return start(engine, ApiLimits.defaults(), TestServer::normalised, port, keys());
  }

  static TestServer start(Engine engine, Keyring keyring) throws IOException {
    return start(engine, ApiLimits.defaults(), TestServer::normalised, 0, keyring);
  }

  static TestServer start(Engine engine, Keyring keyring, InstantSource clock) throws IOException {
    return start(engine, ApiLimits.defaults(), TestServer::normalised, 0, keyring, clock);
  }

  private static TestServer start(
      Engine engine, ApiLimits limits, EndpointUrls urls, int port, Keyring keyring)
      throws IOException {
    return start(engine, limits, urls, port, keyring, InstantSource.system());
  }

  private static TestServer start(
      Engine engine,
      ApiLimits limits,
      EndpointUrls urls,
      int port,
      Keyring keyring,
      InstantSource clock)
      throws IOException {
    return new TestServer(
        ApiServer.start(
            engine,
            new ApiServer.Options(
                "127.0.0.1",
                port,
                limits,
                RealEngine.SCHEDULE,
                urls,
                keyring,
                clock,
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                null,
                null,
                DASHBOARD)));
  }

  private static String normalised(String url) {
    return switch (EndpointUrl.check(url)) {
      case EndpointUrl.Checked.Accepted accepted -> accepted.url().normalised();
      case EndpointUrl.Checked.Refused refused ->
          throw new IllegalArgumentException(refused.problem());
    };
  }

  int port() {
    return api.port();
  }

  Reply get(String path, String... headers) throws IOException, InterruptedException {
    return send("GET", path, new byte[0], headers);
  }

  /** Looks again and again until what a path shows is as it should be. */
  JsonNode eventually(String path, Predicate<JsonNode> condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (true) {
      Reply reply = get(path);
      if (reply.status() == 200 && condition.test(reply.json())) {
        return reply.json();
      }
      if (reply.status() != 200 || System.nanoTime() > deadline) {
        throw new AssertionError(path + ": " + reply.status() + " " + reply.text());
      }
      Thread.sleep(10);
    }
  }

  Reply delete(String path) throws IOException, InterruptedException {
    return send("DELETE", path, new byte[0]);
  }

  Reply post(String path, String body, String... headers) throws IOException, InterruptedException {
    return send("POST", path, body.getBytes(StandardCharsets.UTF_8), headers);
  }

  /** Sends as the admin, with JSON, unless the headers say otherwise. */
  Reply send(String method, String path, byte[] body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
            .timeout(Duration.ofSeconds(30))
            .method(
                method,
                body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    if (path.startsWith(WorkfrontApi.PATH)) {
      request.header("sessionID", ADMIN_KEY);
    } else {
      request.header("Authorization", "Bearer " + ADMIN_KEY);
    }
    if (body.length > 0) {
      request.header("Content-Type", "application/json");
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
    Documented.check(method, path, body, response);
    return new Reply(
        response.statusCode(), response, new String(response.body(), StandardCharsets.UTF_8));
  }

  /** Sends without a key, unless it is one of these headers. */
  Reply sendKeyless(String method, String path, byte[] body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
            .timeout(Duration.ofSeconds(30))
            .method(
                method,
                body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body))
            .header("Content-Type", "application/json");
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
    Documented.check(method, path, body, response);
    return new Reply(
        response.statusCode(), response, new String(response.body(), StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    client.close();
    try {
      api.stop().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException("the server did not stop", e);
    }
  }
}
