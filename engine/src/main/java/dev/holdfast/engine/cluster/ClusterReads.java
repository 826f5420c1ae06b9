package dev.holdfast.engine.cluster;

import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what people see of a cluster. */
final class ClusterReads {
  private static final String NODES =
      """
      SELECT nodes.id, name, version, started_at,
        (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint,
        (SELECT count(*) FROM shards WHERE shards.node = nodes.id), at, report
      FROM nodes LEFT JOIN node_reports ON node_reports.node = nodes.id ORDER BY nodes.id
      """;

  private static final String LAG =
      """
      SELECT (SELECT version FROM known), (SELECT count(*) FROM handovers),
        (SELECT count(*) FROM calls WHERE answered_at IS NULL),
        (SELECT (extract(epoch FROM clock_timestamp() - min(at)) * 1000)::bigint FROM handovers)
      """;

  private ClusterReads() {}

  static ClusterState state(Connection connection, long self) throws SQLException {
    List<ClusterState.Node> nodes = new ArrayList<>();
    List<ClusterState.Shard> shards = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery(NODES)) {
        while (row.next()) {
          nodes.add(
              new ClusterState.Node(
                  row.getLong(1),
                  row.getString(2),
                  row.getString(3),
                  time(row, 4),
                  Duration.ofMillis(row.getLong(5)),
                  row.getInt(6),
                  report(row)));
        }
      }
      try (ResultSet row =
          statement.executeQuery("SELECT shard, node, epoch FROM shards ORDER BY shard")) {
        while (row.next()) {
          long node = row.getLong(2);
          shards.add(
              new ClusterState.Shard(row.getInt(1), row.wasNull() ? null : node, row.getLong(3)));
        }
      }
      try (ResultSet row = statement.executeQuery(LAG)) {
        row.next();
        long oldest = row.getLong(4);
        Duration age = row.wasNull() ? null : Duration.ofMillis(oldest);
        return new ClusterState(
            self, nodes, shards, row.getLong(1), row.getLong(2), row.getLong(3), age);
      }
    }
  }

  private static Instant time(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  private static ClusterState.@Nullable Report report(ResultSet row) throws SQLException {
    String text = row.getString(8);
    if (text == null) {
      return null;
    }
    JsonObject json = new JsonObject(text);
    return new ClusterState.Report(
        time(row, 7),
        json.getInteger("inFlight", 0),
        json.getLong("pending", 0L),
        json.getLong("waiting", 0L),
        json.getLong("parked", 0L),
        json.getLong("eventsAccepted", 0L),
        json.getLong("messagesAccepted", 0L),
        json.getLong("delivered", 0L),
        json.getLong("known", 0L),
        json.getLong("clockOffsetMillis", 0L));
  }
}
