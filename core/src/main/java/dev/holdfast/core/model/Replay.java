package dev.holdfast.core.model;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finished messages that are sent once more, as new messages; or events that were there before a
 * subscription, for it.
 *
 * @param below the id below which messages or events are looked at; absent for a subscription that
 *     has not been told since when it gets events by itself
 * @param total how many messages fit; absent while they are being counted
 * @param done how many of them have a new message
 * @param skipped how many of them have none, since they were replayed before or their subscription
 *     is gone
 * @param through the last message that was looked at; 0 for none
 */
public record Replay(
    long id,
    String tenant,
    Selection selection,
    @Nullable Long below,
    State state,
    @Nullable Long total,
    long done,
    long skipped,
    long through) {

  /** How far a replay is. */
  public enum State {
    RUNNING,
    DONE,
    CANCELLED
  }

  /** How a message came to its end. */
  public enum Ending {
    DELIVERED,
    DROPPED
  }

  /**
   * Which messages are replayed.
   *
   * @param endings how they ended; with none it is not messages that are replayed but events, for a
   *     subscription that was not there when they were accepted
   * @param since created then or later
   * @param until created before
   * @param again also those that were replayed before
   */
  public record Selection(
      @Nullable Long endpoint,
      @Nullable Long subscription,
      Set<Ending> endings,
      @Nullable Instant since,
      @Nullable Instant until,
      boolean again) {

    public Selection {
      endings = Set.copyOf(endings);
      if (endings.isEmpty() && subscription == null) {
        throw new IllegalArgumentException("events are replayed for a subscription");
      }
    }

    /** What was accepted since then, for a subscription that wants what was before it. */
    public static Selection history(long subscription, Instant since) {
      return new Selection(null, subscription, Set.of(), since, null, false);
    }

    public boolean isHistory() {
      return endings.isEmpty();
    }
  }

  /** A replay that nothing has been done of. */
  public static Replay of(long id, String tenant, Selection selection) {
    Long below = selection.isHistory() ? null : Long.valueOf(id);
    return new Replay(id, tenant, selection, below, State.RUNNING, null, 0, 0, 0);
  }

  /** The same, of what has an id below this one. */
  public Replay bounded(long bound) {
    return new Replay(id, tenant, selection, bound, state, total, done, skipped, through);
  }

  public Replay counted(long messages) {
    return new Replay(id, tenant, selection, below, state, messages, done, skipped, 0);
  }

  /** Having looked at some more messages. */
  public Replay after(int made, int left, long lookedThrough) {
    return new Replay(
        id, tenant, selection, below, state, total, done + made, skipped + left, lookedThrough);
  }

  public Replay as(State other) {
    return new Replay(id, tenant, selection, below, other, total, done, skipped, through);
  }

  public Instant createdAt() {
    return Id.time(id);
  }
}
