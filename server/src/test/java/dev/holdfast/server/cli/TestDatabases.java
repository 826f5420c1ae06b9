package dev.holdfast.server.cli;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Databases of the tests' own, on a PostgreSQL that ends with the Java process. */
final class TestDatabases {
  /** By which it would be found if it were printed. */
  static final String PASSWORD = "canary-password";

  private static @Nullable EmbeddedPostgres shared;
  private static int databases;

  private TestDatabases() {}

  /** The URL of a new empty database, without user and password. */
  static synchronized String fresh() {
    String name = "cli_" + databases++;
    execute("postgres", "CREATE DATABASE " + name);
    return "jdbc:postgresql://localhost:" + server().getPort() + "/" + name;
  }

  /** Executes a statement in the database of a URL that was made here. */
  static void executeAt(String url, String sql) {
    execute(url.substring(url.lastIndexOf('/') + 1), sql);
  }

  private static void execute(String database, String sql) {
    try (Connection connection = server().getDatabase("postgres", database).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static synchronized EmbeddedPostgres server() {
    if (shared == null) {
      try {
        shared = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return shared;
  }
}
