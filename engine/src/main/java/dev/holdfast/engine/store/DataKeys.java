package dev.holdfast.engine.store;

import dev.holdfast.engine.vault.WrappedKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** How the keys that values are sealed with are kept. */
public final class DataKeys {
  /** The columns that {@link #key} reads, in its order. */
  public static final String COLUMNS = "id, master, wrapped, created_at, sum";

  /** The version of the tables that brought them. */
  private static final int SINCE = 7;

  private DataKeys() {}

  /** All of them; none in a store of an earlier version. */
  static List<WrappedKey> read(Connection connection) throws SQLException {
    return Migrations.version(connection) < SINCE ? List.of() : all(connection);
  }

  /** All of them, in a store that has a table for them. */
  public static List<WrappedKey> all(Connection connection) throws SQLException {
    List<WrappedKey> keys = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT " + COLUMNS + " FROM data_keys ORDER BY id")) {
      while (rows.next()) {
        keys.add(key(rows));
      }
    }
    return keys;
  }

  /** Whether anything is sealed. */
  static boolean areNeeded(Connection connection) throws SQLException {
    return Migrations.version(connection) >= SINCE
        && Sqlite.number(
                connection,
                "SELECT EXISTS (SELECT 1 FROM endpoints WHERE sealed IS NOT NULL)"
                    + " OR EXISTS (SELECT 1 FROM subscriptions WHERE sealed IS NOT NULL)")
            != 0;
  }

  public static WrappedKey key(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "data_keys",
        row.getLong(1),
        row.getLong(5),
        () ->
            new WrappedKey(
                row.getInt(1), row.getString(2), row.getBytes(3), Rows.instant(row.getLong(4))),
        DataKeys::sum);
  }

  /** Keeps them, in the place of those that were there, within a transaction. */
  public static void put(Connection connection, List<WrappedKey> keys) throws SQLException {
    try (PreparedStatement row =
        connection.prepareStatement(
            "INSERT INTO data_keys ("
                + COLUMNS
                + ") VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                + " master = excluded.master, wrapped = excluded.wrapped,"
                + " created_at = excluded.created_at, sum = excluded.sum")) {
      for (WrappedKey key : keys) {
        row.setInt(1, key.id());
        row.setString(2, key.master());
        row.setBytes(3, key.wrapped());
        row.setLong(4, Rows.micros(key.createdAt()));
        row.setLong(5, sum(key));
        row.executeUpdate();
      }
    }
  }

  private static long sum(WrappedKey key) {
    return RowSum.of("data_keys")
        .add(key.id())
        .add(key.master())
        .add(key.wrapped())
        .add(key.createdAt())
        .value();
  }
}
