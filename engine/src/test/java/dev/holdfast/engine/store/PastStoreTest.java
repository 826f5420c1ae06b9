package dev.holdfast.engine.store;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** History for newcomers in the embedded store. */
final class PastStoreTest extends PastStoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return SqliteStore.open(directory, LIMITS);
  }

  @Override
  List<String> problems() throws Exception {
    return StoreCheck.run(directory).problems();
  }
}
