package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.PostgresWriter.Node;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Lets a process begin to take part, and end. */
final class Nodes {
  /** "Node" in ASCII: the lock under which slots are given out. */
  private static final long LOCK = 0x4e6f6465;

  private static final String JOIN =
      """
      INSERT INTO nodes (slot, name, version, started_at, expires_at)
      SELECT min(s), ?, ?, clock_timestamp(), clock_timestamp() + ? * interval '1 millisecond'
      FROM generate_series(0, 1023) AS s WHERE s NOT IN (SELECT slot FROM nodes) HAVING count(*) > 0
      RETURNING id, slot
      """;

  /**
   * What is known of those that have left is known of the one that joins. In one statement, since
   * between two of them another might write its last batch and leave.
   */
  private static final String BEGIN =
      """
      WITH gone AS (
        DELETE FROM batches b WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = b.node)
        RETURNING latest, highest)
      INSERT INTO batches (node, batch, latest, highest)
      SELECT ?, 0, coalesce(max(latest), 0), coalesce(max(highest), 0)
      FROM (SELECT latest, highest FROM gone UNION ALL SELECT latest, highest FROM batches) every
      """;

  private Nodes() {}

  static Node join(Connections connections) throws StoreException, StoreRefused {
    PostgresOptions options = connections.options();
    Joined joined =
        connections.transact("beginning to take part", connection -> begin(connection, options));
    if (joined.node() != null) {
      return joined.node();
    }
    throw Objects.requireNonNullElseGet(
        joined.refusal(),
        () ->
            new StoreRefused(
                options.place()
                    + " has 1024 nodes already, of which some may be gone: try again later."));
  }

  /** A node, or why there is none; neither when there are too many. */
  private record Joined(@Nullable Node node, @Nullable StoreRefused refusal) {}

  /** A move that begins waits until the node's row is there, or is seen here. */
  private static Joined begin(Connection connection, PostgresOptions options) throws SQLException {
    Connections.execute(connection, "LOCK TABLE nodes IN ROW EXCLUSIVE MODE");
    StoreRefused refusal = Schema.moving(connection, options.place());
    return refusal == null
        ? new Joined(join(connection, options), null)
        : new Joined(null, refusal);
  }

  private static @Nullable Node join(Connection connection, PostgresOptions options)
      throws SQLException {
    Connections.execute(connection, "SELECT pg_advisory_xact_lock(" + LOCK + ")");
    Node node;
    try (PreparedStatement statement = connection.prepareStatement(JOIN)) {
      statement.setString(1, options.name());
      statement.setString(2, options.version());
      statement.setLong(3, options.lease().toMillis());
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return null;
        }
        node = new Node(row.getLong(1), row.getInt(2));
      }
    }
    try (PreparedStatement statement = connection.prepareStatement(BEGIN)) {
      statement.setLong(1, node.id());
      statement.executeUpdate();
    }
    return node;
  }

  /** What the node decided for is anybody's from then on. */
  static void leave(Connections connections, Node node) throws StoreException {
    connections.transact(
        "ending to take part",
        connection -> {
          run(
              connection,
              "UPDATE shards SET node = NULL, epoch = epoch + 1, since = clock_timestamp()"
                  + " WHERE node = ?",
              node);
          run(connection, "DELETE FROM node_reports WHERE node = ?", node);
          run(connection, "DELETE FROM nodes WHERE id = ?", node);
          return true;
        });
  }

  private static void run(Connection connection, String sql, Node node) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, node.id());
      statement.executeUpdate();
    }
  }
}
