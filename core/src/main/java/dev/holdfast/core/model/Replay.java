package dev.holdfast.core.model;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finished messages that are sent once more, as new messages.
 *
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
      if (endings.isEmpty()) {
        throw new IllegalArgumentException("a replay is of delivered or of dropped messages");
      }
    }
  }

  /** A replay that nothing has been done of. */
  public static Replay of(long id, String tenant, Selection selection) {
    return new Replay(id, tenant, selection, State.RUNNING, null, 0, 0, 0);
  }

  public Replay counted(long messages) {
    return new Replay(id, tenant, selection, state, messages, done, skipped, 0);
  }

  /** Having looked at some more messages. */
  public Replay after(int made, int left, long lookedThrough) {
    return new Replay(
        id, tenant, selection, state, total, done + made, skipped + left, lookedThrough);
  }

  public Replay as(State other) {
    return new Replay(id, tenant, selection, other, total, done, skipped, through);
  }

  public Instant createdAt() {
    return Id.time(id);
  }
}
