package dev.holdfast.engine.store;

import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.io.TempDir;

/** The store that several nodes share keeps the contract as well. */
final class PostgresStoreTest extends StoreContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Opened open() throws Exception {
    PostgresStore store =
        PostgresStore.open(
            new PostgresOptions(url), KeyFile.in(directory), InstantSource.system());
    return new Opened(store, store);
  }
}
