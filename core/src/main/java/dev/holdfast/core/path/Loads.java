package dev.holdfast.core.path;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Load;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The reads from the store that are under way.
 *
 * <p>A read may answer from before something that was written since it was asked for. So it is
 * remembered, while a read is under way, which messages were written since: what such a read says
 * of them is old.
 *
 * <p>It may also know of messages whose commit has not been answered yet. These are not taken from
 * a read: they are handed over when the answer comes.
 */
final class Loads {
  private final int most;
  private final Duration retryAfter;
  private final IdentityHashMap<Load, Long> underWay = new IdentityHashMap<>();
  private final Deque<Load> failed = new ArrayDeque<>();
  private @Nullable Instant retryFailedAt;

  /** Messages written, each with the number of the newest read then under way, oldest first. */
  private final LinkedHashMap<Long, Long> written = new LinkedHashMap<>();

  private long started;

  private final long node;

  /** The first and the last id of each request whose acceptance has not been answered. */
  private final NavigableMap<Long, Long> accepting = new TreeMap<>();

  /** The same of what is made of other nodes' events; their ids lie among those of this one. */
  private final Map<Long, NavigableMap<Long, Long>> acceptingOfOthers = new HashMap<>();

  /** Reads under way that are to be heard no more: they are about what was let go since. */
  private final Set<Load> disowned = Collections.newSetFromMap(new IdentityHashMap<>());

  Loads(int most, Duration retryAfter, int node) {
    this.most = most;
    this.retryAfter = retryAfter;
    this.node = node;
  }

  boolean hasRoom() {
    return underWay.size() < most;
  }

  void start(Load load, Turn turn) {
    underWay.put(load, ++started);
    turn.effect(new Effect.Fetch(load));
  }

  /** The number of a read that has answered, for {@link #isOutOfTime}. */
  long number(Load load) {
    Long number = underWay.get(load);
    if (number == null) {
      throw new IllegalStateException("a read answered that was not under way: " + load);
    }
    return number;
  }

  /** Whatever these reads answer is not to be heard. */
  void disown(Predicate<Load> which) {
    for (Load load : underWay.keySet()) {
      if (which.test(load)) {
        disowned.add(load);
      }
    }
    for (Iterator<Load> left = failed.iterator(); left.hasNext(); ) {
      Load load = left.next();
      if (disowned.contains(load)) {
        left.remove();
        forget(load);
      }
    }
  }

  boolean isDisowned(Load load) {
    return !disowned.isEmpty() && disowned.contains(load);
  }

  /** Forgets a read that has answered, and with it what only it had to know. */
  void forget(Load load) {
    underWay.remove(load);
    disowned.remove(load);
    long oldest = Long.MAX_VALUE;
    for (long number : underWay.values()) {
      oldest = Math.min(oldest, number);
    }
    Iterator<Long> numbers = written.values().iterator();
    while (numbers.hasNext() && numbers.next() < oldest) {
      numbers.remove();
    }
  }

  /** Messages with these ids are about to be written. */
  void accepting(long firstId, long lastId) {
    acceptingLike(firstId).put(firstId, lastId);
  }

  /** What began with this id is on disk, or given up. */
  void accepted(long firstId) {
    acceptingLike(firstId).remove(firstId);
  }

  private NavigableMap<Long, Long> acceptingLike(long id) {
    long from = id & (Id.STRIDE - 1);
    return from == node ? accepting : acceptingOfOthers.computeIfAbsent(from, _ -> new TreeMap<>());
  }

  /** Whether everything is on disk that was given an id up to this one. */
  boolean isAllLanded(long upTo) {
    return isAllLanded(accepting, upTo)
        && acceptingOfOthers.values().stream().allMatch(of -> isAllLanded(of, upTo));
  }

  private static boolean isAllLanded(NavigableMap<Long, Long> requests, long upTo) {
    return requests.isEmpty() || requests.firstKey() > upTo;
  }

  /**
   * Whether what read {@code number} says of a message is not to be used: it is from before the
   * message was last written, or from before its acceptance was answered.
   */
  boolean isOutOfTime(long message, long number) {
    if (isAccepting(message)) {
      return true;
    }
    Long lastStarted = written.get(message);
    return lastStarted != null && lastStarted >= number;
  }

  /** Whether a message is being written for the first time, as far as is known. */
  boolean isAccepting(long message) {
    Map.Entry<Long, Long> request = acceptingLike(message).floorEntry(message);
    return request != null && message <= request.getValue();
  }

  /** The store has the message in another way than before. */
  void written(long message) {
    if (!underWay.isEmpty()) {
      written.remove(message);
      written.put(message, started);
    }
  }

  /** A read failed: the same is asked for again a little later. */
  void failed(Load load, Turn turn) {
    if (isDisowned(load)) {
      forget(load);
      return;
    }
    failed.add(load);
    if (retryFailedAt == null) {
      retryFailedAt = turn.now().plus(retryAfter);
    }
  }

  void retryFailed(Turn turn) {
    if (retryFailedAt == null || turn.now().isBefore(retryFailedAt)) {
      return;
    }
    retryFailedAt = null;
    for (Load load = failed.poll(); load != null; load = failed.poll()) {
      underWay.remove(load);
      start(load, turn);
    }
  }

  @Nullable Instant nextWake() {
    return retryFailedAt;
  }
}
