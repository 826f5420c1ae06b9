package dev.holdfast.engine.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Brings the tables of a store to what this version expects.
 *
 * <p>Each script is applied once, whole or not at all, in this order; how many have been applied is
 * the file's {@code user_version}. A script that has been released is never changed.
 */
final class Migrations {
  /** "Hold" in ASCII: marks a SQLite file as ours. */
  static final int APPLICATION_ID = 0x486f6c64;

  /** Followed by a step that SQL cannot do. */
  private static final String COUNTS_TENANTS = "sqlite-0004.sql";

  private static final List<String> SCRIPTS =
      List.of("sqlite-0001.sql", "sqlite-0003.sql", COUNTS_TENANTS);

  private Migrations() {}

  /** The version of the tables that this program expects. */
  static int newest() {
    return SCRIPTS.size();
  }

  static void apply(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (int version = version(connection); version < newest(); version++) {
        statement.executeUpdate("BEGIN IMMEDIATE");
        statement.executeUpdate(script(SCRIPTS.get(version)));
        if (SCRIPTS.get(version).equals(COUNTS_TENANTS)) {
          Tenants.count(connection);
        }
        statement.executeUpdate("PRAGMA user_version = " + (version + 1));
        statement.executeUpdate("COMMIT");
      }
    }
  }

  static int version(Connection connection) throws SQLException {
    return Sqlite.number(connection, "PRAGMA user_version");
  }

  private static String script(String name) {
    try (InputStream in = Migrations.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("missing from the program: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
