package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Arrivals.Arrived;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What other nodes have left for this one. Each is given once: what was given is remembered, and is
 * taken away from the table with the next question. Whoever gains a shard counts the messages
 * themselves; what is left after that is his, and is neither given nor taken away here.
 */
final class Handovers {
  private static final int OF_MESSAGES = 0;
  private static final int OF_FAN_OUTS = 1;

  /**
   * One statement, so that all of it is seen as at one moment. What it takes away it still sees,
   * and leaves out. Rows are read until there are as many things in them as were asked for.
   */
  private static final String TAKE =
      """
      WITH taken AS (DELETE FROM handovers h USING unnest(?, ?) AS t(shard, id)
          WHERE h.shard = t.shard AND h.id = t.id
          AND EXISTS (SELECT 1 FROM shards s WHERE s.shard = h.shard AND s.node = ?)),
        looked AS MATERIALIZED (SELECT id, shard, kind, ids, endpoints, statuses FROM handovers h
          WHERE shard = ANY (?) AND id <> ALL (?)
          AND EXISTS (SELECT 1 FROM shards s WHERE s.shard = h.shard AND s.node = ?) LIMIT ?),
        counted AS (SELECT *, sum(cardinality(ids)) OVER (ORDER BY id) - cardinality(ids) AS before
          FROM looked)
      SELECT c.id, c.shard, c.kind, l.id, l.endpoint, l.status, o.found, %s
      FROM counted c
        CROSS JOIN LATERAL unnest(c.ids, c.endpoints, c.statuses) WITH ORDINALITY
          AS l(id, endpoint, status, n)
        LEFT JOIN LATERAL (SELECT true AS found, %s FROM open WHERE open.id = l.id
          AND c.kind = 0) o ON true
      WHERE c.before < ? ORDER BY c.id, l.n
      """
          .formatted(columns("o."), columns(""));

  private static final int FIRST_OF_MESSAGE = 8;

  private static final String FAN_OUTS =
      "SELECT " + FanOutRow.COLUMNS + " FROM fan_outs WHERE event = ANY (?) ORDER BY event, first";

  private static final String REPLAYS =
      "SELECT " + ReplayRow.COLUMNS + " FROM replays WHERE id = ANY (?) AND state = 'RUNNING'";

  private final Connections connections;
  private final long node;

  /** The shard of each that was given and may still be in the table. */
  private final Map<Long, Integer> given = new HashMap<>();

  Handovers(Connections connections, long node) {
    this.connections = connections;
    this.node = node;
  }

  private static String columns(String prefix) {
    return prefix + Rows.MESSAGE_COLUMNS.replace(", ", ", " + prefix);
  }

  synchronized Arrivals take(Shards ours, int limit) throws StoreException {
    if (ours.isEmpty()) {
      return Arrivals.NOTHING;
    }
    Map<Long, Integer> before = Map.copyOf(given);
    Found found =
        connections.read("reading what has arrived", connection -> find(connection, ours, limit));
    given.keySet().removeAll(before.keySet());
    given.putAll(found.rows());
    return found.arrivals();
  }

  /** What was left in these is counted anew. */
  synchronized void forget(Shards shards) {
    given.values().removeIf(shards::contains);
  }

  private record Found(Arrivals arrivals, Map<Long, Integer> rows) {}

  private Found find(Connection connection, Shards ours, int limit) throws SQLException {
    List<Long> ids = List.copyOf(given.keySet());
    List<Arrived> messages = new ArrayList<>();
    Set<Long> events = new HashSet<>();
    Set<Long> replays = new HashSet<>();
    Map<Long, Integer> rows = new HashMap<>();
    int things = 0;
    try (PreparedStatement statement = connection.prepareStatement(TAKE)) {
      statement.setArray(
          1, connection.createArrayOf("int2", ids.stream().map(given::get).toArray()));
      statement.setArray(2, connection.createArrayOf("int8", ids.toArray()));
      statement.setLong(3, node);
      statement.setArray(4, Standing.array(connection, ours));
      statement.setArray(5, connection.createArrayOf("int8", ids.toArray()));
      statement.setLong(6, node);
      statement.setInt(7, limit);
      statement.setInt(8, limit);
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          things++;
          rows.put(found.getLong(1), found.getInt(2));
          long id = found.getLong(4);
          switch (found.getInt(3)) {
            case OF_MESSAGES -> messages.add(arrived(found, id));
            case OF_FAN_OUTS -> events.add(id);
            default -> replays.add(id);
          }
        }
      }
    }
    return new Found(
        new Arrivals(
            messages, fanOuts(connection, events), replays(connection, replays), things >= limit),
        rows);
  }

  private static Arrived arrived(ResultSet found, long id) throws SQLException {
    return new Arrived(
        id,
        found.getLong(5),
        Rows.status(found.getInt(6)),
        found.getBoolean(7) ? Rows.message(found, FIRST_OF_MESSAGE) : null);
  }

  private static List<FanOut> fanOuts(Connection connection, Set<Long> events) throws SQLException {
    List<FanOut> steps = new ArrayList<>();
    if (!events.isEmpty()) {
      try (PreparedStatement statement = connection.prepareStatement(FAN_OUTS)) {
        statement.setArray(1, connection.createArrayOf("int8", events.toArray()));
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            steps.add(FanOutRow.read(rows));
          }
        }
      }
    }
    return steps;
  }

  private static List<Replay> replays(Connection connection, Set<Long> ids) throws SQLException {
    List<Replay> replays = new ArrayList<>();
    if (!ids.isEmpty()) {
      try (PreparedStatement statement = connection.prepareStatement(REPLAYS)) {
        statement.setArray(1, connection.createArrayOf("int8", ids.toArray()));
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            replays.add(ReplayRow.read(rows));
          }
        }
      }
    }
    return replays;
  }
}
