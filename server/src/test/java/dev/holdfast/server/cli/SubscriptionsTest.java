package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscriptions that are listed, exported and imported, against a server that is faked. */
@Timeout(60)
class SubscriptionsTest {
  private static final String IMPORT = "POST /v1/subscriptions/import";

  private static final String PLAIN =
      """
      {"id":"sub_1","url":"https://b.example/","types":["order.*"],"subject":null,"filters":[],\
      "filterConnector":"AND","format":"holdfast","version":null,"base64Encoding":false,"authToken":null,"headers":{},\
      "secrets":[{"signature":"v1","createdAt":"2026-03-01T11:00:00Z","validUntil":null}],"endpoint":"ep_1","paused":false,\
      "rateLimit":null,"tls":null,"goneAt":null,"createdAt":"2026-03-01T11:00:00Z","changedAt":"2026-03-01T11:00:00Z"}""";

  private static final String FULL =
      """
      {"id":"sub_2","url":"https://a.example/hook","types":["order.paid","order.sent"],"subject":"o-1",\
      "filters":[{"fieldName":"amount","fieldValue":1.10,"comparison":"gt"}],"filterConnector":"OR",\
      "format":"workfront","version":"v1","base64Encoding":true,"authToken":"****cret","headers":{"x.a":"****","X-A":"****","X-Team":"****"},\
      "secrets":[{"signature":"v1a","publicKey":"whpk_AAAA"}],"endpoint":"ep_2","paused":true,"rateLimit":0.5,"goneAt":null,"createdAt":"2026-03-01T11:00:00Z","changedAt":"2026-03-01T12:00:00Z"}""";

  private static final String EXPORTED =
      """
      {
        "holdfast": "subscriptions",
        "version": 1,
        "subscriptions": [
          {
            "url": "https://a.example/hook",
            "types": [
              "order.paid",
              "order.sent"
            ],
            "subject": "o-1",
            "filters": [
              {
                "fieldName": "amount",
                "fieldValue": 1.10,
                "comparison": "gt"
              }
            ],
            "filterConnector": "OR",
            "format": "workfront",
            "version": "v1",
            "base64Encoding": true,
            "authToken": "${AUTH_TOKEN_sub_2}",
            "headers": {
              "X-A": "${HEADER_X_A_sub_2}",
              "X-Team": "${HEADER_X_TEAM_sub_2}",
              "x.a": "${HEADER_X_A_sub_2_2}"
            },
            "rateLimit": 0.5,
            "signature": "v1a"
          },
          {
            "url": "https://b.example/",
            "types": [
              "order.*"
            ]
          }
        ]
      }
      """;

  private static final String NOTHING_NEW =
      """
      {"dryRun":true,"created":0,"changed":0,"unchanged":1,"subscriptions":[{"result":"unchanged","id":"sub_1","url":"https://b.example/"}]}""";

  private static final String WOULD_CREATE =
      """
      {"dryRun":true,"created":1,"changed":0,"unchanged":0,"subscriptions":[{"result":"created","id":null,"url":"https://b.example/"}]}""";

  private static final String WOULD_CHANGE =
      """
      {"dryRun":true,"created":0,"changed":1,"unchanged":0,"subscriptions":[{"result":"changed","id":"sub_1","url":"https://b.example/"}]}""";

  private static final String CREATED =
      """
      {"dryRun":false,"created":1,"changed":0,"unchanged":0,\
      "subscriptions":[{"result":"created","id":"sub_9","url":"https://b.example/","secret":"whsec_bWFkZQ=="}]}""";

  @TempDir private Path directory = Path.of("");

  private final FakeApi api;
  private final Typed typed = new Typed();

  SubscriptionsTest() throws IOException {
    api = new FakeApi();
    typed.at(api.url(), "hf_key");
  }

  @AfterEach
  void close() {
    api.close();
  }

  private static String file(String... subscriptions) {
    return "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[%s]}"
        .formatted(String.join(",", subscriptions));
  }

  private static String subscription(String url) {
    return "{\"url\":\"%s\",\"types\":[\"order.*\"]}".formatted(url);
  }

  private static String list(String next, String... items) {
    return "{\"items\":[%s],\"next\":%s}".formatted(String.join(",", items), next);
  }

  private FakeApi twoPages() {
    return api.on("GET /v1/subscriptions?limit=1000", 200, list("\"c 1\"", PLAIN))
        .on("GET /v1/subscriptions?limit=1000&cursor=c%201", 200, list("null", FULL));
  }

  // list

  @Test
  void subscriptions_are_listed() {
    api.on("GET /v1/subscriptions?limit=50", 200, list("null", PLAIN, FULL));
    assertThat(typed.run("subscriptions")).isZero();
    assertThat(typed.out).hasLineCount(3);
    assertThat(typed.out.lines().toList().get(2))
        .matches(
            "sub_2 +paused +workfront +1 +https://a.example/hook +order.paid, order.sent +o-1");
    assertThat(typed.run("subscriptions", "list", "--json")).isZero();
    assertThat(typed.out.lines()).hasSize(2).first().isEqualTo(PLAIN);
    api.on("GET /v1/subscriptions?limit=7", 200, list("null"));
    assertThat(typed.run("subscriptions", "--limit", "7")).isZero();
    assertThat(typed.out).contains("There are no subscriptions.");
  }

  // export

  @Test
  void an_export_has_all_pages_in_a_fixed_order_without_ids_times_defaults_and_tokens() {
    twoPages();
    assertThat(typed.run("subscriptions", "export")).isZero();
    assertThat(typed.out).isEqualTo(EXPORTED);
    assertThat(typed.err.lines())
        .containsExactly(
            "Exported 2 subscriptions.",
            "Paused, which the file does not say: 1. Where they are new, an import makes them active.",
            "An import needs these environment variables:",
            "  AUTH_TOKEN_sub_2",
            "  HEADER_X_A_sub_2",
            "  HEADER_X_A_sub_2_2",
            "  HEADER_X_TEAM_sub_2");
  }

  @Test
  void alike_subscriptions_are_exported_in_the_order_of_their_ids() {
    String later = PLAIN.replace("sub_1", "sub_3").replace("\"rateLimit\":null", "\"rateLimit\":7");
    api.on("GET /v1/subscriptions?limit=1000", 200, list("null", later, PLAIN));
    assertThat(typed.run("subscriptions", "export")).isZero();
    String firstWay = typed.out;
    try (FakeApi other = new FakeApi()) {
      other.on("GET /v1/subscriptions?limit=1000", 200, list("null", PLAIN, later));
      typed.at(other.url(), "hf_key");
      assertThat(typed.run("subscriptions", "export")).isZero();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    assertThat(typed.out).isEqualTo(firstWay).containsOnlyOnce("\"rateLimit\": 7");
  }

  @Test
  void an_export_replaces_a_file_only_when_told_to() throws Exception {
    twoPages();
    Path file = directory.resolve("subscriptions.json");
    assertThat(typed.run("subscriptions", "export", "--file", file.toString())).isZero();
    assertThat(file).hasContent(EXPORTED);
    assertThat(typed.out).isEmpty();
    Files.writeString(file, "precious");
    int asked = api.asked.size();
    assertThat(typed.run("subscriptions", "export", "--file", file.toString())).isEqualTo(1);
    assertThat(typed.err).contains("is there already", "--force");
    assertThat(file).hasContent("precious");
    assertThat(api.asked).hasSize(asked);
    assertThat(typed.run("subscriptions", "export", "--force", "--file", file.toString())).isZero();
    assertThat(file).hasContent(EXPORTED);
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void an_export_that_fails_leaves_what_was_there() throws Exception {
    api.on("GET /v1/subscriptions?limit=1000", 200, list("\"c\"", PLAIN))
        .on("GET /v1/subscriptions?limit=1000&cursor=c", 500, "{\"detail\":\"broken\"}");
    Path file = Files.writeString(directory.resolve("f"), "precious");
    assertThat(typed.run("subscriptions", "export", "--force", "--file", file.toString()))
        .isEqualTo(1);
    assertThat(file).hasContent("precious");
    assertThat(typed.run("subscriptions", "export")).isEqualTo(1);
    assertThat(typed.out).isEmpty();
    twoPages();
    for (String bad : List.of(directory.toString(), directory.resolve("no/such").toString())) {
      assertThat(typed.run("subscriptions", "export", "--file", bad)).isEqualTo(1);
      assertThat(typed.err).hasLineCount(1).doesNotContain("Exception");
    }
  }

  // What is in a file

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[{\"authToken\":hush}]}",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[]} {}",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"version\":1,\"subscriptions\":[]}",
        "{\"version\":1,\"subscriptions\":[]}",
        "{\"holdfast\":\"endpoints\",\"version\":1,\"subscriptions\":[]}",
        "{\"holdfast\":\"subscriptions\",\"subscriptions\":[]}",
        "{\"holdfast\":\"subscriptions\",\"version\":2,\"subscriptions\":[]}",
        "{\"holdfast\":\"subscriptions\",\"version\":1.5,\"subscriptions\":[]}",
        "{\"holdfast\":\"subscriptions\",\"version\":\"1\",\"subscriptions\":[]}",
        "{\"holdfast\":\"subscriptions\",\"version\":1}",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":{}}",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[1]}",
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[],\"more\":1}"
      })
  void what_is_no_export_is_refused_in_one_line_and_nothing_is_sent(String text) {
    assertThat(typed.input(text).run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.err)
        .hasLineCount(1)
        .startsWith("Standard input ")
        .doesNotContain("hush", "Exception");
    assertThat(api.asked).isEmpty();
  }

  @Test
  void a_file_that_cannot_be_read_is_told() {
    for (Path bad : List.of(directory, directory.resolve("absent"))) {
      assertThat(typed.run("subscriptions", "import", bad.toString())).isEqualTo(1);
      assertThat(typed.err).hasLineCount(1).contains("cannot be read").doesNotContain("Exception");
    }
    assertThat(typed.run("subscriptions", "import")).isEqualTo(2);
    assertThat(typed.run("subscriptions", "export", "--force")).isEqualTo(2);
    assertThat(typed.input(file()).run("subscriptions", "import", "-")).isZero();
    assertThat(typed.err).contains("nothing to do");
    assertThat(api.asked).isEmpty();
  }

  // Placeholders

  @Test
  void placeholders_are_filled_from_the_environment_and_their_values_never_printed() {
    api.on(IMPORT, 200, NOTHING_NEW);
    typed.environment.put("URL", "https://b.example/");
    typed.environment.put("TOKEN", "tok-1");
    typed.environment.put("TEAM", "team-1");
    typed.environment.put("SECRET", "whsec_x");
    typed.input(
        file(
            """
            {"url":"${URL}","types":["${TOKEN}"],"subject":"${TOKEN}","authToken":"${TOKEN}","secret":"${SECRET}",\
            "filters":[{"fieldValue":"${TOKEN}"}],"headers":{"X-Team":"${TEAM}","X-Part":"a ${TEAM}"}}"""));
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(api.bodies)
        .containsExactly(
            """
            {"subscriptions":[{"url":"https://b.example/","types":["${TOKEN}"],"subject":"${TOKEN}","authToken":"tok-1","secret":"whsec_x",\
            "filters":[{"fieldValue":"${TOKEN}"}],"headers":{"X-Team":"team-1","X-Part":"a ${TEAM}"}}],"dryRun":true}""");
    assertThat(typed.err)
        .contains("SECRET", "TEAM", "TOKEN", "URL")
        .contains("sent as they stand", "subscriptions[0].headers.X-Part")
        .doesNotContain("tok-1", "team-1", "whsec_x");
    assertThat(typed.out).doesNotContain("tok-1", "team-1", "whsec_x");
  }

  @Test
  void all_variables_that_are_missing_are_named_and_nothing_is_sent() {
    typed.environment.put("EMPTY", "");
    typed.input(
        file(
            "{\"authToken\":\"${TOKEN}\",\"headers\":{\"X\":\"${EMPTY}\"}}",
            "{\"authToken\":\"${TOKEN}\"}"));
    assertThat(typed.run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.err.lines())
        .containsExactly(
            "Nothing was sent. These environment variables are missing or empty:",
            "  TOKEN for subscriptions[0].authToken, subscriptions[1].authToken",
            "  EMPTY for subscriptions[0].headers.X");
    assertThat(api.asked).isEmpty();
  }

  @Test
  void no_file_can_send_the_key_to_an_endpoint() {
    typed.input(file("{\"headers\":{\"X\":\"${HOLDFAST_KEY}\"}}"));
    assertThat(typed.run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.err)
        .contains("HOLDFAST_KEY in subscriptions[0].headers.X")
        .doesNotContain("hf_key");
    assertThat(api.asked).isEmpty();
  }

  // import

  @Test
  void an_import_asks_first_then_does_it_and_prints_made_secrets_once() {
    api.on(IMPORT, 200, WOULD_CREATE).on(IMPORT, 200, CREATED);
    typed.input(file(subscription("https://b.example/")));
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(api.bodies)
        .containsExactly(
            "{\"subscriptions\":[%s],\"dryRun\":true}"
                .formatted(subscription("https://b.example/")),
            "{\"subscriptions\":[%s],\"dryRun\":false}"
                .formatted(subscription("https://b.example/")));
    assertThat(typed.out.lines())
        .containsExactly(
            "1 to create, 0 to change, 0 unchanged.",
            "ID     SECRET          URL                 TYPES",
            "sub_9  whsec_bWFkZQ==  https://b.example/  order.*");
    assertThat(typed.err)
        .contains("shown only this once", "Imported: 1 created, 0 changed, 0 unchanged.");
  }

  @Test
  void a_dry_run_tells_the_plan_and_changes_nothing() {
    String plan =
        """
        {"dryRun":true,"created":1,"changed":1,"unchanged":0,"subscriptions":[\
        {"result":"created","id":null,"url":"https://b.example/"},{"result":"changed","id":"sub_4","url":"https://c.example/\\u001b[2J"}]}""";
    api.on(IMPORT, 200, plan);
    typed.input(file(subscription("https://b.example/"), subscription("https://c.example/")));
    Path secrets = directory.resolve("secrets");
    assertThat(
            typed.run("subscriptions", "import", "-", "--dry-run", "--secrets", secrets.toString()))
        .isZero();
    assertThat(typed.out.lines())
        .containsExactly(
            "1 to create, 1 to change, 0 unchanged.", "  to change: https://c.example/?[2J");
    assertThat(typed.err).contains("dry run, and nothing was changed");
    assertThat(api.bodies).singleElement().asString().endsWith("\"dryRun\":true}");
    assertThat(secrets).doesNotExist();
    assertThat(typed.run("subscriptions", "import", "-", "--dry-run", "--json")).isZero();
    assertThat(typed.out).isEqualTo(plan.replace("\\u001b", "\\u001B") + System.lineSeparator());
  }

  @Test
  void an_import_of_what_is_there_changes_nothing_and_says_so() {
    api.on(IMPORT, 200, NOTHING_NEW);
    typed.input(file(subscription("https://b.example/")));
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(typed.out).contains("Nothing to change: 1 unchanged.");
    assertThat(api.asked).hasSize(1);
    assertThat(typed.run("subscriptions", "import", "-", "--json")).isZero();
    assertThat(typed.out).isEqualTo(NOTHING_NEW + System.lineSeparator());
  }

  @Test
  void made_secrets_go_to_a_new_file_that_only_its_owner_may_read() throws Exception {
    api.on(IMPORT, 200, WOULD_CREATE).on(IMPORT, 200, CREATED).on(IMPORT, 200, WOULD_CREATE);
    Path file = directory.resolve("secrets.ndjson");
    typed.input(file(subscription("https://b.example/")));
    String[] command = {"subscriptions", "import", "-", "--json", "--secrets", file.toString()};
    assertThat(typed.run(command)).isZero();
    assertThat(typed.out).contains("\"id\":\"sub_9\"").doesNotContain("whsec_");
    assertThat(typed.err).doesNotContain("whsec_");
    assertThat(file)
        .hasContent(
            "{\"id\":\"sub_9\",\"url\":\"https://b.example/\",\"types\":[\"order.*\"],\"secret\":\"whsec_bWFkZQ==\"}\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(typed.run(command)).isEqualTo(1);
    assertThat(typed.err).contains("is there already", "Nothing was changed");
    assertThat(api.bodies).last().asString().endsWith("\"dryRun\":true}");
  }

  @Test
  void an_older_file_of_secrets_is_in_the_way_only_when_there_are_new_ones() throws Exception {
    api.on(IMPORT, 200, WOULD_CHANGE)
        .on(IMPORT, 200, WOULD_CHANGE.replace("\"dryRun\":true", "\"dryRun\":false"));
    Path file = Files.writeString(directory.resolve("secrets"), "old");
    typed.input(file(subscription("https://b.example/")));
    assertThat(typed.run("subscriptions", "import", "-", "--secrets", file.toString())).isZero();
    assertThat(typed.err).contains("Imported: 0 created, 1 changed, 0 unchanged.");
    assertThat(file).hasContent("old");
  }

  @Test
  void a_file_for_secrets_that_stays_empty_is_removed() {
    api.on(IMPORT, 200, WOULD_CREATE).on(IMPORT, 200, CREATED.replace("\"secret\":", "\"x\":"));
    Path file = directory.resolve("secrets");
    typed.input(file(subscription("https://b.example/")));
    assertThat(typed.run("subscriptions", "import", "-", "--secrets", file.toString())).isZero();
    assertThat(file).doesNotExist();
  }

  // Many

  private static String many(int size) {
    String[] all = new String[size];
    for (int i = 0; i < size; i++) {
      all[i] = subscription("https://h.example/" + i);
    }
    return file(all);
  }

  @Test
  void many_are_sent_in_parts_of_a_thousand_with_a_progress_bar() {
    api.on(IMPORT, 200, WOULD_CREATE)
        .on(IMPORT, 200, WOULD_CREATE)
        .on(IMPORT, 200, NOTHING_NEW)
        .on(IMPORT, 200, CREATED);
    typed.input(many(2_001)).terminal(100);
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(api.bodies).hasSize(6);
    assertThat(api.bodies.subList(0, 3)).allMatch(body -> body.endsWith("\"dryRun\":true}"));
    assertThat(api.bodies.subList(3, 6)).allMatch(body -> body.endsWith("\"dryRun\":false}"));
    assertThat(api.bodies.stream().map(body -> body.split("\"url\"", -1).length - 1))
        .containsExactly(1_000, 1_000, 1, 1_000, 1_000, 1);
    assertThat(typed.err)
        .contains("49 %  1,000 of 2,001 subscriptions checked", "2,001 of 2,001 subscriptions")
        .contains("Imported: 3 created");
  }

  @Test
  void parts_stay_below_what_the_server_takes_however_large_subscriptions_are() {
    api.on(IMPORT, 200, NOTHING_NEW);
    String large = "{\"url\":\"https://h.example/%d\",\"subject\":\"" + "x".repeat(60_000) + "\"}";
    String[] all = new String[300];
    for (int i = 0; i < all.length; i++) {
      all[i] = large.formatted(i);
    }
    assertThat(typed.input(file(all)).run("subscriptions", "import", "-")).isZero();
    assertThat(api.bodies).allMatch(body -> body.length() < 16 << 20).hasSizeGreaterThan(1);
  }

  @Test
  void subscriptions_that_are_told_by_the_same_stay_in_one_request() {
    api.on(IMPORT, 200, NOTHING_NEW);
    String many = many(1_500);
    String again = "{\"url\":\"HTTPS://h.example:443/3\",\"types\":[\"order.*\"],\"rateLimit\":1}";
    typed.input(many.substring(0, many.length() - 2) + "," + again + "]}");
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(api.bodies).hasSize(2);
    assertThat(api.bodies.getFirst()).contains("https://h.example/3\"", "HTTPS://h.example:443/3");
  }

  @Test
  void a_problem_is_told_with_its_place_in_the_whole_file() {
    api.on(IMPORT, 200, WOULD_CREATE)
        .on(
            IMPORT,
            400,
            """
            {"title":"A field has a value that it cannot have","detail":"Use eq.","field":"subscriptions[203].filters[0].comparison"}""");
    assertThat(typed.input(many(1_300)).run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.err)
        .contains("subscriptions[1203].filters[0].comparison: Use eq. Nothing was changed.");
    assertThat(api.bodies).hasSize(2).allMatch(body -> body.endsWith("\"dryRun\":true}"));
  }

  @Test
  void an_import_that_fails_midway_tells_how_far_it_came_and_keeps_the_secrets() {
    api.on(IMPORT, 200, WOULD_CREATE)
        .on(IMPORT, 200, WOULD_CREATE)
        .on(IMPORT, 200, CREATED)
        .on(IMPORT, 503, "{\"title\":\"Full\",\"detail\":\"No room.\"}");
    assertThat(typed.input(many(1_001)).run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.out).contains("whsec_bWFkZQ==");
    assertThat(typed.err)
        .contains("Full (503): No room. 1,000 of 1,001 subscriptions were imported before.")
        .contains("Import the same file again");
  }

  @Test
  void somebody_who_ends_an_import_still_gets_the_secrets_made_so_far() {
    api.on(IMPORT, 200, WOULD_CREATE).on(IMPORT, 200, WOULD_CREATE).on(IMPORT, 200, CREATED);
    typed.waitsUntilAsked = 1;
    assertThat(typed.input(many(1_001)).run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(api.bodies).hasSize(3);
    assertThat(typed.out).contains("whsec_bWFkZQ==");
    assertThat(typed.err).contains("Ended as asked. 1,000 of 1,001 subscriptions");
  }

  @Test
  void a_connection_that_breaks_midway_tells_that_secrets_may_be_lost() throws Exception {
    try (ServerSocket rude = new ServerSocket(0)) {
      Thread.ofVirtual().start(() -> answerOnceAndBreak(rude));
      typed.at("http://127.0.0.1:" + rude.getLocalPort(), "k");
      typed.input(file(subscription("https://b.example/")));
      assertThat(typed.run("subscriptions", "import", "-")).isEqualTo(1);
      assertThat(typed.err)
          .contains("Whether the next part, of 1, was imported is not known", "rotate", "0 of 1");
    }
  }

  private static void answerOnceAndBreak(ServerSocket server) {
    try {
      for (String answer :
          List.of(
              "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                  .formatted(WOULD_CREATE.length(), WOULD_CREATE),
              "rude")) {
        try (Socket connection = server.accept()) {
          byte[] request = new byte[1 << 16];
          String read = "";
          while (!read.contains("\"dryRun\"")) {
            int count = connection.getInputStream().read(request);
            read += new String(request, 0, Math.max(0, count), StandardCharsets.UTF_8);
          }
          connection.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void a_server_that_does_not_know_imports_is_told() {
    assertThat(
            typed
                .input(file(subscription("https://b.example/")))
                .run("subscriptions", "import", "-"))
        .isEqualTo(1);
    assertThat(typed.err).contains("404").hasLineCount(1);
  }
}
