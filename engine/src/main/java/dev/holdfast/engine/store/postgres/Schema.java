package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tables of a database to what this version expects.
 *
 * <p>Each script is applied once, whole or not at all, in this order, by one node at a time; how
 * many have been applied is in the only row of the table {@code schema_version}. A script that has
 * been released is never changed.
 */
public final class Schema {
  private static final Logger LOG = LoggerFactory.getLogger(Schema.class);

  private static final List<String> SCRIPTS = List.of("postgres-0001.sql");

  /** "Hold" in ASCII: the lock under which tables are changed. */
  private static final long LOCK = 0x486f6c64;

  private static final int OLDEST_SERVER = 150_000;

  /** How long anybody may have to wait behind a script that waits for a table. */
  private static final String GIVE_WAY = "SET LOCAL lock_timeout = '300ms'";

  private static final String NOT_AVAILABLE = "55P03";
  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);
  private static final int MOST_TRIES = 900;
  private static final int TRIES_PER_WARNING = 60;

  private static final String MAKE_VERSION =
      "CREATE TABLE schema_version (id smallint PRIMARY KEY CHECK (id = 0),"
          + " version integer NOT NULL); INSERT INTO schema_version VALUES (0, 0)";

  private Schema() {}

  /** The version of the tables that this program expects. */
  public static int newest() {
    return SCRIPTS.size();
  }

  /**
   * Makes the tables what they should be for a node to start; refuses those that a later program
   * has made, and those that an embedded store is still being moved into.
   */
  public static void apply(Connections connections) throws StoreException, StoreRefused {
    make(connections);
    refuseWhileMoving(connections);
  }

  /** Makes the tables what they should be; refuses those that a later program has made. */
  public static void make(Connections connections) throws StoreException, StoreRefused {
    make(connections, SCRIPTS);
  }

  /** The same for a program with other scripts. */
  static void make(Connections connections, List<String> scripts)
      throws StoreException, StoreRefused {
    for (int tries = 0; ; tries++) {
      try {
        tryToMake(connections, scripts);
        return;
      } catch (StoreException e) {
        boolean isInUse =
            e.getCause() instanceof SQLException cause && NOT_AVAILABLE.equals(cause.getSQLState());
        if (!isInUse || tries == MOST_TRIES || !Pause.of(BETWEEN_TRIES)) {
          throw e;
        }
        if (tries % TRIES_PER_WARNING == 0) {
          LOG.warn(
              "store.tables-in-use reason=\"{}\" next=\"tried again every second; end whatever holds"
                  + " the tables for long, or wait for it: pg_stat_activity\"",
              e.getMessage());
        }
      }
    }
  }

  private static void tryToMake(Connections connections, List<String> scripts)
      throws StoreException, StoreRefused {
    String place = connections.options().place();
    Optional<StoreRefused> refusal =
        connections.transact(
            "preparing the tables",
            connection -> {
              // However long the scripts take, or another node that applies them.
              int patience = connection.getNetworkTimeout();
              connection.setNetworkTimeout(Runnable::run, 0);
              try {
                return Optional.ofNullable(apply(connection, place, scripts));
              } finally {
                connection.setNetworkTimeout(Runnable::run, patience);
              }
            });
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  private static void refuseWhileMoving(Connections connections)
      throws StoreException, StoreRefused {
    String place = connections.options().place();
    Optional<StoreRefused> refusal =
        connections.read(
            "looking whether a store is being moved",
            connection -> Optional.ofNullable(moving(connection, place)));
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  /** Why a node may not take part, while an embedded store is being moved into the database. */
  static @Nullable StoreRefused moving(Connection connection, String place) throws SQLException {
    String origin = StoreVault.movedFrom(connection);
    return origin == null
        ? null
        : new StoreRefused(
            "The store from "
                + origin
                + " is being moved into "
                + place
                + ", and not all of it is there yet. Let the move end, or repeat ./holdfast migrate"
                + " if it was interrupted: it goes on where it was.");
  }

  /** The version of the tables that are there; 0 when there are none. Changes nothing. */
  public static int version(Connections connections) throws StoreException {
    return connections.read(
        "looking at the tables",
        connection -> {
          try (Statement statement = connection.createStatement()) {
            return isMade(statement) ? number(statement, "SELECT version FROM schema_version") : 0;
          }
        });
  }

  /** The scripts that bring tables of a version to what this program expects. */
  public static List<String> missing(int version) {
    return SCRIPTS.subList(Math.min(version, newest()), newest());
  }

  /** The text of a script, for people who want to read it first. */
  public static String text(String script) {
    return script(script);
  }

  /** The SQL that notes which version the tables are of, after the script that brings it. */
  public static String noted(int version) {
    return (version == 1 ? MAKE_VERSION + ";\n" : "")
        + "UPDATE schema_version SET version = "
        + version
        + ";\n";
  }

  /**
   * Refuses tables that are not as this program expects them, and those that an embedded store is
   * still being moved into. Changes nothing.
   */
  public static void check(Connections connections) throws StoreException, StoreRefused {
    String place = connections.options().place();
    int version = version(connections);
    if (version > newest()) {
      throw later(place, version, newest());
    }
    if (version < newest()) {
      throw new StoreRefused(
          place
              + (version == 0
                  ? " has no tables yet"
                  : " has tables of version " + version + ", and this program needs " + newest())
              + ". Run ./holdfast schema --apply first, or start a server with store.migrate=auto.");
    }
    refuseWhileMoving(connections);
  }

  private static StoreRefused later(String place, int version, int known) {
    return new StoreRefused(
        place
            + " was made by a later version of Holdfast (its tables are of version "
            + version
            + ", this one knows "
            + known
            + "). Use that version, or a later one.");
  }

  private static @Nullable StoreRefused apply(
      Connection connection, String place, List<String> scripts) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;"
              + " SET LOCAL idle_in_transaction_session_timeout = 0");
      statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
      statement.execute(GIVE_WAY);
      if (number(statement, "SELECT current_setting('server_version_num')::int") < OLDEST_SERVER) {
        return new StoreRefused(place + " is a PostgreSQL before 15. Use version 15 or later.");
      }
      int version = version(statement);
      if (version > scripts.size()) {
        return later(place, version, scripts.size());
      }
      for (; version < scripts.size(); version++) {
        statement.execute(script(scripts.get(version)));
        statement.execute("UPDATE schema_version SET version = " + (version + 1));
      }
      return null;
    }
  }

  private static int version(Statement statement) throws SQLException {
    if (!isMade(statement)) {
      statement.execute(MAKE_VERSION);
    }
    return number(statement, "SELECT version FROM schema_version");
  }

  private static boolean isMade(Statement statement) throws SQLException {
    return number(
            statement,
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
                + " AND tablename = 'schema_version'")
        != 0;
  }

  private static int number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new SQLException("no answer to: " + sql);
      }
      return row.getInt(1);
    }
  }

  private static String script(String name) {
    try (InputStream in = Schema.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("missing from the program: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
