package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.port.Store.Backlog;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.Recovery;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the path reads to find work. Each read walks along one index of the open messages in the
 * order that is asked for and stops at its limit; nothing is sorted.
 *
 * <p>The walk goes on behind a cursor in steps (the cursor's own due time or number of attempts,
 * then all later ones), since SQLite does not use the id at the end of an index for a comparison of
 * whole rows.
 */
final class PathReads {
  private static final String SELECT = "SELECT " + Rows.MESSAGE_COLUMNS + " FROM open WHERE ";

  static final String DUE =
      SELECT
          + "due = ?1 AND id > ?2 AND due <= ?3 UNION ALL "
          + SELECT
          + "due > ?1 AND due <= ?3 ORDER BY due, id LIMIT ?4";

  static final String PENDING =
      SELECT + "endpoint = ? AND status = 0 ORDER BY attempts, id LIMIT ?";

  static final String PARKED_BACKLOG = behindCursor(2) + " LIMIT ?4";

  static final String LAST_LOOKED_AT = behindCursor("attempts, id", 1) + " LIMIT 1 OFFSET ?4";

  /** The outer query takes rows from the inner one only until it has enough. */
  static final String WAITING_BACKLOG =
      "SELECT * FROM ("
          + behindCursor(1)
          + " LIMIT ?4) WHERE (not_before IS NULL OR not_before <= ?5)"
          + " AND (due <= ?5 OR last_attempt_at < ?6) LIMIT ?7";

  static final String PROBE = firstAllowed(2) + " UNION ALL " + firstAllowed(1) + " LIMIT 1";

  static final String OF_SUBSCRIPTION =
      ofSubscription("status = ?3 AND attempts = ?4 AND id > ?5")
          + " UNION ALL "
          + ofSubscription("status = ?3 AND attempts > ?4")
          + " UNION ALL "
          + ofSubscription("status > ?3 AND status <= ?7")
          + " LIMIT ?6";

  static final String UNFINISHED = SELECT + "id = ?";

  private static final String EVENT = "SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?";

  /** How many subscriptions are remembered in {@link #places}. */
  private static final int MOST_PLACES = 1_000;

  private final Reader reader;
  private final int mostRows;

  /**
   * Where the search for messages of a subscription stopped. What was found before that place is
   * being changed, so the search goes on from there, not past everybody else's messages again.
   */
  private final Map<Search, Place> places = new HashMap<>();

  private record Search(long endpoint, long subscription, Which which) {}

  PathReads(Reader reader, StoreLimits limits) {
    this.reader = reader;
    this.mostRows = limits.backlogRows();
  }

  private static String behindCursor(int status) {
    return behindCursor(Rows.MESSAGE_COLUMNS, status);
  }

  private static String behindCursor(String columns, int status) {
    String ofEndpoint =
        "SELECT " + columns + " FROM open WHERE endpoint = ?1 AND status = " + status;
    return ofEndpoint
        + " AND attempts = ?2 AND id > ?3 UNION ALL "
        + ofEndpoint
        + " AND attempts > ?2 ORDER BY attempts, id";
  }

  private static String firstAllowed(int status) {
    return "SELECT * FROM (SELECT * FROM ("
        + SELECT
        + "endpoint = ?1 AND status = "
        + status
        + " ORDER BY attempts, id LIMIT ?3) WHERE not_before IS NULL OR not_before <= ?2 LIMIT 1)";
  }

  private static String ofSubscription(String where) {
    return SELECT + "endpoint = ?1 AND subscription = ?2 AND " + where;
  }

  /** A place in the index of an endpoint's messages. */
  private record Place(int status, int attempts, long id) {
    /** Before the first message of that kind; statuses are numbered with the paused one last. */
    static Place start(Which which) {
      return new Place(which == Which.PAUSED ? Rows.code(Status.PAUSED) : 0, 0, 0);
    }

    static Place of(Message message) {
      return new Place(Rows.code(message.status()), message.attempts(), message.id());
    }
  }

  List<Message> due(DueCursor after, Instant through, int limit) throws StoreException {
    return messages(
        "reading due messages",
        DUE,
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
        statement -> {
          statement.setLong(1, endpoint);
          statement.setInt(2, limit);
        });
  }

  /**
   * Parked messages may always be tried. Waiting ones have to be looked at, and there may be very
   * many that may not be tried yet, so a part ends behind a number of them at the latest.
   */
  Backlog backlog(long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      throws StoreException {
    return reader.readAtOnce(
        "reading a backlog",
        connection -> {
          PreparedStatement parked = connection.prepare(PARKED_BACKLOG);
          parked.setLong(1, endpoint);
          parked.setInt(2, after.attempts());
          parked.setLong(3, after.id());
          parked.setInt(4, limit);
          List<Message> messages = messages(parked);
          PreparedStatement waiting = connection.prepare(WAITING_BACKLOG);
          waiting.setLong(1, endpoint);
          waiting.setInt(2, after.attempts());
          waiting.setLong(3, after.id());
          waiting.setInt(4, mostRows);
          waiting.setLong(5, Rows.micros(now));
          waiting.setLong(6, Rows.micros(triedBefore));
          waiting.setInt(7, limit);
          messages.addAll(messages(waiting));
          messages.sort(Recovery.ORDER);
          return part(messages, lastLookedAt(connection, endpoint, after), limit);
        });
  }

  /** The waiting message behind which nothing was looked at, if there are so many. */
  private @Nullable BacklogCursor lastLookedAt(
      Transactions.Statements connection, long endpoint, BacklogCursor after) throws SQLException {
    PreparedStatement statement = connection.prepare(LAST_LOOKED_AT);
    statement.setLong(1, endpoint);
    statement.setInt(2, after.attempts());
    statement.setLong(3, after.id());
    statement.setInt(4, mostRows - 1);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? new BacklogCursor(row.getInt(1), row.getLong(2)) : null;
    }
  }

  private static Backlog part(List<Message> found, @Nullable BacklogCursor last, int limit) {
    List<Message> messages = new ArrayList<>(Math.min(found.size(), limit));
    for (Message message : found) {
      if (messages.size() == limit || (last != null && isBehind(message, last))) {
        break;
      }
      messages.add(message);
    }
    if (messages.size() < limit) {
      return new Backlog(messages, last);
    }
    Message end = messages.getLast();
    return new Backlog(messages, new BacklogCursor(end.attempts(), end.id()));
  }

  private static boolean isBehind(Message message, BacklogCursor cursor) {
    return message.attempts() > cursor.attempts()
        || (message.attempts() == cursor.attempts() && message.id() > cursor.id());
  }

  Optional<Message> probe(long endpoint, Instant now) throws StoreException {
    return first(
        messages(
            "choosing a probe",
            PROBE,
            statement -> {
              statement.setLong(1, endpoint);
              statement.setLong(2, Rows.micros(now));
              statement.setInt(3, mostRows);
            }));
  }

  List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit)
      throws StoreException {
    Search search = new Search(endpoint, subscription, which);
    Place place = places.remove(search);
    List<Message> found = List.of();
    if (place != null) {
      found = ofSubscription(search, place, limit);
    }
    if (found.size() < limit) {
      found = ofSubscription(search, Place.start(which), limit);
    }
    if (!found.isEmpty() && found.size() == limit && places.size() < MOST_PLACES) {
      places.put(search, Place.of(found.getLast()));
    }
    return found;
  }

  private List<Message> ofSubscription(Search search, Place place, int limit)
      throws StoreException {
    return messages(
        "reading messages of a subscription",
        OF_SUBSCRIPTION,
        statement -> {
          statement.setLong(1, search.endpoint());
          statement.setLong(2, search.subscription());
          statement.setInt(3, place.status());
          statement.setInt(4, place.attempts());
          statement.setLong(5, place.id());
          statement.setInt(6, limit);
          statement.setInt(
              7, Rows.code(search.which() == Which.NOT_PAUSED ? Status.PARKED : Status.PAUSED));
        });
  }

  Optional<Message> unfinished(long message) throws StoreException {
    return first(
        messages("reading a message", UNFINISHED, statement -> statement.setLong(1, message)));
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

  private List<Message> messages(String doing, String sql, Parameters parameters)
      throws StoreException {
    return reader.read(
        doing,
        connection -> {
          PreparedStatement statement = connection.prepare(sql);
          parameters.set(statement);
          return messages(statement);
        });
  }

  private static List<Message> messages(PreparedStatement statement) throws SQLException {
    List<Message> messages = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        messages.add(Rows.message(rows));
      }
    }
    return messages;
  }

  private static Optional<Message> first(List<Message> messages) {
    return messages.isEmpty() ? Optional.empty() : Optional.of(messages.getFirst());
  }
}
