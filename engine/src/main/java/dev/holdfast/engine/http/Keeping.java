package dev.holdfast.engine.http;

import java.time.Duration;

/**
 * How connections are kept.
 *
 * @param unused how long a connection is kept for a next attempt
 * @param oldest how old a connection may get, so that a busy endpoint can move to another address
 * @param stale a server is not expected to close a connection for being unused before it was unused
 *     for this long
 */
record Keeping(Duration unused, Duration oldest, Duration stale) {
  static final Keeping USUAL =
      new Keeping(Duration.ofSeconds(30), Duration.ofMinutes(5), Duration.ofSeconds(1));

  /** For connections that are not likely to be wanted again. */
  static final Keeping SHORT =
      new Keeping(Duration.ofSeconds(2), Duration.ofMinutes(5), Duration.ofSeconds(1));
}
