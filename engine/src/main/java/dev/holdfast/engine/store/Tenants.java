package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.port.Snapshot.Stored;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is kept of each tenant's events, counted: a quota must not need to look at all of them.
 *
 * <p>The counts are written with the transaction that changes them, each tenant's once.
 */
final class Tenants {
  /** The columns that {@link #tenant} reads, in its order. */
  static final String COLUMNS = "tenant, events, bytes, sum";

  private static final String COUNT_EVENTS =
      "SELECT tenant, count(*), sum("
          + Event.OVERHEAD_BYTES
          + " + length(data) + coalesce(length(previous), 0)) FROM events GROUP BY tenant";

  private static final String KEEP =
      "INSERT INTO tenants (tenant, events, bytes, sum) VALUES (?, ?, ?, ?)"
          + " ON CONFLICT (tenant) DO UPDATE SET events = excluded.events, bytes = excluded.bytes,"
          + " sum = excluded.sum";

  private final PreparedStatement keep;
  private final Map<String, Stored> kept;

  /** As the transaction under way leaves it. */
  private final Map<String, Stored> changed = new LinkedHashMap<>();

  Tenants(Connection connection) throws SQLException {
    keep = connection.prepareStatement(KEEP);
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT " + COLUMNS + " FROM tenants")) {
      kept = read(rows);
    }
  }

  /** A tenant and what is kept of its events. */
  record Tenant(String name, Stored stored) {
    long sum() {
      return RowSum.of("tenants").add(name).add(stored.events()).add(stored.bytes()).value();
    }
  }

  static Map<String, Stored> read(ResultSet rows) throws SQLException {
    Map<String, Stored> found = new HashMap<>();
    while (rows.next()) {
      Tenant tenant = tenant(rows);
      found.put(tenant.name(), tenant.stored());
    }
    return found;
  }

  static Tenant tenant(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "tenants",
        0,
        row.getLong(4),
        () -> new Tenant(row.getString(1), new Stored(row.getLong(2), row.getLong(3))),
        Tenant::sum);
  }

  /** The transaction under way brings so much of a tenant's, or removes it when negative. */
  void change(String tenant, long events, long bytes) {
    Stored before = changed.get(tenant);
    if (before == null) {
      before = kept.getOrDefault(tenant, Stored.NOTHING);
    }
    changed.put(tenant, before.plus(events, bytes));
  }

  /** Writes what the transaction under way has changed. */
  void flush() throws SQLException {
    for (Map.Entry<String, Stored> entry : changed.entrySet()) {
      set(keep, new Tenant(entry.getKey(), entry.getValue()));
      keep.executeUpdate();
    }
  }

  void committed() {
    kept.putAll(changed);
    changed.clear();
  }

  void undone() {
    changed.clear();
  }

  private static void set(PreparedStatement statement, Tenant tenant) throws SQLException {
    statement.setString(1, tenant.name());
    statement.setLong(2, tenant.stored().events());
    statement.setLong(3, tenant.stored().bytes());
    statement.setLong(4, tenant.sum());
  }

  /** Counts the events of a store from before they were counted. */
  static void count(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        PreparedStatement insert = connection.prepareStatement(KEEP);
        ResultSet rows = statement.executeQuery(COUNT_EVENTS)) {
      while (rows.next()) {
        set(insert, new Tenant(rows.getString(1), new Stored(rows.getLong(2), rows.getLong(3))));
        insert.executeUpdate();
      }
    }
  }
}
