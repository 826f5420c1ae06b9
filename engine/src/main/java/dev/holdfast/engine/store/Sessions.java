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

/**
 * The browsers that have signed in, known by the SHA-256 of their cookies. Those of a key go with
 * it, see {@link ApiKeys}. May be used by any thread.
 */
public final class Sessions {
  public static final String COLUMNS = "id, hash, key_hash, fixed, began_at, expires_at, sum";

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
            statement.setLong(1, Math.max(Id.floor(session.beganAt()), highest(connection) + 1));
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
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM sessions WHERE key_hash IS NOT DISTINCT FROM ? AND id NOT IN (SELECT id"
                + " FROM sessions WHERE key_hash IS NOT DISTINCT FROM ? ORDER BY id DESC LIMIT ?)")) {
      statement.setBytes(1, session.keyHash());
      statement.setBytes(2, session.keyHash());
      statement.setInt(3, mostOfKey - 1);
      statement.executeUpdate();
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM sessions WHERE (SELECT count(*) FROM sessions) >= ? AND id ="
                + " (SELECT min(id) FROM sessions WHERE key_hash IS NOT DISTINCT FROM"
                + " (SELECT key_hash FROM sessions GROUP BY key_hash"
                + " ORDER BY count(*) DESC, min(id) LIMIT 1))")) {
      statement.setInt(1, most);
      statement.executeUpdate();
    }
  }

  private static long highest(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT coalesce(max(id), 0) FROM sessions");
        ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
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

  /** Every session, also those that have expired and are still there. */
  public List<Session> all() throws StoreException {
    return transactions.read("reading the sessions", connection -> list(connection.prepare(ALL)));
  }

  public Optional<Session> find(byte[] hash) throws StoreException {
    return transactions.read(
        "finding a session",
        connection -> {
          PreparedStatement statement = connection.prepare(ALL + " WHERE hash = ?");
          statement.setBytes(1, hash);
          return list(statement).stream().findFirst();
        });
  }

  private static List<Session> list(PreparedStatement statement) throws SQLException {
    List<Session> sessions = new ArrayList<>();
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        sessions.add(session(row));
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
