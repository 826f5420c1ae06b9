package dev.holdfast.engine.store.postgres;

import dev.holdfast.engine.store.StoreRefused;
import java.time.Duration;
import java.util.Properties;
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
 */
public record PostgresOptions(
    String url,
    @Nullable String user,
    @Nullable String password,
    int connections,
    Duration lease,
    String name) {
  public static final int CONNECTIONS = 10;
  public static final Duration LEASE = Duration.ofSeconds(15);

  public PostgresOptions {
    if (!url.startsWith("jdbc:postgresql:")) {
      throw new IllegalArgumentException("the URL of a database begins with jdbc:postgresql:");
    }
    if (connections < 2) {
      throw new IllegalArgumentException("at least 2 connections are needed");
    }
    if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("a lease is a second at least");
    }
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

  /** The URL without its parameters, in which there may be a password. */
  public String place() {
    int parameters = url.indexOf('?');
    String bare = parameters < 0 ? url : url.substring(0, parameters);
    int host = bare.indexOf("//");
    int end = bare.indexOf('@');
    return host < 0 || end < host ? bare : bare.substring(0, host + 2) + bare.substring(end + 1);
  }

  @Override
  public String toString() {
    return place();
  }
}
