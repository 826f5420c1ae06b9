package dev.holdfast.engine.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Properties;

/**
 * Connections to the database, kept open and used again.
 *
 * <p>Each gives up what takes long against the lease: a statement, a wait for a lock, a pause in a
 * transaction, an answer that does not come. So a node that hangs holds nobody up for long.
 */
public final class Connections implements AutoCloseable {
  private static final int MOST_TRIES = 5;

  /** The version of PostgreSQL that is needed. */
  private static final int OLDEST = 15;

  /** All that were open are lost when the server ends; then each has to be found out. */
  private static final int MOST_LOST = 3;

  /** Settings with which statements go along an index. */
  static final String ALONG_INDEXES =
      "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;"
          + " SET enable_mergejoin = off";

  /** The same until the transaction ends. */
  static final String ALONG_INDEXES_FOR_NOW = ALONG_INDEXES.replace("SET ", "SET LOCAL ");

  /** Parts of the lease. */
  private static final int OF_STATEMENT = 2;

  private static final int OF_LOCK = 3;
  private static final int OF_PAUSE = 3;
  private static final int OF_CONNECTING = 3;

  /** For what is read once, by one who can wait: so many leases, or a minute. */
  private static final int LEASES_FOR_ALL = 10;

  private static final Duration TIME_FOR_ALL = Duration.ofMinutes(1);

  /** For the first connection of a start, when no lease runs yet and nothing is warm. */
  private static final int SECONDS_FOR_THE_FIRST = 10;

  private final PostgresOptions options;
  private final HikariDataSource pool;

  /** Nothing is connected before it is needed. */
  public Connections(PostgresOptions options) {
    this(options, "store", options.connections() - options.connections() / 2, "SELECT 1");
  }

  /**
   * Connections whose statements go along an index, whatever is known of the tables: statistics are
   * old where tables grow and shrink fast.
   */
  static Connections alongIndexes(PostgresOptions options) {
    return new Connections(options, "path", options.connections() / 2, ALONG_INDEXES);
  }

  private Connections(PostgresOptions options, String name, int most, String settings) {
    this.options = options;
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setJdbcUrl(options.url());
    config.setDataSourceProperties(properties(options));
    config.setMaximumPoolSize(most);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(Math.max(1_000, part(options.lease(), OF_CONNECTING)));
    config.setValidationTimeout(Math.max(500, part(options.lease(), 2 * OF_CONNECTING)));
    config.setInitializationFailTimeout(-1);
    config.setConnectionInitSql(prepare(options.lease()) + "; " + settings);
    this.pool = pool(config, options);
  }

  /** What goes wrong here says the whole URL, so that it is not told. */
  private static HikariDataSource pool(HikariConfig config, PostgresOptions options) {
    try {
      return new HikariDataSource(config);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "the driver does not take the URL of " + options.place() + " (" + e.getClass() + ")");
    }
  }

  /** What is done with a connection, which is nobody else's meanwhile. */
  public interface Work<T> {
    /** Does it. */
    T run(Connection connection) throws SQLException;
  }

  /**
   * Reads; each statement sees what is committed when it begins. Done again if the connection was
   * lost meanwhile.
   */
  public <T> T read(String doing, Work<T> work) throws StoreException {
    for (int tries = 1; ; tries++) {
      try (Connection connection = pool.getConnection()) {
        return work.run(connection);
      } catch (SQLException e) {
        if (tries == MOST_LOST || !SqlStates.isLost(e)) {
          throw SqlStates.failure(doing, e);
        }
      }
    }
  }

  /** Reads along an index, whatever is known of the tables. */
  <T> T readAlongIndexes(String doing, Work<T> work) throws StoreException {
    return transact(
        doing,
        connection -> {
          execute(connection, ALONG_INDEXES_FOR_NOW);
          return work.run(connection);
        });
  }

  /** Reads; all statements see the same. */
  public <T> T readAtOnce(String doing, Work<T> work) throws StoreException {
    return transact(
        doing,
        connection -> {
          execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
          return work.run(connection);
        });
  }

  /**
   * Does all of it or nothing. Done again from its beginning when others were in the way, so it
   * must leave nothing behind in memory when it fails.
   */
  public <T> T transact(String doing, Work<T> work) throws StoreException {
    for (int tries = 1; ; tries++) {
      Transaction<T> transaction = new Transaction<>(work);
      try (Connection connection = pool.getConnection()) {
        return transaction.run(connection);
      } catch (SQLException e) {
        boolean isUndone =
            SqlStates.isWorthAnotherTry(e)
                || (SqlStates.isLost(e) && !transaction.isEnding && tries < MOST_LOST);
        if (tries == MOST_TRIES || !isUndone) {
          throw SqlStates.failure(doing, e);
        }
      } catch (IllegalArgumentException e) {
        throw new StoreException(StoreException.Kind.REFUSED, doing + ": " + e.getMessage(), e);
      }
    }
  }

  /** Work, and whether all of it was done and may have been committed. */
  private static final class Transaction<T> {
    private final Work<T> work;
    private boolean isEnding;

    Transaction(Work<T> work) {
      this.work = work;
    }

    T run(Connection connection) throws SQLException {
      connection.setAutoCommit(false);
      try {
        T result = work.run(connection);
        isEnding = true;
        connection.commit();
        return result;
      } catch (SQLException | RuntimeException e) {
        undo(connection, e);
        throw e;
      } finally {
        if (!connection.isClosed()) {
          connection.setAutoCommit(true);
        }
      }
    }
  }

  private static void undo(Connection connection, Exception cause) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }

  /** Gives a transaction that reads much, and is in nobody's way, the time that it needs. */
  void takeTime(Connection connection) throws SQLException {
    Duration time = options.lease().multipliedBy(LEASES_FOR_ALL);
    if (time.compareTo(TIME_FOR_ALL) < 0) {
      time = TIME_FOR_ALL;
    }
    execute(connection, "SET LOCAL statement_timeout = " + time.toMillis());
    connection.setNetworkTimeout(Runnable::run, (int) time.plus(options.lease()).toMillis());
  }

  /**
   * A connection beside the others, for one who keeps it and closes it. Until it can be used, an
   * answer is waited for no longer than a connection.
   */
  public Connection own() throws SQLException {
    return own((int) Math.max(1, seconds(options.lease()) / OF_CONNECTING));
  }

  private Connection own(int first) throws SQLException {
    Properties properties = properties(options);
    int answer = (int) seconds(options.lease());
    for (String time : List.of("connectTimeout", "loginTimeout", "socketTimeout")) {
      properties.setProperty(time, String.valueOf(first));
    }
    Connection connection = DriverManager.getConnection(options.url(), properties);
    try {
      execute(connection, prepare(options.lease()));
      if (connection.getNetworkTimeout() == first * 1_000) {
        connection.setNetworkTimeout(Runnable::run, answer * 1_000);
      }
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /** Refuses a database that cannot be connected to, at once and with what to do about it. */
  public void reach() throws StoreRefused {
    try (Connection connection = own(SECONDS_FOR_THE_FIRST)) {
      if (connection.getMetaData().getDatabaseMajorVersion() < OLDEST) {
        throw new StoreRefused(
            options.place() + " is a PostgreSQL before " + OLDEST + ". Use that version or later.");
      }
    } catch (SQLException e) {
      throw new StoreRefused(
          options.place()
              + " cannot be used: "
              + sentence(e)
              + " "
              + SqlStates.remedy(e, options.place()),
          e);
    }
  }

  /** What went wrong, with a full stop: some of the driver's words have one. */
  private static String sentence(SQLException cause) {
    String message = String.valueOf(cause.getMessage());
    return message.endsWith(".") ? message : message + ".";
  }

  /** What they were made with. */
  public PostgresOptions options() {
    return options;
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Properties properties(PostgresOptions options) {
    Properties properties = new Properties();
    if (options.user() != null) {
      properties.setProperty("user", options.user());
    }
    if (options.password() != null) {
      properties.setProperty("password", options.password());
    }
    long lease = seconds(options.lease());
    properties.setProperty("ApplicationName", "holdfast " + options.name());
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("connectTimeout", String.valueOf(Math.max(1, lease / OF_CONNECTING)));
    properties.setProperty("loginTimeout", String.valueOf(Math.max(1, lease / OF_CONNECTING)));
    properties.setProperty("socketTimeout", String.valueOf(lease));
    properties.setProperty("prepareThreshold", "2");
    properties.setProperty("reWriteBatchedInserts", "true");
    // What is in a row that was refused is nobody's who reads the log.
    properties.setProperty("logServerErrorDetail", "false");
    return properties;
  }

  /** The server's settings count, but what was acknowledged is on disk whatever they say. */
  private static String prepare(Duration lease) {
    return "SELECT set_config('statement_timeout', '"
        + part(lease, OF_STATEMENT)
        + "', false), set_config('lock_timeout', '"
        + part(lease, OF_LOCK)
        + "', false), set_config('idle_in_transaction_session_timeout', '"
        + part(lease, OF_PAUSE)
        + "', false), set_config('tcp_keepalives_idle', '"
        + Math.max(1, seconds(lease) / OF_PAUSE)
        + "', false), set_config('tcp_keepalives_interval', '1', false),"
        + " set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '"
        + lease.toMillis()
        + "', false), set_config('TimeZone', 'UTC', false),"
        + " CASE WHEN current_setting('jit', true) IS NOT NULL THEN set_config('jit', 'off', false) END,"
        + " set_config('default_transaction_isolation', 'read committed', false),"
        + " CASE current_setting('synchronous_commit')"
        + " WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END";
  }

  private static long seconds(Duration lease) {
    return Math.max(1, lease.toSeconds());
  }

  private static long part(Duration lease, int parts) {
    return lease.toMillis() / parts;
  }

  @Override
  public void close() {
    pool.close();
  }
}
