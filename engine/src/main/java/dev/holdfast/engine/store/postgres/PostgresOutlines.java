package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Health;
import dev.holdfast.engine.store.EndpointReads.Outline;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads what endpoints can be sorted by, of all that a tenant has. */
final class PostgresOutlines {
  private static final String SOME =
      "SELECT id, url, state, consecutive_failures FROM endpoints WHERE tenant = ? AND id < ?"
          + " ORDER BY id DESC LIMIT ?";

  private static final String UNFINISHED =
      "SELECT endpoint, count(*) FROM (SELECT endpoint FROM open WHERE tenant = ? LIMIT ?) counted"
          + " GROUP BY endpoint";

  private PostgresOutlines() {}

  /**
   * Newest first.
   *
   * @param most how many endpoints at most
   * @param mostCounted how many unfinished messages are counted at most
   * @param slice how many rows a statement reads
   */
  static List<Outline> read(
      Connection connection, String tenant, int most, int mostCounted, int slice)
      throws SQLException {
    Map<Long, Long> unfinished = new HashMap<>();
    Select.list(
        connection,
        UNFINISHED,
        row -> unfinished.put(row.getLong(1), row.getLong(2)),
        tenant,
        mostCounted);
    List<Outline> found = new ArrayList<>();
    long before = Long.MAX_VALUE;
    while (found.size() < most) {
      int asked = Math.min(slice, most - found.size());
      List<Outline> some =
          Select.list(
              connection,
              SOME,
              row ->
                  new Outline(
                      row.getLong(1),
                      row.getString(2),
                      Health.State.valueOf(row.getString(3)),
                      row.getLong(4),
                      unfinished.getOrDefault(row.getLong(1), 0L)),
              tenant,
              before,
              asked);
      found.addAll(some);
      if (some.size() < asked) {
        break;
      }
      before = some.getLast().id();
    }
    return found;
  }
}
