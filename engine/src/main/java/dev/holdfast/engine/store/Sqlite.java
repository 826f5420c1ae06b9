package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;
import org.sqlite.SQLiteOpenMode;

/** What is particular to SQLite: how a file is opened, and what its errors mean. */
final class Sqlite {
  static final int PAGE_BYTES = 8192;

  /** How long to wait for somebody else who writes into the file, such as a person with a shell. */
  private static final int BUSY_TIMEOUT_MILLIS = 5_000;

  private static final int WRITER_CACHE_KIB = 64 << 10;
  private static final int READER_CACHE_KIB = 8 << 10;

  private static final int PRIMARY_CODE = 0xff;

  private Sqlite() {}

  /** A connection to a file that is made by it, and that can shrink. */
  static Connection creator(Path file) throws SQLException {
    Connection connection = config(false).createConnection(url(file, ""));
    execute(connection, "PRAGMA page_size = " + PAGE_BYTES, "PRAGMA auto_vacuum = INCREMENTAL");
    return prepared(connection, 0);
  }

  /** A connection that may write. */
  static Connection writer(Path file, long logBytesKept) throws SQLException {
    return prepared(config(false).createConnection(url(file, "")), logBytesKept);
  }

  private static Connection prepared(Connection connection, long logBytesKept) throws SQLException {
    execute(
        connection,
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA journal_size_limit = " + logBytesKept,
        "PRAGMA temp_store = MEMORY",
        "PRAGMA cache_size = -" + WRITER_CACHE_KIB);
    return connection;
  }

  /** A connection that cannot write. */
  static Connection reader(Path file) throws SQLException {
    Connection connection = config(true).createConnection(url(file, ""));
    execute(
        connection,
        "PRAGMA temp_store = MEMORY",
        "PRAGMA query_only = ON",
        "PRAGMA cache_size = -" + READER_CACHE_KIB);
    return connection;
  }

  /** A connection that changes nothing but can copy the file into another, by VACUUM INTO. */
  static Connection copier(Path file) throws SQLException {
    return config(true).createConnection(url(file, ""));
  }

  /** A connection that may write into a copy, which is made anew if it is not finished. */
  static Connection copyWriter(Path file) throws SQLException {
    Connection connection = config(false).createConnection(url(file, ""));
    execute(connection, "PRAGMA journal_mode = MEMORY");
    return connection;
  }

  /** A connection to a file that nobody changes: leaves no trace, and sees no log. */
  static Connection frozenReader(Path file) throws SQLException {
    return config(true).createConnection(url(file, "?immutable=1"));
  }

  private static SQLiteConfig config(boolean readOnly) {
    SQLiteConfig config = new SQLiteConfig();
    config.setReadOnly(readOnly);
    config.setOpenMode(SQLiteOpenMode.OPEN_URI);
    config.setOpenMode(SQLiteOpenMode.NOMUTEX);
    config.resetOpenMode(SQLiteOpenMode.FULLMUTEX);
    config.setBusyTimeout(BUSY_TIMEOUT_MILLIS);
    return config;
  }

  /** As a URI, since the driver takes a question mark in a plain path for the start of settings. */
  private static String url(Path file, String parameters) {
    return "jdbc:sqlite:file:" + file.toAbsolutePath().toUri().getRawPath() + parameters;
  }

  static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  static int number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      if (!rows.next()) {
        throw new SQLException("no answer to: " + sql);
      }
      return rows.getInt(1);
    }
  }

  /** What an error means for the one who asked. */
  static StoreException failure(String doing, SQLException cause) {
    String remedy = isDamage(cause) && !(cause instanceof Damaged) ? ". " + Damaged.WHAT_TO_DO : "";
    return new StoreException(kind(code(cause)), doing + ": " + cause.getMessage() + remedy, cause);
  }

  /** Whether the file is not what it was. */
  static boolean isDamage(SQLException cause) {
    return cause instanceof Damaged
        || switch (primary(code(cause))) {
          case SQLITE_CORRUPT, SQLITE_NOTADB -> true;
          default -> false;
        };
  }

  /** Whether it does not go with what is there. */
  static boolean isConstraint(SQLException cause) {
    return primary(code(cause)) == SQLiteErrorCode.SQLITE_CONSTRAINT;
  }

  static boolean isInterrupt(SQLException cause) {
    return primary(code(cause)) == SQLiteErrorCode.SQLITE_INTERRUPT;
  }

  private static SQLiteErrorCode code(SQLException cause) {
    return cause instanceof SQLiteException known
        ? known.getResultCode()
        : SQLiteErrorCode.SQLITE_ERROR;
  }

  private static SQLiteErrorCode primary(SQLiteErrorCode code) {
    return SQLiteErrorCode.getErrorCode(code.code & PRIMARY_CODE);
  }

  /**
   * Errors that say nothing about the file and pass are {@code FULL}: the same may work later.
   * Whatever is not known to be harmless is {@code BROKEN}.
   */
  private static Kind kind(SQLiteErrorCode code) {
    if (code == SQLiteErrorCode.SQLITE_IOERR_SHMSIZE) {
      return Kind.FULL;
    }
    return switch (primary(code)) {
      case SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM -> Kind.FULL;
      case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_INTERRUPT ->
          Kind.REFUSED;
      default -> Kind.BROKEN;
    };
  }
}
