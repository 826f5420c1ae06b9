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
 */
public record Snapshot(
    List<Endpoint> endpoints,
    List<Subscription> subscriptions,
    List<Subscription> ended,
    Map<Long, Unfinished> unfinished,
    long highestId) {

  public static final Snapshot EMPTY = new Snapshot(List.of(), List.of(), List.of(), Map.of(), 0);

  /** How many messages of an endpoint are unfinished. */
  public record Unfinished(int pending, int waiting, int parked) {}
}
