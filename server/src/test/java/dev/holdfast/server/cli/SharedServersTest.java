package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Settings.Sources;
import io.vertx.core.Vertx;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers with one database are one system. */
@Timeout(180)
class SharedServersTest {
  private static final String KEY = "key-of-the-test";

  private static @Nullable EmbeddedPostgres postgres;
  private static int databases;

  @TempDir private Path directory = Path.of("");

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Server> running = new ArrayList<>();
  private String url = "";

  @BeforeAll
  static void startPostgres() throws Exception {
    postgres = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
  }

  @AfterAll
  static void stopPostgres() throws Exception {
    server().close();
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    running.forEach(server -> server.stop().await());
  }

  @Test
  void what_is_made_through_one_server_is_seen_through_another_at_once() throws Exception {
    createDatabase();
    Server one = start("cluster.name=one", "admin.key=" + KEY);
    Server two = start("cluster.name=two", "admin.key=" + KEY);
    BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    Vertx vertx = Vertx.vertx();
    try {
      int port =
          new Receiver(
                  vertx,
                  InstantSource.system(),
                  new Receiver.Manner(200, Duration.ZERO, 0),
                  arrivals::add)
              .listen("127.0.0.1", 0)
              .await()
              .actualPort();
      for (int i = 0; i < 8; i++) {
        HttpResponse<String> made =
            post(
                one,
                "/v1/subscriptions",
                "{\"url\":\"http://127.0.0.1:%d/%d\",\"types\":[\"order.*\"]}".formatted(port, i));
        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        String id = made.body().replaceAll("(?s).*?\"id\":\"(sub_[^\"]*)\".*", "$1");
        assertThat(get(two, "/v1/subscriptions/" + id).statusCode()).isEqualTo(200);
        String endpoint = made.body().replaceAll("(?s).*?\"(ep_[^\"]*)\".*", "$1");
        assertThat(get(two, "/v1/endpoints/" + endpoint).statusCode()).isEqualTo(200);
        HttpResponse<String> frozen = post(two, "/v1/endpoints/" + endpoint + "/freeze", "");
        assertThat(frozen.statusCode()).as(frozen.body()).isEqualTo(200);
        assertThat(frozen.body()).contains("\"state\":\"frozen\"");
        assertThat(post(one, "/v1/endpoints/" + endpoint + "/enable", "").body())
            .contains("\"state\":\"enabled\"");
      }
      assertThat(get(two, "/v1/endpoints?state=enabled").body().split("\"ep_", -1)).hasSize(9);

      assertThat(post(two, "/v1/events", "{\"type\":\"order.paid\",\"data\":{}}").statusCode())
          .isEqualTo(202);

      for (int i = 0; i < 8; i++) {
        assertThat(arrivals.poll(30, TimeUnit.SECONDS)).as("message %d", i).isNotNull();
      }
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void of_two_servers_that_start_at_once_one_prints_the_key_which_opens_both() throws Exception {
    createDatabase();
    StringWriter printed = new StringWriter();
    List<CompletableFuture<Server>> starting = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      starting.add(CompletableFuture.supplyAsync(() -> unchecked(() -> started(printed))));
    }
    for (CompletableFuture<Server> each : starting) {
      running.add(each.get(60, TimeUnit.SECONDS));
    }

    assertThat(printed.toString().split("hf_", -1)).hasSize(2);
    String key = printed.toString().replaceAll("(?s).*?(hf_\\S+).*", "$1");
    for (Server server : running) {
      await(() -> get(server, "/v1/subscriptions", key).statusCode() == 200);
    }
  }

  @Test
  void a_key_that_was_made_through_one_server_opens_another_at_once() throws Exception {
    createDatabase();
    Server one = start("admin.key=" + KEY);
    Server two = start("admin.key=" + KEY);
    for (int i = 0; i < 5; i++) {
      HttpResponse<String> made = post(one, "/v1/keys", "{\"role\":\"viewer\",\"tenant\":null}");
      assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
      String key = made.body().replaceAll("(?s).*\"key\":\"(hf_[^\"]*)\".*", "$1");
      assertThat(get(two, "/v1/subscriptions", key).statusCode()).isEqualTo(200);
      String id = made.body().replaceAll("(?s).*?\"id\":\"(key_[^\"]*)\".*", "$1");
      assertThat(get(two, "/v1/keys").body()).contains(id);
    }
    assertThat(get(two, "/v1/subscriptions", "hf_unknown").statusCode()).isEqualTo(401);
  }

  @Test
  void whoever_signs_in_at_one_server_is_signed_in_and_out_at_all() throws Exception {
    createDatabase();
    Server one = start("admin.key=" + KEY);
    Server two = start("admin.key=" + KEY);
    HttpResponse<String> made = post(one, "/v1/keys", "{\"role\":\"viewer\",\"tenant\":null}");
    String key = made.body().replaceAll("(?s).*\"key\":\"(hf_[^\"]*)\".*", "$1");
    String id = made.body().replaceAll("(?s).*?\"id\":\"(key_[^\"]*)\".*", "$1");
    for (String each : List.of(key, KEY)) {
      HttpResponse<String> begun = post(two, "/v1/session", "{\"key\":\"" + each + "\"}");
      assertThat(begun.statusCode()).as(begun.body()).isEqualTo(201);
      String csrf = begun.body().replaceAll("(?s).*\"csrf\":\"([^\"]*)\".*", "$1");
      String cookie = cookie(begun);
      assertThat(look(one, cookie)).as("at once").isEqualTo(200);
      HttpResponse<String> ended =
          client.send(
              browser(one, cookie).header("Holdfast-Csrf", csrf).DELETE().build(),
              BodyHandlers.ofString());
      assertThat(ended.statusCode()).as(ended.body()).isEqualTo(204);
      assertThat(look(one, cookie)).isEqualTo(401);
      await(() -> look(two, cookie) == 401);
    }
    String cookie = cookie(post(two, "/v1/session", "{\"key\":\"" + key + "\"}"));
    assertThat(look(one, cookie)).isEqualTo(200);
    HttpResponse<String> revoked =
        client.send(request(one, "/v1/keys/" + id, KEY).DELETE().build(), BodyHandlers.ofString());
    assertThat(revoked.statusCode()).isEqualTo(204);
    assertThat(look(one, cookie)).as("the session ends with its key").isEqualTo(401);
    await(() -> look(two, cookie) == 401);
  }

  private static String cookie(HttpResponse<String> begun) {
    return begun.headers().firstValue("set-cookie").orElseThrow().split(";", 2)[0];
  }

  private int look(Server server, String cookie) throws Exception {
    return client.send(browser(server, cookie).build(), BodyHandlers.ofString()).statusCode();
  }

  private static HttpRequest.Builder browser(Server server, String cookie) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/session"))
        .header("Cookie", cookie);
  }

  @Test
  void what_is_written_down_of_a_start_has_no_password() throws Exception {
    createDatabase();
    url = url.replace("password=postgres", "password=canary-in-url");
    Server server = start("admin.key=" + KEY, "store.password=canary-password");
    String entries = get(server, "/v1/audit").body();
    assertThat(entries)
        .contains("server.started", "\"store.url\":\"****\"", "\"store.password\":\"****\"")
        .doesNotContain("canary");
    assertThat(get(server, "/v1/settings").body())
        .contains("{\"name\":\"store.password\",\"value\":\"****\",\"default\":\"\",")
        .doesNotContain("canary");
  }

  @Test
  void people_see_the_servers_and_what_each_has() throws Exception {
    createDatabase();
    Server one = start("cluster.name=one", "admin.key=" + KEY);
    Server two = start("cluster.name=two", "admin.key=" + KEY);
    await(() -> get(one, "/v1/cluster").body().split("\"shards\":128", -1).length == 3);

    Typed typed = new Typed().at("http://127.0.0.1:" + two.port(), KEY);
    typed.run("cluster");

    assertThat(typed.out).contains("NAME", "SHARDS", "one", "two", "128");
    assertThat(get(one, "/metrics").body())
        .contains("holdfast_cluster_nodes 2.0")
        .contains("holdfast_cluster_shards 128.0")
        .contains("holdfast_store_away 0.0");
  }

  @Test
  void a_server_is_not_ready_while_its_database_is_away_and_lives_on() throws Exception {
    createDatabase();
    Server server = start("admin.key=" + KEY);
    await(() -> get(server, "/health/ready").statusCode() == 200);

    allowConnections(false);
    await(() -> get(server, "/health/ready").statusCode() == 503);
    assertThat(get(server, "/health/live").statusCode()).isEqualTo(200);
    HttpResponse<String> refused =
        post(server, "/v1/events", "{\"type\":\"order.paid\",\"data\":{}}");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("urn:holdfast:problem:store-away");
    assertThat(get(server, "/v1/endpoints").body()).contains("urn:holdfast:problem:store-away");
    allowConnections(true);

    await(() -> get(server, "/health/ready").statusCode() == 200);
    await(
        () ->
            post(server, "/v1/events", "{\"type\":\"order.paid\",\"data\":{}}").statusCode()
                == 202);
  }

  private Server start(String... assignments) throws Exception {
    Server server = started(new StringWriter(), assignments);
    running.add(server);
    return server;
  }

  private Server started(StringWriter out, String... assignments) throws Exception {
    List<String> all = new ArrayList<>(List.of(assignments));
    all.addAll(List.of("store.url=" + url, "server.port=0", "egress.allow=127.0.0.0/8"));
    return Wiring.start(
        Settings.read(
            new Sources(
                null,
                Map.of("HOLDFAST_DATA", directory.resolve("data").toString()),
                all,
                Map.of())),
        InstantSource.system(),
        new PrintWriter(out, true));
  }

  private static <T> T unchecked(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static EmbeddedPostgres server() {
    EmbeddedPostgres started = postgres;
    if (started == null) {
      throw new IllegalStateException("not started");
    }
    return started;
  }

  private void createDatabase() throws Exception {
    String name = "holdfast_" + ++databases;
    execute("CREATE DATABASE " + name);
    url = url(name);
  }

  private static String url(String name) {
    return "jdbc:postgresql://localhost:%d/%s?user=postgres&password=postgres"
        .formatted(server().getPort(), name);
  }

  private static void execute(String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url("postgres"));
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void allowConnections(boolean isAllowed) throws Exception {
    String name = "holdfast_" + databases;
    execute("ALTER DATABASE " + name + " ALLOW_CONNECTIONS " + isAllowed);
    if (!isAllowed) {
      execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'");
    }
  }

  private HttpResponse<String> get(Server server, String path) throws Exception {
    return get(server, path, KEY);
  }

  private HttpResponse<String> get(Server server, String path, String key) throws Exception {
    return client.send(request(server, path, key).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(Server server, String path, String body) throws Exception {
    return client.send(
        request(server, path, KEY)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static HttpRequest.Builder request(Server server, String path, String key) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .header("Authorization", "Bearer " + key);
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime() - end).isNegative();
      LockSupport.parkNanos(10_000_000);
    }
  }
}
