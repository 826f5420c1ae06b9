package dev.holdfast.engine.store;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Transactions.Lock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The browsers that have signed in, known by the SHA-256 of their cookies. Those of a key go with
 * it, see {@link ApiKeys}. May be used by any thread.
 */
public final class Sessions {
  private static final Logger log = LoggerFactory.getLogger(Sessions.class);

  public static final String COLUMNS = "id, hash, key_hash, fixed, began_at, expires_at, sum";

  private static final String MARK = "SELECT count(*), coalesce(max(id), 0) FROM sessions";

  private static final String ALL = "SELECT " + COLUMNS + " FROM sessions";

  private final Transactions transactions;

  public Sessions(Transactions transactions) {
    this.transactions = transactions;
  }

  /** Whether others may begin and end sessions at any time. */
  public boolean isShared() {
    return transactions.isShared();
  }

  /**
   * Keeps a session; when it returns, it is on disk. Those that have expired go, and so do the
   * oldest where there are too many.
   *
   * @param mostOfKey how many a key may have
   * @param most how many there may be; beyond that the key with the most loses its oldest
   */
  public void put(Session session, int mostOfKey, int most) throws StoreException {
    transactions.transact(
        "keeping a session",
        (connection, _) -> {
          transactions.lock(connection, Lock.API_KEYS);
          makeRoom(connection, session, mostOfKey, most);
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "INSERT INTO sessions (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            long highest = mark(connection).highest();
            statement.setLong(1, Math.max(Id.floor(session.beganAt()), highest + 1));
            statement.setBytes(2, session.hash());
            statement.setBytes(3, session.keyHash());
            statement.setBytes(4, session.fixed());
            statement.setLong(5, Rows.micros(session.beganAt()));
            statement.setLong(6, Rows.micros(session.expiresAt()));
            statement.setLong(7, sum(session));
            statement.executeUpdate();
          }
        });
  }

  private static void makeRoom(Connection connection, Session session, int mostOfKey, int most)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("DELETE FROM sessions WHERE expires_at <= ?")) {
      statement.setLong(1, Rows.micros(session.beganAt()));
      statement.executeUpdate();
    }
    // No database finds by an index what may be absent, unless it is asked for that.
    byte[] keyHash = session.keyHash();
    String ofKey = keyHash == null ? "key_hash IS NULL" : "key_hash = ?";
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM sessions WHERE %s AND id <= (SELECT id FROM sessions WHERE %s ORDER BY id DESC LIMIT 1 OFFSET ?)"
                .formatted(ofKey, ofKey))) {
      int next = 1;
      for (int i = 0; keyHash != null && i < 2; i++) {
        statement.setBytes(next++, keyHash);
      }
      statement.setInt(next, mostOfKey - 1);
      statement.executeUpdate();
    }
    if (mark(connection).count() >= most) {
      try (PreparedStatement statement =
          connection.prepareStatement(
              "DELETE FROM sessions WHERE id ="
                  + " (SELECT min(id) FROM sessions WHERE key_hash IS NOT DISTINCT FROM"
                  + " (SELECT key_hash FROM sessions GROUP BY key_hash"
                  + " ORDER BY count(*) DESC, min(id) LIMIT 1))")) {
        statement.executeUpdate();
      }
    }
  }

  /**
   * Tells whether sessions have begun or ended since: then it is another.
   *
   * @param count how many there are
   * @param highest the number of the last that has begun of those that are there
   */
  public record Mark(long count, long highest) {}

  /** What there is now, in few words. */
  public Mark mark() throws StoreException {
    return transactions.read("counting sessions", connection -> mark(connection.prepare(MARK)));
  }

  private static Mark mark(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(MARK)) {
      return mark(statement);
    }
  }

  private static Mark mark(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? new Mark(row.getLong(1), row.getLong(2)) : new Mark(0, 0);
    }
  }

  /** Forgets a session; when it returns, that is on disk. Can be repeated. */
  public void delete(byte[] hash) throws StoreException {
    transactions.transact(
        "ending a session",
        (connection, _) -> {
          try (PreparedStatement statement =
              connection.prepareStatement("DELETE FROM sessions WHERE hash = ?")) {
            statement.setBytes(1, hash);
            statement.executeUpdate();
          }
        });
  }

  /**
   * Every session, also those that have expired and are still there. What is damaged is removed:
   * whoever it was of signs in again, and nothing else depends on it.
   */
  public List<Session> all() throws StoreException {
    List<Long> damaged = new ArrayList<>();
    List<Session> intact =
        transactions.read(
            "reading the sessions", connection -> list(connection.prepare(ALL), damaged));
    if (!damaged.isEmpty()) {
      remove(damaged);
    }
    return intact;
  }

  private void remove(List<Long> damaged) {
    log.warn(
        "sessions.damaged count={} next=\"they are removed, and their browsers sign in again; check"
            + " the disk, and the store with ./holdfast check\"",
        damaged.size());
    try {
      transactions.transact(
          "removing damaged sessions",
          (connection, _) -> {
            try (PreparedStatement statement =
                connection.prepareStatement("DELETE FROM sessions WHERE id = ?")) {
              for (Long id : damaged) {
                statement.setLong(1, id);
                statement.executeUpdate();
              }
            }
          });
    } catch (StoreException e) {
      log.debug("sessions.not-removed next=\"removed when they are read again\"", e);
    }
  }

  public Optional<Session> find(byte[] hash) throws StoreException {
    return transactions.read(
        "finding a session",
        connection -> {
          PreparedStatement statement = connection.prepare(ALL + " WHERE hash = ?");
          statement.setBytes(1, hash);
          return list(statement, new ArrayList<>()).stream().findFirst();
        });
  }

  /**
   * @param damaged gets the numbers of those that are not as they were written
   */
  private static List<Session> list(PreparedStatement statement, List<Long> damaged)
      throws SQLException {
    List<Session> sessions = new ArrayList<>();
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        try {
          sessions.add(session(row));
        } catch (Damaged _) {
          damaged.add(row.getLong(1));
        }
      }
    }
    return sessions;
  }

  public static Session session(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "sessions",
        row.getLong(1),
        row.getLong(7),
        () ->
            new Session(
                row.getBytes(2),
                row.getBytes(3),
                row.getBytes(4),
                Rows.instant(row.getLong(5)),
                Rows.instant(row.getLong(6))),
        Sessions::sum);
  }

  /** The sum of a session; its number is given by the store and stands for nothing. */
  private static long sum(Session session) {
    return RowSum.of("sessions")
        .add(session.hash())
        .add(session.keyHash())
        .add(session.fixed())
        .add(session.beganAt())
        .add(session.expiresAt())
        .value();
  }
}
