package dev.holdfast.engine.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Sessions in the embedded store. */
final class SessionsTest extends SessionsContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return SqliteStore.open(directory);
  }

  @Override
  List<String> problems() throws Exception {
    return StoreCheck.run(directory).problems();
  }

  @Override
  void execute(String sql) throws Exception {
    try (Connection connection = Sqlite.writer(directory.resolve("holdfast.db"), 1 << 20)) {
      Sqlite.execute(connection, sql);
    }
  }
}
