package dev.holdfast.engine.store;

import dev.holdfast.core.port.History.AttemptMark;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Where the embedded store has the newest attempts of endpoints, for one read. */
final class LatestReads implements LatestAttempts.Source {
  /**
   * Parts of {@link HistoryIndex} that are looked into. An endpoint that has nothing in them costs
   * a look into each, so they are few, however many there are.
   */
  private static final int NEWEST_PARTS = 10;

  /** As everywhere, it is the event that says whose a message is. */
  private static final String OF_GROUP =
      "SELECT o.id FROM open o CROSS JOIN events e WHERE o.endpoint = ? AND o.status = ?"
          + " AND o.attempts = ? AND e.id = o.event AND e.tenant = ? ORDER BY o.id DESC LIMIT ?";

  /** These columns come before what a long response overflows to. */
  private static final String FINISHED =
      "SELECT m.id, m.endpoint, m.attempts, m.attempt_at, m.duration_millis, m.error IS NULL FROM ";

  /** What is not indexed yet, of all endpoints together. */
  private static final String TAIL =
      FINISHED
          + "(SELECT id, event, endpoint, attempts, attempt_at, duration_millis, error FROM messages"
          + " WHERE id >= ?1 ORDER BY id DESC LIMIT ?2) m"
          + " CROSS JOIN events e WHERE m.endpoint IN (SELECT value FROM json_each(?3))"
          + " AND e.id = m.event AND e.tenant = ?4 AND e.id IS NOT ?5";

  private static final String ONE =
      FINISHED
          + "messages m CROSS JOIN events e WHERE m.id = ?1 AND e.id = m.event AND e.tenant = ?2"
          + " AND e.id IS NOT ?3";

  /** Where the newest parts begin. */
  private static final String FIRST_OF_NEWEST =
      "SELECT first FROM parts WHERE number >= (SELECT max(number) FROM parts) - ?"
          + " ORDER BY number LIMIT 1";

  private static final String EARLIER =
      "SELECT attempt_at, duration_millis, error IS NULL FROM attempts WHERE message = ?"
          + " ORDER BY number DESC LIMIT ?";

  private final Transactions.Statements connection;
  private final String tenant;
  private final int mostRows;

  LatestReads(Transactions.Statements connection, String tenant, int mostRows) {
    this.connection = connection;
    this.tenant = tenant;
    this.mostRows = mostRows;
  }

  @Override
  public List<LatestAttempts.Tried> unfinished(List<Long> endpoints, int groups, int each)
      throws SQLException {
    List<LatestAttempts.Tried> found = new ArrayList<>();
    for (Long endpoint : endpoints) {
      for (AttemptReads.Group group : AttemptReads.groups(connection, endpoint, groups)) {
        PreparedStatement statement = connection.prepare(OF_GROUP);
        statement.setLong(1, endpoint);
        statement.setInt(2, group.status());
        statement.setInt(3, group.attempts());
        statement.setString(4, tenant);
        statement.setInt(5, each);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            found.add(new LatestAttempts.Tried(endpoint, rows.getLong(1), group.attempts(), null));
          }
        }
      }
    }
    return found;
  }

  @Override
  public List<LatestAttempts.Tried> finished(List<Long> endpoints, long from, int each)
      throws SQLException {
    long through = HistoryReads.indexedThrough(connection);
    Long hidden = HistoryReads.hidden(connection);
    List<LatestAttempts.Tried> found = new ArrayList<>();
    PreparedStatement tail = connection.prepare(TAIL);
    tail.setLong(1, Math.max(from, through + 1));
    tail.setInt(2, Math.max(1, mostRows / 2));
    tail.setString(
        3, endpoints.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]")));
    tail.setString(4, tenant);
    tail.setObject(5, hidden);
    add(tail, found);
    if (from > through) {
      return found;
    }
    long down = Math.max(from, firstOfNewest());
    for (Long endpoint : endpoints) {
      for (boolean isDropped : List.of(false, true)) {
        addIndexed(endpoint, isDropped, down, each, hidden, found);
      }
    }
    return found;
  }

  private void addIndexed(
      long endpoint,
      boolean isDropped,
      long from,
      int most,
      @Nullable Long hidden,
      List<LatestAttempts.Tried> found)
      throws SQLException {
    PreparedStatement one = connection.prepare(ONE);
    one.setString(2, tenant);
    one.setObject(3, hidden);
    int end = found.size() + most;
    try (IndexedIds ids =
        IndexedIds.of(
            connection,
            HistoryIndex.By.ENDPOINT,
            endpoint,
            isDropped,
            IndexedIds.Direction.NEWEST_FIRST,
            from,
            Long.MAX_VALUE)) {
      for (long id = ids.next(); id != IndexedIds.NONE && found.size() < end; id = ids.next()) {
        one.setLong(1, id);
        add(one, found);
      }
    }
  }

  private long firstOfNewest() throws SQLException {
    PreparedStatement statement = connection.prepare(FIRST_OF_NEWEST);
    statement.setInt(1, NEWEST_PARTS - 1);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private static void add(PreparedStatement statement, List<LatestAttempts.Tried> found)
      throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        found.add(
            new LatestAttempts.Tried(
                rows.getLong(2), rows.getLong(1), rows.getInt(3), mark(rows, 4)));
      }
    }
  }

  /** Absent where a message was dropped without a last attempt. */
  private static @Nullable AttemptMark mark(ResultSet row, int first) throws SQLException {
    long at = row.getLong(first);
    return row.wasNull()
        ? null
        : new AttemptMark(Rows.instant(at), row.getLong(first + 1), row.getBoolean(first + 2));
  }

  @Override
  public Map<Long, List<AttemptMark>> earlier(List<Long> messages, int each) throws SQLException {
    Map<Long, List<AttemptMark>> found = new HashMap<>();
    PreparedStatement statement = connection.prepare(EARLIER);
    for (Long message : messages) {
      List<AttemptMark> marks = new ArrayList<>();
      statement.setLong(1, message);
      statement.setInt(2, each);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          AttemptMark mark = mark(rows, 1);
          if (mark != null) {
            marks.add(mark);
          }
        }
      }
      found.put(message, marks);
    }
    return found;
  }
}
