package dev.holdfast.engine.store;

import dev.holdfast.core.port.History.ChangePosition;
import dev.holdfast.core.port.History.ChangeQuery;
import dev.holdfast.core.port.History.EndpointChange;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What all endpoints of a tenant have gone through: read along an index, and no row in vain. */
public final class ChangeRows {
  private static final String FIND =
      "SELECT "
          + Rows.CHANGE_COLUMNS
          + ", id FROM endpoint_changes WHERE tenant = ? AND (at, id) < (?, ?) AND at >= ?"
          + " ORDER BY at DESC, id DESC LIMIT ?";

  private ChangeRows() {}

  /** Reads the changes that are wanted. */
  public static List<EndpointChange> read(Transactions.Statements connection, ChangeQuery query)
      throws SQLException {
    PreparedStatement statement = connection.prepare(FIND);
    long at = Long.MAX_VALUE;
    long id = Long.MAX_VALUE;
    Instant until = query.until();
    if (until != null) {
      at = Rows.micros(until);
      id = Long.MIN_VALUE;
    }
    ChangePosition before = query.before();
    if (before != null && Rows.micros(before.at()) < at) {
      at = Rows.micros(before.at());
      id = before.id();
    }
    Instant since = query.since();
    statement.setString(1, query.tenant());
    statement.setLong(2, at);
    statement.setLong(3, id);
    statement.setLong(4, since == null ? Long.MIN_VALUE : Rows.micros(since));
    statement.setInt(5, query.limit());
    List<EndpointChange> found = new ArrayList<>();
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        found.add(new EndpointChange(row.getLong(6), row.getLong(1), Rows.change(row)));
      }
    }
    return found;
  }
}
