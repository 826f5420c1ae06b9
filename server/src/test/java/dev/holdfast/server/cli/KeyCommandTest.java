package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class KeyCommandTest {
  @TempDir private Path data = Path.of("");

  private final Typed typed = new Typed();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.shutdownNow();
  }

  // A running server is asked

  @Test
  void a_key_opens_the_running_server_at_once_and_is_shown_alone_on_standard_output()
      throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("key", "create", "--role", "viewer", "--tenant", "acme")).isZero();
      assertThat(typed.out).matches("hf_[0-9a-z]{8}_[0-9a-z]{39}\\R");
      assertThat(typed.err)
          .contains("the role viewer for the tenant acme", "only this once")
          .doesNotContain(typed.out.strip());
      String key = typed.out.strip();
      assertThat(status(server, key, "GET", "/v1/endpoints")).isEqualTo(200);
      assertThat(status(server, key, "GET", "/v1/endpoints", "Holdfast-Tenant", "other"))
          .isEqualTo(403);
      assertThat(status(server, key, "GET", "/v1/keys")).isEqualTo(403);
    }
  }

  @Test
  void a_key_still_opens_the_server_after_a_restart_until_it_is_revoked() throws Exception {
    String key;
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "viewer", "--name", "checkout");
      key = typed.out.strip();
    }
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(status(server, key, "GET", "/v1/events/absent")).isEqualTo(404);
      assertThat(typed.run("key", "list")).isZero();
      assertThat(typed.out).contains("checkout", "viewer", "default").doesNotContain(key);
      String id = typed.out.replaceAll("(?s).*(key_[0-9A-Z]{13}).*", "$1");
      assertThat(typed.run("key", "revoke", id)).isZero();
      assertThat(status(server, key, "GET", "/v1/events/absent")).isEqualTo(401);
      assertThat(typed.run("key", "revoke", id)).isEqualTo(1);
      assertThat(typed.err).contains("404");
    }
    try (RunningServer server = new RunningServer(data)) {
      assertThat(status(server, key, "GET", "/v1/events/absent")).isEqualTo(401);
    }
  }

  @Test
  void an_admin_of_a_tenant_manages_the_keys_of_that_tenant_only() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "admin", "--all-tenants", "--name", "wide");
      typed.run("key", "create", "--role", "admin", "--tenant", "acme", "--name", "narrow");
      typed.at(server.url(), typed.out.strip());
      assertThat(typed.run("key", "create", "--role", "viewer", "--name", "own")).isZero();
      assertThat(typed.err).contains("the tenant acme");
      assertThat(typed.run("key", "create", "--role", "viewer", "--tenant", "other")).isEqualTo(1);
      assertThat(typed.err).contains("403", "another tenant");
      assertThat(typed.run("key", "create", "--role", "viewer", "--all-tenants")).isEqualTo(1);
      assertThat(typed.err).contains("403", "acme");
      typed.run("key", "list");
      assertThat(typed.out).contains("narrow", "own").doesNotContain("wide");

      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "list", "--json");
      String wide = id("wide");
      assertThat(typed.run("key", "revoke", wide, "--tenant", "acme")).isEqualTo(1);
      assertThat(typed.err).contains("404");
    }
  }

  @Test
  void the_last_admin_key_for_all_tenants_cannot_be_revoked() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "admin", "--all-tenants", "--name", "one");
      typed.run("key", "create", "--role", "admin", "--tenant", "acme", "--name", "narrow");
      typed.run("key", "list", "--json");
      String one = id("one");
      assertThat(typed.run("key", "revoke", one)).isEqualTo(1);
      assertThat(typed.err).contains("409", "Make another one first");
      typed.run("key", "create", "--role", "admin", "--all-tenants", "--name", "two");
      assertThat(typed.run("key", "revoke", one)).isZero();
    }
  }

  @Test
  void only_an_admin_manages_keys_and_what_is_asked_for_is_checked() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      for (String body :
          new String[] {
            "{}",
            "{\"role\":\"king\"}",
            "{\"role\":\"viewer\",\"tenant\":\"No Such Name\"}",
            "{\"role\":\"viewer\",\"name\":\"\"}",
            "{\"role\":\"viewer\",\"name\":\"a\\u0007b\"}",
            "{\"role\":\"viewer\",\"expires\":1}",
            "{\"role\":\"viewer\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}",
            "{\"role\":\"viewer\",\"expiresAt\":\"tomorrow\"}",
            "{\"role\":\"viewer\",\"expiresIn\":\"0s\"}",
            "{\"role\":\"viewer\",\"expiresIn\":\"36501d\"}",
            "{\"role\":\"viewer\",\"expiresIn\":\"1h\",\"expiresAt\":\"2099-01-01T00:00:00Z\"}"
          }) {
        assertThat(post(server, body)).as(body).contains("\"status\":400");
      }
      assertThat(post(server, "{\"role\":\"viewer\"}"))
          .contains("\"tenant\":\"default\"", "\"key\":\"hf_", "\"name\":\"viewer ");
      assertThat(post(server, "{\"role\":\"viewer\",\"tenant\":null}")).contains("\"tenant\":null");
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "operator");
      assertThat(status(server, typed.out.strip(), "GET", "/v1/keys")).isEqualTo(403);
      assertThat(status(server, RunningServer.KEY, "DELETE", "/v1/keys/nonsense")).isEqualTo(404);
    }
  }

  @Test
  void a_wrong_or_absent_key_is_told_with_where_it_comes_from() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), "hf_secret_but_wrong");
      assertThat(typed.run("key", "list")).isEqualTo(1);
      assertThat(typed.err)
          .contains("does not know the key from HOLDFAST_KEY", "first start")
          .doesNotContain("hf_secret");
      typed.environment.remove("HOLDFAST_KEY");
      assertThat(typed.run("key", "list")).isEqualTo(1);
      assertThat(typed.err).contains("none was given", "HOLDFAST_KEY", "--key-file");
      typed.environment.put("HOLDFAST_ADMIN_KEY", RunningServer.KEY);
      assertThat(typed.run("key", "list")).isZero();
      typed.environment.clear();
      Path file = Files.writeString(data.resolve("key"), RunningServer.KEY + "\n");
      assertThat(typed.run("key", "list", "--server", server.url(), "--key-file", file.toString()))
          .isZero();
    }
  }

  @Test
  void a_publisher_sends_events_and_is_told_so_when_it_asks_for_more() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "publisher", "--name", "checkout");
      typed.at(server.url(), typed.out.strip());
      assertThat(typed.run("send", "--type", "order.paid", "--id", "o-1")).isZero();
      assertThat(typed.out).contains("Accepted o-1");
      assertThat(typed.run("send", "--type", "order.paid", "--id", "o-1")).isZero();
      assertThat(typed.out).contains("Was accepted before");
      assertThat(typed.run("messages", "list")).isEqualTo(1);
      assertThat(typed.err).contains("403", "the role publisher may not do this");
    }
  }

  @Test
  void a_key_ends_when_it_is_told_to_and_shows_when_it_was_used() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("key", "create", "--role", "viewer", "--expires", "90d")).isZero();
      assertThat(typed.err).contains("and ends at 2");
      String key = typed.out.strip();
      typed.run("key", "create", "--role", "viewer", "--expires", "2099-01-31T12:00:00Z");
      assertThat(typed.err).contains("and ends at 2099-01-31T12:00:00Z");
      assertThat(
              typed.run("key", "create", "--role", "viewer", "--expires", "2020-01-31T12:00:00Z"))
          .isEqualTo(1);
      assertThat(typed.err).contains("expiresAt", "a time to come");
      typed.run("key", "list");
      assertThat(typed.out).contains("USED", "ENDS", "in 89 d");
      assertThat(status(server, key, "GET", "/v1/endpoints")).isEqualTo(200);
      typed.run("key", "list", "--json");
      assertThat(typed.out).containsPattern("\"lastUsedAt\":\"2").contains("\"lastUsedAt\":null");
    }
    typed.environment.clear();
    assertThat(typed.run("key", "list", "--json", "--data", data.toString())).isZero();
    assertThat(typed.out).as("written at the end").containsPattern("\"lastUsedAt\":\"2");
    assertThat(create("--role", "viewer", "--expires", "2020-01-31T12:00:00Z")).isEqualTo(1);
    assertThat(typed.err).contains("is over");
    assertThat(create("--role", "viewer", "--expires", "1h")).isZero();
  }

  // Without a server the store is opened

  @Test
  void without_a_server_the_store_is_opened() throws Exception {
    new RunningServer(data).close();
    assertThat(create("--role", "admin", "--all-tenants", "--name", "found")).isZero();
    String key = typed.out.strip();
    assertThat(typed.err).contains("all tenants", data.toString());
    assertThat(typed.run("key", "list", "--data", data.toString())).isZero();
    assertThat(typed.out).contains("found", "(all)");
    String id = typed.out.replaceAll("(?s).*(key_[0-9A-Z]{13}).*", "$1");
    assertThat(typed.run("key", "revoke", id, "--data", data.toString())).isEqualTo(1);
    assertThat(typed.err).contains("last admin key");
    try (RunningServer server = new RunningServer(data)) {
      assertThat(status(server, key, "GET", "/v1/keys")).isEqualTo(200);
    }
  }

  @Test
  void nobody_has_to_name_anything_where_the_usual_places_are_right() throws Exception {
    new RunningServer(data).close();
    typed.environment.put("HOLDFAST_DATA", data.toString());
    typed.environment.put("HOLDFAST_SERVER_PORT", "1");
    assertThat(typed.run("key", "list")).isZero();
    assertThat(typed.err).contains("No server answers, so the store in " + data);
    try (RunningServer server = new RunningServer(data)) {
      assertThat(typed.run("key", "list")).isEqualTo(1);
      assertThat(typed.err).contains("A running server has the store", "None answers", "--server");
      typed.environment.put("HOLDFAST_SERVER_PORT", "" + server.port());
      typed.environment.put("HOLDFAST_KEY", RunningServer.KEY);
      assertThat(typed.run("key", "list")).isZero();
    }
  }

  @Test
  void a_store_that_a_server_has_is_left_alone() throws Exception {
    try (RunningServer _ = new RunningServer(data)) {
      assertThat(create("--role", "viewer")).isEqualTo(1);
      assertThat(typed.err).contains("A running server has the store", "Leave --data out");
      assertThat(typed.out).isEmpty();
    }
  }

  @Test
  void a_directory_without_a_store_is_not_made_into_one() {
    assertThat(create("--role", "viewer")).isEqualTo(1);
    assertThat(typed.err).contains("There is no store in " + data);
    assertThat(data).isEmptyDirectory();
  }

  @Test
  void a_server_that_was_named_and_does_not_answer_is_not_replaced_by_a_store() throws Exception {
    new RunningServer(data).close();
    typed.environment.put("HOLDFAST_DATA", data.toString());
    typed.environment.put("HOLDFAST_SERVER", "http://127.0.0.1:1");
    assertThat(typed.run("key", "list")).isEqualTo(1);
    assertThat(typed.err)
        .contains("No server answers at http://127.0.0.1:1", "./holdfast serve", "--server");
  }

  // Wrong usage

  @Test
  void wrong_usage_is_told_before_anything_is_done() {
    for (String[] arguments :
        new String[][] {
          {"key"},
          {"key", "create"},
          {"key", "create", "--role", "king"},
          {"key", "create", "--role", "viewer", "--tenant", "A b"},
          {"key", "create", "--role", "viewer", "--tenant", "", "--data", data.toString()},
          {"key", "list", "--tenant", "A b", "--data", data.toString()},
          {"key", "create", "--role", "viewer", "--tenant", "a", "--all-tenants"},
          {"key", "create", "--role", "viewer", "--name", ""},
          {"key", "create", "--role", "viewer", "--expires", "soon"},
          {"key", "create", "--role", "viewer", "--expires", "40000d"},
          {"key", "create", "--role", "viewer", "--data", "x", "--server", "http://127.0.0.1:1"},
          {"key", "list", "--server", "nonsense"},
          {"key", "list", "--server", "ftp://127.0.0.1"},
          {"key", "revoke"},
          {"key", "revoke", "nonsense"},
          {"key", "revoke", "key_00HN3XW5G0400", "more"},
          {"key", "destroy"}
        }) {
      assertThat(typed.run(arguments)).as(String.join(" ", arguments)).isEqualTo(2);
      assertThat(typed.err).contains("Try ./holdfast key").doesNotContain("\tat ");
      assertThat(typed.out).isEmpty();
    }
  }

  private int create(String... more) {
    String[] arguments = new String[more.length + 4];
    arguments[0] = "key";
    arguments[1] = "create";
    arguments[2] = "--data";
    arguments[3] = data.toString();
    System.arraycopy(more, 0, arguments, 4, more.length);
    return typed.run(arguments);
  }

  /** The id of the key of this name, from a list in JSON. */
  private String id(String name) {
    return typed
        .out
        .lines()
        .filter(line -> line.contains("\"name\":\"" + name + "\""))
        .map(line -> line.replaceAll(".*\"id\":\"([^\"]*)\".*", "$1"))
        .findFirst()
        .orElseThrow();
  }

  private int status(
      RunningServer server, String key, String method, String path, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        request(server, key, path).method(method, BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.discarding()).statusCode();
  }

  private String post(RunningServer server, String body) throws Exception {
    HttpResponse<String> response =
        client.send(
            request(server, RunningServer.KEY, "/v1/keys")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString());
    return response.body();
  }

  private static HttpRequest.Builder request(RunningServer server, String key, String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path))
        .header("Authorization", "Bearer " + key);
  }
}
