package dev.holdfast.proof.model;

import dev.holdfast.core.model.Form.Version;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
  record Expected(long endpoint, Row row, boolean inBoth) {
    Versions versions() {
      return inBoth ? Versions.BOTH : Versions.WHATEVER;
    }
  }

  /** How many messages that is. */
  int total() {
    return messages.values().stream().mapToInt(expected -> expected.versions().total()).sum();
  }

  /** How many messages of an event a subscription gets in each version, and without one. */
  record Versions(int v1, int v2, int without) {
    static final Versions NOTHING = new Versions(0, 0, 0);
    static final Versions BOTH = new Versions(1, 1, 0);

    /** One message, in the version that its subscription has when it is sent. */
    static final Versions WHATEVER = new Versions(0, 0, 1);

    Versions and(@Nullable Version version) {
      return new Versions(
          v1 + (version == Version.V1 ? 1 : 0),
          v2 + (version == Version.V2 ? 1 : 0),
          without + (version == null ? 1 : 0));
    }

    int total() {
      return v1 + v2 + without;
    }
  }
}
