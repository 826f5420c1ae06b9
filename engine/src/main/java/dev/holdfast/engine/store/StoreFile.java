package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.vault.KeyFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A data directory that is ours for as long as this is open: checked, locked, and with the file in
 * it.
 *
 * <p>Everything is checked before anything is written, so that a directory which is refused stays
 * as it is. A new file is made under another name and gets its own when it is complete: so a file
 * that is there but is no store was damaged, and is never taken for a new one. Inside the file
 * {@link Inspection} looks for what no later read would notice.
 */
final class StoreFile implements AutoCloseable {
  private static final String FILE = "holdfast.db";
  private static final String LOCK_FILE = "holdfast.lock";

  private static final byte[] MAGIC = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
  private static final int HEADER_BYTES = 100;
  private static final int PAGE_SIZE_OFFSET = 16;
  private static final int CHANGE_COUNTER_OFFSET = 24;
  private static final int PAGE_COUNT_OFFSET = 28;
  private static final int VALID_FOR_OFFSET = 92;

  static final String UNTOUCHED = " Nothing in the directory was changed.";
  private static final String DAMAGED =
      " Restore the directory from a backup, or start with an empty one." + UNTOUCHED;

  private final Path file;
  private final Lock lock;

  private StoreFile(Path file, Lock lock) {
    this.file = file;
    this.lock = lock;
  }

  /** The lock file while we hold its lock. Closing the file, by whichever name, lets go of it. */
  private record Lock(RandomAccessFile file, FileLock held) {}

  /** Where the file of a data directory is. */
  static Path path(Path directory) {
    return directory.resolve(FILE);
  }

  /** Looks at a store that nothing is written into yet. */
  interface Look {
    void at(Connection connection) throws SQLException, StoreRefused;
  }

  static StoreFile open(Path directory) throws StoreRefused {
    return open(directory, _ -> {});
  }

  /**
   * Opens the file of a directory, or makes it.
   *
   * @param look refuses a store that is there, before anything is written
   */
  static StoreFile open(Path directory, Look look) throws StoreRefused {
    makeDirectory(directory);
    Path file = path(directory);
    Path lockFile = directory.resolve(LOCK_FILE);
    try {
      Lock lock = Files.exists(lockFile) ? lock(lockFile) : null;
      try {
        check(file, lock, look);
        if (lock == null) {
          lock = lock(lockFile);
          check(file, lock, look);
        }
        if (!Files.exists(file)) {
          create(file);
        }
        return new StoreFile(file, lock);
      } catch (IOException | SQLException | StoreRefused | RuntimeException e) {
        release(lock);
        throw e;
      }
    } catch (IOException | SQLException e) {
      throw new StoreRefused(
          "The data directory "
              + directory
              + " cannot be used: "
              + e
              + ". Make sure that it is on a local disk with room left, and that this user may read"
              + " and write everything in it.",
          e);
    }
  }

  Path path() {
    return file;
  }

  /** Where it is noted how far the store is. */
  Mark mark() {
    return new Mark(lock.file());
  }

  @Override
  public void close() {
    release(lock);
  }

  private static void makeDirectory(Path directory) throws StoreRefused {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new StoreRefused(
          directory
              + " is not a directory. Name a directory for the data; it is made when absent."
              + UNTOUCHED);
    }
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new StoreRefused(
          "The data directory "
              + directory
              + " cannot be made: "
              + e
              + ". Name another, or make it and let this user write into it.",
          e);
    }
    if (!Files.isWritable(directory) || !Files.isReadable(directory)) {
      throw new StoreRefused(
          "The data directory "
              + directory
              + " cannot be read and written by this user. Change its owner or name another."
              + UNTOUCHED);
    }
  }

  private static Lock lock(Path lockFile) throws IOException, StoreRefused {
    RandomAccessFile opened = new RandomAccessFile(lockFile.toFile(), "rw");
    FileLock lock = null;
    try {
      lock = opened.getChannel().tryLock();
    } catch (OverlappingFileLockException e) {
      // Held by another store of this process: told like any other holder.
    } finally {
      if (lock == null) {
        opened.close();
      }
    }
    if (lock == null) {
      throw StoreRefused.inUse(
          "The data directory "
              + lockFile.getParent()
              + " is in use by another running Holdfast. Stop that one first, or name another"
              + " directory."
              + UNTOUCHED);
    }
    return new Lock(opened, lock);
  }

  private static void release(@Nullable Lock lock) {
    if (lock != null) {
      try {
        lock.file().close();
      } catch (IOException e) {
        throw new IllegalStateException("closing the lock file", e);
      }
    }
  }

  /** Refuses a file that is not a store of this or an earlier version. Writes nothing. */
  private static void check(Path file, @Nullable Lock lock, Look look)
      throws IOException, SQLException, StoreRefused {
    Path log = beside(file, "-wal");
    boolean hasLog = Files.exists(log) && Files.size(log) > 0;
    if (!Files.exists(file)) {
      if (hasLog) {
        throw new StoreRefused(
            log + " is there, but the file that it belongs to is missing." + DAMAGED);
      }
      return;
    }
    if (!Files.isRegularFile(file) || !Files.isWritable(file) || !Files.isReadable(file)) {
      throw new StoreRefused(
          file
              + " cannot be read and written by this user. Change its owner or name another"
              + " directory."
              + UNTOUCHED);
    }
    checkHeader(file, hasLog);
    OptionalLong mark = lock == null ? OptionalLong.empty() : new Mark(lock.file()).commits();
    try {
      if (hasLog) {
        checkWithLog(file, mark, look);
      } else {
        try (Connection connection = Sqlite.frozenReader(file)) {
          checkTables(file, connection, mark);
          look.at(connection);
        }
      }
    } catch (SQLException e) {
      if (Sqlite.isDamage(e)) {
        throw damagedUnlessFull(file, e);
      }
      throw e;
    }
  }

  private static void checkHeader(Path file, boolean hasLog) throws IOException, StoreRefused {
    long fileBytes = Files.size(file);
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (header.hasRemaining() && channel.read(header) >= 0) {
        // reads on
      }
    }
    if (header.hasRemaining()
        || header.slice(0, MAGIC.length).mismatch(ByteBuffer.wrap(MAGIC)) >= 0) {
      throw new StoreRefused(file + " is damaged: it does not begin like a store." + DAMAGED);
    }
    // A crash may leave the file shorter than its header says; the log then has the rest.
    int shortPageSize = header.getShort(PAGE_SIZE_OFFSET) & 0xffff;
    long pageBytes = shortPageSize == 1 ? 65_536 : shortPageSize;
    long pages = header.getInt(PAGE_COUNT_OFFSET) & 0xffff_ffffL;
    boolean counted = header.getInt(CHANGE_COUNTER_OFFSET) == header.getInt(VALID_FOR_OFFSET);
    if (!hasLog && counted && fileBytes < pages * pageBytes) {
      throw new StoreRefused(
          file
              + " is damaged: it should have "
              + pages * pageBytes
              + " bytes and has only "
              + fileBytes
              + "."
              + DAMAGED);
    }
  }

  /**
   * After a crash the newest tables may stand in the log only, so it has to be read too. Reading it
   * makes SQLite write an index of it, which is put back as it was.
   */
  private static void checkWithLog(Path file, OptionalLong mark, Look look)
      throws IOException, SQLException, StoreRefused {
    Path index = beside(file, "-shm");
    byte[] before = Files.exists(index) ? Files.readAllBytes(index) : null;
    try (Connection connection = Sqlite.reader(file)) {
      checkTables(file, connection, mark);
      look.at(connection);
    } catch (SQLException | StoreRefused e) {
      if (before == null) {
        Files.deleteIfExists(index);
      } else {
        Files.write(index, before);
      }
      throw e;
    }
  }

  private static void checkTables(Path file, Connection connection, OptionalLong mark)
      throws IOException, SQLException, StoreRefused {
    int application;
    int version;
    List<String> tables = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      application = Sqlite.number(connection, "PRAGMA application_id");
      version = Migrations.version(connection);
      try (ResultSet rows = statement.executeQuery("SELECT name FROM sqlite_schema")) {
        while (rows.next()) {
          tables.add(rows.getString(1));
        }
      }
    } catch (SQLException e) {
      throw damagedUnlessFull(file, e);
    }
    if (application != Migrations.APPLICATION_ID) {
      throw new StoreRefused(
          file
              + " is a SQLite file, but not one of Holdfast's. Name another data directory."
              + UNTOUCHED);
    }
    if (version > Migrations.newest()) {
      throw new StoreRefused(
          file
              + " was written by a newer Holdfast (tables of version "
              + version
              + "; this one knows "
              + Migrations.newest()
              + "). Run that version or a later one, or name another data directory."
              + UNTOUCHED);
    }
    if (version < 1 || !tables.containsAll(List.of("events", "open", "progress"))) {
      throw new StoreRefused(file + " is damaged: tables are missing." + DAMAGED);
    }
    try {
      Inspection.run(file, beside(file, "-wal"), connection, mark, StoreLimits.INSPECTED_AT_START);
    } catch (SQLException e) {
      throw damagedUnlessFull(file, e);
    }
  }

  private static StoreRefused damagedUnlessFull(Path file, SQLException cause) throws SQLException {
    if (Sqlite.failure("looking at the store", cause).kind() == StoreException.Kind.FULL) {
      throw cause;
    }
    String what = cause instanceof Damaged damaged ? damaged.what() : cause.getMessage();
    return new StoreRefused(file + " is damaged: " + what + "." + DAMAGED, cause);
  }

  /** The name that the file of a directory has until it is complete, free of leftovers. */
  private static Path unfinished(Path file) throws IOException {
    Path unfinished = beside(file, ".new");
    for (String leftover : List.of("", "-wal", "-shm", "-journal")) {
      Files.deleteIfExists(beside(unfinished, leftover));
    }
    return unfinished;
  }

  private static void create(Path file) throws IOException, SQLException {
    Path unfinished = unfinished(file);
    try (Connection connection = Sqlite.creator(unfinished)) {
      Sqlite.execute(
          connection,
          "PRAGMA synchronous = OFF",
          "PRAGMA application_id = " + Migrations.APPLICATION_ID);
      Migrations.apply(connection);
      Progress.begin(connection);
    }
    complete(unfinished, file);
  }

  /** Makes sure that a file is on disk, and gives it its name. */
  static void complete(Path unfinished, Path file) throws IOException {
    sync(unfinished);
    try {
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
    }
    sync(file.toAbsolutePath().getParent());
  }

  /** Makes the file of a store. */
  interface Making<T> {
    T make(Path unfinished) throws IOException, SQLException, StoreRefused;
  }

  /** Makes a store in a directory without more than a key file, whole or not at all. */
  static <T> T make(Path directory, Making<T> making)
      throws IOException, SQLException, StoreRefused {
    makeDirectory(directory);
    try (Stream<Path> found = Files.list(directory)) {
      if (found.anyMatch(file -> !file.endsWith(KeyFile.NAME))) {
        throw new StoreRefused(
            directory
                + " is not empty. Name a directory that is, or that is not there."
                + UNTOUCHED);
      }
    }
    Path lockFile = directory.resolve(LOCK_FILE);
    Lock lock = lock(lockFile);
    boolean made = false;
    try {
      Path unfinished = unfinished(path(directory));
      T result = making.make(unfinished);
      complete(unfinished, path(directory));
      made = true;
      return result;
    } finally {
      if (!made) {
        unfinished(path(directory));
        Files.deleteIfExists(lockFile);
      }
      release(lock);
    }
  }

  /** Refuses a file that nobody uses and that is not a store of this or an earlier version. */
  static void checkAlone(Path file) throws IOException, SQLException, StoreRefused {
    checkHeader(file, false);
    try (Connection connection = Sqlite.frozenReader(file)) {
      checkTables(file, connection, OptionalLong.empty());
    }
  }

  static void sync(@Nullable Path path) throws IOException {
    if (path != null) {
      try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  private static Path beside(Path file, String suffix) {
    return file.resolveSibling(file.getFileName() + suffix);
  }
}
