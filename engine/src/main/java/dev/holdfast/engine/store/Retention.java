package dev.holdfast.engine.store;

import java.time.Duration;

/**
 * How long what is finished is kept.
 *
 * @param age the time from when the last message of an event has finished
 * @param maxBytes when what is stored takes more than this, the oldest finished events go before
 *     their time; {@link #NO_LIMIT} when it may take any
 */
public record Retention(Duration age, long maxBytes) {
  public static final long NO_LIMIT = 0;

  /** Nothing is ever removed. */
  public static final Retention FOREVER = new Retention(Duration.ofDays(365_000), NO_LIMIT);

  public Retention {
    if (age.isNegative() || maxBytes < 0) {
      throw new IllegalArgumentException("retention cannot be negative");
    }
  }
}
