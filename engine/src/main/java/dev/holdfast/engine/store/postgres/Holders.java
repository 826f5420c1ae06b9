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
  /** In a transaction that waits for its client; what works ends by itself. */
  private static final String WAITS =
      " AND a.xact_start IS NOT NULL AND a.wait_event IN ('ClientRead', 'ClientWrite')";

  private static final String END =
      """
      SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.classid = ?::bigint::oid AND l.objid = ?::bigint::oid
        AND l.objsubid = 2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.pid <> pg_backend_pid()
      """;

  /** For how long a session may hold the row. */
  enum Until {
    /** "Hold" in ASCII: it reads, for as long as that takes. */
    TRANSACTION(0x486f6c64),
    /** "Held" in ASCII: it writes, a batch at a time. */
    SESSION(0x48656c64);

    /** The first part of the lock's number. */
    private final int lock;

    Until(int lock) {
      this.lock = lock;
    }
  }

  private Holders() {}

  static void mark(Connection connection, long node, Until until) throws SQLException {
    String lock =
        switch (until) {
          case TRANSACTION -> "pg_advisory_xact_lock_shared";
          case SESSION -> "pg_advisory_lock_shared";
        };
    try (PreparedStatement statement = connection.prepareStatement("SELECT " + lock + "(?, ?)")) {
      statement.setInt(1, until.lock);
      statement.setInt(2, (int) node);
      statement.execute();
    }
  }

  /** Ends the node's sessions that wait for the rest of a batch. */
  static void endWaiting(Connection connection, long node) throws SQLException {
    end(connection, node, Until.SESSION, END + WAITS);
  }

  /**
   * Ends what may hold the row of a node that has gone. A batch that the server has all of is let
   * end; what reads has nobody any more who waits for it, and may take minutes.
   */
  public static void endGone(Connection connection, long node) throws SQLException {
    end(connection, node, Until.SESSION, END + WAITS);
    end(connection, node, Until.TRANSACTION, END);
  }

  private static void end(Connection connection, long node, Until until, String sql)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, Integer.toUnsignedLong(until.lock));
      statement.setLong(2, Integer.toUnsignedLong((int) node));
      statement.execute();
    }
  }
}
