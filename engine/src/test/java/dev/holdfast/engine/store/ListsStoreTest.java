package dev.holdfast.engine.store;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Lists of events and attempts in the embedded store. */
final class ListsStoreTest extends ListsStoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore(StoreLimits limits) throws Exception {
    return SqliteStore.open(directory, limits);
  }

  @Override
  List<String> problems() throws Exception {
    return StoreCheck.run(directory).problems();
  }
}
