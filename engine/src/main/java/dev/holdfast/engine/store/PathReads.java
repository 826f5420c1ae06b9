package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the path reads to find work. Each read walks along one index of the open messages in the
 * order that is asked for and stops at its limit; nothing is sorted.
 */
final class PathReads {
  private static final String SELECT = "SELECT " + Rows.MESSAGE_COLUMNS + " FROM open ";

  /** The cursor's own due time first, then the later ones: each a range of the index. */
  static final String DUE =
      SELECT
          + "WHERE due = ?1 AND id > ?2 AND due <= ?3 UNION ALL "
          + SELECT
          + "WHERE due > ?1 AND due <= ?3 ORDER BY due, id LIMIT ?4";

  static final String PENDING =
      SELECT + "WHERE endpoint = ? AND status = 0 ORDER BY attempts, id LIMIT ?";

  /** The cursor's own number of attempts first, then the larger ones, for parked and waiting. */
  static final String BACKLOG =
      backlog("status = 2 AND attempts = ?2 AND id > ?3")
          + " UNION ALL "
          + backlog("status = 2 AND attempts > ?2")
          + " UNION ALL "
          + backlog("status = 1 AND attempts = ?2 AND id > ?3 AND " + waitingMayBeTried())
          + " UNION ALL "
          + backlog("status = 1 AND attempts > ?2 AND " + waitingMayBeTried())
          + " ORDER BY attempts, id LIMIT ?6";

  static final String PROBE =
      "SELECT * FROM ("
          + probe("status = 2")
          + ") UNION ALL SELECT * FROM ("
          + probe("status = 1")
          + ") LIMIT 1";

  static final String OF_SUBSCRIPTION = SELECT + "WHERE endpoint = ? AND subscription = ? LIMIT ?";

  static final String UNFINISHED = SELECT + "WHERE id = ?";

  private static final String EVENT = "SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?";

  private final Reader reader;

  PathReads(Reader reader) {
    this.reader = reader;
  }

  private static String backlog(String which) {
    return SELECT + "WHERE endpoint = ?1 AND " + which;
  }

  private static String waitingMayBeTried() {
    return "(not_before IS NULL OR not_before <= ?4) AND (due <= ?4 OR last_attempt_at < ?5)";
  }

  private static String probe(String which) {
    return SELECT
        + "WHERE endpoint = ?1 AND "
        + which
        + " AND (not_before IS NULL OR not_before <= ?2) ORDER BY attempts, id LIMIT 1";
  }

  List<Message> due(DueCursor after, Instant through, int limit) throws StoreException {
    return messages(
        "reading due messages",
        DUE,
        limit,
        statement -> {
          statement.setLong(1, Rows.micros(after.due()));
          statement.setLong(2, after.id());
          statement.setLong(3, Rows.micros(through));
          statement.setInt(4, limit);
        });
  }

  List<Message> pending(long endpoint, int limit) throws StoreException {
    return messages(
        "reading pending messages",
        PENDING,
        limit,
        statement -> {
          statement.setLong(1, endpoint);
          statement.setInt(2, limit);
        });
  }

  List<Message> backlog(
      long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      throws StoreException {
    return messages(
        "reading a backlog",
        BACKLOG,
        limit,
        statement -> {
          statement.setLong(1, endpoint);
          statement.setInt(2, after.attempts());
          statement.setLong(3, after.id());
          statement.setLong(4, Rows.micros(now));
          statement.setLong(5, Rows.micros(triedBefore));
          statement.setInt(6, limit);
        });
  }

  Optional<Message> probe(long endpoint, Instant now) throws StoreException {
    return first(
        messages(
            "choosing a probe",
            PROBE,
            1,
            statement -> {
              statement.setLong(1, endpoint);
              statement.setLong(2, Rows.micros(now));
            }));
  }

  List<Message> ofSubscription(long endpoint, long subscription, int limit) throws StoreException {
    return messages(
        "reading messages of a subscription",
        OF_SUBSCRIPTION,
        limit,
        statement -> {
          statement.setLong(1, endpoint);
          statement.setLong(2, subscription);
          statement.setInt(3, limit);
        });
  }

  Optional<Message> unfinished(long message) throws StoreException {
    return first(
        messages("reading a message", UNFINISHED, 1, statement -> statement.setLong(1, message)));
  }

  List<Event> events(List<Long> ids) throws StoreException {
    return reader.read(
        "reading events",
        connection -> {
          PreparedStatement statement = connection.prepare(EVENT);
          List<Event> events = new ArrayList<>(ids.size());
          for (long id : ids) {
            statement.setLong(1, id);
            try (ResultSet row = statement.executeQuery()) {
              if (row.next()) {
                events.add(Rows.event(row));
              }
            }
          }
          return events;
        });
  }

  private interface Parameters {
    void set(PreparedStatement statement) throws SQLException;
  }

  private List<Message> messages(String doing, String sql, int limit, Parameters parameters)
      throws StoreException {
    return reader.read(
        doing,
        connection -> {
          PreparedStatement statement = connection.prepare(sql);
          parameters.set(statement);
          List<Message> messages = new ArrayList<>(Math.min(limit, 1_000));
          try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
              messages.add(Rows.message(rows));
            }
          }
          return messages;
        });
  }

  private static Optional<Message> first(List<Message> messages) {
    return messages.isEmpty() ? Optional.empty() : Optional.of(messages.getFirst());
  }
}
