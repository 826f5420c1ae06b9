package dev.holdfast.engine.store;

import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresTools;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** History for newcomers in the store that several nodes share. */
final class PostgresPastTest extends PastStoreContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return PostgresTools.open(url, directory, LIMITS);
  }

  @Override
  List<String> problems() throws Exception {
    return PostgresTools.problems(url, directory);
  }
}
