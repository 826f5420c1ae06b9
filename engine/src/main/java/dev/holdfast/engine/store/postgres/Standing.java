package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.SubscriptionRow;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads where things stand: for a node that begins, that learns, or that gains shards. */
final class Standing {
  /** Before the first version: all that there is has changed since then. */
  private static final long BEFORE_ALL = -1;

  private static final String IN_SHARDS = " WHERE shard = ANY (?)";

  /** Whoever takes over from the node deletes its row, and waits for this lock. */
  private static final String TAKES_PART = "SELECT 1 FROM nodes WHERE id = ? FOR KEY SHARE";

  private static final String HAS =
      "SELECT count(*) FROM shards WHERE node = ? AND shard = ANY (?)";

  private static final String SUBSCRIPTIONS =
      "SELECT "
          + SubscriptionRow.COLUMNS
          + ", forgotten IS NOT NULL FROM subscriptions WHERE changed > ? ORDER BY id";

  /** Behind the columns of a subscription. */
  private static final int IS_FORGOTTEN = SubscriptionRow.COLUMNS.split(",", -1).length + 1;

  private final Connections connections;
  private final Seals seals;

  Standing(Connections connections, Seals seals) {
    this.connections = connections;
    this.seals = seals;
  }

  /** All of it. */
  Snapshot snapshot() throws StoreException {
    return connections.readAtOnce(
        "reading where things stand",
        connection ->
            snapshot(
                connection,
                unfinished(connection, null),
                fanOuts(connection, null),
                replays(connection, null)));
  }

  /** What a node knows that decides for nothing yet. */
  Snapshot beginning() throws StoreException {
    return connections.readAtOnce(
        "reading what everyone knows",
        connection -> {
          connections.takeTime(connection);
          return snapshot(connection, Map.of(), List.of(), List.of());
        });
  }

  private Snapshot snapshot(
      Connection connection,
      Map<Long, Unfinished> unfinished,
      List<FanOut> fanOuts,
      List<Replay> replays)
      throws SQLException {
    Known known = known(connection, BEFORE_ALL);
    return new Snapshot(
        known.endpoints(),
        known.subscriptions(),
        known.ended(),
        unfinished,
        fanOuts,
        replays,
        highestId(connection),
        stored(connection),
        known.version());
  }

  Known changes(long since) throws StoreException {
    long latest = connections.read("looking whether something has changed", Standing::version);
    if (latest <= since) {
      return new Known(since, List.of(), List.of(), List.of(), List.of());
    }
    return connections.readAtOnce(
        "reading what has changed", connection -> known(connection, since));
  }

  private static long version(Connection connection) throws SQLException {
    return number(connection, "SELECT version FROM known");
  }

  private Known known(Connection connection, long since) throws SQLException {
    long version = version(connection);
    List<Endpoint> endpoints = new ArrayList<>();
    List<Subscription> subscriptions = new ArrayList<>();
    List<Subscription> ended = new ArrayList<>();
    List<Long> forgotten = new ArrayList<>();
    if (version > since) {
      try (PreparedStatement statement =
          connection.prepareStatement(
              "SELECT " + EndpointRow.COLUMNS + " FROM endpoints WHERE changed > ? ORDER BY id")) {
        statement.setLong(1, since);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            endpoints.add(EndpointRow.read(rows, seals));
          }
        }
      }
      try (PreparedStatement statement = connection.prepareStatement(SUBSCRIPTIONS)) {
        statement.setLong(1, since);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            if (rows.getBoolean(IS_FORGOTTEN)) {
              forgotten.add(rows.getLong(1));
            } else if (SubscriptionRow.endedAt(rows) != null) {
              ended.add(SubscriptionRow.read(rows, seals));
            } else {
              subscriptions.add(SubscriptionRow.read(rows, seals));
            }
          }
        }
      }
    }
    return new Known(version, endpoints, subscriptions, ended, forgotten);
  }

  /**
   * What is in some shards. What was left for their node is counted with it, and taken away: what
   * is committed later is neither counted nor taken away.
   *
   * @param node the one that has the shards. A process that was stopped for long may have lost
   *     them: what was left is another's then
   */
  Holdings holdings(long node, Shards shards) throws StoreException {
    return connections.transact(
        "reading what is in shards",
        connection -> {
          Connections.execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
          connections.takeTime(connection);
          Holders.mark(connection, node, Holders.Until.TRANSACTION);
          checkHas(connection, node, shards);
          try (PreparedStatement statement =
              connection.prepareStatement("DELETE FROM handovers" + IN_SHARDS)) {
            statement.setArray(1, array(connection, shards));
            statement.executeUpdate();
          }
          return new Holdings(
              endpoints(connection, shards),
              unfinished(connection, shards),
              fanOuts(connection, shards),
              replays(connection, shards));
        });
  }

  private static void checkHas(Connection connection, long node, Shards shards)
      throws SQLException {
    try (PreparedStatement takesPart = connection.prepareStatement(TAKES_PART);
        PreparedStatement has = connection.prepareStatement(HAS)) {
      takesPart.setLong(1, node);
      has.setLong(1, node);
      has.setArray(2, array(connection, shards));
      try (ResultSet row = takesPart.executeQuery();
          ResultSet count = has.executeQuery()) {
        if (!row.next() || !count.next() || count.getInt(1) != shards.size()) {
          throw new SQLException(
              "node " + node + " has lost some of " + shards.size() + " shards", SqlStates.FENCED);
        }
      }
    }
  }

  private List<Endpoint> endpoints(Connection connection, Shards shards) throws SQLException {
    return rows(
        connection,
        "SELECT " + EndpointRow.COLUMNS + " FROM endpoints" + IN_SHARDS,
        shards,
        row -> EndpointRow.read(row, seals));
  }

  private static Map<Long, Unfinished> unfinished(Connection connection, @Nullable Shards shards)
      throws SQLException {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    rows(
        connection,
        "SELECT endpoint, status, count(*) FROM open"
            + (shards == null ? "" : IN_SHARDS)
            + " GROUP BY endpoint, status",
        shards,
        row ->
            unfinished.merge(
                row.getLong(1),
                Unfinished.of(Rows.status(row.getInt(2)), row.getInt(3)),
                Unfinished::plus));
    return unfinished;
  }

  private static List<FanOut> fanOuts(Connection connection, @Nullable Shards shards)
      throws SQLException {
    return rows(
        connection,
        "SELECT "
            + FanOutRow.COLUMNS
            + " FROM fan_outs"
            + (shards == null ? "" : IN_SHARDS)
            + " ORDER BY event, first",
        shards,
        FanOutRow::read);
  }

  private static List<Replay> replays(Connection connection, @Nullable Shards shards)
      throws SQLException {
    return rows(
        connection,
        "SELECT "
            + ReplayRow.COLUMNS
            + " FROM replays"
            + (shards == null ? " WHERE " : IN_SHARDS + " AND ")
            + "state = 'RUNNING' ORDER BY id",
        shards,
        ReplayRow::read);
  }

  /** What is kept of each tenant's events, by all nodes. */
  Map<String, Stored> stored() throws StoreException {
    return connections.read("reading what is kept of tenants", Standing::stored);
  }

  private static Map<String, Stored> stored(Connection connection) throws SQLException {
    Map<String, Stored> stored = new HashMap<>();
    rows(
        connection,
        "SELECT tenant, sum(events), sum(bytes) FROM tenants GROUP BY tenant",
        null,
        row -> stored.put(row.getString(1), new Stored(row.getLong(2), row.getLong(3))));
    return stored;
  }

  /** Batches say what was in them; rows that came otherwise are looked at as well. */
  private static long highestId(Connection connection) throws SQLException {
    long highest = number(connection, "SELECT coalesce(max(highest), 0) FROM batches");
    for (String table : List.of("events", "open", "endpoints", "subscriptions", "replays")) {
      highest = Math.max(highest, number(connection, "SELECT coalesce(max(id), 0) FROM " + table));
    }
    return highest;
  }

  static long number(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw new SQLException("no answer to: " + sql);
      }
      return row.getLong(1);
    }
  }

  static Array array(Connection connection, Shards shards) throws SQLException {
    return connection.createArrayOf("int2", shards.numbers().toArray());
  }

  private interface Reading<T> {
    T read(ResultSet row) throws SQLException;
  }

  private static <T> List<T> rows(
      Connection connection, String sql, @Nullable Shards shards, Reading<T> reading)
      throws SQLException {
    List<T> read = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      if (shards != null) {
        statement.setArray(1, array(connection, shards));
      }
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          read.add(reading.read(rows));
        }
      }
    }
    return read;
  }
}
