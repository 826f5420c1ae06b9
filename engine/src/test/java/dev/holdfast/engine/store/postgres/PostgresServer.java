package dev.holdfast.engine.store.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL of the tests' own: one for a Java process, ended with it. */
public final class PostgresServer {
  private static final AtomicInteger DATABASES = new AtomicInteger();

  private static @Nullable EmbeddedPostgres shared;

  private PostgresServer() {}

  /**
   * The URL of a new empty database, user and all, on a server that does not wait for its disk:
   * what it has acknowledged survives its own end, not that of the machine.
   */
  public static String freshDatabase() {
    return freshDatabase(shared());
  }

  /** The URL of a new empty database on another server. */
  public static String freshDatabase(EmbeddedPostgres server) {
    String name = "holdfast_" + DATABASES.incrementAndGet();
    try (Connection connection = DriverManager.getConnection(url(server, "postgres"));
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
      return url(server, name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A server of one's own that waits for its disk. Whoever asks closes it. */
  public static EmbeddedPostgres durable() throws IOException {
    return EmbeddedPostgres.builder()
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on")
        .setServerConfig("max_wal_size", "4GB")
        .setServerConfig("shared_buffers", "256MB")
        .start();
  }

  private static synchronized EmbeddedPostgres shared() {
    if (shared == null) {
      try {
        shared =
            EmbeddedPostgres.builder()
                .setServerConfig("fsync", "off")
                .setServerConfig("max_connections", "300")
                .setServerConfig("max_prepared_transactions", "0")
                .start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return shared;
  }

  private static String url(EmbeddedPostgres server, String database) {
    return "jdbc:postgresql://localhost:"
        + server.getPort()
        + "/"
        + database
        + "?user=postgres&password=postgres";
  }
}
