package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.History.AttemptPosition;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the embedded store has the attempts of some endpoints, for one read.
 *
 * <p>Finished messages that {@link HistoryIndex} does not have yet are looked through once, for all
 * endpoints together.
 */
final class AttemptReads implements AttemptPages.Source {
  /** Nobody's messages have so many different numbers of attempts; what is beyond is left out. */
  private static final int MOST_GROUPS = 500;

  private static final String TAIL =
      "SELECT id, endpoint FROM messages WHERE id > ? AND id < ? ORDER BY id DESC LIMIT ?";

  /** Of those that were tried: see {@code open_by_endpoint}. */
  private static final String NEXT_GROUP =
      "SELECT attempts FROM open WHERE endpoint = ? AND status = ? AND attempts > ?"
          + " ORDER BY attempts LIMIT 1";

  private static final String OF_GROUP =
      "SELECT id FROM open WHERE endpoint = ? AND status = ? AND attempts = ? AND id >= ?"
          + " AND id < ? ORDER BY id DESC LIMIT ?";

  private static final String FINISHED =
      "SELECT "
          + Finished.COLUMNS
          + ", "
          + Rows.ATTEMPT_COLUMNS
          + ", attempt_sum FROM messages WHERE id = ?";

  private static final int LAST_ATTEMPT = 10;
  private static final int LAST_ATTEMPT_SUM = 17;

  private static final String EARLIER =
      "SELECT number, "
          + Rows.ATTEMPT_COLUMNS
          + ", sum FROM attempts WHERE message = ? AND number < ? ORDER BY number DESC LIMIT ?";

  private static final String IS_OF_TENANT =
      "SELECT 1 FROM events WHERE tenant = ?2 AND id ="
          + " coalesce((SELECT event FROM open WHERE id = ?1),"
          + " (SELECT event FROM messages WHERE id = ?1))";

  private final Transactions.Statements connection;
  private final String tenant;
  private final Set<Long> endpoints;
  private final int mostRows;
  private final long indexedThrough;
  private final @Nullable Long hidden;
  private final Map<Long, List<Group>> groups = new HashMap<>();
  private @Nullable Tail tail;

  /**
   * @param endpoints those that are asked for
   */
  AttemptReads(Transactions.Statements connection, String tenant, Set<Long> endpoints, int mostRows)
      throws SQLException {
    this.connection = connection;
    this.tenant = tenant;
    this.endpoints = endpoints;
    this.mostRows = mostRows;
    this.indexedThrough = HistoryReads.indexedThrough(connection);
    this.hidden = HistoryReads.hidden(connection);
  }

  /** Unfinished messages of an endpoint that have the same status and number of attempts. */
  record Group(int status, int attempts) {}

  /**
   * Finished messages that are not indexed yet.
   *
   * @param cut down to which id they are all; absent when they are
   */
  private record Tail(Map<Long, List<Long>> byEndpoint, @Nullable Long cut) {}

  @Override
  public AttemptPages.Ids tried(long endpoint, long from, long below, int limit)
      throws SQLException {
    Tail recent = tail(below);
    Long cut = recent.cut() != null && recent.cut() > from ? recent.cut() : null;
    long down = cut == null ? from : cut;
    List<List<Long>> lists = new ArrayList<>();
    List<Group> all = groups(endpoint);
    int each = Math.clamp(mostRows / (2L * Math.max(1, all.size())), 1, limit);
    for (Group group : all) {
      PreparedStatement statement = connection.prepare(OF_GROUP);
      statement.setLong(1, endpoint);
      statement.setInt(2, group.status());
      statement.setInt(3, group.attempts());
      statement.setLong(4, down);
      statement.setLong(5, below);
      statement.setInt(6, each);
      lists.add(ids(statement));
    }
    lists.add(
        recent.byEndpoint().getOrDefault(endpoint, List.of()).stream()
            .filter(id -> id >= down && id < below)
            .limit(each)
            .toList());
    if (down <= indexedThrough) {
      for (boolean isDropped : List.of(false, true)) {
        lists.add(indexed(endpoint, isDropped, down, below, each));
      }
    }
    return AttemptPages.Ids.of(lists, each, cut, limit);
  }

  private List<Long> indexed(long endpoint, boolean isDropped, long from, long below, int limit)
      throws SQLException {
    List<Long> found = new ArrayList<>();
    try (IndexedIds ids =
        IndexedIds.of(
            connection,
            HistoryIndex.By.ENDPOINT,
            endpoint,
            isDropped,
            IndexedIds.Direction.NEWEST_FIRST,
            from,
            below)) {
      for (long id = ids.next(); id != IndexedIds.NONE && found.size() < limit; id = ids.next()) {
        found.add(id);
      }
    }
    return found;
  }

  /** Looked through once, for the first that is asked for. */
  private Tail tail(long below) throws SQLException {
    if (tail == null) {
      int most = Math.max(1, mostRows / 2);
      PreparedStatement statement = connection.prepare(TAIL);
      statement.setLong(1, indexedThrough);
      statement.setLong(2, below);
      statement.setInt(3, most);
      Map<Long, List<Long>> found = new HashMap<>();
      long last = 0;
      int looked = 0;
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          looked++;
          last = rows.getLong(1);
          if (endpoints.contains(rows.getLong(2))) {
            found.computeIfAbsent(rows.getLong(2), _ -> new ArrayList<>()).add(last);
          }
        }
      }
      tail = new Tail(found, looked == most ? (Long) last : null);
    }
    return tail;
  }

  private List<Group> groups(long endpoint) throws SQLException {
    List<Group> known = groups.get(endpoint);
    if (known == null) {
      known = groups(connection, endpoint, MOST_GROUPS);
      groups.put(endpoint, known);
    }
    return known;
  }

  /** Those of an endpoint's messages that were tried, so many at most. */
  static List<Group> groups(Transactions.Statements connection, long endpoint, int most)
      throws SQLException {
    List<Group> found = new ArrayList<>();
    for (Message.Status status : Message.Status.values()) {
      addGroups(connection, found, endpoint, Rows.code(status), most);
    }
    return found;
  }

  private static void addGroups(
      Transactions.Statements connection, List<Group> found, long endpoint, int status, int most)
      throws SQLException {
    PreparedStatement statement = connection.prepare(NEXT_GROUP);
    statement.setLong(1, endpoint);
    statement.setInt(2, status);
    int attempts = 0;
    while (found.size() < most) {
      statement.setInt(3, attempts);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return;
        }
        attempts = row.getInt(1);
      }
      found.add(new Group(status, attempts));
    }
  }

  private static List<Long> ids(PreparedStatement statement) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        ids.add(rows.getLong(1));
      }
    }
    return ids;
  }

  @Override
  public List<Attempt> attempts(List<Long> messages, AttemptPosition after, int limit)
      throws SQLException {
    List<Attempt> found = new ArrayList<>();
    for (Long message : messages) {
      if (message > after.message() || !isOfTenant(message)) {
        continue;
      }
      if (found.size() >= limit) {
        break;
      }
      boolean isFromItsEnd = message < after.message();
      int before = found.size();
      boolean isShown =
          add(message, isFromItsEnd ? Integer.MAX_VALUE : after.number(), limit, found);
      if (isShown && isFromItsEnd && found.size() == before && isTried(message)) {
        throw new Damaged("attempts of message " + message + " are missing");
      }
    }
    return found;
  }

  /** As everywhere, it is the event that says whose a message is. */
  private boolean isOfTenant(long message) throws SQLException {
    PreparedStatement statement = connection.prepare(IS_OF_TENANT);
    statement.setLong(1, message);
    statement.setString(2, tenant);
    try (ResultSet row = statement.executeQuery()) {
      return row.next();
    }
  }

  /** A message may be dropped without an attempt. */
  private boolean isTried(long message) throws SQLException {
    PreparedStatement statement = connection.prepare("SELECT attempts FROM messages WHERE id = ?1");
    statement.setLong(1, message);
    try (ResultSet row = statement.executeQuery()) {
      return !row.next() || row.getInt(1) > 0;
    }
  }

  /**
   * Adds the attempts of a message with numbers below, the last first.
   *
   * @return whether anybody may see them
   */
  private boolean add(long message, int below, int limit, List<Attempt> found) throws SQLException {
    int rest = below;
    PreparedStatement finished = connection.prepare(FINISHED);
    finished.setLong(1, message);
    try (ResultSet row = finished.executeQuery()) {
      if (row.next()) {
        Finished kept = Finished.from(row);
        if (Objects.equals(hidden, kept.event())) {
          return false;
        }
        row.getLong(LAST_ATTEMPT_SUM);
        if (!row.wasNull() && kept.attempts() < below) {
          found.add(Rows.attempt(row, LAST_ATTEMPT, LAST_ATTEMPT_SUM, message, kept.attempts()));
          rest = kept.attempts();
        }
      }
    }
    if (rest > 1 && found.size() < limit) {
      PreparedStatement earlier = connection.prepare(EARLIER);
      earlier.setLong(1, message);
      earlier.setInt(2, rest);
      earlier.setInt(3, limit - found.size());
      try (ResultSet rows = earlier.executeQuery()) {
        while (rows.next()) {
          found.add(Rows.attempt(rows, 2, 9, message, rows.getInt(1)));
        }
      }
    }
    return true;
  }
}
