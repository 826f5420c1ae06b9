package dev.holdfast.engine.store;

import dev.holdfast.core.port.History.EventPage;
import dev.holdfast.core.port.History.EventQuery;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.engine.store.Rows.EventHead;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Lists events of the embedded store, from the newest down, with the states of their messages. */
final class EventReads {
  private static final String HEADS =
      "SELECT "
          + Rows.EVENT_HEAD_COLUMNS
          + ", length(data) + coalesce(length(previous), 0) FROM events"
          + " WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?";

  private static final int TENANT_COLUMN = 2;
  private static final int SIZE_COLUMN = 10;

  private static final String COUNT_UNFINISHED =
      "SELECT status, count(*) FROM (SELECT status FROM open WHERE id > ?1 AND id <= ?2"
          + " AND event = ?1 LIMIT ?3) GROUP BY status";

  private static final String COUNT_FINISHED =
      "SELECT dropped, count(*) FROM (SELECT reason IS NOT NULL AS dropped FROM messages"
          + " WHERE id > ?1 AND id <= ?2 AND event = ?1 LIMIT ?3) GROUP BY dropped";

  private static final String STATUS = "SELECT status FROM open WHERE id = ?";

  private static final String ENDING = "SELECT reason IS NOT NULL FROM messages WHERE id = ?";

  private final Transactions.Statements connection;

  private EventReads(Transactions.Statements connection) {
    this.connection = connection;
  }

  static EventPage events(Transactions.Statements connection, EventQuery query, int mostRows)
      throws SQLException {
    return new EventReads(connection).events(query, mostRows);
  }

  private EventPage events(EventQuery query, int mostRows) throws SQLException {
    Long hidden = HistoryReads.hidden(connection);
    PreparedStatement statement = connection.prepare(HEADS);
    statement.setLong(1, query.since() == null ? 0 : Summaries.firstIdAt(query.since()));
    long below = query.before();
    if (query.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(query.until()));
    }
    statement.setLong(2, below);
    // One more than are looked at, so that reaching the end means that there are no more.
    statement.setInt(3, mostRows + 1);
    List<EventSummary> items = new ArrayList<>();
    long last = below;
    int looked = 0;
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        if (items.size() == query.limit() || looked >= mostRows) {
          return new EventPage(items, last);
        }
        looked++;
        if (!query.tenant().equals(rows.getString(TENANT_COLUMN))) {
          // Not read any further: what is damaged of others is not to be seen here.
          last = rows.getLong(1);
          continue;
        }
        EventHead head = Rows.eventHead(rows, 1);
        if (query.about().covers(head.type(), head.subject())
            && !Objects.equals(hidden, head.id())) {
          int left = Math.max(1, mostRows - looked);
          boolean isFirst = looked == 1;
          if (!isFirst && head.messages() > left) {
            return new EventPage(items, last);
          }
          Map<Status, Integer> counts = counts(head, left);
          int counted = counts.values().stream().mapToInt(Integer::intValue).sum();
          if (!isFirst && counted >= left) {
            // There may be more of them; the next page begins with it, and has room for all.
            return new EventPage(items, last);
          }
          looked += counted;
          items.add(Summaries.of(head, rows.getInt(SIZE_COLUMN), counts));
        }
        last = head.id();
      }
    }
    return new EventPage(items, null);
  }

  /** How many messages an event has in each status, so many in all at most. */
  private Map<Status, Integer> counts(EventHead head, int most) throws SQLException {
    Map<Status, Integer> counts = new EnumMap<>(Status.class);
    int left = most;
    if (head.messages() > 0) {
      left -= count(COUNT_UNFINISHED, head, left, false, counts);
      if (left > 0) {
        left -= count(COUNT_FINISHED, head, left, true, counts);
      }
    }
    if (left > 0) {
      PreparedStatement remade = connection.prepare(Remaking.OF_EVENT);
      remade.setLong(1, head.id());
      remade.setInt(2, left);
      try (ResultSet rows = remade.executeQuery()) {
        while (rows.next()) {
          counts.merge(status(Remaking.from(rows).message()), 1, Integer::sum);
        }
      }
    }
    return counts;
  }

  private int count(
      String sql, EventHead head, int most, boolean isFinished, Map<Status, Integer> counts)
      throws SQLException {
    PreparedStatement statement = connection.prepare(sql);
    statement.setLong(1, head.id());
    statement.setLong(2, Summaries.lastMessageOf(head));
    statement.setInt(3, most);
    int counted = 0;
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        Status status = isFinished ? ending(rows.getInt(1)) : unfinished(rows.getInt(1));
        counts.merge(status, rows.getInt(2), Integer::sum);
        counted += rows.getInt(2);
      }
    }
    return counted;
  }

  private static Status unfinished(int code) throws SQLException {
    return Summaries.shown(Rows.status(code));
  }

  private static Status ending(int dropped) {
    return dropped == 0 ? Status.DELIVERED : Status.DROPPED;
  }

  private Status status(long message) throws SQLException {
    PreparedStatement unfinished = connection.prepare(STATUS);
    unfinished.setLong(1, message);
    try (ResultSet row = unfinished.executeQuery()) {
      if (row.next()) {
        return unfinished(row.getInt(1));
      }
    }
    PreparedStatement finished = connection.prepare(ENDING);
    finished.setLong(1, message);
    try (ResultSet row = finished.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("message " + message + " is missing");
      }
      return ending(row.getInt(1));
    }
  }
}
