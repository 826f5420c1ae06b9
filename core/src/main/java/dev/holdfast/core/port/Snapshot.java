package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import java.util.List;
import java.util.Map;

/**
 * What the path starts from.
 *
 * @param ended subscriptions that were deleted while messages of theirs were unfinished
 * @param unfinished how many messages of each endpoint are unfinished, for endpoints that have some
 * @param highestId above every id that was ever given out
 * @param stored what is kept of each tenant's events
 */
public record Snapshot(
    List<Endpoint> endpoints,
    List<Subscription> subscriptions,
    List<Subscription> ended,
    Map<Long, Unfinished> unfinished,
    long highestId,
    Map<String, Stored> stored) {

  /** A store in which nobody's events are counted. */
  public Snapshot(
      List<Endpoint> endpoints,
      List<Subscription> subscriptions,
      List<Subscription> ended,
      Map<Long, Unfinished> unfinished,
      long highestId) {
    this(endpoints, subscriptions, ended, unfinished, highestId, Map.of());
  }

  public static final Snapshot EMPTY = new Snapshot(List.of(), List.of(), List.of(), Map.of(), 0);

  /**
   * What is kept of a tenant's events.
   *
   * @param bytes as {@link dev.holdfast.core.model.Event#size} reckons them
   */
  public record Stored(long events, long bytes) {
    public static final Stored NOTHING = new Stored(0, 0);

    public Stored plus(long moreEvents, long moreBytes) {
      return new Stored(events + moreEvents, bytes + moreBytes);
    }
  }

  /** How many messages of an endpoint are unfinished. */
  public record Unfinished(int pending, int waiting, int parked) {}
}
