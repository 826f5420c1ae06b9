package dev.holdfast.engine.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;

/**
 * How far the store is. Kept with each transaction, so that a store whose newest transactions are
 * missing can be told from one that is complete.
 *
 * @param commits transactions since the store was made
 * @param at the latest time that any of them tells of
 */
record Progress(long commits, Instant at) {
  static final Progress NONE = new Progress(0, Instant.EPOCH);

  static final String UPDATE = "UPDATE progress SET commits = ?, at = ?, sum = ?";

  Progress next(Instant latest) {
    return new Progress(commits + 1, latest.isAfter(at) ? latest : at);
  }

  /** Sets the parameters of {@link #UPDATE}. */
  void set(PreparedStatement update) throws SQLException {
    update.setLong(1, commits);
    update.setLong(2, Rows.micros(at));
    update.setLong(3, sum());
  }

  private long sum() {
    return RowSum.of("progress").add(commits).add(at).value();
  }

  static Progress read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT commits, at, sum FROM progress")) {
      if (!row.next()) {
        throw new Damaged("it does not say how far it is");
      }
      return Damaged.orIntact(
          "progress",
          0,
          row.getLong(3),
          () -> new Progress(row.getLong(1), Rows.instant(row.getLong(2))),
          Progress::sum);
    }
  }

  /** Writes the row of a new store. */
  static void begin(Connection connection) throws SQLException {
    Sqlite.execute(connection, "INSERT INTO progress VALUES (0, 0, 0, " + NONE.sum() + ")");
  }
}
