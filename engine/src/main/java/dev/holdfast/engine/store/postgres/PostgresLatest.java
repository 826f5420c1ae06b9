package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.History.AttemptMark;
import dev.holdfast.engine.store.LatestAttempts;
import dev.holdfast.engine.store.LatestAttempts.Tried;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where the newest attempts of a tenant's endpoints are: one statement for all of them. */
final class PostgresLatest implements LatestAttempts.Source {
  /** Each status and number of attempts, but none, and of each the newest messages. */
  private static final String UNFINISHED =
      """
      SELECT w.endpoint, o.id, g.attempts
      FROM unnest(?, ?) AS w(shard, endpoint)
      CROSS JOIN LATERAL (
        WITH RECURSIVE steps AS (
          (SELECT status, attempts FROM open WHERE shard = w.shard AND endpoint = w.endpoint
            AND (status, attempts) > (0, 0)
            ORDER BY status, attempts LIMIT 1)
          UNION ALL
          SELECT next.status, next.attempts FROM steps, LATERAL (
            SELECT status, attempts FROM open WHERE shard = w.shard AND endpoint = w.endpoint
              AND (status, attempts) > (steps.status, steps.attempts)
            ORDER BY status, attempts LIMIT 1) next)
        SELECT status, attempts FROM steps WHERE attempts > 0 LIMIT ?) g
      CROSS JOIN LATERAL (
        SELECT id FROM open
        WHERE shard = w.shard AND endpoint = w.endpoint AND status = g.status
          AND attempts = g.attempts AND tenant = ?
        ORDER BY id DESC LIMIT ?) o
      """;

  private static final String FINISHED =
      """
      SELECT w.endpoint, m.id, m.attempts, m.attempt_at, m.duration_millis, m.error IS NULL
      FROM unnest(?) AS w(endpoint)
      CROSS JOIN LATERAL (
        SELECT id, event, attempts, attempt_at, duration_millis, error FROM messages
        WHERE tenant = ? AND endpoint = w.endpoint AND id >= ? AND id < ?
        ORDER BY id DESC LIMIT ?) m
      WHERE holdfast_is_kept(m.event)
      """;

  private static final String EARLIER =
      """
      SELECT w.message, a.attempt_at, a.duration_millis, a.error IS NULL
      FROM unnest(?) AS w(message)
      CROSS JOIN LATERAL (
        SELECT attempt_at, duration_millis, error FROM attempts
        WHERE tenant = ? AND message = w.message AND message >= ? AND message <= ?
        ORDER BY number DESC LIMIT ?) a
      """;

  private final Connection connection;
  private final String tenant;

  PostgresLatest(Connection connection, String tenant) {
    this.connection = connection;
    this.tenant = tenant;
  }

  @Override
  public List<Tried> unfinished(List<Long> endpoints, int groups, int each) throws SQLException {
    return Select.list(
        connection,
        UNFINISHED,
        row -> new Tried(row.getLong(1), row.getLong(2), row.getInt(3), null),
        endpoints.stream().map(endpoint -> (short) Shards.of(endpoint)).toArray(Short[]::new),
        PostgresHistory.ids(endpoints),
        groups,
        tenant,
        each);
  }

  @Override
  public List<Tried> finished(List<Long> endpoints, long from, int each) throws SQLException {
    return Select.list(
        connection,
        FINISHED,
        row -> new Tried(row.getLong(1), row.getLong(2), row.getInt(3), mark(row, 4)),
        PostgresHistory.ids(endpoints),
        tenant,
        Math.max(from, PostgresHistory.floor(connection)),
        PostgresHistory.newest(connection),
        each);
  }

  @Override
  public Map<Long, List<AttemptMark>> earlier(List<Long> messages, int each) throws SQLException {
    Map<Long, List<AttemptMark>> found = new HashMap<>();
    Select.list(
        connection,
        EARLIER,
        row -> {
          AttemptMark mark = mark(row, 2);
          return mark != null
              && found.computeIfAbsent(row.getLong(1), _ -> new ArrayList<>()).add(mark);
        },
        PostgresHistory.ids(messages),
        tenant,
        Collections.min(messages),
        Collections.max(messages),
        each);
    return found;
  }

  /** Absent where a message was dropped without a last attempt. */
  private static @Nullable AttemptMark mark(ResultSet row, int first) throws SQLException {
    long at = row.getLong(first);
    return row.wasNull()
        ? null
        : new AttemptMark(Rows.instant(at), row.getLong(first + 1), row.getBoolean(first + 2));
  }
}
