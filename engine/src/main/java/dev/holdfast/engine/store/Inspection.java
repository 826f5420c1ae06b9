package dev.holdfast.engine.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;

/**
 * Looks, before a store is used, for damage that no read would notice.
 *
 * <p>A row has a sum and is checked whenever it is read; what has to be made sure of here is that
 * it will be read. So it looks whether the newest transactions are there, whether the file is as
 * long as it should be, and whether the tables from which work is found, with their indexes, hold
 * together. The time that this takes grows with what is unfinished, not with what is kept; when
 * that is very much, {@link LateInspection} looks at it while the store is in use.
 */
final class Inspection {
  /** What is read as a whole. */
  private static final List<String> TABLES =
      List.of(
          "progress",
          "data_keys",
          "endpoints",
          "subscriptions",
          "api_keys",
          "sessions",
          "fan_outs",
          "replays",
          "tenants");

  /** What is read as a whole since the second version of the tables. */
  private static final List<String> TABLES_SINCE_2 = List.of("indexed", "parts", "removing");

  /**
   * Sums over all unfinished messages, once as the table has them and once as each index does. One
   * bit that differs makes one sum differ.
   */
  private static final String BY_TABLE = "FROM open NOT INDEXED";

  private static final String BY_ENDPOINT = "FROM open INDEXED BY open_by_endpoint";

  private static final String BY_DUE = "FROM open INDEXED BY open_by_due WHERE due IS NOT NULL";

  /** SQLite leaves out the page that has this byte. */
  private static final long LOCK_BYTE = 0x4000_0000L;

  private Inspection() {}

  /**
   * Does all of it.
   *
   * @param mostUnfinished of more messages than this, none are looked at
   */
  static void run(Path file, Path log, Connection connection, OptionalLong mark, int mostUnfinished)
      throws IOException, SQLException {
    checkProgress(connection, mark);
    checkLength(file, log, connection);
    for (String table : TABLES) {
      if (exists(connection, table)) {
        checkTable(connection, table);
      }
    }
    if (Migrations.version(connection) >= 2) {
      for (String table : TABLES_SINCE_2) {
        checkTable(connection, table);
      }
    }
    if (!hasMoreThan(connection, mostUnfinished)) {
      checkTable(connection, "open");
      checkIndex(connection, BY_ENDPOINT, BY_TABLE, "id", "endpoint", "status", "attempts");
      checkIndex(connection, BY_DUE, BY_TABLE + " WHERE due IS NOT NULL", "id", "due");
    }
  }

  /** Whether more messages than this are unfinished. */
  static boolean hasMoreThan(Connection connection, int unfinished) throws SQLException {
    String most = "(SELECT 1 FROM open LIMIT %d)".formatted(unfinished + 1L);
    return Sqlite.number(connection, "SELECT count(*) FROM " + most) > unfinished;
  }

  static Damaged disagreement() {
    return new Damaged("an index of table open does not agree with it");
  }

  private static void checkProgress(Connection connection, OptionalLong mark) throws SQLException {
    long commits = Progress.read(connection).commits();
    if (mark.isPresent() && commits < mark.getAsLong()) {
      throw new Damaged(
          "%d transactions were committed and it has only %d, so the newest are missing. (If you"
                  .formatted(mark.getAsLong(), commits)
              + " have restored an older state on purpose, delete holdfast.lock)");
    }
  }

  /** A crash may leave the file shorter than it should be; the log then has the rest. */
  private static void checkLength(Path file, Path log, Connection connection)
      throws IOException, SQLException {
    long pages = Sqlite.number(connection, "PRAGMA page_count");
    long pagesInFile = Files.size(file) / Sqlite.PAGE_BYTES;
    if (pagesInFile >= pages) {
      return;
    }
    BitSet inLog = Files.exists(log) ? LogPages.in(log) : new BitSet();
    for (long page = pagesInFile + 1; page <= pages; page++) {
      if (!inLog.get((int) page) && page != LOCK_BYTE / Sqlite.PAGE_BYTES + 1) {
        throw new Damaged(
            "it should have %d pages and has only %d, and page %d is not in the log either"
                .formatted(pages, pagesInFile, page));
      }
    }
  }

  /**
   * Stores of earlier versions do not have all tables; what must be there was looked for before.
   */
  private static boolean exists(Connection connection, String table) throws SQLException {
    return !text(connection, "SELECT name FROM sqlite_schema WHERE name = '" + table + "'")
        .isEmpty();
  }

  private static void checkTable(Connection connection, String table) throws SQLException {
    String found = text(connection, "PRAGMA quick_check('" + table + "')");
    if (!found.equals("ok")) {
      throw new Damaged("table " + table + ": " + found.replace("\n", "; "));
    }
  }

  private static void checkIndex(
      Connection connection, String byIndex, String byTable, String... columns)
      throws SQLException {
    StringBuilder sums = new StringBuilder("SELECT count(*)");
    for (String column : columns) {
      // In halves, since a sum of whole numbers of this size does not fit.
      sums.append("|| ' ' || coalesce(sum(%1$s & 0xffffffff), 0)".formatted(column));
      sums.append("|| ' ' || coalesce(sum(%1$s >> 32), 0)".formatted(column));
    }
    if (!text(connection, sums + " " + byIndex).equals(text(connection, sums + " " + byTable))) {
      throw disagreement();
    }
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? String.valueOf(rows.getString(1)) : "";
    }
  }
}
