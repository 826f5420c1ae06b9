package dev.holdfast.engine.store.postgres;

import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.Upkept.Removed;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** What tests do with a database. */
public final class PostgresTools {
  private PostgresTools() {}

  /** Opens a store with the key file of a directory. */
  public static PostgresStore open(String url, Path directory, StoreLimits limits)
      throws Exception {
    return PostgresStore.open(
        new PostgresOptions(url), KeyFile.in(directory), InstantSource.system(), limits);
  }

  /** Does all upkeep that is due, and tells what was removed. */
  public static Removed upkeep(String url, Retention retention, Instant now) throws Exception {
    try (Connections connections = new Connections(new PostgresOptions(url));
        PostgresUpkeep upkeep = new PostgresUpkeep(connections)) {
      Removed removed = Removed.NOTHING;
      for (var done = upkeep.step(retention, now); ; done = upkeep.step(retention, now)) {
        removed = removed.plus(done.removed());
        if (!done.isMore()) {
          return removed;
        }
      }
    }
  }

  /** Waits until somebody else waits for a lock in the database. */
  static void awaitSomebodyWaiting(Connections connections) throws Exception {
    String waiting =
        "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND database ="
            + " (SELECT oid FROM pg_database WHERE datname = current_database()))";
    while (!connections
        .read("looking who waits", c -> Select.list(c, waiting, row -> row.getBoolean(1)))
        .getFirst()) {
      Thread.onSpinWait();
    }
  }

  /** What is damaged. */
  public static List<String> problems(String url, Path directory) throws Exception {
    return PostgresCheck.run(new PostgresOptions(url), KeyFile.in(directory)).problems();
  }
}
