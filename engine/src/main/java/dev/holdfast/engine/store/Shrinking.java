package dev.holdfast.engine.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Gives room in the file that is no longer used back to the disk, some pages at a time.
 *
 * <p>Some free pages are kept, since what is written next needs them: giving them back and asking
 * for them again would only cost time.
 */
final class Shrinking {
  private static final int INCREMENTAL = 2;

  private final Limits limits;

  /**
   * How much is done at a time.
   *
   * @param pages pages given back by one step
   * @param spare free pages that are always kept
   * @param share the share of all pages, as one of so many, that may be free
   */
  record Limits(int pages, int spare, int share) {
    static final Limits DEFAULT = new Limits(64, 512, 8);
  }

  Shrinking(Limits limits) {
    this.limits = limits;
  }

  /** Gives some pages back, in the transaction that is open; tells whether there are more. */
  boolean step(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      // As an update it is carried through to its end; each step of a query gives back one page.
      statement.executeUpdate("PRAGMA incremental_vacuum(" + limits.pages() + ")");
    }
    return isDue(connection);
  }

  /** Whether more pages are free than are kept. */
  boolean isDue(Connection connection) throws SQLException {
    int free = Sqlite.number(connection, "PRAGMA freelist_count");
    return free > limits.spare()
        && free > Sqlite.number(connection, "PRAGMA page_count") / limits.share()
        && Sqlite.number(connection, "PRAGMA auto_vacuum") == INCREMENTAL;
  }
}
