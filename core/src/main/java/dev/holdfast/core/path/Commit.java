package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Third step: gathers writes into batches, one under way at a time.
 *
 * <p>Whatever has gathered while a batch was being written becomes the next one, so that nothing
 * waits on purpose at low load, and one fsync serves many at high load. An endpoint's health is
 * written once a batch, however often it has changed; what is recorded of its changes of state goes
 * with it, before anything that waited longer.
 *
 * <p>What somebody did goes with what it changes. An endpoint's settings and state are on disk with
 * the next batch, whatever becomes of the write that tells of them, and so are deeds about them.
 *
 * <p>A batch that the store refuses is split until the entry that it cannot keep stands alone. When
 * the disk is full, whoever waits for an answer is refused, and the outcomes of attempts are
 * written again until there is room.
 */
final class Commit {
  private final Limits limits;
  private final Reserve reserve;
  private final WriteQueue queue = new WriteQueue();
  private final Deque<List<Entry>> pieces = new ArrayDeque<>();
  private final Deque<Entry> changes = new ArrayDeque<>();
  private final Set<Lane> touched = new LinkedHashSet<>();
  private final Deque<Deed> done = new ArrayDeque<>();
  private List<Entry> underWay = List.of();
  private List<Lane> touchedUnderWay = List.of();
  private List<Deed> doneUnderWay = List.of();
  private boolean busy;
  private int unwritten;
  private long acceptingBytes;
  private boolean full;
  private @Nullable Instant retryAt;

  Commit(Limits limits, Reserve reserve) {
    this.limits = limits;
    this.reserve = reserve;
  }

  /**
   * A write with what it is about.
   *
   * @param held the message that the write is about
   * @param lane the endpoint that the write is about
   * @param replyTo who waits for it
   * @param weight the rows that it takes
   * @param deeds what somebody did that comes to be with it, or not at all
   */
  record Entry(
      Write write,
      @Nullable Held held,
      @Nullable Lane lane,
      @Nullable Consumer<Answer> replyTo,
      int weight,
      long bytes,
      List<Deed> deeds) {

    /** What nobody in particular did. */
    Entry(
        Write write,
        @Nullable Held held,
        @Nullable Lane lane,
        @Nullable Consumer<Answer> replyTo,
        int weight,
        long bytes) {
      this(write, held, lane, replyTo, weight, bytes, List.of());
    }

    /** Who asked for it. */
    String tenant() {
      if (lane != null) {
        return lane.endpoint.tenant();
      }
      return write instanceof Write.Accept accept && !accept.events().isEmpty()
          ? accept.events().getFirst().event().tenant()
          : "";
    }

    static Entry of(Write write, Held held) {
      return new Entry(write, held, held.lane, null, 1, 0);
    }

    static Entry of(Write write, Lane lane, @Nullable Consumer<Answer> replyTo) {
      return of(write, lane, replyTo, List.of());
    }

    static Entry of(Write write, Lane lane, @Nullable Consumer<Answer> replyTo, List<Deed> deeds) {
      return new Entry(write, null, lane, replyTo, 1, 0, deeds);
    }
  }

  void add(Entry entry) {
    if (isChange(entry)) {
      changes.add(entry);
    } else {
      queue.add(entry);
    }
    unwritten += entry.weight();
    acceptingBytes += entry.bytes();
  }

  /** The lane's health has changed and goes with the next batch. */
  void touch(Lane lane) {
    touched.add(lane);
  }

  /** Somebody has done what stands whatever else can be written; it goes with the next batch. */
  void add(Deed deed) {
    done.add(deed);
  }

  /** Such deeds are undone: returns whether that need not be written down, as they were not yet. */
  boolean forget(Predicate<Deed> undone) {
    return done.removeIf(undone);
  }

  /** Hands the next batch to the store, if none is under way. */
  void start(Turn turn) {
    if (busy || (retryAt != null && turn.now().isBefore(retryAt))) {
      return;
    }
    retryAt = null;
    List<Entry> next = pieces.poll();
    if (next == null) {
      next = gather();
    }
    next.addAll(changes);
    changes.clear();
    if (next.isEmpty() && touched.isEmpty() && done.isEmpty()) {
      full = false;
      return;
    }
    List<Write> writes = new ArrayList<>(next.size());
    for (Entry entry : next) {
      writes.add(entry.write());
      if (entry.lane() != null && bringsItsEndpoint(entry, entry.lane())) {
        touched.add(entry.lane());
      }
    }
    List<Endpoint> endpoints = new ArrayList<>(touched.size());
    for (Lane lane : touched) {
      endpoints.add(lane.endpoint);
    }
    touchedUnderWay = List.copyOf(touched);
    touched.clear();
    doneUnderWay = List.copyOf(done);
    done.clear();
    underWay = next;
    busy = true;
    turn.effect(new Effect.Commit(new Batch(writes, endpoints, deeds(next))));
  }

  private List<Deed> deeds(List<Entry> entries) {
    List<Deed> ofEntries = new ArrayList<>(0);
    for (Entry entry : entries) {
      if (!entry.deeds().isEmpty()) {
        ofEntries.addAll(entry.deeds());
      }
    }
    if (ofEntries.isEmpty()) {
      return doneUnderWay;
    }
    ofEntries.addAll(0, doneUnderWay);
    return ofEntries;
  }

  /** Whether what was set about an endpoint has to be on disk when the entry is. */
  private static boolean bringsItsEndpoint(Entry entry, Lane lane) {
    return entry.write() instanceof Write.Configure
        || (entry.write() instanceof Write.Subscribe
            && (lane.endpoint.rateLimit() != null || lane.endpoint.tls() != null));
  }

  private List<Entry> gather() {
    List<Entry> gathered = new ArrayList<>(Math.min(queue.size(), limits.batchWrites()));
    int weight = 0;
    long bytes = 0;
    while (weight < limits.batchWrites() && bytes < limits.batchBytes()) {
      Entry entry = queue.poll();
      if (entry == null) {
        break;
      }
      weight += entry.weight();
      bytes += entry.bytes();
      gathered.add(entry);
    }
    return gathered;
  }

  /** The batch under way is on disk: returns its entries. */
  List<Entry> landed() {
    List<Entry> landed = underWay;
    clearUnderWay();
    full = false;
    for (Entry entry : landed) {
      written(entry);
    }
    return landed;
  }

  /** Nothing of the batch under way is on disk: returns the entries that are given up. */
  List<Entry> failed(StoreException.Kind kind, Turn turn) {
    List<Entry> failed = underWay;
    touched.addAll(touchedUnderWay);
    doneUnderWay.reversed().forEach(done::addFirst);
    clearUnderWay();
    List<Entry> givenUp =
        switch (kind) {
          case REFUSED -> split(failed, turn);
          case FULL -> keepOutcomes(failed, turn);
          case BROKEN -> List.of();
        };
    for (Entry entry : givenUp) {
      written(entry);
    }
    return givenUp;
  }

  private List<Entry> split(List<Entry> failed, Turn turn) {
    if (failed.isEmpty()) {
      // Only endpoints' counts, which stay to be written: the same at once would fail for ever.
      retryAt = turn.now().plus(limits.retryStoreAfter());
      return failed;
    }
    if (failed.stream().allMatch(Commit::isChange)) {
      return failed;
    }
    List<Entry> others = withoutChanges(failed);
    if (others.size() == 1) {
      return others;
    }
    int half = others.size() / 2;
    pieces.addFirst(new ArrayList<>(others.subList(half, others.size())));
    pieces.addFirst(new ArrayList<>(others.subList(0, half)));
    return List.of();
  }

  /** Takes the changes of state out of a batch that failed: they go with the next one. */
  private List<Entry> withoutChanges(List<Entry> failed) {
    List<Entry> others = new ArrayList<>();
    List<Entry> again = new ArrayList<>();
    for (Entry entry : failed) {
      (isChange(entry) ? again : others).add(entry);
    }
    again.reversed().forEach(changes::addFirst);
    return others;
  }

  private static boolean isChange(Entry entry) {
    return entry.write() instanceof Write.ChangeState;
  }

  private List<Entry> keepOutcomes(List<Entry> failed, Turn turn) {
    full = true;
    retryAt = turn.now().plus(limits.retryStoreAfter());
    List<Entry> givenUp = new ArrayList<>();
    List<Entry> kept = new ArrayList<>();
    for (Entry entry : withoutChanges(failed)) {
      (entry.replyTo() != null ? givenUp : kept).add(entry);
    }
    // All that waits is given up, in its order: a later change is made of those before it.
    pieces.forEach(piece -> piece.removeIf(entry -> entry.replyTo() != null && givenUp.add(entry)));
    pieces.removeIf(List::isEmpty);
    queue.removeIf(entry -> entry.replyTo() != null && givenUp.add(entry));
    giveUpWaiting(givenUp);
    if (!kept.isEmpty()) {
      pieces.addFirst(kept);
    }
    return givenUp;
  }

  /** Changes of state have happened and stay to be recorded, but nobody waits for that. */
  private void giveUpWaiting(List<Entry> givenUp) {
    for (int left = changes.size(); left > 0; left--) {
      Entry change = changes.remove();
      if (change.replyTo() != null) {
        givenUp.add(change);
        add(new Entry(change.write(), null, change.lane(), null, change.weight(), 0));
      } else {
        changes.add(change);
      }
    }
  }

  private void clearUnderWay() {
    underWay = List.of();
    touchedUnderWay = List.of();
    doneUnderWay = List.of();
    busy = false;
  }

  private void written(Entry entry) {
    unwritten -= entry.weight();
    acceptingBytes -= entry.bytes();
  }

  /** Whether the disk was full the last time. */
  boolean isFull() {
    return full;
  }

  boolean isIdle() {
    return !busy
        && queue.isEmpty()
        && pieces.isEmpty()
        && changes.isEmpty()
        && touched.isEmpty()
        && done.isEmpty();
  }

  boolean hasRoomForOutcomes() {
    return !full && reserve.allowsAttempts() && unwritten < limits.unwritten();
  }

  boolean hasRoomFor(long bytes) {
    return acceptingBytes + bytes <= limits.acceptingBytes() && unwritten < limits.unwritten();
  }

  int unwritten() {
    return unwritten;
  }

  long acceptingBytes() {
    return acceptingBytes;
  }

  @Nullable Instant nextWake() {
    return retryAt;
  }
}
