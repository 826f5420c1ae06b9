package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Store.Backlog;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What the path reads to find work. Each read walks along one index of the open messages in the
 * order that is asked for and stops at its limit; nothing is sorted.
 */
final class PostgresPath {
  private static final String SELECT = "SELECT " + Rows.MESSAGE_COLUMNS + " FROM open WHERE ";

  private static final String OF_ENDPOINT = "shard = ? AND endpoint = ? AND ";

  private static final String IN_ORDER_OF_DUE = " ORDER BY due, id LIMIT ";

  /** No shard has this number. */
  private static final int NO_SHARD = -1;

  private static final String PENDING =
      SELECT + OF_ENDPOINT + "status = 0 ORDER BY attempts, id LIMIT ?";

  private static final String BEHIND = " AND (attempts, id) > (?, ?) ORDER BY attempts, id ";

  private static final String PARKED_BACKLOG =
      SELECT + OF_ENDPOINT + "status = 2" + BEHIND + "LIMIT ?";

  private static final String LAST_LOOKED_AT =
      "SELECT attempts, id FROM open WHERE "
          + OF_ENDPOINT
          + "status = 1"
          + BEHIND
          + "LIMIT 1 OFFSET ?";

  /** The outer query takes rows from the inner one only until it has enough. */
  private static final String WAITING_BACKLOG =
      "SELECT * FROM ("
          + SELECT
          + OF_ENDPOINT
          + "status = 1"
          + BEHIND
          + "LIMIT ?) looked WHERE (not_before IS NULL OR not_before <= ?)"
          + " AND (due <= ? OR last_attempt_at < ?) LIMIT ?";

  private static final String PROBE =
      "(" + firstAllowed(2) + ") UNION ALL (" + firstAllowed(1) + ") LIMIT 1";

  private static final String OF_SUBSCRIPTION =
      SELECT
          + OF_ENDPOINT
          + "subscription = ? AND (status, attempts, id) > (?, ?, ?) AND status <= ?"
          + " ORDER BY status, attempts, id LIMIT ?";

  private static final String UNFINISHED = SELECT + "id = ?";

  /** An event is looked for in the one partition that its id belongs to. */
  private static final String EVENTS =
      "SELECT e.id, e.tenant, e.type, e.subject, e.occurred_at, e.caller_id, e.traceparent,"
          + " e.messages, e.sum, e.body_sum, e.data, e.previous"
          + " FROM unnest(?) WITH ORDINALITY AS w(id, n) JOIN events e ON e.id = w.id ORDER BY w.n";

  /** How many subscriptions are remembered in {@link #places}. */
  private static final int MOST_PLACES = 1_000;

  private final Connections connections;
  private final int mostRows;

  /**
   * Where the search for messages of a subscription stopped. What was found before that place is
   * being changed, so the search goes on from there, not past everybody else's messages again.
   */
  private final Map<Search, Place> places = new ConcurrentHashMap<>();

  private record Search(long endpoint, long subscription, Which which) {}

  /**
   * Reads over these connections.
   *
   * @param connections whose statements use indexes, whatever is known of the tables
   * @param mostRows as many waiting messages are looked at for one answer
   */
  PostgresPath(Connections connections, int mostRows) {
    this.connections = connections;
    this.mostRows = mostRows;
  }

  private static String firstAllowed(int status) {
    return "SELECT * FROM ("
        + SELECT
        + OF_ENDPOINT
        + "status = "
        + status
        + " ORDER BY attempts, id LIMIT ?) looked WHERE not_before IS NULL OR not_before <= ?"
        + " LIMIT 1";
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

  /**
   * Each shard is walked by itself along the index, and the database puts the walks side by side:
   * it takes a row from one of them only when that is the next, so what is due in other shards is
   * never looked at, however much it is.
   */
  List<Message> due(Shards shards, DueCursor after, Instant through, int limit)
      throws StoreException {
    List<Integer> numbers = shards.numbers();
    int walks = walks(numbers.size());
    return messages(
        "reading due messages",
        due(walks, limit),
        (connection, statement) -> {
          for (int i = 0; i < walks; i++) {
            statement.setInt(4 * i + 1, i < numbers.size() ? numbers.get(i) : NO_SHARD);
            statement.setLong(4 * i + 2, Rows.micros(after.due()));
            statement.setLong(4 * i + 3, after.id());
            statement.setLong(4 * i + 4, Rows.micros(through));
          }
        });
  }

  /**
   * How many walks a statement has: two at least, to be put side by side, and few different
   * numbers, as each session keeps its plans.
   */
  private static int walks(int shards) {
    return shards <= 2 ? 2 : Integer.highestOneBit(shards - 1) << 1;
  }

  /** With the limit in its text, since the plan hangs on it. */
  private static String due(int walks, int limit) {
    String end = IN_ORDER_OF_DUE + limit;
    String walk = "(" + SELECT + "shard = ? AND (due, id) > (?, ?) AND due <= ?" + end + ")";
    return String.join(" UNION ALL ", Collections.nCopies(walks, walk)) + end;
  }

  List<Message> pending(long endpoint, int limit) throws StoreException {
    return messages(
        "reading pending messages",
        PENDING,
        (connection, statement) -> {
          setEndpoint(statement, 1, endpoint);
          statement.setInt(3, limit);
        });
  }

  private static void setEndpoint(PreparedStatement statement, int first, long endpoint)
      throws SQLException {
    statement.setInt(first, Shards.of(endpoint));
    statement.setLong(first + 1, endpoint);
  }

  /**
   * Parked messages may always be tried. Waiting ones have to be looked at, and there may be very
   * many that may not be tried yet, so a part ends behind a number of them at the latest.
   */
  Backlog backlog(long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      throws StoreException {
    return connections.readAtOnce(
        "reading a backlog",
        connection -> {
          List<Message> messages;
          try (PreparedStatement parked = connection.prepareStatement(PARKED_BACKLOG)) {
            setBehind(parked, endpoint, after);
            parked.setInt(5, limit);
            messages = messages(parked);
          }
          try (PreparedStatement waiting = connection.prepareStatement(WAITING_BACKLOG)) {
            setBehind(waiting, endpoint, after);
            waiting.setInt(5, mostRows);
            waiting.setLong(6, Rows.micros(now));
            waiting.setLong(7, Rows.micros(now));
            waiting.setLong(8, Rows.micros(triedBefore));
            waiting.setInt(9, limit);
            messages.addAll(messages(waiting));
          }
          messages.sort(Recovery.ORDER);
          return part(messages, lastLookedAt(connection, endpoint, after), limit);
        });
  }

  private static void setBehind(PreparedStatement statement, long endpoint, BacklogCursor after)
      throws SQLException {
    setEndpoint(statement, 1, endpoint);
    statement.setInt(3, after.attempts());
    statement.setLong(4, after.id());
  }

  /** The waiting message behind which nothing was looked at, if there are so many. */
  private @Nullable BacklogCursor lastLookedAt(
      Connection connection, long endpoint, BacklogCursor after) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LAST_LOOKED_AT)) {
      setBehind(statement, endpoint, after);
      statement.setInt(5, mostRows - 1);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? new BacklogCursor(row.getInt(1), row.getLong(2)) : null;
      }
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
            (connection, statement) -> {
              for (int first = 1; first <= 5; first += 4) {
                setEndpoint(statement, first, endpoint);
                statement.setInt(first + 2, mostRows);
                statement.setLong(first + 3, Rows.micros(now));
              }
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
        (connection, statement) -> {
          setEndpoint(statement, 1, search.endpoint());
          statement.setLong(3, search.subscription());
          statement.setInt(4, place.status());
          statement.setInt(5, place.attempts());
          statement.setLong(6, place.id());
          statement.setInt(
              7, Rows.code(search.which() == Which.NOT_PAUSED ? Status.PARKED : Status.PAUSED));
          statement.setInt(8, limit);
        });
  }

  Optional<Message> unfinished(long message) throws StoreException {
    return first(
        messages(
            "reading a message",
            UNFINISHED,
            (connection, statement) -> statement.setLong(1, message)));
  }

  List<Event> events(List<Long> ids) throws StoreException {
    return connections.read(
        "reading events",
        connection -> {
          List<Event> events = new ArrayList<>(ids.size());
          try (PreparedStatement statement = connection.prepareStatement(EVENTS)) {
            statement.setArray(1, connection.createArrayOf("int8", ids.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
              while (rows.next()) {
                events.add(Rows.event(rows));
              }
            }
          }
          return events;
        });
  }

  private interface Parameters {
    void set(Connection connection, PreparedStatement statement) throws SQLException;
  }

  private List<Message> messages(String doing, String sql, Parameters parameters)
      throws StoreException {
    return connections.read(
        doing,
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            parameters.set(connection, statement);
            return messages(statement);
          }
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
