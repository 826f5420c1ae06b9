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

final class CheckTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  private final StringWriter out = new StringWriter();

  @Test
  void an_intact_store_is_fine() throws Exception {
    write();
    assertThat(check()).isZero();
    assertThat(out.toString()).contains("3 rows, and each is as it was written");
  }

  @Test
  void a_damaged_row_is_named() throws Exception {
    write();
    Path file = data.resolve("holdfast.db");
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    Files.writeString(file, text.replace("laptop", "lapdog"), StandardCharsets.ISO_8859_1);
    assertThat(check()).isEqualTo(ExitCode.FAILED);
    assertThat(out.toString()).contains("backup", "row 1 of api_keys is not as it was written");
  }

  @Test
  void a_directory_without_a_store_is_refused_and_stays_empty() {
    assertThat(check()).isEqualTo(ExitCode.FAILED);
    assertThat(out.toString()).contains("There is no store");
    assertThat(data).isEmptyDirectory();
  }

  private void write() throws Exception {
    try (SqliteStore store = SqliteStore.open(data)) {
      store.apiKeys().put("laptop", Role.ADMIN, null, new byte[32], Instant.EPOCH);
    }
  }

  private int check() {
    CommandLine line = Main.commandLine(List.of(), InstantSource.system());
    line.setOut(new PrintWriter(out, true));
    return line.execute("check", "--data", data.toString());
  }
}
