package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.ApiKey.Role;
import dev.holdfast.engine.store.SqliteStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class BackupTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path root;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private Path data() {
    return root.resolve("data");
  }

  private Path file() {
    return root.resolve("backup.db");
  }

  @Test
  void a_backup_is_taken_while_the_store_is_used_and_can_be_restored_and_started()
      throws Exception {
    try (SqliteStore store = SqliteStore.open(data())) {
      put(store, "before", 1);
      assertThat(run("backup", "--data", data().toString(), "--to", file().toString())).isZero();
      put(store, "after", 2);
    }
    assertThat(out.toString()).contains("has everything up to", "0 messages unfinished");
    Path restored = root.resolve("restored");
    assertThat(run("restore", "--from", file().toString(), "--data", restored.toString())).isZero();
    assertThat(out.toString()).contains("sent again", "also those", "same ids");
    assertThat(out.toString())
        .containsPattern("sealed under the master key [0-9a-f]{8}, which is not in a backup");
    Files.copy(data().resolve("master.key"), restored.resolve("master.key"));
    try (SqliteStore store = SqliteStore.open(restored)) {
      assertThat(store.apiKeys().find(hash(1))).isPresent();
      assertThat(store.apiKeys().find(hash(2))).isEmpty();
    }
    assertThat(run("check", "--data", restored.toString())).isZero();
  }

  @Test
  void a_backup_never_replaces_a_file_unless_told_to() throws Exception {
    SqliteStore.open(data()).close();
    Files.writeString(file(), "precious");
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("is there already", "--force");
    assertThat(file()).hasContent("precious");
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString(), "--force"))
        .isZero();
    assertThat(Files.size(file())).isGreaterThan(8_192);
    assertThat(root.resolve("backup.db.part")).doesNotExist();
  }

  @Test
  void a_directory_without_a_store_is_refused_and_stays_as_it_is() {
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("There is no store");
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void a_damaged_store_gives_no_backup() throws Exception {
    try (SqliteStore store = SqliteStore.open(data())) {
      put(store, "laptop", 1);
    }
    spoil(data().resolve("holdfast.db"));
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("row 1 of api_keys is not as it was written");
    assertThat(file()).doesNotExist();
    assertThat(root.resolve("backup.db.part")).doesNotExist();
  }

  @Test
  void a_key_file_may_be_in_the_directory_before_a_backup_is_restored_into_it() throws Exception {
    SqliteStore.open(data()).close();
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString())).isZero();
    assertThat(out.toString()).contains("Keep a copy of that key");
    Path restored = root.resolve("restored");
    Files.createDirectory(restored);
    Files.copy(data().resolve("master.key"), restored.resolve("master.key"));
    assertThat(run("restore", "--from", file().toString(), "--data", restored.toString())).isZero();
    SqliteStore.open(restored).close();
  }

  @Test
  void only_an_empty_directory_is_restored_into() throws Exception {
    SqliteStore.open(data()).close();
    assertThat(run("backup", "--data", data().toString(), "--to", file().toString())).isZero();
    assertThat(run("restore", "--from", file().toString(), "--data", data().toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("is not empty", "Nothing in the directory was changed");
  }

  @Test
  void what_is_no_backup_or_a_damaged_one_is_refused_and_leaves_the_directory_empty()
      throws Exception {
    try (SqliteStore store = SqliteStore.open(data())) {
      put(store, "laptop", 1);
    }
    Path restored = root.resolve("restored");
    Files.writeString(file(), "not a backup, but long enough to be looked at".repeat(10));
    assertThat(run("restore", "--from", file().toString(), "--data", restored.toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("does not begin like a store");
    assertThat(restored).doesNotExist();

    assertThat(run("backup", "--data", data().toString(), "--to", file().toString(), "--force"))
        .isZero();
    spoil(file());
    assertThat(run("restore", "--from", file().toString(), "--data", restored.toString()))
        .isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("row 1 of api_keys is not as it was written");
    assertThat(restored).isEmptyDirectory();
    assertThat(run("restore", "--from", root.toString(), "--data", restored.toString()))
        .isEqualTo(ExitCode.FAILED);
  }

  @Test
  void a_progress_bar_is_shown_at_a_terminal_only() {
    StringWriter shown = new StringWriter();
    try (CopyProgress bar = new CopyProgress(new PrintWriter(shown, true), true)) {
      bar.copied(512L << 20, 1L << 30);
      bar.checking();
    }
    assertThat(shown.toString()).contains("[####################....................] 512 MB of");
    StringWriter silent = new StringWriter();
    try (CopyProgress bar = new CopyProgress(new PrintWriter(silent, true), false)) {
      bar.copied(1, 2);
    }
    assertThat(silent.toString()).isEmpty();
  }

  private static void put(SqliteStore store, String name, int hash) throws Exception {
    store.apiKeys().put(name, Role.ADMIN, null, hash(hash), Instant.EPOCH);
  }

  private static byte[] hash(int of) {
    byte[] hash = new byte[32];
    hash[0] = (byte) of;
    return hash;
  }

  private static void spoil(Path file) throws Exception {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    Files.writeString(file, text.replace("laptop", "lapdog"), StandardCharsets.ISO_8859_1);
  }

  private int run(String... arguments) {
    CommandLine line = Main.commandLine(List.of(), InstantSource.system());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }
}
