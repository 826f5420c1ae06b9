package dev.holdfast.engine.store;

import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresTools;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Lists of events and attempts in the store that several nodes share. */
final class PostgresListsTest extends ListsStoreContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore(StoreLimits limits) throws Exception {
    return PostgresTools.open(url, directory, limits);
  }

  @Override
  List<String> problems() throws Exception {
    return PostgresTools.problems(url, directory);
  }
}
