package dev.holdfast.engine.store;

import dev.holdfast.engine.vault.WrappedKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An embedded store that is read from end to end, to be moved elsewhere. Nobody else uses it
 * meanwhile, and nothing in it is changed.
 */
public final class StoreSource implements AutoCloseable {
  private static final int IDENTITY_BYTES = 16;

  private static final String ONCE =
      " Start a server of this version on it once, stop it, and move the store then.";

  private final Path directory;
  private final StoreFile file;
  private final Connection connection;
  private final Progress progress;
  private final List<WrappedKey> keys;

  private StoreSource(
      Path directory,
      StoreFile file,
      Connection connection,
      Progress progress,
      List<WrappedKey> keys) {
    this.directory = directory;
    this.file = file;
    this.connection = connection;
    this.progress = progress;
    this.keys = keys;
  }

  /** Opens the store of a directory, which has to be there and which no server may be using. */
  public static StoreSource open(Path directory) throws StoreRefused {
    if (!Files.exists(StoreFile.path(directory))) {
      throw new StoreRefused("There is no store in " + directory + ". Name another directory.");
    }
    StoreFile file = StoreFile.open(directory);
    Connection connection = null;
    try {
      connection = read(file.path());
      refuseUnlessTidy(directory, connection);
      return new StoreSource(
          directory, file, connection, Progress.read(connection), DataKeys.read(connection));
    } catch (SQLException | IOException e) {
      close(connection, file);
      throw new StoreRefused("The store in " + directory + " cannot be read: " + e.getMessage(), e);
    } catch (StoreRefused | RuntimeException e) {
      close(connection, file);
      throw e;
    }
  }

  /** Leaves no trace, unless a crash has left a log: reading that takes an index of it. */
  private static Connection read(Path file) throws SQLException, IOException {
    Path log = file.resolveSibling(file.getFileName() + "-wal");
    return Files.exists(log) && Files.size(log) > 0
        ? Sqlite.reader(file)
        : Sqlite.frozenReader(file);
  }

  /** Refuses what only a server can bring in order, since that changes the store. */
  private static void refuseUnlessTidy(Path directory, Connection connection)
      throws SQLException, StoreRefused {
    String store = "The store in " + directory;
    if (Migrations.version(connection) < Migrations.newest()) {
      throw new StoreRefused(store + " was last used by an earlier Holdfast." + ONCE);
    }
    if (Sealing.isNeeded(connection)) {
      throw new StoreRefused(store + " has secrets that are not sealed yet." + ONCE);
    }
    if (Sqlite.number(connection, "SELECT count(*) FROM removing") != 0) {
      throw new StoreRefused(
          store
              + " is in the middle of removing an event with very many messages. Start a server on"
              + " it, give it a minute, stop it, and move the store then.");
    }
  }

  /** Reads. It cannot write. */
  public Connection connection() {
    return connection;
  }

  public Path directory() {
    return directory;
  }

  /** What tells this store from every other: its own keys, of which no two stores have the same. */
  public String identity() {
    MessageDigest sha256 = Facts.sha256();
    for (WrappedKey key : keys) {
      sha256.update(key.master().getBytes(StandardCharsets.UTF_8));
      sha256.update(key.wrapped());
    }
    return HexFormat.of().formatHex(sha256.digest(), 0, IDENTITY_BYTES);
  }

  /** How many transactions it has seen: whether it was used since. */
  public long commits() {
    return progress.commits();
  }

  /** The latest time that anything in it tells of. */
  public Instant upTo() {
    return progress.at();
  }

  /** The highest id that was given to anything in it. */
  public long highestId() throws SQLException {
    return SqliteStore.highestId(connection::prepareStatement);
  }

  /** The id of the master key that its secrets are sealed under; absent when nothing is sealed. */
  public @Nullable String masterKey() {
    return keys.isEmpty() ? null : keys.getLast().master();
  }

  /** Refuses a store in which something is damaged. Reads all of it. */
  public void refuseDamaged() throws StoreRefused {
    List<String> problems;
    try {
      problems = StoreCheck.all(connection).problems();
    } catch (SQLException e) {
      throw new StoreRefused("The store in " + directory + " cannot be read: " + e.getMessage(), e);
    }
    if (!problems.isEmpty()) {
      throw new StoreRefused(
          "The store in "
              + directory
              + " is damaged: "
              + String.join("; ", problems)
              + ". Restore it from a backup first.");
    }
  }

  @Override
  public void close() {
    close(connection, file);
  }

  private static void close(@Nullable Connection connection, StoreFile file) {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("closing a store that was only read", e);
    } finally {
      file.close();
    }
  }
}
