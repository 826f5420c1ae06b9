package dev.holdfast.engine.store;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The embedded store keeps the contract. */
final class SqliteStoreTest extends StoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Opened open() throws Exception {
    SqliteStore store = SqliteStore.open(directory);
    return new Opened(store, store);
  }
}
