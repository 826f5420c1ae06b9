package dev.holdfast.engine.store;

import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresTools;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Sessions in the store that several nodes share. */
final class PostgresSessionsTest extends SessionsContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return PostgresTools.open(url, directory, StoreLimits.DEFAULT);
  }

  @Override
  List<String> problems() throws Exception {
    return PostgresTools.problems(url, directory);
  }

  @Override
  void execute(String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
