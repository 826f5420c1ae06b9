package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.ApiKey.Role;
import dev.holdfast.engine.store.SqliteStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class MigrateTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  private final Typed typed = new Typed();
  private final String url = TestDatabases.fresh();

  @BeforeEach
  void open() {
    typed.environment.put("HOLDFAST_STORE_PASSWORD", TestDatabases.PASSWORD);
  }

  private void fill() throws Exception {
    try (SqliteStore store = SqliteStore.open(data)) {
      store.apiKeys().put("one", Role.ADMIN, null, new byte[32], Instant.now());
    }
  }

  private int migrate(String to) {
    return typed.run("migrate", "--from", data.toString(), "--to", to, "--user", "postgres");
  }

  @Test
  void a_store_is_moved_and_the_two_are_shown_side_by_side() throws Exception {
    fill();
    assertThat(migrate(url)).as(typed.err).isZero();
    assertThat(typed.out)
        .containsPattern("api_keys +1 +1 +[0-9a-f]{16} +[0-9a-f]{16} +equal")
        .contains("has everything up to", "is equal", "0 messages are unfinished")
        .containsPattern("under the master key [0-9a-f]{8}, which is not in the database")
        .contains(data.resolve("master.key").toString());
    assertThat(typed.out + typed.err).doesNotContain("NOT EQUAL", TestDatabases.PASSWORD);
    assertThat(migrate(url)).isZero();
    assertThat(typed.out).contains("was moved to", "already", "Nothing was done");
  }

  @Test
  void the_password_is_not_shown_also_when_it_is_in_the_url() throws Exception {
    fill();
    String with = url + "?user=postgres&password=" + TestDatabases.PASSWORD;
    assertThat(typed.run("migrate", "--from", data.toString(), "--to", with)).isZero();
    assertThat(typed.out + typed.err).doesNotContain(TestDatabases.PASSWORD);
    String wrong = with.replace("/cli_", "/absent_cli_");
    assertThat(typed.run("migrate", "--from", data.toString(), "--to", wrong)).isEqualTo(1);
    assertThat(typed.err).contains("cannot be used", "does not exist", "createdb absent_cli_");
    assertThat(typed.out + typed.err).doesNotContain(TestDatabases.PASSWORD);
    String bad = with.replace("jdbc:", "");
    assertThat(typed.run("migrate", "--from", data.toString(), "--to", bad)).isEqualTo(2);
    assertThat(typed.err).contains("does not begin with jdbc:postgresql:");
    assertThat(typed.out + typed.err).doesNotContain(TestDatabases.PASSWORD);
  }

  @Test
  void a_running_server_is_named() throws Exception {
    try (SqliteStore _ = SqliteStore.open(data)) {
      assertThat(migrate(url)).isEqualTo(ExitCode.FAILED);
      assertThat(typed.err).contains("in use by another running Holdfast", data.toString());
    }
  }

  @Test
  void a_database_that_is_not_empty_is_refused_with_what_to_do() throws Exception {
    fill();
    assertThat(schema("--apply")).isZero();
    TestDatabases.executeAt(url, "INSERT INTO tenants VALUES ('t', 0, 1, 1)");
    assertThat(migrate(url)).isEqualTo(ExitCode.FAILED);
    assertThat(typed.err).contains("not empty", "tenants", "Make an empty database");
  }

  @Test
  void which_database_has_to_be_said() {
    assertThat(typed.run("migrate", "--from", data.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("Which database?", "--to");
    assertThat(typed.run("schema")).isEqualTo(ExitCode.USAGE);
    assertThat(typed.err).contains("Which database?", "--store");
  }

  @Test
  void a_bar_shows_how_far_it_is_at_a_terminal() throws Exception {
    fill();
    typed.terminal(120);
    assertThat(migrate(url)).isZero();
    assertThat(typed.err)
        .contains("reading the embedded store from end to end", "moving data_keys: 1 of")
        .contains("[##############################] 100 %");
  }

  // schema

  private int schema(String... options) {
    String[] all = new String[options.length + 5];
    System.arraycopy(new String[] {"schema", "--store", url, "--user", "postgres"}, 0, all, 0, 5);
    System.arraycopy(options, 0, all, 5, options.length);
    return typed.run(all);
  }

  @Test
  void what_is_missing_is_told_and_applied() {
    assertThat(schema()).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("has no tables", "needs version", "postgres-0001.sql");
    assertThat(schema("--apply")).isZero();
    assertThat(typed.out).contains("has tables of version").contains("now");
    assertThat(schema("--apply")).isZero();
    assertThat(typed.out).contains("Nothing was done");
    assertThat(schema()).isZero();
    assertThat(schema("--show")).isZero();
    assertThat(typed.out).isEmpty();
    assertThat(typed.run("schema", "--store", url, "--apply", "--show")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void what_is_shown_can_be_applied_by_somebody_else() {
    assertThat(schema("--show")).isZero();
    assertThat(typed.out).contains("CREATE TABLE events");
    TestDatabases.executeAt(url, typed.out);
    assertThat(schema()).as(typed.out + typed.err).isZero();
  }

  @Test
  void tables_of_a_later_version_are_told() {
    schema("--apply");
    TestDatabases.executeAt(url, "UPDATE schema_version SET version = version + 1");
    assertThat(schema()).isEqualTo(ExitCode.FAILED);
    assertThat(typed.out).contains("a later Holdfast");
    assertThat(schema("--apply")).isEqualTo(ExitCode.FAILED);
    assertThat(typed.err).contains("later version");
  }

  @Test
  void a_store_that_is_not_there_is_not_made() throws Exception {
    assertThat(migrate(url)).isEqualTo(ExitCode.FAILED);
    assertThat(typed.err).contains("There is no store in " + data);
    try (var files = Files.list(data)) {
      assertThat(files).isEmpty();
    }
  }
}
