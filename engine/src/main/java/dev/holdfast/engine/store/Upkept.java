package dev.holdfast.engine.store;

import dev.holdfast.core.port.Snapshot.Stored;
import java.util.HashMap;
import java.util.Map;

/**
 * What a step of upkeep has done.
 *
 * @param left what is to be done at once
 * @param removed what this step removed
 */
public record Upkept(Left left, Removed removed) {

  /** Whether there is more to be done, and whether it can wait for those who write. */
  public enum Left {
    NOTHING,
    SOME,
    TOO_MUCH;

    static Left of(boolean isMore) {
      return isMore ? SOME : NOTHING;
    }
  }

  public Upkept(boolean isMore, Removed removed) {
    this(Left.of(isMore), removed);
  }

  public boolean isMore() {
    return left != Left.NOTHING;
  }

  /**
   * What was removed from history.
   *
   * @param events events that are gone, with everything that belongs to them
   * @param messages messages that are gone
   * @param bytes what the data of those events took
   * @param ofTenants whose events they were, as quotas count them
   */
  public record Removed(long events, long messages, long bytes, Map<String, Stored> ofTenants) {
    public static final Removed NOTHING = new Removed(0, 0, 0, Map.of());

    public boolean isNothing() {
      return events == 0 && messages == 0;
    }

    public Removed plus(Removed other) {
      Map<String, Stored> both = new HashMap<>(ofTenants);
      other.ofTenants.forEach(
          (tenant, stored) ->
              both.merge(tenant, stored, (one, more) -> one.plus(more.events(), more.bytes())));
      return new Removed(
          events + other.events, messages + other.messages, bytes + other.bytes, both);
    }
  }
}
