package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * What the user of a database may do with it. A node makes and drops parts of tables as long as it
 * runs, whoever has made the tables: for that its user must own them, and make tables beside them.
 */
public final class Rights {
  private static final String TO_READ = " (docs/postgresql.md, User and rights).";

  /** Who owns tables that are cut, or parts of them, without being the user or a role of it. */
  private static final String OTHER_OWNERS =
      "SELECT DISTINCT quote_ident(pg_get_userbyid(c.relowner)) FROM unnest(?) AS t(name),"
          + " pg_partition_tree(to_regclass(quote_ident(current_schema()) || '.' || t.name)) p"
          + " JOIN pg_class c ON c.oid = p.relid WHERE NOT pg_has_role(c.relowner, 'USAGE')"
          + " ORDER BY 1";

  private Rights() {}

  /** Refuses a user who could not make or drop parts of the tables. Changes nothing. */
  public static void check(Connections connections) throws StoreException, StoreRefused {
    String place = connections.options().place();
    Optional<StoreRefused> refusal =
        connections.read("looking what the user may do", connection -> missing(connection, place));
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  private static Optional<StoreRefused> missing(Connection connection, String place)
      throws SQLException {
    String user = text(connection, "SELECT quote_ident(current_user)");
    List<String> owners =
        Select.list(
            connection,
            OTHER_OWNERS,
            row -> row.getString(1),
            (Object) Parts.TABLES.toArray(new String[0]));
    if (!owners.isEmpty()) {
      String owner = owners.getFirst();
      return Optional.of(
          new StoreRefused(
              "Tables in %s belong to %s, and the user %s could not make and drop parts of them. Let it"
                      .formatted(place, owner, user)
                  + " act as their owner: GRANT %1$s TO %2$s; ALTER ROLE %2$s SET role TO %1$s"
                      .formatted(owner, user)
                  + TO_READ));
    }
    if (text(connection, "SELECT has_schema_privilege(current_schema(), 'CREATE')").equals("t")) {
      return Optional.empty();
    }
    String schema = text(connection, "SELECT quote_ident(current_schema())");
    return Optional.of(
        new StoreRefused(
            "The user %s may not make tables in the schema %s of %s, and so no parts of them either."
                    .formatted(user, schema, place)
                + " Let it: GRANT CREATE ON SCHEMA %s TO %s".formatted(schema, user)
                + TO_READ));
  }

  private static String text(Connection connection, String sql) throws SQLException {
    return Select.list(connection, sql, row -> String.valueOf(row.getString(1))).getFirst();
  }
}
