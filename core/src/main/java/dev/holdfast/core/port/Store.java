package dev.holdfast.core.port;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
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

  /** Unfinished messages of a subscription of an endpoint, in no particular order. */
  List<Message> ofSubscription(long endpoint, long subscription, int limit) throws StoreException;

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
