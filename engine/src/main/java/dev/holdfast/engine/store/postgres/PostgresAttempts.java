package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.History.AttemptPosition;
import dev.holdfast.engine.store.AttemptPages;
import dev.holdfast.engine.store.Finished;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where a tenant's attempts are, for one read. */
final class PostgresAttempts implements AttemptPages.Source {
  /** Nobody's messages have so many different numbers of attempts; what is beyond is left out. */
  private static final int MOST_GROUPS = 500;

  /** Each status and number of attempts, but none, that unfinished messages of an endpoint have. */
  private static final String GROUPS =
      """
      WITH RECURSIVE steps AS (
        (SELECT status, attempts FROM open WHERE shard = ? AND endpoint = ?
          AND (status, attempts) > (0, 0)
          ORDER BY status, attempts LIMIT 1)
        UNION ALL
        SELECT next.status, next.attempts FROM steps, LATERAL (
          SELECT status, attempts FROM open WHERE shard = ? AND endpoint = ?
            AND (status, attempts) > (steps.status, steps.attempts)
          ORDER BY status, attempts LIMIT 1) next)
      SELECT status, attempts FROM steps WHERE attempts > 0 LIMIT ?
      """;

  private static final String OF_GROUP =
      "SELECT id FROM open WHERE shard = ? AND endpoint = ? AND status = ? AND attempts = ?"
          + " AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?";

  private static final String FINISHED =
      "SELECT id FROM messages WHERE tenant = ? AND endpoint = ? AND id >= ? AND id < ?"
          + " ORDER BY id DESC LIMIT ?";

  private static final String LAST =
      "SELECT "
          + Finished.COLUMNS
          + ", "
          + Rows.ATTEMPT_COLUMNS
          + ", attempt_sum, holdfast_is_kept(event) FROM messages"
          + " WHERE tenant = ? AND id = ANY (?)";

  private static final int LAST_ATTEMPT = 10;
  private static final int LAST_ATTEMPT_SUM = 17;
  private static final int IS_KEPT = 18;

  private static final String EARLIER =
      "SELECT message, number, "
          + Rows.ATTEMPT_COLUMNS
          + ", sum FROM attempts WHERE tenant = ? AND message = ANY (?)"
          + " AND (message < ? OR number < ?) ORDER BY message DESC, number DESC LIMIT ?";

  private static final Comparator<Attempt> DOWNWARDS =
      Comparator.comparingLong(Attempt::message).thenComparingInt(Attempt::number).reversed();

  private final Connection connection;
  private final String tenant;
  private final int mostRows;
  private final long floor;
  private final long newest;

  PostgresAttempts(Connection connection, String tenant, int mostRows) throws SQLException {
    this.connection = connection;
    this.tenant = tenant;
    this.mostRows = mostRows;
    this.floor = PostgresHistory.floor(connection);
    this.newest = PostgresHistory.newest(connection);
  }

  /** Unfinished messages of an endpoint that have the same status and number of attempts. */
  private record Group(int status, int attempts) {}

  @Override
  public AttemptPages.Ids tried(long endpoint, long from, long below, int limit)
      throws SQLException {
    int shard = Shards.of(endpoint);
    List<Group> groups =
        Select.list(
            connection,
            GROUPS,
            row -> new Group(row.getInt(1), row.getInt(2)),
            shard,
            endpoint,
            shard,
            endpoint,
            MOST_GROUPS);
    int each = Math.clamp(mostRows / (2L * Math.max(1, groups.size())), 1, limit);
    List<List<Long>> lists = new ArrayList<>();
    for (Group group : groups) {
      lists.add(
          Select.list(
              connection,
              OF_GROUP,
              row -> row.getLong(1),
              shard,
              endpoint,
              group.status(),
              group.attempts(),
              from,
              below,
              each));
    }
    lists.add(
        Select.list(
            connection,
            FINISHED,
            row -> row.getLong(1),
            tenant,
            endpoint,
            Math.max(from, floor),
            Math.min(below, newest),
            each));
    return AttemptPages.Ids.of(lists, each, null, limit);
  }

  @Override
  public List<Attempt> attempts(List<Long> messages, AttemptPosition after, int limit)
      throws SQLException {
    List<Long> rest = messages.stream().filter(id -> id <= after.message()).toList();
    if (rest.isEmpty()) {
      return List.of();
    }
    Set<Long> removed = new HashSet<>();
    List<Attempt> found = new ArrayList<>();
    for (Last last : Select.list(connection, LAST, Last::read, tenant, PostgresHistory.ids(rest))) {
      if (!last.isKept()) {
        removed.add(last.message());
      } else if (last.attempt() != null && isAfter(last.attempt(), after)) {
        found.add(last.attempt());
      }
    }
    found.addAll(
        Select.list(
            connection,
            EARLIER,
            row -> Rows.attempt(row, 3, 10, row.getLong(1), row.getInt(2)),
            tenant,
            PostgresHistory.ids(rest.stream().filter(id -> !removed.contains(id)).toList()),
            after.message(),
            after.number(),
            limit));
    found.sort(DOWNWARDS);
    return found.size() > limit ? found.subList(0, limit) : found;
  }

  private static boolean isAfter(Attempt attempt, AttemptPosition position) {
    return attempt.message() < position.message() || attempt.number() < position.number();
  }

  /** The last attempt of a finished message, unless it was dropped without one. */
  private record Last(long message, @Nullable Attempt attempt, boolean isKept) {
    static Last read(ResultSet row) throws SQLException {
      Finished message = Finished.from(row);
      row.getLong(LAST_ATTEMPT_SUM);
      Attempt attempt =
          row.wasNull()
              ? null
              : Rows.attempt(row, LAST_ATTEMPT, LAST_ATTEMPT_SUM, message.id(), message.attempts());
      return new Last(message.id(), attempt, row.getBoolean(IS_KEPT));
    }
  }
}
