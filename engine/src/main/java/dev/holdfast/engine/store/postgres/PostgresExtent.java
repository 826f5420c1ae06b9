package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Database.Extent;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** How much there is in the database. */
final class PostgresExtent {
  /** Answered by one look at the index's first entry. */
  static final String OLDEST_UNFINISHED = "SELECT min(id) FROM open";

  /** Answered by one look at the index's first entry of each shard. */
  static final String EARLIEST_DUE =
      "SELECT min(first.due) FROM shards s CROSS JOIN LATERAL (SELECT due FROM open o"
          + " WHERE o.shard = s.shard AND due IS NOT NULL ORDER BY due LIMIT 1) first";

  /** The size is found by looking at every file. */
  private static final Duration MEASURED_EVERY = Duration.ofSeconds(30);

  private final Connections connections;
  private long bytes;
  private long measuredNanos;
  private boolean isMeasured;

  PostgresExtent(Connections connections) {
    this.connections = connections;
  }

  static long bytes(Connection connection) throws SQLException {
    return Select.list(
            connection, "SELECT pg_database_size(current_database())", row -> row.getLong(1))
        .getFirst();
  }

  synchronized Extent extent() throws StoreException {
    return connections.read(
        "looking how much there is",
        connection -> {
          long now = System.nanoTime();
          if (!isMeasured || now - measuredNanos > MEASURED_EVERY.toNanos()) {
            bytes = bytes(connection);
            measuredNanos = now;
            isMeasured = true;
          }
          return new Extent(
              bytes,
              0,
              Long.MAX_VALUE,
              Select.list(
                      connection,
                      OLDEST_UNFINISHED,
                      row -> {
                        long id = row.getLong(1);
                        return Optional.ofNullable(row.wasNull() ? null : Id.time(id));
                      })
                  .getFirst()
                  .orElse(null),
              Select.list(connection, EARLIEST_DUE, row -> Optional.ofNullable(Rows.time(row, 1)))
                  .getFirst()
                  .orElse(null));
        });
  }
}
