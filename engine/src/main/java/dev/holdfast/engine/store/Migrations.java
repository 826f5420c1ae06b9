package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);

  private static final List<String> SCRIPTS =
      List.of(
          "sqlite-0001.sql",
          "sqlite-0002.sql",
          "sqlite-0003.sql",
          COUNTS_TENANTS,
          "sqlite-0005.sql",
          "sqlite-0006.sql",
          "sqlite-0007.sql",
          "sqlite-0008.sql",
          "sqlite-0009.sql",
          "sqlite-0010.sql");

  private Migrations() {}

  /** The version of the tables that this program expects. */
  static int newest() {
    return SCRIPTS.size();
  }

  static void apply(Connection connection) throws SQLException {
    int from = version(connection);
    boolean isOlder = from > 0 && from < newest();
    if (isOlder) {
      LOG.info(
          "store.upgrading from={} to={} next=\"takes a time that grows with the store; it is used"
              + " when that is done\"",
          from,
          newest());
    }
    try (Statement statement = connection.createStatement()) {
      for (int version = from; version < newest(); version++) {
        statement.executeUpdate("BEGIN IMMEDIATE");
        statement.executeUpdate(script(SCRIPTS.get(version)));
        if (SCRIPTS.get(version).equals(COUNTS_TENANTS)) {
          Tenants.count(connection);
        }
        statement.executeUpdate("PRAGMA user_version = " + (version + 1));
        statement.executeUpdate("COMMIT");
      }
    }
    if (isOlder) {
      LOG.info("store.upgraded to={}", newest());
    }
  }

  /**
   * Rewrites a file of the first version, which could only grow. Takes a time that grows with the
   * file, and room for it; where there is none the file goes on as it is.
   */
  static void makeShrinkable(Connection connection) throws SQLException {
    if (Sqlite.number(connection, "PRAGMA auto_vacuum") != 0) {
      return;
    }
    LOG.info("store.rewriting next=\"the file can give back room from now on\"");
    try {
      Sqlite.execute(
          connection,
          "PRAGMA temp_store = FILE",
          "PRAGMA auto_vacuum = INCREMENTAL",
          "VACUUM",
          "PRAGMA temp_store = MEMORY");
    } catch (SQLException e) {
      if (Sqlite.failure("rewriting the file", e).kind() != StoreException.Kind.FULL) {
        throw e;
      }
      LOG.warn(
          "store.rewriting-postponed next=\"the file does not give back room; tried again at the"
              + " next start\"",
          e);
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
