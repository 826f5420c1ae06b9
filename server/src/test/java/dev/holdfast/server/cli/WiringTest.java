package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.server.api.Documented;
import dev.holdfast.server.cli.Settings.Sources;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class WiringTest {
  @TempDir private Path directory = Path.of("");

  private final HttpClient client = HttpClient.newHttpClient();
  private final StringWriter out = new StringWriter();
  private final List<Server> running = new ArrayList<>();

  @AfterEach
  void stop() {
    client.shutdownNow();
    running.forEach(server -> server.stop().await());
  }

  @Test
  void the_first_start_makes_a_key_and_prints_it_once() throws Exception {
    Server first = start();
    String key = printedKey();
    assertThat(first.adminKey()).isEqualTo("printed above, this once");
    assertThat(get(first, key)).isEqualTo(200);
    assertThat(get(first, key + "x")).isEqualTo(401);
    stop(first);

    out.getBuffer().setLength(0);
    Server second = start();
    assertThat(out.toString()).isEmpty();
    assertThat(second.adminKey()).isEqualTo("the one printed at the first start");
    assertThat(get(second, key)).isEqualTo(200);
  }

  @Test
  void only_the_hash_of_a_key_is_stored() throws Exception {
    Server server = start();
    String secret = printedKey().substring("hf_12345678_".length());
    stop(server);
    assertThat(stored()).doesNotContain(secret);
  }

  @Test
  void a_key_that_is_set_opens_all_tenants_and_is_not_stored() throws Exception {
    Server server = start("admin.key=automation-key-of-some-length");
    assertThat(out.toString()).isEmpty();
    assertThat(server.adminKey()).isEqualTo("as set by --set");
    assertThat(get(server, "automation-key-of-some-length")).isEqualTo(200);
    assertThat(get(server, "automation-key-of-some-length", "Holdfast-Tenant", "acme"))
        .isEqualTo(200);
    stop(server);
    assertThat(stored()).doesNotContain("automation-key");

    Server later = start();
    assertThat(get(later, "automation-key-of-some-length")).isEqualTo(401);
    assertThat(get(later, printedKey())).isEqualTo(200);
  }

  @Test
  void an_event_reaches_its_receiver_through_a_failure() throws Exception {
    Server server = start("admin.key=k", "egress.allow=127.0.0.0/8", "retry.unit=10ms");
    BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    Vertx vertx = Vertx.vertx();
    try {
      int port =
          new Receiver(
                  vertx,
                  InstantSource.system(),
                  new Receiver.Manner(200, Duration.ZERO, 1),
                  arrivals::add)
              .listen("127.0.0.1", 0)
              .await()
              .actualPort();
      assertThat(
              post(
                  server,
                  "k",
                  "/v1/subscriptions",
                  "{\"url\":\"http://127.0.0.1:%d/hook\",\"types\":[\"order.*\"]}".formatted(port)))
          .isEqualTo(201);
      assertThat(
              post(
                  server,
                  "k",
                  "/v1/events",
                  "{\"type\":\"order.paid\",\"subject\":\"o-1\",\"data\":{\"total\":1.10}}"))
          .isEqualTo(202);
      Arrival refused = arrivals.poll(30, TimeUnit.SECONDS);
      Arrival taken = arrivals.poll(30, TimeUnit.SECONDS);
      assertThat(refused).isNotNull();
      assertThat(taken).isNotNull();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(taken.status()).isEqualTo(200);
      assertThat(taken.id()).startsWith("msg_").isEqualTo(refused.id());
      assertThat(taken.content().type()).isEqualTo("order.paid");
      assertThat(taken.content().subject()).isEqualTo("o-1");
      assertThat(taken.content().text()).contains("\"data\":{\"total\":1.10}");
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void the_largest_event_is_what_was_set() throws Exception {
    Server server = start("admin.key=k", "message.max-bytes=1KB");
    String event = "{\"type\":\"t\",\"data\":\"%s\"}";
    assertThat(post(server, "k", "/v1/events", event.formatted("x".repeat(1_000)))).isEqualTo(202);
    assertThat(post(server, "k", "/v1/events", event.formatted("x".repeat(1_100)))).isEqualTo(413);
  }

  // What prevents a start, each in one line that says what to do

  @Test
  void a_port_in_use_prevents_the_start_and_leaves_the_store_free() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(obstacle("server.port=" + taken.getLocalPort()))
          .startsWith("Port " + taken.getLocalPort() + " on 127.0.0.1 is in use.")
          .contains("--port");
    }
    assertThat(get(start(), printedKey())).isEqualTo(200);
  }

  @Test
  void an_address_of_another_machine_prevents_the_start() {
    assertThat(obstacle("server.host=192.0.2.1"))
        .startsWith("192.0.2.1 is no address of this machine.");
  }

  @Test
  void a_store_in_use_prevents_the_start() throws Exception {
    start();
    assertThat(obstacle()).contains("in use by another running Holdfast");
  }

  @Test
  void a_corrupt_store_prevents_the_start() throws Exception {
    stop(start());
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".db")).toList()) {
        Files.writeString(file, "this is no store");
      }
    }
    assertThat(obstacle()).contains("damaged");
  }

  @Test
  void a_file_instead_of_a_directory_prevents_the_start() throws Exception {
    directory = Files.writeString(directory.resolve("file"), "x");
    assertThat(obstacle()).contains("is not a directory");
  }

  private Server start(String... assignments) throws InvalidSettings, CannotStart {
    Server server =
        Wiring.start(settings(assignments), InstantSource.system(), new PrintWriter(out, true));
    running.add(server);
    return server;
  }

  private String obstacle(String... assignments) {
    CannotStart problem = catchThrowableOfType(CannotStart.class, () -> start(assignments));
    assertThat(problem).as("it does not start").isNotNull();
    String message = String.valueOf(problem.getMessage());
    assertThat(message).hasLineCount(1);
    return message;
  }

  private Settings settings(String... assignments) throws InvalidSettings {
    Map<String, String> file = Map.of("HOLDFAST_DATA", directory.toString());
    List<String> all = new ArrayList<>(List.of(assignments));
    if (all.stream().noneMatch(one -> one.startsWith("server.port="))) {
      all.add("server.port=0");
    }
    return Settings.read(new Sources(null, file, all, Map.of()));
  }

  private void stop(Server server) {
    running.remove(server);
    server.stop().await();
  }

  private String printedKey() {
    Matcher key = Pattern.compile("hf_[0-9a-z]{8}_[0-9a-z]{39}").matcher(out.toString());
    assertThat(key.find()).as("a key is printed").isTrue();
    String text = key.group();
    assertThat(key.find()).as("it is printed again").isFalse();
    return text;
  }

  private String stored() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        all.append(Files.readString(file, StandardCharsets.ISO_8859_1));
      }
    }
    assertThat(all.toString()).contains("api_keys");
    return all.toString();
  }

  private int get(Server server, String key, String... headers) throws Exception {
    HttpRequest.Builder request = request(server, key, "/v1/endpoints").GET();
    return send(headers.length == 0 ? request : request.headers(headers), "");
  }

  private int post(Server server, String key, String path, String body) throws Exception {
    return send(
        request(server, key, path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body)),
        body);
  }

  private static HttpRequest.Builder request(Server server, String key, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .header("Authorization", "Bearer " + key);
  }

  private int send(HttpRequest.Builder builder, String body)
      throws IOException, InterruptedException {
    HttpRequest request = builder.build();
    HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
    Documented.check(
        request.method(),
        request.uri().getRawPath(),
        body.getBytes(StandardCharsets.UTF_8),
        response);
    return response.statusCode();
  }
}
