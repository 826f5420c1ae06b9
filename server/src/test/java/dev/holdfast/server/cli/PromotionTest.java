package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Subscriptions that go from one real server to another. */
@Timeout(120)
class PromotionTest {
  private static final String PLAIN =
      """
      {"url":"http://127.0.0.1:9/plain","types":["order.*"]}""";

  private static final String LIMITED =
      """
      {"url":"http://127.0.0.1:9/limited","types":["b","a"],"subject":"s \\u00e9","rateLimit":0.5}""";

  private static final String FILTERED =
      """
      {"url":"http://127.0.0.1:9/plain","types":["order.*"],"filterConnector":"OR","filters":[\
      {"fieldName":"amount","fieldValue":"100","comparison":"gt"},{"fieldName":"country","fieldValue":"${AT}","comparison":"eq"}]}""";

  private static final String IN_VERSION_1 =
      """
      {"url":"http://127.0.0.1:9/versions","types":["PROJ.UPDATE"],"format":"workfront","version":"v1"}""";

  private static final String IN_VERSION_2 =
      """
      {"url":"http://127.0.0.1:9/versions","types":["PROJ.CREATE"],"format":"workfront","version":"v2"}""";

  private static final String WITHOUT_VERSIONS =
      """
      {"url":"http://127.0.0.1:9/versions","types":["PROJ.DELETE"],"format":"cloudevents","version":null}""";

  private static final String SECRETIVE =
      """
      {"url":"http://127.0.0.1:9/secretive?key=key-of-staging","types":["*"],"format":"workfront","base64Encoding":true,\
      "authToken":"token-of-staging","headers":{"X-Team":"checkout-team"}}""";

  @TempDir private Path directory = Path.of("");

  private final Typed typed = new Typed();
  private RunningServer staging;
  private RunningServer production;

  @SuppressWarnings("NullAway.Init")
  PromotionTest() {}

  @BeforeEach
  void start() throws Exception {
    staging = new RunningServer(directory.resolve("staging"), "egress.ports=9");
    production = new RunningServer(directory.resolve("production"), "egress.ports=9");
  }

  @AfterEach
  void stop() {
    staging.close();
    production.close();
  }

  private Typed at(RunningServer server) {
    return typed.at(server.url(), RunningServer.KEY);
  }

  private void subscribe(String... subscriptions) {
    at(staging)
        .input(
            "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[%s]}"
                .formatted(String.join(",", subscriptions)));
    assertThat(typed.run("subscriptions", "import", "-")).as(typed.err).isZero();
  }

  private String exported(RunningServer server) {
    assertThat(at(server).run("subscriptions", "export")).as(typed.err).isZero();
    return typed.out;
  }

  @Test
  void what_is_exported_and_imported_is_exported_the_same() throws Exception {
    subscribe(PLAIN, LIMITED, FILTERED);
    Path file = directory.resolve("subscriptions.json");
    assertThat(typed.run("subscriptions", "export", "--file", file.toString())).isZero();
    assertThat(typed.err).contains("Exported 3 subscriptions.").doesNotContain("variables");
    at(production);
    assertThat(typed.run("subscriptions", "import", file.toString(), "--dry-run")).isZero();
    assertThat(typed.out).contains("3 to create, 0 to change, 0 unchanged.");
    assertThat(typed.run("subscriptions")).isZero();
    assertThat(typed.out).contains("There are no subscriptions.");
    assertThat(typed.run("subscriptions", "import", file.toString())).as(typed.err).isZero();
    assertThat(typed.out.lines().filter(line -> line.contains("whsec_"))).hasSize(3);
    assertThat(exported(production)).isEqualTo(Files.readString(file));
    assertThat(typed.run("subscriptions", "import", file.toString())).isZero();
    assertThat(typed.out).contains("Nothing to change: 3 unchanged.");
    assertThat(exported(production)).isEqualTo(Files.readString(file));
  }

  @Test
  void versions_go_along() {
    subscribe(IN_VERSION_1, IN_VERSION_2);
    String export = exported(staging);
    assertThat(export.lines().map(String::strip).filter("\"version\": \"v1\""::equals)).hasSize(1);
    assertThat(export).doesNotContain("v2");
    assertThat(at(production).input(export).run("subscriptions", "import", "-"))
        .as(typed.err)
        .isZero();
    assertThat(exported(production)).isEqualTo(export);
    assertThat(typed.input(export).run("subscriptions", "import", "-")).isZero();
    assertThat(typed.out).contains("Nothing to change: 2 unchanged.");
    typed.input(export.replace("\"v1\"", "\"v2\""));
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(typed.out).contains("0 to create, 1 to change, 1 unchanged.");
    assertThat(exported(production)).doesNotContain("\"v1\"");
  }

  @Test
  void a_format_without_versions_goes_along_without_one() {
    subscribe(WITHOUT_VERSIONS);
    String export = exported(staging);
    assertThat(export).contains("cloudevents").doesNotContain("v2", "null");
    assertThat(at(production).input(export).run("subscriptions", "import", "-"))
        .as(typed.err)
        .isZero();
    assertThat(exported(production)).isEqualTo(export);
    assertThat(typed.input(export).run("subscriptions", "import", "-")).isZero();
    assertThat(typed.out).contains("Nothing to change: 1 unchanged.");
  }

  @Test
  void numbers_keep_their_digits_however_many_and_whatever_they_mean() {
    String digits = "7".repeat(5_000);
    List<String> numbers =
        List.of("1e99999999999", "-1E-99999999999", "-0", "1.50", "1e5", digits, "0." + digits);
    subscribe(
        "{\"url\":\"http://127.0.0.1:9/\",\"types\":[\"t\"],\"filters\":[%s]}"
            .formatted(
                numbers.stream()
                    .map(
                        number ->
                            "{\"fieldName\":\"n\",\"fieldValue\":%s,\"comparison\":\"eq\"}"
                                .formatted(number))
                    .collect(Collectors.joining(","))));
    String export = exported(staging);
    assertThat(export.lines().map(String::strip))
        .containsAll(numbers.stream().map(number -> "\"fieldValue\": " + number + ",").toList());
    assertThat(at(production).input(export).run("subscriptions", "import", "-"))
        .as(typed.err)
        .isZero();
    assertThat(exported(production)).isEqualTo(export);
    assertThat(typed.run("subscriptions", "list", "--json")).isZero();
    numbers.forEach(
        number -> assertThat(typed.out).contains("\"fieldValue\":" + number + ",\"comparison\""));
  }

  @Test
  void tokens_and_headers_come_from_the_environment() throws Exception {
    subscribe(SECRETIVE);
    Path file = directory.resolve("subscriptions.json");
    Path secrets = directory.resolve("secrets.ndjson");
    assertThat(typed.run("subscriptions", "export", "--file", file.toString())).isZero();
    assertThat(Files.readString(file)).doesNotContain("of-staging", "checkout", "****");
    at(production);
    assertThat(typed.run("subscriptions", "import", file.toString())).isEqualTo(1);
    assertThat(typed.err)
        .contains("missing or empty", "AUTH_TOKEN_sub_", "HEADER_X_TEAM_sub_", "URL_sub_");
    typed
        .err
        .lines()
        .filter(line -> line.startsWith("  "))
        .forEach(
            line -> {
              String name = line.strip().replaceFirst(" .*", "");
              String url = name.startsWith("URL_") ? "http://127.0.0.1:9/secretive?key=" : "";
              typed.environment.put(name, url + "of-production");
            });
    String[] command = {
      "subscriptions", "import", file.toString(), "--secrets", secrets.toString()
    };
    assertThat(typed.run(command)).as(typed.err).isZero();
    assertThat(Files.readString(secrets)).contains("\"secret\":\"whsec_").hasLineCount(1);
    assertThat(typed.out + typed.err).doesNotContain("of-production", "whsec_");
    assertThat(withoutIds(exported(production))).isEqualTo(withoutIds(Files.readString(file)));
    assertThat(typed.run(command)).isZero();
    assertThat(typed.out).contains("Nothing to change");
    typed.environment.replaceAll(
        (name, value) -> name.startsWith("AUTH_TOKEN_") ? "another-one" : value);
    assertThat(typed.run(command)).isZero();
    assertThat(typed.out)
        .contains("0 to create, 1 to change, 0 unchanged.")
        .contains("to change: http://127.0.0.1:9/secretive?key=****");
    assertThat(typed.err).contains("Imported: 0 created, 1 changed, 0 unchanged.");
  }

  private static String withoutIds(String export) {
    return export.replaceAll("_sub_[0-9A-Z]+", "");
  }

  @Test
  void thousands_go_in_parts_and_a_mistake_in_the_last_changes_nothing() {
    String[] many = new String[2_300];
    for (int i = 0; i < many.length; i++) {
      many[i] = "{\"url\":\"http://127.0.0.1:9/%d\",\"types\":[\"t\"]}".formatted(i % 40 + i);
    }
    many[2_200] = "{\"url\":\"http://127.0.0.1:9/\",\"types\":[\"t\",7]}";
    String file =
        "{\"holdfast\":\"subscriptions\",\"version\":1,\"subscriptions\":[%s]}"
            .formatted(String.join(",", many));
    assertThat(at(staging).input(file).run("subscriptions", "import", "-")).isEqualTo(1);
    assertThat(typed.err).contains("subscriptions[2200].types[1]: ", "Nothing was changed.");
    assertThat(typed.run("subscriptions", "list", "--json")).isZero();
    assertThat(typed.out).isEmpty();
    many[2_200] = PLAIN;
    subscribe(many);
    assertThat(typed.err).contains("Imported: 2,300 created, 0 changed, 0 unchanged.");
    String export = exported(staging);
    assertThat(at(production).input(export).run("subscriptions", "import", "-")).isZero();
    assertThat(exported(production)).isEqualTo(export);
    assertThat(typed.run("subscriptions", "import", "-")).isZero();
    assertThat(typed.out).contains("Nothing to change: 2,300 unchanged.");
  }
}
