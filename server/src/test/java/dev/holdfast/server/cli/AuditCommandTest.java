package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class AuditCommandTest {
  @TempDir private Path data = Path.of("");

  private final Typed typed = new Typed();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.shutdownNow();
  }

  private Item call(RunningServer server, String method, String path, String json)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .header("Authorization", "Bearer " + RunningServer.KEY)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(json))
            .build();
    HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
    String answer = response.body();
    assertThat(response.statusCode()).as(answer).isLessThan(300);
    Item item = Item.read(answer.isEmpty() ? "{}" : answer);
    return Objects.requireNonNull(item, answer);
  }

  private List<Item> entries(RunningServer server, String query) throws Exception {
    return call(server, "GET", "/v1/audit" + query, "").list("items").stream()
        .map(item -> item.object("entry"))
        .toList();
  }

  private List<String> actions(RunningServer server) throws Exception {
    return entries(server, "").reversed().stream().map(entry -> entry.text("action")).toList();
  }

  @Test
  void whatever_is_changed_over_http_is_written_down() throws Exception {
    HttpServer receiver =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(500, -1);
          exchange.close();
        });
    receiver.start();
    try (RunningServer server = new RunningServer(data, "retry.unit=1h")) {
      String wish =
          """
          {"url": "http://127.0.0.1:%d/in?code=planted-in-a-query", "types": ["order.paid"],
           "authToken": "planted-as-a-token", "headers": {"X-Key": "planted-as-a-header"},
           "secret": "whsec_cGxhbnRlZC1hcy1hLXNlY3JldC1vZi0zMC1ieXRlcw=="}
          """
              .formatted(receiver.getAddress().getPort());
      Item made = call(server, "POST", "/v1/subscriptions", wish);
      String subscription = "/v1/subscriptions/" + made.text("id");
      String endpoint = "/v1/endpoints/" + made.text("endpoint");
      call(server, "PATCH", subscription, "{\"subject\": \"one\"}");
      call(server, "PATCH", subscription, "{\"subject\": \"one\"}");
      call(server, "PATCH", subscription, "{\"subject\": null}");
      call(server, "POST", subscription + "/pause", "");
      call(server, "POST", subscription + "/resume", "");
      call(server, "POST", subscription + "/rotate", "{}");
      call(server, "PATCH", endpoint, "{\"rateLimit\": 5}");
      call(server, "PATCH", endpoint, "{\"rateLimit\": 5}");
      call(server, "POST", endpoint + "/disable", "");
      call(server, "POST", endpoint + "/disable", "");
      call(server, "POST", endpoint + "/freeze", "");
      call(server, "POST", endpoint + "/enable", "");
      call(server, "POST", "/v1/events", "{\"type\": \"order.paid\", \"data\": {}}");
      String message = waiting(server);
      call(server, "POST", "/v1/messages/" + message + "/retry", "");
      Item replay = call(server, "POST", "/v1/replays", "{\"status\": [\"dropped\"]}");
      Item key = call(server, "POST", "/v1/keys", "{\"role\": \"viewer\"}");
      call(server, "DELETE", "/v1/keys/" + key.text("id"), "");
      call(server, "DELETE", subscription, "");
      assertThat(actions(server))
          .containsExactly(
              "server.started",
              "subscription.created",
              "subscription.changed",
              "subscription.changed",
              "subscription.paused",
              "subscription.resumed",
              "subscription.secret-rotated",
              "endpoint.changed",
              "endpoint.disabled",
              "endpoint.frozen",
              "endpoint.enabled",
              "message.retried",
              "replay.started",
              "key.created",
              "key.revoked",
              "subscription.deleted");
      assertThat(entries(server, "?target=" + replay.text("id"))).hasSize(1);
      assertThat(entries(server, "?target=" + made.text("id"))).hasSize(7);
      assertThat(entries(server, "?action=subscription.deleted&actor=admin.key")).hasSize(1);
      assertThat(entries(server, "?until=2020-01-01T00:00:00Z")).isEmpty();
      Item created = entries(server, "?action=subscription.created").getFirst();
      assertThat(created.object("actor").text("kind")).isEqualTo("key");
      assertThat(created.object("actor").text("name")).isEqualTo("admin.key");
      assertThat(created.isNull("before")).isTrue();
      assertThat(created.object("after").text("authToken")).isEqualTo("****oken");
      String all = call(server, "GET", "/v1/audit?limit=1000", "").json();
      assertThat(all)
          .doesNotContain("planted", "cGxhbnRl", RunningServer.KEY)
          .contains("\"retry.unit\":\"1h\"", "\"admin.key\":\"****\"");
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("audit", "verify")).isZero();
      assertThat(typed.out.lines())
          .hasSize(2)
          .allMatch(line -> line.matches("(default)?:\\d+:\\w{64}"));
      assertThat(typed.err).contains("16 entries in 2 chains");
    } finally {
      receiver.stop(0);
    }
  }

  /** The only message, once its first attempt has failed. */
  private String waiting(RunningServer server) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (true) {
      List<Item> found = call(server, "GET", "/v1/messages?status=waiting", "").list("items");
      if (!found.isEmpty()) {
        return found.getFirst().text("id");
      }
      assertThat(System.nanoTime()).as("the attempt ends").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  @Test
  void an_import_is_written_down_for_each_subscription_that_it_makes() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      String wishes =
          """
          {"subscriptions": [{"url": "http://127.0.0.1:19999/a", "types": ["a"]},
                             {"url": "http://127.0.0.1:19999/b", "types": ["b"], "rateLimit": 2}]}
          """;
      call(server, "POST", "/v1/subscriptions/import", wishes);
      call(server, "POST", "/v1/subscriptions/import", wishes);
      assertThat(actions(server))
          .containsExactly(
              "server.started", "endpoint.changed", "subscription.created", "subscription.created");
    }
  }

  @Test
  void a_tenant_sees_its_own_chain_and_only_its_admins_do() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "admin", "--tenant", "acme", "--name", "narrow");
      String narrow = typed.out.strip();
      typed.run("key", "create", "--role", "operator", "--tenant", "acme");
      String operator = typed.out.strip();
      typed.run("key", "create", "--role", "viewer", "--tenant", "other");
      assertThat(typed.run("audit", "list")).isZero();
      assertThat(typed.out).contains("(all)", "acme", "other", "key.created", "server.started");
      typed.at(server.url(), narrow);
      assertThat(typed.run("audit", "list", "--limit", "1")).isZero();
      assertThat(typed.out).contains("acme", "There are more").doesNotContain("(all)", "other");
      assertThat(typed.run("audit", "verify")).isZero();
      assertThat(typed.out).matches("acme:2:[0-9a-f]{64}\\R");
      String ofAll = call(server, "GET", "/v1/audit?limit=1", "").text("next");
      assertThat(status(server, narrow, ofAll)).as("a cursor of all chains").isEqualTo(400);
      assertThat(status(server, RunningServer.KEY, ofAll)).isEqualTo(200);
      typed.at(server.url(), operator);
      assertThat(typed.run("audit", "list")).isEqualTo(1);
      assertThat(typed.err).contains("403");
    }
  }

  private int status(RunningServer server, String key, String cursor) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/audit?cursor=" + cursor))
            .header("Authorization", "Bearer " + key)
            .build();
    return client.send(request, BodyHandlers.discarding()).statusCode();
  }

  @Test
  void a_start_that_fails_is_not_told_as_one() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Settings settings =
          Settings.read(
              new Settings.Sources(
                  null,
                  Map.of("HOLDFAST_DATA", data.toString()),
                  List.of("admin.key=" + RunningServer.KEY, "server.port=" + taken.getLocalPort()),
                  Map.of()));
      PrintWriter nowhere = new PrintWriter(new StringWriter());
      assertThatThrownBy(() -> Wiring.start(settings, InstantSource.system(), nowhere))
          .isInstanceOf(CannotStart.class);
    }
    try (RunningServer server = new RunningServer(data)) {
      assertThat(actions(server)).containsExactly("server.started");
    }
  }

  @Test
  void a_key_that_is_made_without_a_server_is_made_by_the_systems_user() throws Exception {
    try (RunningServer _ = new RunningServer(data)) {
      // The store is there.
    }
    typed.run("key", "create", "--role", "viewer", "--data", data.toString());
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("audit", "list", "--action", "key.created", "--json")).isZero();
      assertThat(typed.out)
          .contains("\"kind\":\"command-line\"", System.getProperty("user.name", "unknown"));
      assertThat(actions(server))
          .containsExactly("server.started", "key.created", "server.started");
    }
  }

  @Test
  void a_log_that_was_changed_is_found_and_the_entry_named() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      for (int i = 0; i < 4; i++) {
        typed.run("key", "create", "--role", "viewer", "--tenant", "acme");
      }
      assertThat(typed.run("audit", "verify")).isZero();
    }
    String head = typed.out.lines().filter(line -> line.startsWith("acme:")).findFirst().orElse("");
    change("DELETE FROM audit WHERE chain = 'acme' AND number = 4");
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("audit", "verify")).isZero();
      assertThat(typed.run("audit", "verify", "--head", head)).isEqualTo(ExitCode.FAILED);
      assertThat(typed.err).contains("in the chain of acme, entry 4 was kept and is missing");
      assertThat(typed.run("audit", "verify", "--head", "acme")).isEqualTo(ExitCode.USAGE);
    }
    change("UPDATE audit SET entry = replace(entry, 'viewer', 'admin') WHERE number = 2");
    assertThat(typed.run("check", "--data", data.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("audit log: chain \"acme\": entry 2 was changed");
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("audit", "verify")).isEqualTo(ExitCode.FAILED);
      assertThat(typed.err)
          .contains("The audit log was changed: in the chain of acme, entry 2 was changed.");
      assertThat(typed.run("audit", "verify", "--json")).isEqualTo(ExitCode.FAILED);
      assertThat(typed.out.lines())
          .hasSize(3)
          .contains("{\"chain\":\"acme\",\"number\":2,\"problem\":\"was changed\"}")
          .anyMatch(
              line -> line.matches("\\{\"chain\":\"acme\",\"number\":3,\"hash\":\"\\w{64}\"}"));
    }
  }

  private void change(String sql) throws Exception {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + data.resolve("holdfast.db"));
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate(sql)).isPositive();
    }
  }

  @Test
  void a_command_alone_is_asked_what_it_is_to_do() {
    assertThat(typed.run("audit")).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("list or verify");
  }
}
