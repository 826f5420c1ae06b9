package dev.holdfast.proof.model;

import java.time.Instant;
import java.util.Map;

/**
 * The subscriptions that want an event.
 *
 * @param at when that was looked at
 * @param messages the message that each of them has to get
 */
record Wanted(Instant at, Map<Long, Expected> messages) {

  /**
   * A message as it has to be made.
   *
   * @param inBoth whether there have to be two, one in each version
   */
  record Expected(long endpoint, Row row, boolean inBoth) {}

  /** How many messages that is. */
  int total() {
    return messages.values().stream().mapToInt(expected -> expected.inBoth() ? 2 : 1).sum();
  }
}
