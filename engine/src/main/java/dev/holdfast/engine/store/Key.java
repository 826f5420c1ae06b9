package dev.holdfast.engine.store;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The id that a caller gave to an event.
 *
 * @param content a digest of what came with it
 */
public record Key(String tenant, @Nullable String callerId, long event, byte[] content) {

  /** The columns that {@link #from} reads, in its order. */
  public static final String COLUMNS = "tenant, caller_id, event, content, sum";

  public long sum() {
    return RowSum.of("keys").add(tenant).add(callerId).add(event).add(content).value();
  }

  public static Key from(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "keys",
        row.getLong(3),
        row.getLong(5),
        () -> new Key(row.getString(1), row.getString(2), row.getLong(3), row.getBytes(4)),
        Key::sum);
  }
}
