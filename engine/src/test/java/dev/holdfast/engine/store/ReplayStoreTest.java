package dev.holdfast.engine.store;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Replays of the embedded store, whose index is written in chunks of 5 here. */
final class ReplayStoreTest extends ReplayStoreContract {
  private static final Upkeep.Limits UPKEEP =
      new Upkeep.Limits(
          new HistoryIndex.Limits(5, 20, 5, 3),
          new Removal.Limits(4, 10, 1 << 20, Duration.ofSeconds(5), Duration.ofHours(1)),
          new Shrinking.Limits(64, 4, 8));

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore() throws Exception {
    return SqliteStore.open(directory, LIMITS, UPKEEP);
  }

  @Override
  void upkeep(Database opened, Retention retention, Instant now) throws Exception {
    while (opened.upkeep(retention, now).isMore()) {}
  }

  @Override
  List<String> problems() throws Exception {
    return StoreCheck.run(directory).problems();
  }
}
