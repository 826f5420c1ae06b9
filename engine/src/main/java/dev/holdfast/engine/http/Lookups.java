package dev.holdfast.engine.http;

import io.vertx.core.dns.AddressResolverOptions;
import java.time.Duration;

/**
 * How names are looked up: so that a lookup is over before the attempt that asked is, whatever name
 * servers do.
 */
public final class Lookups {

  /** A and AAAA, of two name servers: when the first is silent, the second is still asked. */
  private static final int QUERIES = 4;

  private static final int MOST_QUERY_MILLIS = 2_000;
  private static final int MOST_CACHED_SECONDS = 300;
  private static final int FAILURE_CACHED_SECONDS = 1;

  private Lookups() {}

  /**
   * Options for a process whose attempts may take this long.
   *
   * <p>Two queries one after the other take four fifths of it at most. What was found is kept for
   * as long as its name server allows, but not longer than five minutes, so that no name stays
   * where it was for ever; that a name does not exist is kept for a second, so that a burst of
   * events asks once. Search domains are left as the system has them: a query without an answer
   * ends the search.
   */
  public static AddressResolverOptions within(Duration attempt) {
    long query = Math.clamp(attempt.toMillis() * 2 / 5, 1, MOST_QUERY_MILLIS);
    return new AddressResolverOptions()
        .setQueryTimeout(query)
        .setMaxQueries(QUERIES)
        .setCacheMaxTimeToLive(MOST_CACHED_SECONDS)
        .setCacheNegativeTimeToLive(FAILURE_CACHED_SECONDS);
  }
}
