package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.Shards;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Who takes part and who has which shards, in the database's tables. Each call is one statement.
 *
 * <p>A node's row says until when it may be counted on, by the database's clock. When that is over,
 * any other node may delete the row, and only that ends what the node may write: its batches hold a
 * share of the row's lock.
 */
final class Leases {
  private static final String RENEW =
      """
      WITH renewed AS (
        UPDATE nodes SET expires_at = clock_timestamp() + ? * interval '1 microsecond'
        WHERE id = ? RETURNING id),
      told AS (
        INSERT INTO node_reports (node, at, report)
        SELECT id, clock_timestamp(), ? FROM renewed
        ON CONFLICT (node) DO UPDATE SET at = excluded.at, report = excluded.report)
      SELECT clock_timestamp() FROM renewed
      """;

  private static final String LOOK =
      """
      SELECT nodes.id, (extract(epoch FROM expires_at) * 1000000)::bigint,
        (extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint,
        ARRAY(SELECT shard FROM shards WHERE shards.node = nodes.id ORDER BY shard),
        ARRAY(SELECT epoch FROM shards WHERE shards.node = nodes.id ORDER BY shard),
        coalesce((SELECT (report::json ->> 'isResting')::boolean FROM node_reports
                  WHERE node_reports.node = nodes.id), false)
      FROM nodes
      UNION ALL
      SELECT 0, 0, 0, ARRAY(SELECT shard FROM shards WHERE node IS NULL), NULL, false
      UNION ALL
      SELECT -1, 0, 0,
        ARRAY(SELECT shard FROM shards WHERE node IS NOT NULL
              AND NOT EXISTS (SELECT FROM nodes WHERE nodes.id = shards.node)), NULL, false
      """;

  private static final String EXPIRE =
      """
      WITH gone AS (
        DELETE FROM nodes WHERE id IN (
          SELECT nodes.id FROM nodes JOIN unnest(?, ?) AS seen(id, expires)
            ON nodes.id = seen.id
            AND (extract(epoch FROM nodes.expires_at) * 1000000)::bigint = seen.expires
          FOR UPDATE OF nodes SKIP LOCKED)
        RETURNING id, name),
      freed AS (
        UPDATE shards SET node = NULL, epoch = epoch + 1, since = clock_timestamp()
        FROM gone WHERE shards.node = gone.id RETURNING gone.id AS had)
      SELECT id, name, (SELECT count(*) FROM freed WHERE had = gone.id) FROM gone
      """;

  private static final String CLAIM =
      """
      WITH me AS (SELECT id FROM nodes WHERE id = ? FOR KEY SHARE),
      free AS (
        SELECT shard FROM shards WHERE node IS NULL
        ORDER BY shard LIMIT ? FOR UPDATE SKIP LOCKED)
      UPDATE shards SET node = me.id, epoch = epoch + 1, since = clock_timestamp()
      FROM me, free WHERE shards.shard = free.shard AND shards.node IS NULL
      RETURNING shards.shard, shards.epoch
      """;

  /** One that was claimed a moment ago may have a node that this statement does not see yet. */
  private static final String FREE_ORPHANS =
      """
      UPDATE shards SET node = NULL, epoch = epoch + 1, since = clock_timestamp()
      WHERE node IS NOT NULL AND since < clock_timestamp() - ? * interval '1 microsecond'
        AND NOT EXISTS (SELECT FROM nodes WHERE nodes.id = shards.node)
      """;

  /** One that comes late, when the node has the shard again, finds another epoch. */
  private static final String RELEASE =
      """
      UPDATE shards SET node = NULL, epoch = shards.epoch + 1, since = clock_timestamp()
      FROM unnest(?, ?) AS given(shard, epoch)
      WHERE shards.node = ? AND shards.shard = given.shard AND shards.epoch = given.epoch
      """;

  private static final String LEAVE =
      """
      WITH gone AS (DELETE FROM nodes WHERE id = ? RETURNING id),
      silent AS (DELETE FROM node_reports WHERE node IN (SELECT id FROM gone))
      UPDATE shards SET node = NULL, epoch = epoch + 1, since = clock_timestamp()
      FROM gone WHERE shards.node = gone.id
      """;

  private Leases() {}

  /**
   * What the others are.
   *
   * @param others all nodes but this one
   * @param mine the shards of this node, each with its epoch
   * @param free the shards of nobody
   * @param isOrphaned whether there are shards of nodes that there are not
   */
  record Seen(List<Other> others, SortedMap<Integer, Long> mine, Shards free, boolean isOrphaned) {

    /** How many nodes there are, with this one. */
    int nodes() {
      return others.size() + 1;
    }

    /** How many nodes share the shards, with this one. */
    int sharing() {
      return 1 + (int) others.stream().filter(other -> !other.isResting()).count();
    }
  }

  /**
   * Another node.
   *
   * @param expiresMicros when its lease is over, by the database's clock
   * @param left how long that is from now on, by the same clock
   * @param isResting whether it takes no shards at the moment, as it cannot read them
   */
  record Other(long id, long expiresMicros, Duration left, boolean isResting) {}

  /** A node that was taken out, and how many shards are free since. */
  record Gone(long id, String name, int shards) {}

  /** Extends the lease from now on; empty when the node takes part no longer. */
  static Optional<Instant> renew(Connection connection, long node, Duration lease, String report)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(RENEW)) {
      statement.setLong(1, micros(lease));
      statement.setLong(2, node);
      statement.setString(3, report);
      try (ResultSet found = statement.executeQuery()) {
        return found.next()
            ? Optional.of(found.getObject(1, OffsetDateTime.class).toInstant())
            : Optional.empty();
      }
    }
  }

  static Seen look(Connection connection, long node) throws SQLException {
    List<Other> others = new ArrayList<>();
    SortedMap<Integer, Long> mine = new TreeMap<>();
    Shards free = Shards.NONE;
    boolean isOrphaned = false;
    try (PreparedStatement statement = connection.prepareStatement(LOOK);
        ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        long id = found.getLong(1);
        List<Long> shards = numbers(found.getArray(4));
        if (id < 0) {
          isOrphaned = !shards.isEmpty();
        } else if (id == 0) {
          free = Shards.of(shards.stream().map(Long::intValue).toList());
        } else if (id == node) {
          List<Long> epochs = numbers(found.getArray(5));
          for (int i = 0; i < shards.size(); i++) {
            mine.put(shards.get(i).intValue(), epochs.get(i));
          }
        } else {
          others.add(
              new Other(
                  id,
                  found.getLong(2),
                  Duration.of(found.getLong(3), ChronoUnit.MICROS),
                  found.getBoolean(6)));
        }
      }
    }
    return new Seen(others, mine, free, isOrphaned);
  }

  private static List<Long> numbers(Array numbers) throws SQLException {
    List<Long> all = new ArrayList<>();
    for (Object number : (Object[]) numbers.getArray()) {
      all.add(((Number) number).longValue());
    }
    return all;
  }

  /**
   * Takes out nodes whose leases are over, if they are as they were seen. One that is writing just
   * now is left for later.
   */
  static List<Gone> expire(Connection connection, List<Other> over) throws SQLException {
    List<Gone> gone = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(EXPIRE)) {
      statement.setArray(
          1, connection.createArrayOf("int8", over.stream().map(Other::id).toArray()));
      statement.setArray(
          2, connection.createArrayOf("int8", over.stream().map(Other::expiresMicros).toArray()));
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          gone.add(new Gone(found.getLong(1), found.getString(2), found.getInt(3)));
        }
      }
    }
    return gone;
  }

  /**
   * Takes some of the shards that are nobody's, each with its epoch; none when the node takes part
   * no longer.
   */
  static SortedMap<Integer, Long> claim(Connection connection, long node, int most)
      throws SQLException {
    SortedMap<Integer, Long> claimed = new TreeMap<>();
    try (PreparedStatement statement = connection.prepareStatement(CLAIM)) {
      statement.setLong(1, node);
      statement.setInt(2, most);
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          claimed.put(found.getInt(1), found.getLong(2));
        }
      }
    }
    return claimed;
  }

  /** Makes shards free whose node has gone without giving them back. */
  static void freeOrphans(Connection connection, Duration lease) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FREE_ORPHANS)) {
      statement.setLong(1, micros(lease));
      statement.executeUpdate();
    }
  }

  /** Gives back shards that the node has had since these epochs. */
  static void release(Connection connection, long node, Map<Integer, Long> shards)
      throws SQLException {
    List<Integer> numbers = List.copyOf(shards.keySet());
    try (PreparedStatement statement = connection.prepareStatement(RELEASE)) {
      statement.setArray(1, connection.createArrayOf("int2", numbers.toArray()));
      statement.setArray(
          2, connection.createArrayOf("int8", numbers.stream().map(shards::get).toArray()));
      statement.setLong(3, node);
      statement.executeUpdate();
    }
  }

  /** Gives back everything and takes part no longer. */
  static void leave(Connection connection, long node) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LEAVE)) {
      statement.setLong(1, node);
      statement.executeUpdate();
    }
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1_000;
  }
}
