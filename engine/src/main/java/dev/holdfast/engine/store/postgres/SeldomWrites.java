package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.postgres.Rowset.Step;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what few batches have, in statements of its own. */
final class SeldomWrites {
  private static final String FAN_OUT =
      "INSERT INTO fan_outs ("
          + FanOutRow.COLUMNS
          + ", tenant, shard) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

  private static final String REPLAY =
      "INSERT INTO replays ("
          + ReplayRow.COLUMNS
          + ", shard) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          + " ON CONFLICT (tenant, id) DO UPDATE SET state = excluded.state,"
          + " total = excluded.total, done = excluded.done, skipped = excluded.skipped,"
          + " through = excluded.through, sum = excluded.sum, below = excluded.below";

  private SeldomWrites() {}

  /** Sets the parameters of a statement for one of several things. */
  interface Setting<T> {
    void set(PreparedStatement row, T thing) throws SQLException;
  }

  /**
   * Writes steps and replays.
   *
   * @return how often the server was asked
   */
  static int write(Connection connection, Rowset rows) throws SQLException {
    return each(connection, FAN_OUT, rows.fanOuts(), null, SeldomWrites::set)
        + each(connection, REPLAY, rows.replays(), null, SeldomWrites::set);
  }

  private static void set(PreparedStatement row, Step step) throws SQLException {
    FanOutRow.set(row, step.step());
    row.setString(7, step.tenant());
    row.setInt(8, Shards.of(step.step().event()));
  }

  private static void set(PreparedStatement row, Replay replay) throws SQLException {
    ReplayRow.set(row, replay);
    row.setInt(16, Shards.of(replay.id()));
  }

  /**
   * Runs a statement for each of several things.
   *
   * @param otherwise what is wrong when it does not touch exactly one row, unless that is fine
   */
  static <T> int each(
      Connection connection,
      String sql,
      List<T> things,
      @Nullable String otherwise,
      Setting<T> setting)
      throws SQLException {
    if (things.isEmpty()) {
      return 0;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (T thing : things) {
        setting.set(statement, thing);
        statement.addBatch();
      }
      for (int touched : statement.executeBatch()) {
        if (otherwise != null && touched != 1) {
          throw new IllegalArgumentException(otherwise);
        }
      }
    }
    return 1;
  }
}
