package dev.holdfast.proof.stage;

import dev.holdfast.core.model.Id;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Makes a database older than it is: tables cut into parts for the time before it, and finished
 * messages in them. What it does to the tables is what their nodes do, with the same names and
 * under the same lock, so that nodes find nothing strange.
 *
 * @param connection of the one who owns the tables
 */
public record History(Connection connection) {
  /** The tables that are cut, in the order in which they are locked. */
  private static final List<String> TABLES = List.of("messages", "attempts", "replayed", "events");

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuuMMddHH").withZone(ZoneOffset.UTC);

  /** "Part" in ASCII: the lock of the node that makes and drops parts. */
  private static final long LOCK = 0x50617274;

  private static final int ID_BITS = Id.COUNTER_BITS + Id.NODE_BITS;
  private static final int ROWS_AT_ONCE = 250_000;

  /**
   * A part of each of the tables.
   *
   * @param first the lowest id that is in it
   * @param until the lowest id that is not in it
   */
  public record Part(long first, long until) {
    private String of(String table) {
      return table + "_" + NAME.format(Id.time(first));
    }
  }

  /** All parts, the lowest first. */
  public List<Part> parts() throws SQLException {
    List<Part> parts = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT first, until FROM parts ORDER BY first")) {
      while (rows.next()) {
        parts.add(new Part(rows.getLong(1), rows.getLong(2)));
      }
    }
    return parts;
  }

  /** Cuts the lowest part, which is empty, into one for all that is older, and some above it. */
  public void cutLowest(Duration width, int count) throws SQLException {
    changeParts(
        statement -> {
          Part lowest = parts().getFirst();
          long wide = width.toMillis() << ID_BITS;
          Part below = new Part(lowest.first(), lowest.until() - count * wide);
          for (String table : TABLES) {
            statement.execute(
                "ALTER TABLE %s DETACH PARTITION %s".formatted(table, lowest.of(table)));
            attach(statement, table, below);
          }
          statement.execute(
              "UPDATE parts SET until = %d WHERE first = %d"
                  .formatted(below.until(), below.first()));
          for (long first = below.until(); first < lowest.until(); first += wide) {
            make(statement, new Part(first, first + wide));
          }
        });
  }

  private static void make(Statement statement, Part part) throws SQLException {
    for (String table : TABLES) {
      statement.execute("CREATE TABLE %s (LIKE %s INCLUDING ALL)".formatted(part.of(table), table));
      attach(statement, table, part);
    }
    statement.execute(
        "INSERT INTO parts (first, until) VALUES (%d, %d)".formatted(part.first(), part.until()));
  }

  private static void attach(Statement statement, String table, Part part) throws SQLException {
    statement.execute(
        "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)"
            .formatted(table, part.of(table), part.first(), part.until()));
  }

  /**
   * Drops all parts, which are empty, that reach above an id, as if nobody had made them in time.
   */
  public void dropAbove(long id) throws SQLException {
    changeParts(
        statement -> {
          for (Part part : parts()) {
            if (part.until() > id) {
              for (String table : TABLES) {
                statement.execute("DROP TABLE " + part.of(table));
              }
            }
          }
          statement.execute("DELETE FROM parts WHERE until > " + id);
        });
  }

  private interface Change {
    void with(Statement statement) throws SQLException;
  }

  private void changeParts(Change change) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_xact_lock(%d)".formatted(LOCK));
      statement.execute("LOCK TABLE " + String.join(", ", TABLES) + " IN ACCESS EXCLUSIVE MODE");
      change.with(statement);
      connection.commit();
    } finally {
      connection.setAutoCommit(true);
    }
  }

  /**
   * Writes events with a message each, which was delivered at the first attempt, at even intervals.
   * There are subscriptions.
   *
   * @param part where they are
   * @param progress is told how many there are, now and then
   */
  public void fill(Part part, int rows, IntConsumer progress) throws SQLException {
    // A message has the id that follows its event's.
    long step = Math.max(2 * Id.STRIDE, (part.until() - part.first()) / Math.max(1, rows));
    step -= step % Id.STRIDE;
    long first = part.first() - part.first() % Id.STRIDE;
    long millis = Id.time(first).toEpochMilli();
    try (Statement statement = connection.createStatement()) {
      for (int from = 0; from < rows; from += ROWS_AT_ONCE) {
        int to = Math.min(rows, from + ROWS_AT_ONCE) - 1;
        progress.accept(from);
        statement.execute(
            """
            INSERT INTO events (id, tenant, type, messages, sum, body_sum, data)
            SELECT %d + i * %d, 'default', 'past', 1, 0, 0, convert_to(repeat('x', 200), 'UTF8')
            FROM generate_series(%d::bigint, %d::bigint) i
            """
                .formatted(first, step, from, to));
        statement.execute(
            """
            WITH targets AS (
              SELECT id AS subscription, endpoint, row_number() OVER (ORDER BY id) - 1 AS n,
                count(*) OVER () AS all_of_them
              FROM subscriptions),
            past AS (
              SELECT i, %1$d + i * %2$d AS event, (%3$d + ((i * %2$d) >> %4$d)) * 1000 AS micros
              FROM generate_series(%5$d::bigint, %6$d::bigint) i)
            INSERT INTO messages (id, tenant, event, subscription, endpoint, finished_at, attempts,
              sum, attempt_sum, attempt_at, duration_millis, scheduled, http_status)
            SELECT event + %7$d, 'default', event, subscription, endpoint, micros, 1, 0, 0, micros,
              3, 1, 200
            FROM past JOIN targets ON n = i %% all_of_them
            """
                .formatted(first, step, millis, ID_BITS, from, to, Id.STRIDE));
      }
    }
  }
}
