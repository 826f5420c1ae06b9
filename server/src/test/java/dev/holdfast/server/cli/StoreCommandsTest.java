package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.ApiKey.Role;
import dev.holdfast.engine.store.SqliteStore;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that open a database by themselves. */
@Timeout(120)
final class StoreCommandsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  private final Typed typed = new Typed();
  private final String url = TestDatabases.fresh();

  @BeforeEach
  void open() {
    typed.environment.put("HOLDFAST_STORE_PASSWORD", TestDatabases.PASSWORD);
  }

  /** A database that an embedded store was moved into: it has a key, secrets and an audit log. */
  private void move() throws Exception {
    try (SqliteStore store = SqliteStore.open(data)) {
      store.apiKeys().put("one", Role.ADMIN, null, new byte[32], Instant.now());
    }
    assertThat(run("migrate", "--from", data.toString(), "--to", url)).as(typed.err).isZero();
  }

  private int run(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--user", "postgres"));
    int code = typed.run(all.toArray(String[]::new));
    assertThat(typed.out + typed.err).doesNotContain(TestDatabases.PASSWORD);
    return code;
  }

  private String keyFile() {
    return "secrets.key-file=" + data.resolve("master.key");
  }

  @Test
  void keys_are_made_listed_and_revoked_in_the_database() throws Exception {
    move();
    assertThat(run("key", "create", "--role", "viewer", "--store", url)).as(typed.err).isZero();
    assertThat(typed.out).matches("hf_[0-9a-z]{8}_[0-9a-z]{39}\\R");
    assertThat(typed.err).contains("It is in the store in " + url);
    assertThat(run("key", "list", "--store", url)).isZero();
    assertThat(typed.out).contains("viewer", "one");
    String id = typed.out.replaceAll("(?s).*(key_[0-9A-Z]{13})  viewer.*", "$1");
    assertThat(run("key", "revoke", id, "--store", url)).as(typed.err).isZero();
    assertThat(run("key", "revoke", id, "--store", url)).isEqualTo(ExitCode.FAILED);
    assertThat(run("audit", "verify", "--store", url)).as(typed.err).isZero();
    assertThat(typed.err).contains("3 entries in 2 chains");
  }

  @Test
  void the_database_of_the_environment_is_opened_when_no_server_answers() throws Exception {
    move();
    typed.environment.put("HOLDFAST_STORE_URL", url);
    typed.environment.put("HOLDFAST_SERVER_PORT", "1");
    assertThat(run("key", "list")).as(typed.err).isZero();
    assertThat(typed.err).contains("No server answers, so the database is opened");
    assertThat(typed.out).contains("one");
  }

  @Test
  void one_of_them_is_named() {
    assertThat(run("key", "list", "--store", url, "--data", data.toString()))
        .isEqualTo(ExitCode.USAGE);
    assertThat(run("key", "list", "--store", url, "--server", "http://127.0.0.1:1"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(run("master-key", "show", "--store", url, "--server", "http://127.0.0.1:1"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_database_without_tables_is_left_alone() {
    assertThat(run("key", "list", "--store", url)).isEqualTo(ExitCode.FAILED);
    assertThat(typed.err).contains("has no tables yet", "./holdfast schema --apply");
    assertThat(run("schema", "--store", url)).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("has no tables");
  }

  @Test
  void the_master_key_is_shown_and_rotated() throws Exception {
    move();
    assertThat(run("master-key", "show", "--store", url, "--set", keyFile()))
        .as(typed.err)
        .isZero();
    String before = typed.out;
    assertThat(before).contains("in use since");
    assertThat(run("master-key", "rotate", "--store", url, "--set", keyFile()))
        .as(typed.err)
        .isZero();
    assertThat(typed.out).contains("is in use instead of", "every server");
    assertThat(run("master-key", "show", "--store", url, "--set", keyFile())).isZero();
    assertThat(typed.out).isNotEqualTo(before);
    assertThat(run("master-key", "show", "--store", url, "--set", "secrets.key-file=absent"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(typed.err).contains("All nodes of a store need the same master key");
  }

  @Test
  void a_database_is_checked() throws Exception {
    move();
    String file = data.resolve("master.key").toString();
    assertThat(run("check", "--store", url, "--key-file", file)).as(typed.out).isZero();
    assertThat(typed.out).contains("each is as it was written").doesNotContain("not opened");
    assertThat(run("check", "--store", url, "--set", keyFile())).as(typed.out).isZero();
    assertThat(typed.out).doesNotContain("not opened");
    assertThat(run("check", "--store", url, "--set", "secrets.key-file=absent")).isZero();
    assertThat(typed.out).contains("What is sealed was not opened");
    assertThat(run("check", "--store", url + "_none")).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("Make it: createdb");
    TestDatabases.executeAt(url, "UPDATE api_keys SET name = 'other'");
    assertThat(run("check", "--store", url, "--key-file", file)).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("is damaged", "api_keys");
  }

  @Test
  void backups_of_a_database_are_made_otherwise() {
    assertThat(typed.run("backup", "--store", url, "--to", "file")).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("pg_dump", "pg_basebackup", "master key");
    assertThat(typed.run("restore", "--store", url, "--from", "file")).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("pg_restore", "master key");
    typed.environment.put("HOLDFAST_STORE_URL", url);
    assertThat(typed.run("backup", "--to", "file")).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("pg_dump");
  }
}
