package dev.holdfast.engine.store.postgres;

import dev.holdfast.engine.store.StoreRefused;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;

/**
 * Where the database is, and how it is used.
 *
 * @param url as the driver takes it, beginning with {@code jdbc:postgresql:}; may have anything the
 *     driver knows in its parameters, and what is there counts
 * @param user absent when the URL says it
 * @param password absent when the URL says it, or none is needed
 * @param connections how many are open at most, half of them for the path; a few more are there for
 *     whoever needs one of his own, such as the one who writes
 * @param lease how long a node that is not heard of keeps what it decides for. Nothing that a node
 *     asks of the database takes longer than a part of it
 * @param name what people call the node
 * @param version which Holdfast the node is
 */
public record PostgresOptions(
    String url,
    @Nullable String user,
    @Nullable String password,
    int connections,
    Duration lease,
    String name,
    String version) {
  public static final int CONNECTIONS = 10;
  public static final Duration LEASE = Duration.ofSeconds(15);

  /** The driver tells it whole URLs, and what it throws is told by us. Kept, or it is forgotten. */
  private static final Logger OF_DRIVER = Logger.getLogger("org.postgresql");

  static {
    OF_DRIVER.setLevel(Level.OFF);
  }

  private static final String SCHEME = "jdbc:postgresql:";
  private static final Pattern PARTS =
      Pattern.compile("(?://([^/?]*)/)?([^/?]*)(?:\\?(.*))?", Pattern.DOTALL);
  private static final Pattern HOST =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+])(?::([0-9]{1,5}))?");
  private static final Pattern PARAMETER = Pattern.compile("[A-Za-z_]+=(?:[^%&]|%[0-9A-Fa-f]{2})*");
  private static final int MOST_PORT = 65_535;

  public PostgresOptions {
    problem(url)
        .ifPresent(
            problem -> {
              throw new IllegalArgumentException("the URL of the database " + problem);
            });
    if (connections < 2) {
      throw new IllegalArgumentException("at least 2 connections are needed");
    }
    if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("a lease is a second at least");
    }
  }

  /** A node of which nobody says which Holdfast it is. */
  public PostgresOptions(
      String url,
      @Nullable String user,
      @Nullable String password,
      int connections,
      Duration lease,
      String name) {
    this(url, user, password, connections, lease, name, "unknown");
  }

  /** The same, of another version. */
  public PostgresOptions withVersion(String said) {
    return new PostgresOptions(url, user, password, connections, lease, name, said);
  }

  /** What is usual, to a database whose URL says it all. */
  public PostgresOptions(String url) {
    this(url, null, null, CONNECTIONS, LEASE, "node");
  }

  /** Refuses a URL with which a batch would be several transactions. */
  void check() throws StoreRefused {
    Properties said = Driver.parseURL(url, new Properties());
    String mode = said == null ? null : said.getProperty("preferQueryMode");
    if (mode != null && !mode.equals("extended")) {
      throw new StoreRefused(
          place()
              + " cannot be used with preferQueryMode="
              + mode
              + ": what belongs together would be written in parts. Take it out of the URL.");
    }
  }

  /** What is wrong with a URL, if anything, as the rest of a sentence and with no part of it. */
  public static Optional<String> problem(String url) {
    if (!url.startsWith(SCHEME)) {
      return Optional.of("does not begin with " + SCHEME);
    }
    String rest = url.substring(SCHEME.length());
    int parameters = rest.indexOf('?');
    if ((parameters < 0 ? rest : rest.substring(0, parameters)).contains("@")) {
      return Optional.of(
          "has a user before its host; give store.user and store.password, or ?user=…&password=…");
    }
    Matcher parts = PARTS.matcher(rest);
    if (!rest.matches("[\\x21-\\x7e]+") || !parts.matches()) {
      return Optional.of("is no URL of a database");
    }
    return Optional.ofNullable(problem(parts.group(1), parts.group(2), parts.group(3)))
        .or(
            () ->
                Driver.parseURL(url, null) == null
                    ? Optional.of("is not understood by the driver")
                    : Optional.empty());
  }

  private static @Nullable String problem(
      @Nullable String hosts, String database, @Nullable String parameters) {
    for (String host : hosts == null ? new String[0] : hosts.split(",", -1)) {
      Matcher parts = HOST.matcher(host);
      if (!parts.matches()
          || (parts.group(1) != null && Integer.parseInt(parts.group(1)) > MOST_PORT)) {
        return "has hosts that are none, or ports that are no numbers";
      }
    }
    if (database.isEmpty()) {
      return "does not say which database";
    }
    for (String parameter : parameters == null ? new String[0] : parameters.split("&", -1)) {
      if (!PARAMETER.matcher(parameter).matches()) {
        return "has parameters that are not NAME=VALUE, each & or % in a value as %26 or %25";
      }
    }
    return null;
  }

  /** The URL without its parameters, in which there may be a password. */
  public String place() {
    int parameters = url.indexOf('?');
    String bare = parameters < 0 ? url : url.substring(0, parameters);
    int host = bare.indexOf("//");
    int end = bare.lastIndexOf('@');
    return host < 0 || end < host ? bare : bare.substring(0, host + 2) + bare.substring(end + 1);
  }

  @Override
  public String toString() {
    return place();
  }
}
