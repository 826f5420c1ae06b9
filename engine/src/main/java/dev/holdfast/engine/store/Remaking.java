package dev.holdfast.engine.store;

import java.sql.ResultSet;
import java.sql.SQLException;

/** That a replay has made one message of another. */
public record Remaking(long event, long original, long message) {

  /** The columns that {@link #from} reads, in its order. */
  public static final String COLUMNS = "event, original, message, sum";

  public static final String OF_EVENT =
      "SELECT " + COLUMNS + " FROM replayed WHERE event = ? LIMIT ?";

  public static final String OF_MESSAGE =
      "SELECT " + COLUMNS + " FROM replayed WHERE event = ? AND message = ?";

  public static long sum(long event, long original, long message) {
    return RowSum.of("replayed").add(event).add(original).add(message).value();
  }

  public static Remaking from(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "replayed",
        row.getLong(3),
        row.getLong(4),
        () -> new Remaking(row.getLong(1), row.getLong(2), row.getLong(3)),
        made -> sum(made.event(), made.original(), made.message()));
  }
}
