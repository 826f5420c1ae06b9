package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.SharedKey;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One database of a PostgreSQL.
 *
 * @param url of JDBC, without who one is
 */
record Database(String url, String user, String password) {
  private static final Pattern URL = Pattern.compile("jdbc:postgresql://([^/]+)/([^?]*)(\\?.*)?");

  private Matcher parts() {
    Matcher matcher = URL.matcher(url);
    if (!matcher.matches()) {
      throw new ProofException("not a URL like jdbc:postgresql://HOST:PORT/DATABASE");
    }
    return matcher;
  }

  String name() {
    return parts().group(2);
  }

  /** Another one of the same system. */
  Database named(String name) {
    Matcher parts = parts();
    String parameters = parts.group(3) == null ? "" : parts.group(3);
    return new Database(
        "jdbc:postgresql://%s/%s%s".formatted(parts.group(1), name, parameters), user, password);
  }

  /** The same one, reached through a port of this machine. */
  Database through(int port) {
    Matcher parts = parts();
    String parameters = parts.group(3) == null ? "" : parts.group(3);
    return new Database(
        "jdbc:postgresql://127.0.0.1:%d/%s%s".formatted(port, parts.group(2), parameters),
        user,
        password);
  }

  /** The port of the first host. */
  int port() {
    String host = parts().group(1).replaceAll(",.*", "");
    return host.contains(":") ? Integer.parseInt(host.substring(host.lastIndexOf(':') + 1)) : 5_432;
  }

  Place place() {
    List<String> arguments = new ArrayList<>(List.of("--store", url));
    arguments.addAll(List.of("--set", "store.user=" + user, "--set", SharedKey.setting()));
    if (!password.isEmpty()) {
      arguments.addAll(List.of("--set", "store.password=" + password));
    }
    return new Place(arguments, this);
  }

  Connection connect() throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    if (!password.isEmpty()) {
      properties.setProperty("password", password);
    }
    properties.setProperty("ApplicationName", "bench");
    return DriverManager.getConnection(url, properties);
  }

  void execute(String sql) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** The first value of the first row; 0 when there is none. */
  long number(String sql) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** How many transactions have been committed in it. */
  long transactions() {
    return number(
        "SELECT xact_commit FROM pg_stat_database WHERE datname = '%s'".formatted(name()));
  }

  static ProofException failed(SQLException e) {
    return new ProofException("the database failed: " + e.getMessage(), e);
  }
}
