package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.ProofException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;

/** Looks into the database that nodes share, beside them. */
final class ClusterLook {
  private final Postgres postgres;
  private final String database;

  ClusterLook(Postgres postgres, String database) {
    this.postgres = postgres;
    this.database = database;
  }

  private interface Read<T> {
    T from(Statement statement) throws SQLException;
  }

  private <T> T read(Read<T> read) {
    try (Connection connection = postgres.connect(database);
        Statement statement = connection.createStatement()) {
      return read.from(statement);
    } catch (SQLException e) {
      throw new ProofException("the database cannot be looked into: " + e.getMessage(), e);
    }
  }

  /** The first value of the first row. */
  OptionalLong number(String sql) {
    return read(
        statement -> {
          try (ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
          }
        });
  }

  private Set<Long> numbers(String sql) {
    return read(
        statement -> {
          Set<Long> numbers = new HashSet<>();
          try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
              numbers.add(rows.getLong(1));
            }
          }
          return numbers;
        });
  }

  /** The id of the process that has this name now; absent when none takes part. */
  OptionalLong node(String name) {
    return number(
        "SELECT id FROM nodes WHERE name = '%s' ORDER BY id DESC LIMIT 1".formatted(name));
  }

  /** How many shards a node decides for. */
  int shards(long node) {
    return (int) number("SELECT count(*) FROM shards WHERE node = %d".formatted(node)).orElse(0);
  }

  /** How many shards nobody decides for. */
  int shardsOfNobody() {
    return (int)
        number(
                "SELECT count(*) FROM shards WHERE node IS NULL OR node NOT IN (SELECT id FROM"
                    + " nodes)")
            .orElse(0);
  }

  /** The ids of the endpoints that a node decides for. */
  Set<Long> endpoints(long node) {
    return numbers(
        "SELECT id FROM endpoints JOIN shards USING (shard) WHERE node = %d".formatted(node));
  }

  /** The ids of the unfinished messages that a node decides for. */
  Set<Long> unfinished(long node) {
    return numbers(
        "SELECT open.id FROM open JOIN shards USING (shard) WHERE shards.node = %d"
            .formatted(node));
  }

  /** How many messages are unfinished. */
  long unfinished() {
    return number("SELECT count(*) FROM open").orElse(0);
  }

  /** How many batches were committed by nodes that did not take part any more. */
  long lateWrites() {
    return number("SELECT count(*) FROM late_writes").orElse(0);
  }

  StoreLook.Contents contents() {
    return read(
        statement ->
            new StoreLook.Contents(StoreLook.unfinished(statement), StoreLook.finished(statement)));
  }
}
