package dev.holdfast.engine.store;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKey.Role;
import dev.holdfast.engine.store.Transactions.Lock;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The keys of the API, known by the SHA-256 of their text. May be used by any thread. */
public final class ApiKeys {
  private static final int HASH_BYTES = 32;

  /** What the ids of keys begin with, as people see them. */
  public static final String ID_PREFIX = "key";

  public static final String COLUMNS =
      "id, name, role, tenant, created_at, hash, sum, expires_at, last_used_at";

  private static final String FIND = "SELECT " + COLUMNS + " FROM api_keys WHERE hash = ?";

  private final Transactions transactions;

  public ApiKeys(Transactions transactions) {
    this.transactions = transactions;
  }

  /**
   * Whether others may make and forget keys at any time: whoever remembers keys has to look again.
   */
  public boolean isShared() {
    return transactions.isShared();
  }

  public boolean isEmpty() throws StoreException {
    return transactions.read(
        "looking for keys",
        connection -> {
          try (ResultSet rows =
              connection.prepare("SELECT 1 FROM api_keys LIMIT 1").executeQuery()) {
            return !rows.next();
          }
        });
  }

  /**
   * Keeps a new key; when it returns, the key is on disk.
   *
   * <p>Its number comes from the time: that of a key which was forgotten is not given again.
   *
   * @param tenant the tenant that the key belongs to; absent for a key for all tenants
   * @param expiresAt from when on it opens nothing; absent for a key that does not end
   * @param by who makes it
   */
  public ApiKey put(
      String name,
      Role role,
      @Nullable String tenant,
      byte[] sha256,
      Instant createdAt,
      @Nullable Instant expiresAt,
      Actor by)
      throws StoreException {
    return keep(name, role, tenant, sha256, createdAt, expiresAt, by, false)
        .orElseThrow(() -> new IllegalStateException("a key that was kept is not there"));
  }

  /**
   * Keeps a key that does not end if there is none yet: of several nodes that begin with a store,
   * one makes its first key. Empty when there is one already.
   */
  public Optional<ApiKey> putFirst(
      String name, Role role, byte[] sha256, Instant createdAt, Actor by) throws StoreException {
    return keep(name, role, null, sha256, createdAt, null, by, true);
  }

  private Optional<ApiKey> keep(
      String name,
      Role role,
      @Nullable String tenant,
      byte[] sha256,
      Instant createdAt,
      @Nullable Instant expiresAt,
      Actor by,
      boolean isFirst)
      throws StoreException {
    if (sha256.length != HASH_BYTES) {
      throw new IllegalArgumentException("not a SHA-256: " + sha256.length + " bytes");
    }
    transactions.transact(
        "keeping a key",
        (connection, chains) -> {
          transactions.lock(connection, Lock.API_KEYS);
          if (isFirst && highest(connection) > 0) {
            return;
          }
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "INSERT INTO api_keys (id, name, role, tenant, hash, created_at, sum, expires_at)"
                      + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
            statement.setLong(1, Math.max(Id.floor(createdAt), highest(connection) + 1));
            statement.setString(2, name);
            statement.setString(3, role.name());
            statement.setString(4, tenant);
            statement.setBytes(5, sha256);
            statement.setLong(6, Rows.micros(createdAt));
            statement.setLong(
                7, sum(new ApiKey(0, name, role, tenant, createdAt, expiresAt, null), sha256));
            Rows.setTime(statement, 8, expiresAt);
            statement.executeUpdate();
          }
          ApiKey kept;
          try (PreparedStatement statement = connection.prepareStatement(FIND)) {
            kept =
                find(statement, sha256)
                    .orElseThrow(() -> new Damaged("a key that was kept is not there"));
          }
          chains.append(act(by, createdAt, "key.created", kept, null, facts(kept)));
        });
    return find(sha256);
  }

  private static long highest(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT coalesce(max(id), 0) FROM api_keys");
        ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  /** A key that does not end, made by the program that the engine runs in. */
  public ApiKey put(
      String name, Role role, @Nullable String tenant, byte[] sha256, Instant createdAt)
      throws StoreException {
    return put(name, role, tenant, sha256, createdAt, null, Actor.PROGRAM);
  }

  /** How a wish to forget a key ended. */
  public enum Revoked {
    DONE,
    NOT_FOUND,
    /** Without it nobody could manage all tenants any more. */
    IS_LAST_ADMIN
  }

  /**
   * Forgets a key, with the sessions that were begun with it; when it returns, that is on disk. Can
   * be repeated.
   *
   * @param by who wants that
   */
  public void delete(long id, Actor by, Instant now) throws StoreException {
    delete(id, by, now, false);
  }

  /**
   * The same, if an admin key for all tenants that has not ended is left: of two wishes to forget
   * the last two, at whichever nodes, one is granted.
   */
  public Revoked revoke(long id, Actor by, Instant now) throws StoreException {
    return delete(id, by, now, true);
  }

  private Revoked delete(long id, Actor by, Instant now, boolean keepsLast) throws StoreException {
    AtomicReference<Revoked> outcome = new AtomicReference<>(Revoked.NOT_FOUND);
    transactions.transact(
        "forgetting a key",
        (connection, chains) -> {
          outcome.set(Revoked.NOT_FOUND);
          transactions.lock(connection, Lock.API_KEYS);
          Optional<ApiKey> known;
          try (PreparedStatement statement =
              connection.prepareStatement("SELECT " + COLUMNS + " FROM api_keys WHERE id = ?")) {
            statement.setLong(1, id);
            known = only(statement);
          }
          if (known.isEmpty()) {
            return;
          }
          if (keepsLast && isWideAdmin(known.get(), now) && wideAdmins(connection, now) == 1) {
            outcome.set(Revoked.IS_LAST_ADMIN);
            return;
          }
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "DELETE FROM sessions"
                      + " WHERE key_hash = (SELECT hash FROM api_keys WHERE id = ?)")) {
            statement.setLong(1, id);
            statement.executeUpdate();
          }
          try (PreparedStatement statement =
              connection.prepareStatement("DELETE FROM api_keys WHERE id = ?")) {
            statement.setLong(1, id);
            statement.executeUpdate();
          }
          chains.append(act(by, now, "key.revoked", known.get(), facts(known.get()), null));
          outcome.set(Revoked.DONE);
        });
    return outcome.get();
  }

  /** One that has ended is nobody's any more, and can go. */
  private static boolean isWideAdmin(ApiKey key, Instant now) {
    return key.role() == Role.ADMIN
        && key.tenant() == null
        && (key.expiresAt() == null || now.isBefore(key.expiresAt()));
  }

  private static long wideAdmins(Connection connection, Instant now) throws SQLException {
    long count = 0;
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT " + COLUMNS + " FROM api_keys WHERE role = 'ADMIN' AND tenant IS NULL");
        ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        count += isWideAdmin(key(row), now) ? 1 : 0;
      }
    }
    return count;
  }

  private static Act act(
      Actor by,
      Instant at,
      String action,
      ApiKey key,
      @Nullable Facts before,
      @Nullable Facts after) {
    return new Act(by, at, key.tenant(), action, Id.text(ID_PREFIX, key.id()), before, after);
  }

  private static Facts facts(ApiKey key) {
    return new Facts()
        .text("name", key.name())
        .constant("role", key.role())
        .text("tenant", key.tenant())
        .time("expiresAt", key.expiresAt());
  }

  /**
   * Writes down when keys were last seen, all of them at once. A key that is forgotten stays so,
   * and no time goes back.
   *
   * @param times by the keys' numbers
   */
  public void used(Map<Long, Instant> times) throws StoreException {
    transactions.transact(
        "writing down which keys were used",
        (connection, _) -> {
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "UPDATE api_keys SET last_used_at = ?"
                      + " WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)")) {
            // In one order, so that of two who write the same one goes first.
            for (Map.Entry<Long, Instant> time : new TreeMap<>(times).entrySet()) {
              statement.setLong(1, Rows.micros(time.getValue()));
              statement.setLong(2, time.getKey());
              statement.setLong(3, Rows.micros(time.getValue()));
              statement.executeUpdate();
            }
          }
        });
  }

  /** Every key, by its SHA-256. */
  public Map<ByteBuffer, ApiKey> all() throws StoreException {
    return transactions.read("reading the keys", ApiKeys::all);
  }

  private static Map<ByteBuffer, ApiKey> all(Transactions.Statements connection)
      throws SQLException {
    Map<ByteBuffer, ApiKey> keys = new HashMap<>();
    try (ResultSet row =
        connection.prepare("SELECT " + COLUMNS + " FROM api_keys").executeQuery()) {
      while (row.next()) {
        keys.put(ByteBuffer.wrap(row.getBytes(6)), key(row));
      }
    }
    return keys;
  }

  public Optional<ApiKey> find(byte[] sha256) throws StoreException {
    return transactions.read("finding a key", connection -> find(connection.prepare(FIND), sha256));
  }

  private static Optional<ApiKey> find(PreparedStatement statement, byte[] sha256)
      throws SQLException {
    statement.setBytes(1, sha256);
    return only(statement);
  }

  private static Optional<ApiKey> only(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Optional.of(key(row)) : Optional.empty();
    }
  }

  public static ApiKey key(ResultSet row) throws SQLException {
    byte[] hash = row.getBytes(6);
    return Damaged.orIntact(
        "api_keys", row.getLong(1), row.getLong(7), () -> readKey(row), key -> sum(key, hash));
  }

  private static ApiKey readKey(ResultSet row) throws SQLException {
    return new ApiKey(
        row.getLong(1),
        row.getString(2),
        Role.valueOf(row.getString(3)),
        row.getString(4),
        Rows.instant(row.getLong(5)),
        Rows.time(row, 8),
        Rows.time(row, 9));
  }

  /**
   * The sum of a key; its number is given by the store and stands for nothing. Its end is in it
   * only where there is one, since older keys have none. When it was used is not in it: that is
   * written without the rest being read.
   */
  private static long sum(ApiKey key, byte @Nullable [] hash) {
    RowSum sum =
        RowSum.of("api_keys")
            .add(key.name())
            .add(key.role().name())
            .add(key.tenant())
            .add(hash)
            .add(key.createdAt());
    return (key.expiresAt() == null ? sum : sum.add(key.expiresAt())).value();
  }
}
