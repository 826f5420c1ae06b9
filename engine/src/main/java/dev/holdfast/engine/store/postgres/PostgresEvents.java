package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Operational;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.History.About;
import dev.holdfast.core.port.History.EventPage;
import dev.holdfast.core.port.History.EventQuery;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.engine.store.Remaking;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Rows.EventHead;
import dev.holdfast.engine.store.Summaries;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lists a tenant's events, from the newest down, with the states of their messages. */
final class PostgresEvents {
  /** Of each event so many at most, whether replays have made them or not. */
  private static final String COUNT_UNFINISHED =
      """
      SELECT e.id, c.status, count(*)
      FROM unnest(?, ?) AS e(id, most)
      CROSS JOIN LATERAL (
        SELECT o.status FROM open o WHERE o.event = e.id AND o.tenant = ? LIMIT e.most) c
      GROUP BY e.id, c.status
      """;

  /** Likewise of those that were made with the event. */
  private static final String COUNT_FINISHED =
      """
      SELECT e.id, c.dropped, count(*)
      FROM unnest(?, ?, ?) AS e(id, last, most)
      CROSS JOIN LATERAL (
        SELECT m.reason IS NOT NULL AS dropped FROM messages m
        WHERE m.tenant = ? AND m.id > e.id AND m.id <= e.last AND m.event = e.id
          AND m.id > ? AND m.id <= ?
        LIMIT e.most) c
      GROUP BY e.id, c.dropped
      """;

  private static final String REMADE =
      "SELECT r.* FROM unnest(?) AS e(id) CROSS JOIN LATERAL (SELECT "
          + Remaking.COLUMNS
          + " FROM replayed WHERE event = e.id AND tenant = ? LIMIT ?) r";

  private final Connection connection;
  private final String tenant;
  private final int mostRows;

  PostgresEvents(Connection connection, String tenant, int mostRows) {
    this.connection = connection;
    this.tenant = tenant;
    this.mostRows = mostRows;
  }

  /** A condition on events, and its values. */
  record Condition(String sql, List<Object> values) {

    /** What events are about. There is no condition when that is anything. */
    static Condition of(About about) {
      StringBuilder sql = new StringBuilder("true");
      List<Object> values = new ArrayList<>();
      TypePattern type = about.type();
      if (type != null && type.isExact()) {
        sql.append(" AND type = ?");
        values.add(type.text());
      } else if (type != null) {
        sql.append(" AND type LIKE ? AND type <> ALL (?)");
        values.add(like(type));
        // Those that the pattern has to name by more than a *.
        values.add(
            Operational.TYPES.stream()
                .filter(operational -> !type.matches(operational))
                .toArray(String[]::new));
      }
      if (about.subject() != null) {
        sql.append(" AND subject = ?");
        values.add(about.subject());
      }
      return new Condition(sql.toString(), values);
    }

    private static String like(TypePattern type) {
      return type.text()
          .replace("\\", "\\\\")
          .replace("%", "\\%")
          .replace("_", "\\_")
          .replace('*', '%');
    }

    /** Text with this character is nobody's: the database cannot keep it. */
    static boolean isImpossible(About about) {
      return (about.type() != null && about.type().text().indexOf('\0') >= 0)
          || (about.subject() != null && about.subject().indexOf('\0') >= 0);
    }
  }

  /** An event and the bytes of its payload. */
  private record Sized(EventHead event, int bytes) {}

  EventPage page(EventQuery query) throws SQLException {
    if (Condition.isImpossible(query.about())) {
      return new EventPage(List.of(), null);
    }
    long from = query.since() == null ? 0 : Summaries.firstIdAt(query.since());
    from = Math.max(from, PostgresHistory.floor(connection));
    long below = Math.min(query.before(), PostgresHistory.newest(connection));
    if (query.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(query.until()));
    }
    int wanted = query.limit() + 1;
    List<Sized> found = heads(query.about(), from, below, wanted);
    Long next = null;
    if (found.size() == wanted) {
      found = found.subList(0, query.limit());
      next = found.getLast().event().id();
    } else {
      next = end(from, below);
    }
    int messages = 0;
    for (int i = 0; i < found.size(); i++) {
      messages += found.get(i).event().messages();
      if (i > 0 && messages > mostRows) {
        found = found.subList(0, i);
        next = found.getLast().event().id();
      }
    }
    Map<Long, Map<Status, Integer>> counts = counts(found);
    List<EventSummary> items = new ArrayList<>();
    for (Sized each : found) {
      items.add(
          Summaries.of(
              each.event(), each.bytes(), counts.getOrDefault(each.event().id(), Map.of())));
    }
    return new EventPage(items, next);
  }

  private List<Sized> heads(About about, long from, long below, int limit) throws SQLException {
    Condition condition = Condition.of(about);
    List<@Nullable Object> values = new ArrayList<>(List.of(tenant, from, below, mostRows));
    values.addAll(condition.values());
    values.add(limit);
    return Select.list(
        connection,
        "SELECT "
            + Rows.EVENT_HEAD_COLUMNS
            + ", "
            + PostgresHistory.BYTES
            + " FROM (SELECT * FROM events WHERE tenant = ? AND id >= ? AND id < ?"
            + " ORDER BY id DESC LIMIT ?) walked WHERE "
            + condition.sql()
            + " ORDER BY id DESC LIMIT ?",
        row -> new Sized(Rows.eventHead(row, 1), row.getInt(10)),
        values.toArray());
  }

  /** The last event that was looked at, if there are more behind it. */
  private @Nullable Long end(long from, long below) throws SQLException {
    List<Long> ends =
        Select.list(
            connection,
            "SELECT id FROM events WHERE tenant = ? AND id >= ? AND id < ? ORDER BY id DESC"
                + " LIMIT 2 OFFSET ?",
            row -> row.getLong(1),
            tenant,
            from,
            below,
            mostRows - 1);
    return ends.size() == 2 ? ends.getFirst() : null;
  }

  private Map<Long, Map<Status, Integer>> counts(List<Sized> events) throws SQLException {
    Map<Long, Map<Status, Integer>> counts = new HashMap<>();
    if (events.isEmpty()) {
      return counts;
    }
    // Those of replays are beside those that the event counts.
    long spare = Math.max(1, mostRows / events.size());
    Long[] ids = events.stream().map(each -> each.event().id()).toArray(Long[]::new);
    Long[] lasts =
        events.stream().map(each -> Summaries.lastMessageOf(each.event())).toArray(Long[]::new);
    Long[] most =
        events.stream()
            .map(each -> Math.min(mostRows, each.event().messages() + spare))
            .toArray(Long[]::new);
    Select.list(
        connection,
        COUNT_UNFINISHED,
        row -> {
          Status status = Summaries.shown(Rows.status(row.getInt(2)));
          return add(counts, row.getLong(1), status, row.getInt(3));
        },
        ids,
        most,
        tenant);
    Select.list(
        connection,
        COUNT_FINISHED,
        row -> add(counts, row.getLong(1), ending(row.getBoolean(2)), row.getInt(3)),
        ids,
        lasts,
        most,
        tenant,
        ids[ids.length - 1],
        lasts[0]);
    countRemade(ids, spare, counts);
    return counts;
  }

  /** Those of replays that are finished; the others are found by their event. */
  private void countRemade(Long[] events, long each, Map<Long, Map<Status, Integer>> counts)
      throws SQLException {
    Map<Long, Long> made = new HashMap<>();
    for (Remaking remaking :
        Select.list(connection, REMADE, Remaking::from, events, tenant, each)) {
      made.put(remaking.message(), remaking.event());
    }
    if (!made.isEmpty()) {
      Select.list(
          connection,
          "SELECT id, reason IS NOT NULL FROM messages WHERE tenant = ? AND id = ANY (?)",
          row -> add(counts, made.getOrDefault(row.getLong(1), 0L), ending(row.getBoolean(2)), 1),
          tenant,
          PostgresHistory.ids(made.keySet()));
    }
  }

  private static Status ending(boolean dropped) {
    return dropped ? Status.DROPPED : Status.DELIVERED;
  }

  private static boolean add(
      Map<Long, Map<Status, Integer>> counts, long event, Status status, int count) {
    counts
        .computeIfAbsent(event, _ -> new EnumMap<>(Status.class))
        .merge(status, count, Integer::sum);
    return true;
  }
}
