package dev.holdfast.core.port;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what was accepted and what became of it.
 *
 * <p>{@link #write} is called by one thread; the reads may be called by others at the same time and
 * may answer from before a write that is under way. Nothing that a read costs grows with history.
 */
public interface Store extends AutoCloseable {

  /** What is known when the process starts. */
  Snapshot snapshot() throws StoreException;

  /** Keeps a batch, whole or not at all. When it returns, the batch is on disk. */
  Written write(Batch batch) throws StoreException;

  /**
   * Waiting and parked messages due at or before {@code through}, from {@code after} (exclusive)
   * on, in the order of (due, id).
   */
  List<Message> due(DueCursor after, Instant through, int limit) throws StoreException;

  /** The same, of endpoints in some shards. */
  default List<Message> due(Shards shards, DueCursor after, Instant through, int limit)
      throws StoreException {
    if (!shards.equals(Shards.ALL)) {
      throw new UnsupportedOperationException("this store has one node, which decides for all");
    }
    return due(after, through, limit);
  }

  /** The oldest pending messages of an endpoint, in the order of acceptance. */
  List<Message> pending(long endpoint, int limit) throws StoreException;

  /**
   * Messages of an enabled endpoint that may be tried now: parked ones, and waiting ones whose slot
   * has come or whose last attempt was before {@code triedBefore}, unless their endpoint asked to
   * be left alone; in the order of {@link dev.holdfast.core.rules.Recovery}, from {@code after}
   * (exclusive) on. It looks at a limited number of messages, however many of them may not be
   * tried.
   */
  Backlog backlog(long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      throws StoreException;

  /** The message that {@link dev.holdfast.core.rules.ProbeChoice} chooses. */
  Optional<Message> probe(long endpoint, Instant now) throws StoreException;

  /** Unfinished messages of a subscription at an endpoint, in no particular order. */
  List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit)
      throws StoreException;

  /** Which messages of a subscription are asked for. */
  enum Which {
    ALL,
    PAUSED,
    NOT_PAUSED
  }

  /**
   * Finished messages that a replay is of, the oldest first, behind the last that it has looked at.
   * A replay is of what was finished before it was made. Looks at a limited number of messages.
   */
  Originals originals(Replay replay, int limit) throws StoreException;

  /**
   * Some of the messages, or events, that a replay is of.
   *
   * @param through the last message or event that was looked at
   * @param isEnd whether there are no more
   */
  record Originals(List<Original> originals, long through, boolean isEnd) {}

  /**
   * A finished message, or an event that there is no message of.
   *
   * @param message 0 when there is none
   * @param eventSize the bytes that its event takes in memory
   * @param replayed whether it was replayed before
   * @param version as {@link Message#version}
   */
  record Original(
      long message,
      long event,
      long subscription,
      int eventSize,
      boolean replayed,
      @Nullable Version version) {}

  /**
   * Events that were accepted before a subscription was there, for a replay that brings them to it:
   * those that are its interest and of which it has no message, the oldest first, behind the last
   * that the replay has looked at. Looks at a limited number of events, and of bytes. In a store
   * that nodes share, it also leaves out events of which it gets a message by a step ({@link
   * dev.holdfast.core.model.FanOut}) that is still to be made; a loop waits for its own steps.
   */
  Originals past(Replay replay, Interest interest, int limit) throws StoreException;

  /** A message, if it is unfinished. */
  Optional<Message> unfinished(long message) throws StoreException;

  /** The events with these ids, in the order of the ids; an unknown id is left out. */
  List<Event> events(List<Long> ids) throws StoreException;

  @Override
  void close();

  /** A place in the order of (due, id). */
  record DueCursor(Instant due, long id) implements Comparable<DueCursor> {
    public static final DueCursor START = new DueCursor(Instant.EPOCH, 0);

    @Override
    public int compareTo(DueCursor other) {
      int byTime = due.compareTo(other.due);
      return byTime != 0 ? byTime : Long.compare(id, other.id);
    }
  }

  /**
   * A part of a backlog.
   *
   * @param next where the next part begins; absent when there is none
   */
  record Backlog(List<Message> messages, @Nullable BacklogCursor next) {}

  /** A place in the order of (attempts, id). */
  record BacklogCursor(int attempts, long id) {
    public static final BacklogCursor START = new BacklogCursor(0, 0);
  }
}
