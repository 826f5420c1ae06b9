package dev.holdfast.engine.store.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Sessions that may hold a node's row, so that whoever waits for the row can end them. One whose
 * process was stopped or cut off while it sent a batch would hold it for ever: the server waits for
 * the rest, and none of its time limits counts then.
 *
 * <p>Each has an advisory lock with the node's number, which others see in the server's list.
 */
public final class Holders {
  /** "Held" in ASCII: the first part of the lock's number. */
  private static final int LOCK = 0x48656c64;

  /**
   * Only one in a transaction that waits for its client: what works, or waits for a standby, ends
   * by itself.
   */
  private static final String END =
      """
      SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.classid = ?::bigint::oid AND l.objid = ?::bigint::oid
        AND l.objsubid = 2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
        AND a.wait_event IN ('ClientRead', 'ClientWrite')
      """;

  /** For how long a session may hold the row. */
  enum Until {
    TRANSACTION,
    SESSION
  }

  private Holders() {}

  static void mark(Connection connection, long node, Until until) throws SQLException {
    String lock =
        switch (until) {
          case TRANSACTION -> "pg_advisory_xact_lock_shared";
          case SESSION -> "pg_advisory_lock_shared";
        };
    try (PreparedStatement statement = connection.prepareStatement("SELECT " + lock + "(?, ?)")) {
      statement.setInt(1, LOCK);
      statement.setInt(2, (int) node);
      statement.execute();
    }
  }

  /** Ends the node's sessions that wait for their client in the middle of something. */
  public static void end(Connection connection, long node) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(END)) {
      statement.setLong(1, LOCK);
      statement.setLong(2, Integer.toUnsignedLong((int) node));
      statement.execute();
    }
  }
}
