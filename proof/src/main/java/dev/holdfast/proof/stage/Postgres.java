package dev.holdfast.proof.stage;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL of our own: real processes with their data in a directory, which can be stopped,
 * killed, started again and copied to a standby. What it has committed is on disk.
 */
public final class Postgres implements AutoCloseable {
  /** Who may do everything, from this machine, without a password. */
  public static final String USER = "postgres";

  private static final String HOST = "127.0.0.1";
  private static final Duration LONGEST_START = Duration.ofMinutes(1);
  private static final Duration LONGEST_STOP = Duration.ofSeconds(30);
  private static final Duration ASK_EVERY = Duration.ofMillis(20);
  private static final int CALL_SECONDS = 5;

  private final PostgresPrograms programs;
  private final Path data;
  private final Path log;
  private final int port;
  private @Nullable Child child;

  private Postgres(PostgresPrograms programs, Path data, int port) {
    this.programs = programs;
    this.data = data;
    this.log = data.resolveSibling(data.getFileName() + ".log");
    this.port = port;
  }

  /** How it ends. */
  public enum Ending {
    /** Ends all sessions and writes everything down. */
    FAST("INT"),
    /** Ends at once, and repairs what is needed at the next start. */
    IMMEDIATE("QUIT");

    private final String signal;

    Ending(String signal) {
      this.signal = signal;
    }
  }

  /**
   * Makes one in a new directory and starts it.
   *
   * @param settings lines of its settings, beyond those that make it ours
   */
  public static Postgres create(PostgresPrograms programs, Path data, String... settings)
      throws IOException {
    // What initdb writes is synced by nobody but the first checkpoint: the machine does not crash.
    programs.run(
        "initdb",
        List.of(
            "-D",
            data.toString(),
            "-U",
            USER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
            "--wal-segsize=4"));
    Postgres made = new Postgres(programs, data, freePort());
    made.set("fsync = on", "synchronous_commit = on", "unix_socket_directories = ''");
    made.set("listen_addresses = '" + HOST + "'", "log_line_prefix = '%m %a '");
    made.set("max_connections = 100", "wal_level = replica", "hot_standby = on");
    made.set(settings);
    made.start();
    return made;
  }

  /** Adds lines to its settings, which it reads when it starts. */
  public void set(String... lines) throws IOException {
    Files.writeString(
        data.resolve("postgresql.conf"),
        String.join("\n", lines) + "\n",
        StandardOpenOption.APPEND);
  }

  /** Makes it read its settings anew, while it runs. */
  public void reload() throws SQLException {
    execute(USER, "SELECT pg_reload_conf()");
  }

  public int port() {
    return port;
  }

  /** How it is named in settings of a server. */
  public String url(String database) {
    return url(port, database);
  }

  /** The same, reached through something that listens on another port. */
  public static String url(int port, String database) {
    return "jdbc:postgresql://%s:%d/%s?user=%s".formatted(HOST, port, database, USER);
  }

  /** Starts it without waiting. */
  public void launch() throws IOException {
    child =
        Child.run(
            "postgres",
            programs.command("postgres", List.of("-D", data.toString(), "-p", "" + port)),
            log);
  }

  public void start() throws IOException {
    launch();
    awaitReady();
  }

  /** Waits until somebody can ask it something. */
  public void awaitReady() {
    long deadline = System.nanoTime() + LONGEST_START.toNanos();
    while (true) {
      try (Connection connection = connect(USER)) {
        if (connection.isValid(CALL_SECONDS)) {
          return;
        }
      } catch (SQLException e) {
        if (!isAlive() || System.nanoTime() > deadline) {
          throw new ProofException("PostgreSQL did not start:\n" + child().tail(), e);
        }
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(ASK_EVERY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  public boolean isAlive() {
    return child != null && child.isAlive();
  }

  /** Its main process, of which the others are children. */
  public Child child() {
    if (child == null) {
      throw new IllegalStateException("it was never started");
    }
    return child;
  }

  public void stop(Ending ending) throws IOException {
    child().signal(ending.signal);
    if (child().awaitEnd(LONGEST_STOP).isEmpty()) {
      throw new ProofException("PostgreSQL did not stop:\n" + child().tail());
    }
  }

  /** {@code kill -9} of all its processes. */
  public void kill() {
    child().killAll();
    if (child().awaitEnd(LONGEST_STOP).isEmpty()) {
      throw new ProofException("PostgreSQL was killed and does not end");
    }
  }

  public void createDatabase(String name) throws SQLException {
    execute(USER, "CREATE DATABASE " + name);
  }

  public Connection connect(String database) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", USER);
    properties.setProperty("connectTimeout", Integer.toString(CALL_SECONDS));
    properties.setProperty("ApplicationName", "proof");
    return DriverManager.getConnection(
        "jdbc:postgresql://%s:%d/%s".formatted(HOST, port, database), properties);
  }

  public void execute(String database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first value of the first row. */
  public long number(String database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      if (!rows.next()) {
        throw new SQLException("no row: " + sql);
      }
      return rows.getLong(1);
    }
  }

  /**
   * Makes a copy that follows this one, for which this one is stopped and started again. From then
   * on nothing is committed here that is not on disk there too.
   */
  public Postgres startStandby(Path directory) throws IOException, SQLException {
    stop(Ending.FAST);
    copy(data, directory);
    start();
    Postgres standby = new Postgres(programs, directory, freePort());
    Files.createFile(directory.resolve("standby.signal"));
    standby.set(
        "primary_conninfo = 'host=%s port=%d user=%s application_name=standby'"
            .formatted(HOST, port, USER));
    standby.start();
    set("synchronous_standby_names = 'standby'");
    reload();
    long deadline = System.nanoTime() + LONGEST_START.toNanos();
    while (number(USER, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
        == 0) {
      if (System.nanoTime() > deadline) {
        throw new ProofException("the standby does not follow:\n" + standby.child().tail());
      }
      pause();
    }
    return standby;
  }

  /** Moves its log to a new directory, for which it is stopped and started again. */
  public void moveLog(Path directory) throws IOException {
    stop(Ending.FAST);
    Path log = data.resolve("pg_wal");
    copy(log, directory);
    Files.move(log, data.resolveSibling(data.getFileName() + "-former-log"));
    Files.createSymbolicLink(log, directory);
    start();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> tree = Files.walk(from)) {
      for (Path path : tree.toList()) {
        // It minds who else may read its directories.
        Files.copy(path, to.resolve(from.relativize(path)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  /** Makes a standby go on by itself, and waits until it takes writes. */
  public void promote() throws IOException, SQLException {
    // It would wait for a standby of its own otherwise: it has a copy of the other's settings.
    set("synchronous_standby_names = ''");
    execute(USER, "SELECT pg_promote(true)");
    reload();
  }

  /** Frees what it holds on this machine; the data stays. */
  @Override
  public void close() {
    if (isAlive()) {
      kill();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** The settings that a machine of its own would have, for measuring. */
  public static String[] settingsForMeasuring() {
    List<String> settings = new ArrayList<>();
    settings.add("shared_buffers = 512MB");
    settings.add("max_wal_size = 4GB");
    settings.add("checkpoint_timeout = 15min");
    settings.add("wal_compression = on");
    return settings.toArray(String[]::new);
  }
}
