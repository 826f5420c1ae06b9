package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the tables that grow with history are cut: all in the same places, so that an event is
 * dropped with its messages.
 *
 * <p>One part follows on the other, without a gap, from the lowest id on to some time ahead. An id
 * that is above all of them goes to the rest, which is found empty when the next part is made; if
 * it is not, since nobody could make parts in time, it becomes one. All of this is done by one node
 * at a time, and gives way at once to whoever is at work with the tables.
 */
final class Parts {
  private static final Logger LOG = LoggerFactory.getLogger(Parts.class);

  /** In the order in which they are locked. */
  static final List<String> TABLES = List.of("messages", "attempts", "replayed", "events");

  /** What each of them is cut by. */
  private static final List<String> KEYS = List.of("id", "message", "event", "id");

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuuMMddHH").withZone(ZoneOffset.UTC);

  private static final int ID_BITS = Id.COUNTER_BITS + Id.NODE_BITS;

  /** How many are there beside the one that is written to. */
  private static final int AHEAD = 3;

  /** How many are made at most for what is older than the store. */
  private static final int MOST_BACK = 150;

  /** How long anybody may have to wait for us to get a table for ourselves. */
  private static final String GIVE_WAY = "SET LOCAL lock_timeout = '150ms'";

  /** "Part" in ASCII: the lock of the node that makes and drops them. */
  private static final long LOCK = 0x50617274;

  /** "Turn" in ASCII: the lock of the node that looks through the oldest. */
  private static final long TURN = 0x5475726e;

  /** How long anybody may have to wait while the rest is made a part. */
  private static final String SHORTLY = "SET LOCAL statement_timeout = '2s'";

  /** What PostgreSQL answers when a lock was not to be had in time. */
  private static final String NOT_AVAILABLE = "55P03";

  /** A row is in the rest that a new part would have. */
  private static final String IN_REST = "23514";

  /** What it answers when a statement took too long. */
  private static final String TOO_LONG = "57014";

  private static final String COLUMNS = "first, until, latest_finish";

  private final Connections connections;

  Parts(Connections connections) {
    this.connections = connections;
  }

  /**
   * A part of each of the tables.
   *
   * @param first the lowest id that is in it
   * @param until the lowest id that is not in it
   * @param latest the latest time at which a message in it has finished, as far as was looked up
   */
  record Part(long first, long until, @Nullable Instant latest) {
    /** The name of a table's part. */
    String of(String table) {
      return table + "_" + NAME.format(Id.time(first));
    }
  }

  /** How much time a part is for: long enough that there are not too many of them. */
  static Duration width(Retention retention) {
    Duration age = retention.age();
    if (retention.maxBytes() != Retention.NO_LIMIT) {
      return widthWithinBytes(age);
    }
    if (age.compareTo(Duration.ofDays(2)) <= 0) {
      return Duration.ofHours(1);
    }
    if (age.compareTo(Duration.ofDays(14)) <= 0) {
      return Duration.ofHours(6);
    }
    return age.compareTo(Duration.ofDays(120)) <= 0 ? Duration.ofDays(1) : Duration.ofDays(7);
  }

  /** What is too large goes by parts, so they are smaller then, at the price of more of them. */
  private static Duration widthWithinBytes(Duration age) {
    if (age.compareTo(Duration.ofDays(14)) <= 0) {
      return Duration.ofHours(1);
    }
    return age.compareTo(Duration.ofDays(60)) <= 0 ? Duration.ofHours(6) : Duration.ofDays(1);
  }

  /** The lowest part, if there is any. */
  Optional<Part> oldest() throws StoreException {
    return connections
        .read(
            "looking for the oldest part",
            connection ->
                Select.list(
                    connection,
                    "SELECT " + COLUMNS + " FROM parts ORDER BY first LIMIT 1",
                    Parts::part))
        .stream()
        .findFirst();
  }

  private static Part part(ResultSet row) throws SQLException {
    long micros = row.getLong(3);
    return new Part(row.getLong(1), row.getLong(2), row.wasNull() ? null : Rows.instant(micros));
  }

  /**
   * Makes what is missing up to some time ahead. Whatever is older than all parts has one, too.
   *
   * @return whether all that is needed is there
   */
  boolean makeAhead(Duration width, Instant now) throws StoreException {
    return make(width, now, now);
  }

  /**
   * The same for a store that gets what is older than it: parts of the same width from then on.
   *
   * @param oldest the time of the oldest event that will be there
   */
  boolean make(Duration width, Instant oldest, Instant now) throws StoreException {
    long ahead = Id.floor(now.plus(width.multipliedBy(AHEAD)));
    Instant earliest = now.minus(width.multipliedBy(MOST_BACK));
    Instant from = oldest.isBefore(earliest) ? earliest : oldest;
    while (true) {
      Made made = orLater("making a part", c -> makeNext(c, width, from, ahead));
      if (made != Made.ONE) {
        return made == Made.ENOUGH;
      }
    }
  }

  private enum Made {
    ONE,
    ENOUGH,
    LATER
  }

  private Made makeNext(Connection connection, Duration width, Instant oldest, long ahead)
      throws SQLException {
    Long end = last(connection);
    if (end != null && end >= ahead && !isAnyInRest(connection)) {
      return Made.ENOUGH;
    }
    if (!isOurs(connection)) {
      return Made.LATER;
    }
    Long last = last(connection);
    long wide = width.toMillis() << ID_BITS;
    long begin = last == null ? 0 : last;
    // What is older than that, or was never written, is not worth many parts.
    long cut = Id.floor(oldest);
    long until = Math.max(begin - begin % wide + wide, cut - cut % wide);
    if (isAnyInRest(connection)) {
      return takeRest(connection, begin, until, wide, last != null) ? Made.ONE : Made.LATER;
    }
    if (last != null && last >= ahead) {
      return Made.ENOUGH;
    }
    Part part = new Part(begin, until, null);
    Connections.execute(connection, GIVE_WAY);
    for (String table : TABLES) {
      Connections.execute(
          connection, "CREATE TABLE %s (LIKE %s INCLUDING ALL)".formatted(part.of(table), table));
    }
    for (String table : TABLES) {
      attach(connection, table, part);
    }
    insert(connection, part);
    return Made.ONE;
  }

  /** Makes a part of the rest, which has some rows. */
  private static boolean takeRest(
      Connection connection, long begin, long least, long wide, boolean isAnyBelow)
      throws SQLException {
    for (int i = 0; i < TABLES.size(); i++) {
      String rest = TABLES.get(i) + "_rest";
      String key = KEYS.get(i);
      if (isAnyBelow) {
        // Of events that were removed.
        Connections.execute(connection, "DELETE FROM %s WHERE %s < %d".formatted(rest, key, begin));
      }
    }
    Connections.execute(connection, GIVE_WAY);
    lockAll(connection);
    // From here on everybody waits.
    Connections.execute(connection, SHORTLY);
    long highest = highest(connection);
    if (highest > Long.MAX_VALUE - 2 * wide) {
      return false;
    }
    long until = Math.max(least, highest - highest % wide + wide);
    Part part = new Part(begin, until, null);
    for (String table : TABLES) {
      Connections.execute(
          connection, "ALTER TABLE %1$s DETACH PARTITION %1$s_rest".formatted(table));
      Connections.execute(
          connection, "ALTER TABLE %s_rest RENAME TO %s".formatted(table, part.of(table)));
      Connections.execute(
          connection, "CREATE TABLE %1$s_rest (LIKE %1$s INCLUDING ALL)".formatted(table));
      attach(connection, table, part);
      Connections.execute(
          connection, "ALTER TABLE %1$s ATTACH PARTITION %1$s_rest DEFAULT".formatted(table));
    }
    insert(connection, part);
    LOG.info("store.part-taken-in first={} until={}", Id.time(begin), Id.time(until));
    return true;
  }

  /** The highest id that any batch has brought: nothing is looked through for it. */
  private static long highest(Connection connection) throws SQLException {
    return Select.list(
            connection, "SELECT coalesce(max(highest), 0) FROM batches", row -> row.getLong(1))
        .getFirst();
  }

  private static void attach(Connection connection, String table, Part part) throws SQLException {
    Connections.execute(
        connection,
        "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)"
            .formatted(table, part.of(table), part.first(), part.until()));
  }

  private static void insert(Connection connection, Part part) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO parts (first, until) VALUES (?, ?)")) {
      insert.setLong(1, part.first());
      insert.setLong(2, part.until());
      insert.executeUpdate();
    }
  }

  private static @Nullable Long last(Connection connection) throws SQLException {
    List<Long> last =
        Select.list(
            connection,
            "SELECT until FROM parts ORDER BY first DESC LIMIT 1",
            row -> row.getLong(1));
    return last.isEmpty() ? null : last.getFirst();
  }

  private static boolean isAnyInRest(Connection connection) throws SQLException {
    return Select.list(
            connection,
            "SELECT EXISTS (SELECT 1 FROM messages_rest) OR EXISTS (SELECT 1 FROM attempts_rest)"
                + " OR EXISTS (SELECT 1 FROM replayed_rest) OR EXISTS (SELECT 1 FROM events_rest)",
            row -> row.getBoolean(1))
        .getFirst();
  }

  /** Whether this node is the one that may change the parts, until the transaction ends. */
  static boolean isOurs(Connection connection) throws SQLException {
    return Select.list(
            connection, "SELECT pg_try_advisory_xact_lock(?)", row -> row.getBoolean(1), LOCK)
        .getFirst();
  }

  /** Whether this node is the one that may look through the oldest, until the session ends. */
  static boolean isTurn(Connection connection) throws SQLException {
    return Select.list(connection, "SELECT pg_try_advisory_lock(?)", row -> row.getBoolean(1), TURN)
        .getFirst();
  }

  private static void lockAll(Connection connection) throws SQLException {
    Connections.execute(
        connection, "LOCK TABLE " + String.join(", ", TABLES) + " IN ACCESS EXCLUSIVE MODE");
  }

  /** Notes when the last message of a part has finished. */
  void note(Part part, Instant latest) throws StoreException {
    connections.transact(
        "noting how long a part is kept",
        connection -> {
          try (PreparedStatement update =
              connection.prepareStatement("UPDATE parts SET latest_finish = ? WHERE first = ?")) {
            update.setLong(1, Rows.micros(latest));
            update.setLong(2, part.first());
            return update.executeUpdate();
          }
        });
  }

  /** What is done in the transaction that drops a part. */
  interface Dropping {
    /** Looks once more whether it may go, now that nobody can write to it. */
    boolean mayGo(Connection connection) throws SQLException;

    /** Writes down that it has gone. */
    void dropped(Connection connection) throws SQLException;
  }

  /**
   * Drops the lowest part.
   *
   * @return whether it has gone; not when somebody was at work with the tables, for now
   */
  boolean drop(Part part, Dropping dropping) throws StoreException {
    return orLater(
            "dropping a part",
            connection -> {
              if (!isOurs(connection)) {
                return Made.LATER;
              }
              Connections.execute(connection, GIVE_WAY);
              lockAll(connection);
              if (!isThere(connection, part) || !dropping.mayGo(connection)) {
                return Made.LATER;
              }
              for (String table : TABLES) {
                Connections.execute(connection, "DROP TABLE " + part.of(table));
              }
              Select.list(
                  connection,
                  "DELETE FROM parts WHERE first = ? RETURNING first",
                  row -> row.getLong(1),
                  part.first());
              dropping.dropped(connection);
              return Made.ONE;
            })
        == Made.ONE;
  }

  private static boolean isThere(Connection connection, Part part) throws SQLException {
    return !Select.list(
            connection, "SELECT 1 FROM parts WHERE first = ?", row -> true, part.first())
        .isEmpty();
  }

  private Made orLater(String doing, Connections.Work<Made> work) throws StoreException {
    try {
      return connections.transact(doing, work);
    } catch (StoreException e) {
      String state = e.getCause() instanceof SQLException cause ? cause.getSQLState() : null;
      if (TOO_LONG.equals(state)) {
        LOG.warn(
            "store.parts-later doing=\"{}\" reason=\"it would take too long\" next=\"tried again"
                + " later; nothing is lost meanwhile\"",
            doing);
        return Made.LATER;
      }
      // What came to the rest since it was looked into is taken in the next time.
      if (NOT_AVAILABLE.equals(state) || IN_REST.equals(state)) {
        LOG.debug("store.parts-later doing=\"{}\"", doing);
        return Made.LATER;
      }
      throw e;
    }
  }
}
