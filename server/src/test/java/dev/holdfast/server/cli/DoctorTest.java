package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class DoctorTest {
  @TempDir private Path directory = Path.of("");

  private final Typed typed = new Typed();

  @Test
  void a_machine_without_a_server_is_looked_at_and_left_as_it_is() {
    assertThat(doctor("--port", "0")).as(typed.out).isZero();
    assertThat(typed.out)
        .contains("java", "memory", "files", "fsync", "clock", "settings")
        .contains("there is none in " + directory + " yet", "none is running");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void a_running_server_is_asked() throws Exception {
    try (RunningServer server = new RunningServer(directory)) {
      assertThat(doctor("--port", "" + server.port())).as(typed.out).isZero();
      assertThat(typed.out).contains("one is running and ready", "is in use, and the server");
      assertThat(doctor("--port", "0")).as("a server elsewhere").isEqualTo(1);
      assertThat(typed.out).contains("in use by a server that does not answer");
    }
    assertThat(doctor("--port", "0")).as(typed.out).isZero();
    assertThat(typed.out).contains("no damage at a first look");
  }

  @Test
  void a_database_is_looked_at_and_whether_its_master_key_is_here() throws Exception {
    String url = TestDatabases.fresh();
    String user = url + "?user=postgres&password=" + TestDatabases.PASSWORD;
    assertThat(look(user)).as(typed.out).isZero();
    assertThat(typed.out).contains(url + " has no tables yet");

    PostgresStore.open(new PostgresOptions(user), KeyFile.in(directory), InstantSource.system())
        .close();
    assertThat(look(user)).as(typed.out).isZero();
    assertThat(typed.out).contains("as this program needs them", "sealed under the master key");

    Files.delete(KeyFile.in(directory).path());
    assertThat(look(user)).isEqualTo(1);
    assertThat(typed.out).contains("which was not found").doesNotContain(TestDatabases.PASSWORD);

    assertThat(look(url + "_none?user=postgres")).isEqualTo(1);
    assertThat(typed.out).contains("Make it: createdb");
  }

  @Test
  void a_user_who_cannot_make_and_drop_parts_of_the_tables_is_a_problem() throws Exception {
    String url = TestDatabases.fresh();
    String owner = url + "?user=postgres&password=" + TestDatabases.PASSWORD;
    TestDatabases.executeAt(
        url,
        "CREATE ROLE \"Guest\" LOGIN PASSWORD 'guest'; CREATE ROLE boss NOLOGIN;"
            + " GRANT CREATE ON SCHEMA public TO boss");
    String guest = url + "?user=Guest&password=guest";
    assertThat(look(guest)).isEqualTo(1);
    assertThat(typed.out).contains("GRANT CREATE ON SCHEMA public TO \"Guest\"");

    PostgresStore.open(new PostgresOptions(owner), KeyFile.in(directory), InstantSource.system())
        .close();
    TestDatabases.executeAt(
        url,
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO \"Guest\";"
            + " GRANT CREATE ON SCHEMA public TO \"Guest\"");
    assertThat(look(guest)).isEqualTo(1);
    assertThat(typed.out).contains("belong to postgres", "GRANT postgres TO \"Guest\"");

    TestDatabases.executeAt(
        url,
        "DO $$ DECLARE t record; BEGIN FOR t IN SELECT tablename AS name FROM pg_tables"
            + " WHERE schemaname = 'public' LOOP"
            + " EXECUTE format('ALTER TABLE %I OWNER TO boss', t.name); END LOOP; END $$;"
            + " GRANT boss TO \"Guest\"");
    assertThat(look(guest)).as(typed.out).isZero();
  }

  private int look(String url) {
    return typed.run(
        "doctor",
        "--port",
        "0",
        "--store",
        url,
        "--set",
        "secrets.key-file=" + KeyFile.in(directory).path());
  }

  @Test
  void a_damaged_store_is_a_problem() throws Exception {
    new RunningServer(directory).close();
    Files.writeString(directory.resolve("holdfast.db"), "this is no store");
    assertThat(doctor("--port", "0")).isEqualTo(1);
    assertThat(typed.out).contains("problem      store", "damaged");
  }

  @Test
  void a_port_that_somebody_else_uses_is_a_problem() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // Nobody answers on it, so it is closed before the doctor has waited for long.
      Thread.ofVirtual().start(() -> closeAll(taken));
      assertThat(doctor("--port", "" + taken.getLocalPort())).isEqualTo(1);
      assertThat(typed.out).contains("problem      server", "--port");
    }
  }

  private static void closeAll(ServerSocket server) {
    try {
      while (true) {
        server.accept().close();
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  @Test
  void settings_that_are_wrong_are_problems_and_all_told() {
    assertThat(doctor("--set", "retry.maxx=3", "--port", "x")).isEqualTo(1);
    assertThat(typed.out).contains("retry.maxx", "server.port", "./holdfast settings");
  }

  @Test
  void json_says_the_same() {
    assertThat(doctor("--port", "0", "--json")).isZero();
    Item report = Objects.requireNonNull(Item.read(typed.out));
    assertThat(report.isTrue("ok")).isTrue();
    assertThat(report.list("findings"))
        .anySatisfy(
            finding -> {
              assertThat(finding.text("check")).isEqualTo("fsync");
              assertThat(finding.text("what")).startsWith("an fsync takes ");
            });
  }

  private int doctor(String... more) {
    String[] arguments = new String[more.length + 3];
    arguments[0] = "doctor";
    arguments[1] = "--data";
    arguments[2] = directory.toString();
    System.arraycopy(more, 0, arguments, 3, more.length);
    return typed.run(arguments);
  }
}
