package dev.holdfast.engine.store;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKey.Role;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The keys of the API, known by the SHA-256 of their text. May be used by any thread. */
public final class ApiKeys {
  private static final int HASH_BYTES = 32;

  /** What the ids of keys begin with, as people see them. */
  public static final String ID_PREFIX = "key";

  static final String COLUMNS =
      "id, name, role, tenant, created_at, hash, sum, expires_at, last_used_at";

  private static final String FIND = "SELECT " + COLUMNS + " FROM api_keys WHERE hash = ?";

  private final Writer writer;
  private final Reader reader;

  ApiKeys(Writer writer, Reader reader) {
    this.writer = writer;
    this.reader = reader;
  }

  public boolean isEmpty() throws StoreException {
    return reader.read(
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
    if (sha256.length != HASH_BYTES) {
      throw new IllegalArgumentException("not a SHA-256: " + sha256.length + " bytes");
    }
    writer.transact(
        "keeping a key",
        (connection, chains) -> {
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "INSERT INTO api_keys (id, name, role, tenant, hash, created_at, sum, expires_at)"
                      + " SELECT max(?, coalesce(max(id), 0) + 1), ?, ?, ?, ?, ?, ?, ?"
                      + " FROM api_keys")) {
            statement.setLong(1, Id.floor(createdAt));
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
    return find(sha256)
        .orElseThrow(() -> new IllegalStateException("a key that was kept is not there"));
  }

  /** A key that does not end, made by the program that the engine runs in. */
  public ApiKey put(
      String name, Role role, @Nullable String tenant, byte[] sha256, Instant createdAt)
      throws StoreException {
    return put(name, role, tenant, sha256, createdAt, null, Actor.PROGRAM);
  }

  /**
   * Forgets a key; when it returns, that is on disk. Can be repeated.
   *
   * @param by who wants that
   */
  public void delete(long id, Actor by, Instant now) throws StoreException {
    writer.transact(
        "forgetting a key",
        (connection, chains) -> {
          Optional<ApiKey> known;
          try (PreparedStatement statement =
              connection.prepareStatement("SELECT " + COLUMNS + " FROM api_keys WHERE id = ?")) {
            statement.setLong(1, id);
            known = only(statement);
          }
          if (known.isEmpty()) {
            return;
          }
          try (PreparedStatement statement =
              connection.prepareStatement("DELETE FROM api_keys WHERE id = ?")) {
            statement.setLong(1, id);
            statement.executeUpdate();
          }
          chains.append(act(by, now, "key.revoked", known.get(), facts(known.get()), null));
        });
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
    writer.executeAll(
        "writing down which keys were used",
        "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, ?1), ?1) WHERE id = ?2",
        times.entrySet(),
        (statement, time) -> {
          statement.setLong(1, Rows.micros(time.getValue()));
          statement.setLong(2, time.getKey());
        });
  }

  /** Every key, by its SHA-256. */
  public Map<ByteBuffer, ApiKey> all() throws StoreException {
    return reader.read("reading the keys", ApiKeys::all);
  }

  private static Map<ByteBuffer, ApiKey> all(Reader.Statements connection) throws SQLException {
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
    return reader.read("finding a key", connection -> find(connection.prepare(FIND), sha256));
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

  static ApiKey key(ResultSet row) throws SQLException {
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
