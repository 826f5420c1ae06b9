package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.port.Write.AcceptedEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which data directories are refused, and that a refused one is left as it was. */
final class StoreFileTest {
  private static final long E1 = 1_000_001;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path elsewhere;

  private final AcceptedEvent event = new Sample().pending(E1);

  @BeforeEach
  void writeSomething() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.write(batch(accept(event)));
    }
  }

  private Path file() {
    return directory.resolve("holdfast.db");
  }

  private void assertRefusedUntouched(String... saying) throws Exception {
    Map<String, String> before = hashes(directory);
    assertThatThrownBy(() -> SqliteStore.open(directory).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll(saying)
        .hasMessageContaining("Nothing in the directory was changed.");
    assertThat(hashes(directory)).isEqualTo(before);
  }

  private static Map<String, String> hashes(Path directory) throws Exception {
    Map<String, String> hashes = new TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        hashes.put(file.getFileName().toString(), HexFormat.of().formatHex(hash));
      }
    }
    return hashes;
  }

  /** What a crash leaves behind: the files as they are while the store is open. */
  private void copyAfterCrash(Path to, String... statements) throws Exception {
    try (Connection connection = Sqlite.writer(file(), 0)) {
      Sqlite.execute(
          connection,
          "INSERT INTO api_keys (id, name, role, tenant, hash, created_at, sum)"
              + " VALUES (1, 'n', 'ADMIN', NULL, x'00', 0, 0)");
      Sqlite.execute(connection, statements);
      for (String suffix : List.of("", "-wal", "-shm")) {
        Files.copy(directory.resolve("holdfast.db" + suffix), to.resolve("holdfast.db" + suffix));
      }
    }
  }

  private void replaceWith(Path other) throws IOException {
    for (Path old : List.of(file(), directory.resolve("holdfast.lock"))) {
      Files.deleteIfExists(old);
    }
    try (Stream<Path> files = Files.list(other)) {
      for (Path file : files.toList()) {
        Files.copy(file, directory.resolve(file.getFileName()));
      }
    }
  }

  @Test
  void a_store_of_a_newer_version_is_refused() throws Exception {
    try (Connection connection = Sqlite.writer(file(), 0)) {
      Sqlite.execute(connection, "PRAGMA user_version = 999");
    }
    assertRefusedUntouched("newer Holdfast", "999");
    Files.delete(directory.resolve("holdfast.lock"));
    assertRefusedUntouched("newer Holdfast", "999");
  }

  @Test
  void a_store_of_a_newer_version_that_crashed_is_refused() throws Exception {
    copyAfterCrash(elsewhere, "PRAGMA user_version = 999");
    replaceWith(elsewhere);
    assertRefusedUntouched("newer Holdfast", "999");
    Files.delete(directory.resolve("holdfast.db-shm"));
    assertRefusedUntouched("newer Holdfast", "999");
  }

  @Test
  void a_store_that_crashed_is_opened_with_all_that_it_had() throws Exception {
    copyAfterCrash(elsewhere);
    replaceWith(elsewhere);
    try (SqliteStore store = SqliteStore.open(directory)) {
      assertThat(store.pending(E1, 10)).isEqualTo(event.messages());
      assertThat(store.apiKeys().isEmpty()).isFalse();
    }
  }

  @Test
  void another_programs_file_is_refused() throws Exception {
    Files.delete(file());
    try (Connection connection = Sqlite.writer(file(), 0)) {
      Sqlite.execute(connection, "CREATE TABLE theirs (id INTEGER)");
    }
    assertRefusedUntouched("not one of Holdfast's");
  }

  @Test
  void a_file_with_a_bad_header_is_refused() throws Exception {
    byte[] bytes = Files.readAllBytes(file());
    bytes[3] ^= 1;
    Files.write(file(), bytes);
    assertRefusedUntouched("damaged", "backup");
  }

  @Test
  void a_truncated_file_is_refused_wherever_it_ends() throws Exception {
    byte[] bytes = Files.readAllBytes(file());
    for (int length : List.of(0, 1, 99, 100, 8_192, bytes.length / 2, bytes.length - 1)) {
      Files.write(file(), Arrays.copyOf(bytes, length));
      assertRefusedUntouched("damaged", "backup");
    }
  }

  @Test
  void a_file_whose_tables_cannot_be_read_is_refused() throws Exception {
    byte[] bytes = Files.readAllBytes(file());
    Arrays.fill(bytes, 100, Sqlite.PAGE_BYTES, (byte) 0x5a);
    Files.write(file(), bytes);
    assertRefusedUntouched("damaged", "backup");
  }

  @Test
  void a_file_without_our_tables_is_refused() throws Exception {
    try (Connection connection = Sqlite.writer(file(), 0)) {
      Sqlite.execute(connection, "DROP TABLE open");
    }
    assertRefusedUntouched("tables are missing");
  }

  @Test
  void a_log_without_its_file_is_refused() throws Exception {
    copyAfterCrash(elsewhere);
    Files.delete(elsewhere.resolve("holdfast.db"));
    replaceWith(elsewhere);
    assertRefusedUntouched("missing");
  }

  @Test
  void a_store_in_use_by_this_process_is_refused() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      assertThatThrownBy(() -> SqliteStore.open(directory).close())
          .isInstanceOf(StoreRefused.class)
          .hasMessageContaining("in use");
      assertThat(store.pending(E1, 10)).isEqualTo(event.messages());
    }
    SqliteStore.open(directory).close();
  }

  @Test
  @Timeout(60)
  void a_store_in_use_by_another_process_is_refused() throws Exception {
    try (Child child = Child.start(StoreHolder.class, directory)) {
      assertThat(child.readLine()).isEqualTo("open");
      assertRefusedUntouched("in use by another");
    }
    SqliteStore.open(directory).close();
  }

  @Test
  void a_path_that_is_no_directory_is_refused() throws Exception {
    Path file = Files.writeString(elsewhere.resolve("file"), "text");
    assertThatThrownBy(() -> SqliteStore.open(file).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("is not a directory");
    assertThatThrownBy(() -> SqliteStore.open(file.resolve("below")).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("cannot be made");
    assertThat(file).hasContent("text");
  }

  @Test
  void what_an_interrupted_creation_left_is_no_obstacle() throws Exception {
    Path unfinished = elsewhere.resolve("holdfast.db.new");
    Files.writeString(unfinished, "not finished");
    SqliteStore.open(elsewhere).close();
    assertThat(unfinished).doesNotExist();
  }
}
