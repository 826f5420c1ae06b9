package dev.holdfast.engine.store;

import dev.holdfast.engine.vault.WrappedKey;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConnection;

/**
 * Copies a store into one file, and such a file into a new store.
 *
 * <p>A copy is taken in one read of the whole store, so it is the state of one moment, also while a
 * server writes. That server's log cannot be begun anew until the read has ended. When the log gets
 * too long the copy is given up, since a full disk is worse than no backup.
 */
public final class StoreBackup {
  /** A log longer than this ends a backup. */
  public static final long LONGEST_LOG_BYTES = 4L << 30;

  private static final long LOOK_EVERY_MILLIS = 100;
  private static final int COPY_BYTES = 8 << 20;
  private static final String PART = ".part";

  private StoreBackup() {}

  /** Is told how far it is, now and then. */
  public interface Observer {
    void copied(long bytes, long ofAbout);

    /** The copy is complete, and is being read from end to end. */
    void checking();
  }

  /**
   * What is in a copy.
   *
   * @param bytes how large it is
   * @param rows how many rows it has, each of which is as it was written
   * @param unfinished how many messages were not finished
   * @param upTo the latest time that anything in it tells of
   * @param masterKey the id of the master key that secrets in it are sealed under, which is not in
   *     it; absent when nothing is sealed
   */
  public record Copy(
      long bytes, long rows, long unfinished, Instant upTo, @Nullable String masterKey) {}

  /**
   * Copies the store of a directory, which a server may be using, into a file.
   *
   * @param replace whether a file of that name may be replaced
   */
  public static Copy backup(Path directory, Path target, boolean replace, Observer observer)
      throws StoreRefused {
    return backup(directory, target, replace, LONGEST_LOG_BYTES, observer);
  }

  static Copy backup(
      Path directory, Path target, boolean replace, long longestLogBytes, Observer observer)
      throws StoreRefused {
    Path store = StoreFile.path(directory);
    if (!Files.exists(store)) {
      throw new StoreRefused("There is no store in " + directory + ". Name another directory.");
    }
    if (Files.isDirectory(target)) {
      throw new StoreRefused(target + " is a directory. Name a file for the backup.");
    }
    if (Files.exists(target) && !replace) {
      throw new StoreRefused(target + " is there already. Name another file, or use --force.");
    }
    Path part = target.resolveSibling(target.getFileName() + PART);
    try {
      Files.deleteIfExists(part);
      try {
        copy(store, part, longestLogBytes, observer);
        try (Connection copy = Sqlite.copyWriter(part)) {
          Sealing.copied(copy);
        }
        StoreFile.sync(part);
        observer.checking();
        Copy copy = check(part, store);
        StoreFile.complete(part, target);
        return copy;
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException | SQLException e) {
      throw new StoreRefused(
          "The store in "
              + directory
              + " was not copied: "
              + e.getMessage()
              + ". Make sure that this user may read it, and that there is room for "
              + target
              + ".",
          e);
    }
  }

  private static void copy(Path store, Path part, long longestLogBytes, Observer observer)
      throws SQLException, StoreRefused {
    try (Connection connection = Sqlite.copier(store);
        Statement statement = connection.createStatement()) {
      if (Sqlite.number(connection, "PRAGMA application_id") != Migrations.APPLICATION_ID) {
        throw new StoreRefused(store + " is not a store of Holdfast's. Name another directory.");
      }
      long pages = Sqlite.number(connection, "PRAGMA page_count");
      long free = Sqlite.number(connection, "PRAGMA freelist_count");
      long expectedBytes = (pages - free) * Sqlite.PAGE_BYTES;
      Path log = store.resolveSibling(store.getFileName() + "-wal");
      try (Watch _ = new Watch(connection, part, log, longestLogBytes, expectedBytes, observer)) {
        statement.execute("VACUUM INTO '" + part.toString().replace("'", "''") + "'");
      } catch (SQLException e) {
        if (Sqlite.isInterrupt(e)) {
          throw new StoreRefused(
              "The backup was given up: while it ran, the server's log "
                  + log
                  + " grew beyond "
                  + (longestLogBytes >> 20)
                  + " MB. Try again when less is going on, or onto a faster disk.",
              e);
        }
        throw e;
      }
    }
  }

  /** Tells how far a copy is, and ends it when the log gets too long. */
  private static final class Watch implements AutoCloseable {
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    Watch(
        Connection connection,
        Path part,
        Path log,
        long longestLogBytes,
        long expectedBytes,
        Observer observer) {
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("holdfast-backup-watch")
              .start(
                  () -> {
                    while (!isEnd()) {
                      observer.copied(Math.min(size(part), expectedBytes), expectedBytes);
                      if (size(log) > longestLogBytes) {
                        interrupt(connection);
                        return;
                      }
                    }
                  });
    }

    private boolean isEnd() {
      try {
        return end.await(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        return true;
      }
    }

    private static long size(Path file) {
      try {
        return Files.size(file);
      } catch (IOException e) {
        return 0;
      }
    }

    private static void interrupt(Connection connection) {
      try {
        connection.unwrap(SQLiteConnection.class).getDatabase().interrupt();
      } catch (SQLException e) {
        throw new IllegalStateException("interrupting a backup", e);
      }
    }

    @Override
    public void close() {
      end.countDown();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Reads a copy from end to end, and refuses what it was made of if anything in it is damaged. */
  private static Copy check(Path file, Path of) throws IOException, SQLException, StoreRefused {
    StoreFile.checkAlone(file);
    try (Connection connection = Sqlite.frozenReader(file)) {
      StoreCheck.Result result = StoreCheck.all(connection);
      if (!result.problems().isEmpty()) {
        throw new StoreRefused(
            of + " is damaged: " + String.join("; ", result.problems()) + ". Use an older backup.");
      }
      return new Copy(
          Files.size(file),
          result.rows(),
          Sqlite.number(connection, "SELECT count(*) FROM open"),
          Progress.read(connection).at(),
          DataKeys.read(connection).stream().map(WrappedKey::master).findFirst().orElse(null));
    }
  }

  /** Makes a store of a backup, in a directory that is absent or has no more than a key file. */
  public static Copy restore(Path backup, Path directory, Observer observer) throws StoreRefused {
    if (!Files.isRegularFile(backup)) {
      throw new StoreRefused(backup + " is not a file. Name one that was made by a backup.");
    }
    try {
      StoreFile.checkAlone(backup);
      return StoreFile.make(
          directory,
          unfinished -> {
            copyFile(backup, unfinished, observer);
            observer.checking();
            return check(unfinished, backup);
          });
    } catch (IOException | SQLException e) {
      throw new StoreRefused(
          "The backup "
              + backup
              + " was not restored: "
              + e.getMessage()
              + ". Make sure that this user may read it, and that there is room in "
              + directory
              + ".",
          e);
    }
  }

  private static void copyFile(Path from, Path to, Observer observer) throws IOException {
    try (FileChannel source = FileChannel.open(from, StandardOpenOption.READ);
        FileChannel target =
            FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long size = source.size();
      for (long at = 0; at < size; ) {
        long moved = source.transferTo(at, COPY_BYTES, target);
        if (moved == 0) {
          throw new IOException(from + " got shorter while it was read");
        }
        at += moved;
        observer.copied(at, size);
      }
    }
  }
}
