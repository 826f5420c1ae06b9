package dev.holdfast.engine.store;

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
  static final String COLUMNS =
      "id, name, role, tenant, created_at, hash, sum, expires_at, last_used_at";

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

  /** Keeps a new key that does not end. */
  public ApiKey put(
      String name, Role role, @Nullable String tenant, byte[] sha256, Instant createdAt)
      throws StoreException {
    return put(name, role, tenant, sha256, createdAt, null);
  }

  /**
   * Keeps a new key; when it returns, the key is on disk.
   *
   * <p>Its number comes from the time: that of a key which was forgotten is not given again.
   *
   * @param tenant the tenant that the key belongs to; absent for a key for all tenants
   * @param expiresAt from when on it opens nothing; absent for a key that does not end
   */
  public ApiKey put(
      String name,
      Role role,
      @Nullable String tenant,
      byte[] sha256,
      Instant createdAt,
      @Nullable Instant expiresAt)
      throws StoreException {
    if (sha256.length != HASH_BYTES) {
      throw new IllegalArgumentException("not a SHA-256: " + sha256.length + " bytes");
    }
    writer.execute(
        "keeping a key",
        "INSERT INTO api_keys (id, name, role, tenant, hash, created_at, sum, expires_at)"
            + " SELECT max(?, coalesce(max(id), 0) + 1), ?, ?, ?, ?, ?, ?, ? FROM api_keys",
        statement -> {
          statement.setLong(1, Id.floor(createdAt));
          statement.setString(2, name);
          statement.setString(3, role.name());
          statement.setString(4, tenant);
          statement.setBytes(5, sha256);
          statement.setLong(6, Rows.micros(createdAt));
          statement.setLong(
              7, sum(new ApiKey(0, name, role, tenant, createdAt, expiresAt, null), sha256));
          Rows.setTime(statement, 8, expiresAt);
        });
    return find(sha256)
        .orElseThrow(() -> new IllegalStateException("a key that was kept is not there"));
  }

  /** Forgets a key; when it returns, that is on disk. Can be repeated. */
  public void delete(long id) throws StoreException {
    writer.execute(
        "forgetting a key",
        "DELETE FROM api_keys WHERE id = ?",
        statement -> statement.setLong(1, id));
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
    return reader.read("finding a key", connection -> find(connection, sha256));
  }

  private static Optional<ApiKey> find(Reader.Statements connection, byte[] sha256)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare("SELECT " + COLUMNS + " FROM api_keys WHERE hash = ?");
    statement.setBytes(1, sha256);
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
