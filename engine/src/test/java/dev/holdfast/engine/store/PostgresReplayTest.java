package dev.holdfast.engine.store;

import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresTools;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Replays of the store that several nodes share. */
final class PostgresReplayTest extends ReplayStoreContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return PostgresTools.open(url, directory, LIMITS);
  }

  @Override
  void upkeep(Database opened, Retention retention, Instant now) throws Exception {
    PostgresTools.upkeep(url, retention, now);
  }

  @Override
  List<String> problems() throws Exception {
    return PostgresTools.problems(url, directory);
  }
}
