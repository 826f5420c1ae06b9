package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import java.util.List;
import java.util.Map;

/**
 * What the path starts from.
 *
 * @param ended subscriptions that were deleted while messages of theirs were unfinished
 * @param unfinished how many messages of each endpoint are unfinished, for endpoints that have some
 * @param fanOuts events that were accepted and whose messages are not all made yet
 * @param replays those that are not at their end
 * @param highestId above every id that was ever given out
 * @param stored what is kept of each tenant's events
 * @param version as {@link Known#version}; 0 in a store that nobody shares
 */
public record Snapshot(
    List<Endpoint> endpoints,
    List<Subscription> subscriptions,
    List<Subscription> ended,
    Map<Long, Unfinished> unfinished,
    List<FanOut> fanOuts,
    List<Replay> replays,
    long highestId,
    Map<String, Stored> stored,
    long version) {

  public static final Snapshot EMPTY =
      new Snapshot(List.of(), List.of(), List.of(), Map.of(), List.of(), List.of(), 0, Map.of());

  /** Of a store that nobody shares. */
  public Snapshot(
      List<Endpoint> endpoints,
      List<Subscription> subscriptions,
      List<Subscription> ended,
      Map<Long, Unfinished> unfinished,
      List<FanOut> fanOuts,
      List<Replay> replays,
      long highestId,
      Map<String, Stored> stored) {
    this(endpoints, subscriptions, ended, unfinished, fanOuts, replays, highestId, stored, 0);
  }

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
  public record Unfinished(int pending, int waiting, int parked, int paused) {
    public static final Unfinished NOTHING = new Unfinished(0, 0, 0, 0);

    /** One message with a status. */
    public static Unfinished of(Message.Status status, int count) {
      return switch (status) {
        case PENDING -> new Unfinished(count, 0, 0, 0);
        case WAITING -> new Unfinished(0, count, 0, 0);
        case PARKED -> new Unfinished(0, 0, count, 0);
        case PAUSED -> new Unfinished(0, 0, 0, count);
      };
    }

    /** How many have a status. */
    public int of(Message.Status status) {
      return switch (status) {
        case PENDING -> pending;
        case WAITING -> waiting;
        case PARKED -> parked;
        case PAUSED -> paused;
      };
    }

    public Unfinished plus(Unfinished other) {
      return new Unfinished(
          pending + other.pending,
          waiting + other.waiting,
          parked + other.parked,
          paused + other.paused);
    }
  }
}
