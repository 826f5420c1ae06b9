package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.server.api.Documented;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The master key as its operator meets it. */
@Timeout(120)
class MasterKeyTest {
  private static final String ONE = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
  private static final String TWO = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

  @TempDir private Path data = Path.of("");

  private final Typed typed = new Typed();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.shutdownNow();
  }

  private Path keyFile() {
    return data.resolve("master.key");
  }

  @Test
  void a_first_start_makes_a_key_file_for_its_owner_alone() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("master-key", "show")).isZero();
      assertThat(typed.out).matches("[0-9a-f]{8}, in use since \\S+Z, from .*master.key\\R");
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(keyFile())))
        .isEqualTo("rw-------");
  }

  @Test
  void a_key_is_changed_while_the_server_runs_and_what_is_sealed_stays_readable() throws Exception {
    String before;
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      HttpResponse<byte[]> created =
          send(
              server,
              RunningServer.KEY,
              "POST",
              "/v1/subscriptions",
              "{\"url\":\"http://127.0.0.1:4999/?token=canary\",\"types\":[\"a\"],\"authToken\":\"canary\"}");
      assertThat(created.statusCode()).isEqualTo(201);
      before = Files.readString(keyFile());
      assertThat(typed.run("master-key", "rotate")).isZero();
      assertThat(typed.out)
          .containsPattern("[0-9a-f]{8} is in use instead of [0-9a-f]{8}")
          .doesNotContain(before.strip())
          .doesNotContain(Files.readString(keyFile()).strip());
      assertThat(Files.readString(keyFile())).isNotEqualTo(before).hasLineCount(1);
    }
    try (RunningServer server = new RunningServer(data)) {
      assertThat(send(server, RunningServer.KEY, "GET", "/v1/endpoints", "").body())
          .asString(StandardCharsets.UTF_8)
          .contains("127.0.0.1:4999");
    }
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.toList()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
            .as("%s", file)
            .doesNotContain("canary");
      }
    }
    Files.writeString(keyFile(), before);
    CannotStart refused =
        catchThrowableOfType(CannotStart.class, () -> new RunningServer(data).close());
    assertThat(refused)
        .hasMessageContainingAll("are sealed under the master key", "which was not found");
  }

  @Test
  void a_key_that_is_set_is_changed_by_a_start_with_both() throws Exception {
    try (RunningServer server = new RunningServer(data, "secrets.key=" + ONE)) {
      typed.at(server.url(), RunningServer.KEY);
      assertThat(typed.run("master-key", "rotate")).isEqualTo(1);
      assertThat(typed.err).contains("409", "Start the server again with the new key");
    }
    assertThat(keyFile()).doesNotExist();
    try (RunningServer server = new RunningServer(data, "secrets.key=" + TWO + "," + ONE)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("master-key", "show", "--json");
      assertThat(typed.out).contains("\"dataKeys\":2", "secrets.key (--set)").doesNotContain(TWO);
    }
    new RunningServer(data, "secrets.key=" + TWO).close();
    CannotStart refused =
        catchThrowableOfType(
            CannotStart.class, () -> new RunningServer(data, "secrets.key=" + ONE).close());
    assertThat(refused).message().contains("secrets.key (--set) has the key").doesNotContain(ONE);
  }

  @Test
  void only_an_admin_of_all_tenants_may_look_at_it_or_change_it() throws Exception {
    try (RunningServer server = new RunningServer(data)) {
      typed.at(server.url(), RunningServer.KEY);
      typed.run("key", "create", "--role", "admin", "--tenant", "acme");
      String ofTenant = typed.out.strip();
      typed.run("key", "create", "--role", "operator", "--all-tenants");
      String operator = typed.out.strip();
      String file = Files.readString(keyFile());
      for (String key : new String[] {ofTenant, operator}) {
        assertThat(send(server, key, "GET", "/v1/master-key", "").statusCode()).isEqualTo(403);
        assertThat(send(server, key, "POST", "/v1/master-key/rotate", "").statusCode())
            .isEqualTo(403);
      }
      assertThat(Files.readString(keyFile())).isEqualTo(file);
    }
  }

  @Test
  void a_key_file_that_others_can_read_is_told_at_the_start_and_by_the_doctor() throws Exception {
    new RunningServer(data).close();
    Files.setPosixFilePermissions(keyFile(), PosixFilePermissions.fromString("rw-r--r--"));
    typed.run("doctor", "--data", data.toString(), "--port", "0");
    assertThat(typed.out).contains("others can read the master key", "chmod 600");
    try (RunningServer server = new RunningServer(data)) {
      assertThat(server.warnings()).singleElement().asString().contains("chmod 600");
    }
  }

  @Test
  void a_check_and_a_key_need_no_master_key() throws Exception {
    new RunningServer(data).close();
    Files.delete(keyFile());
    assertThat(typed.run("check", "--data", data.toString())).isZero();
    assertThat(typed.out).contains("What is sealed was not opened", "--key-file");
    assertThat(typed.run("key", "create", "--role", "admin", "--all-tenants", "--data", data + ""))
        .isZero();
    typed.run("doctor", "--data", data.toString(), "--port", "0");
    assertThat(typed.out).contains("there is no master key in");
  }

  private HttpResponse<byte[]> send(
      RunningServer server, String key, String method, String path, String body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .header("Authorization", "Bearer " + key)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
    Documented.check(method, path, body.getBytes(StandardCharsets.UTF_8), response);
    return response;
  }
}
