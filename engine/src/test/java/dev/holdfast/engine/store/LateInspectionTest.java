package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a start leaves out when very many messages are unfinished is looked at afterwards. */
final class LateInspectionTest {
  /** More than one read looks at. */
  private static final int MESSAGES = 2_500;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private Path file = Path.of("");

  @BeforeEach
  void fill() throws Exception {
    Sample sample = new Sample();
    try (SqliteStore store = SqliteStore.open(directory)) {
      List<Write> writes = new ArrayList<>();
      for (int i = 0; i < MESSAGES; i++) {
        AcceptedEvent event = sample.pending(1_000_001 + i % 7);
        writes.add(accept(event));
        if (i % 2 == 0) {
          writes.add(retry(event.messages().getFirst(), 1, after(i)));
        }
      }
      store.write(new Batch(writes, List.of()));
    }
    file = StoreFile.path(directory);
  }

  @Test
  void every_unfinished_message_is_looked_at_once() throws Exception {
    try (Reader reader = new Reader(file)) {
      assertThat(lookThrough(reader)).isEqualTo(MESSAGES);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "open_by_endpoint, endpoint = endpoint + 1",
    "open_by_endpoint, attempts = attempts + 1",
    "open_by_due, due = due + 1"
  })
  void a_message_that_an_index_does_not_have_is_found_by_either_inspection(
      String index, String change) throws Exception {
    changeBehindItsBack(index, change);
    try (Connection connection = Sqlite.reader(file)) {
      Inspection.run(file, file, connection, OptionalLong.empty(), MESSAGES - 1);
      assertThatThrownBy(
              () -> Inspection.run(file, file, connection, OptionalLong.empty(), MESSAGES))
          .isInstanceOf(Damaged.class);
    }
    try (Reader reader = new Reader(file);
        Connection connection = Sqlite.reader(file)) {
      assertThat(Inspection.hasMoreThan(connection, MESSAGES)).isFalse();
      assertThatThrownBy(() -> lookThrough(reader))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("does not agree")
          .extracting(failure -> ((StoreException) failure).kind())
          .isEqualTo(StoreException.Kind.BROKEN);
    }
  }

  /** How many messages there are. */
  private static int lookThrough(Reader reader) throws StoreException {
    int looked = 0;
    LateInspection.Progress progress = LateInspection.look(reader, 0);
    while (progress.messages() > 0) {
      looked += progress.messages();
      progress = LateInspection.look(reader, progress.last());
    }
    return looked;
  }

  /** Changes a row in the middle while SQLite does not know of an index. */
  private void changeBehindItsBack(String index, String change) throws SQLException {
    int root;
    String sql;
    try (Connection connection = Sqlite.copyWriter(file);
        Statement statement = connection.createStatement()) {
      try (ResultSet row =
          statement.executeQuery(
              "SELECT rootpage, sql FROM sqlite_schema WHERE name = '" + index + "'")) {
        row.next();
        root = row.getInt(1);
        sql = row.getString(2);
      }
      statement.execute("PRAGMA writable_schema = ON");
      statement.execute("DELETE FROM sqlite_schema WHERE name = '" + index + "'");
    }
    try (Connection connection = Sqlite.copyWriter(file);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "UPDATE open SET %s WHERE id = (SELECT id FROM open WHERE due IS NOT NULL LIMIT 1 OFFSET 700)"
              .formatted(change));
      statement.execute("PRAGMA writable_schema = ON");
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO sqlite_schema VALUES ('index', ?, 'open', ?, ?)")) {
        insert.setString(1, index);
        insert.setInt(2, root);
        insert.setString(3, sql);
        insert.executeUpdate();
      }
    }
  }
}
