package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.BesideNodes;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A database that a command opens by itself, named as serve has it named. */
final class NamedStore extends StoreOptions {
  private static final String FLAG = "--store";

  @Option(
      names = FLAG,
      paramLabel = "URL",
      description =
          "The PostgreSQL database of servers that share one (store.url, HOLDFAST_STORE_URL).")
  private @Nullable String url;

  NamedStore(Surroundings surroundings) {
    super(surroundings);
  }

  /** Whether it is named on the command line. */
  boolean isOnCommandLine() {
    return url != null;
  }

  /** Whether it is named anywhere. */
  boolean isNamed() throws InvalidSettings {
    return url != null
        || surroundings().namesStore()
        || (hasSettings() && settings().database().isPresent());
  }

  Settings settings() throws InvalidSettings {
    return settings(FLAG, url);
  }

  /** What is done with a database that is open. */
  interface Work {
    void run(BesideNodes store, String place) throws StoreException, StoreRefused, CommandFailed;
  }

  /** Opens the database, does it, and closes it. */
  void open(Work work) throws CommandFailed {
    try {
      PostgresOptions database = database();
      try (BesideNodes store = BesideNodes.open(database)) {
        work.run(store, database.place());
      } catch (StoreException e) {
        throw new CommandFailed("The store in %s: %s".formatted(database.place(), e.getMessage()));
      }
    } catch (StoreRefused e) {
      throw new CommandFailed(String.valueOf(e.getMessage()));
    } catch (InvalidSettings e) {
      throw new CommandFailed(e.report());
    }
  }

  PostgresOptions database() throws InvalidSettings {
    return database(FLAG, url);
  }
}
