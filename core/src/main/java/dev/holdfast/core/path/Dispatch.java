package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.path.Match.Standing;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.rules.TokenBucket;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fourth step: decides which message is sent next, and starts its attempt.
 *
 * <p>Lanes take turns. First attempts go first; while they wait, what is due again gets every
 * fourth free place. Part of all places, and of the bytes being sent, is kept for endpoints whose
 * last attempt succeeded, so that any number of hanging endpoints leaves room for the others.
 *
 * <p>A lane with a rate limit whose next time has not come stands in no ring and takes no place. It
 * is looked at again when the time has come.
 */
final class Dispatch {
  private static final int RETRY_TURN = 4;
  private static final int EVENTS_AT_ONCE = 64;

  private final Limits limits;
  private final Lanes lanes;
  private final Match match;
  private final Loads loads;
  private final Commit commit;
  private final BodyCache bodies;
  private final Park park;
  private final Refill refill;
  private final Ring firstProven = new Ring(Ring.Kind.FIRST_PROVEN);
  private final Ring firstUnproven = new Ring(Ring.Kind.FIRST_UNPROVEN);
  private final Ring retryProven = new Ring(Ring.Kind.RETRY_PROVEN);
  private final Ring retryUnproven = new Ring(Ring.Kind.RETRY_UNPROVEN);

  /** Probes, and retries by hand: they do not wait for their lane's turn. */
  private final Deque<Held> urgent = new ArrayDeque<>();

  /** Lanes whose rate limit lets them send again at a time. */
  private final PriorityQueue<Alarm> limited = new PriorityQueue<>();

  /** Messages that were taken from their lanes and wait for their event, by the event. */
  private final Map<Long, List<Held>> eventsWanted = new HashMap<>();

  private final Deque<Long> eventsToLoad = new ArrayDeque<>();

  private int turn;
  private boolean unprovenTurn;
  private int inFlight;
  private int inFlightUnproven;
  private long sendingBytes;
  private long sendingBytesUnproven;
  private boolean stopped;

  /** Whether there are places left that the last step did not come to fill. */
  private boolean hasMore;

  /** Attempts start before this time only. */
  private Instant leasedUntil;

  /** Lanes that may have messages of subscriptions that this node has not heard of. */
  private final Set<Lane> unheard = new LinkedHashSet<>();

  /** Lanes with messages whose event was there when no attempt could start any more. */
  private final Deque<Lane> awaitingLease = new ArrayDeque<>();

  Dispatch(
      Limits limits,
      Lanes lanes,
      Match match,
      Loads loads,
      Commit commit,
      BodyCache bodies,
      Park park,
      Refill refill,
      Instant leasedUntil) {
    this.limits = limits;
    this.lanes = lanes;
    this.match = match;
    this.loads = loads;
    this.commit = commit;
    this.bodies = bodies;
    this.park = park;
    this.refill = refill;
    this.leasedUntil = leasedUntil;
  }

  private record Alarm(Instant at, Lane lane) implements Comparable<Alarm> {
    @Override
    public int compareTo(Alarm other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(lane.endpoint.id(), other.lane.endpoint.id());
    }
  }

  /** Takes a message that has never been tried; a lane that has closed meanwhile parks it. */
  void addFirst(Lane lane, Message message, BodyCache.@Nullable Body body, Turn now) {
    Held held = lanes.hold(lane, message, Place.FIRST);
    if (!lane.isOpen()) {
      park.park(held, now);
      return;
    }
    // What is sent slowly on purpose is not kept in memory in place of what is sent soon.
    boolean soon = lane.endpoint.rateLimit() == null || lane.first.isEmpty();
    if (body != null && soon) {
      bodies.hold(held, body);
    }
    lane.first.add(held);
    ready(lane);
  }

  /**
   * Takes a message that is due again, if its lane's window has room, else leaves it to the store.
   */
  void offerRetry(Held held) {
    if (held.lane.retrySize() < refill.window()) {
      addRetry(held);
    } else {
      held.lane.leaveBehind(held.message);
      lanes.letGo(held);
      refill.expectBacklog(held.lane);
    }
  }

  /** Takes a message that is due again. */
  void addRetry(Held held) {
    held.place = Place.RETRY;
    held.lane.retry.add(held);
    ready(held.lane);
  }

  /** Takes a message that is to be tried at once. */
  void offerUrgent(Held held) {
    held.place = Place.SENDING;
    held.urgent = true;
    urgent.add(held);
  }

  /** Keeps a message back until more is known of subscriptions: another node has changed some. */
  void keepUnheard(Held held) {
    held.place = Place.UNHEARD;
    held.lane.unheard.add(held);
    unheard.add(held.lane);
  }

  /**
   * More is known of subscriptions: what was kept back goes to where it came from, and is looked at
   * when its turn comes. Returns the lanes that it is of.
   */
  List<Lane> heard(Turn now) {
    List<Lane> lanesHeard = List.copyOf(unheard);
    unheard.clear();
    for (Lane lane : lanesHeard) {
      List<Held> waiting = List.copyOf(lane.unheard);
      lane.unheard.clear();
      for (Held held : waiting.reversed()) {
        if (!lane.isOpen()) {
          park.putBack(held, now);
        } else if (held.message.status() == Message.Status.PENDING) {
          held.place = Place.FIRST;
          lane.first.addFirst(held);
        } else {
          offerRetry(held);
        }
      }
      ready(lane);
    }
    return lanesHeard;
  }

  /** Puts a lane into the rings of what it has to send, if it may send. */
  void ready(Lane lane) {
    if (!lane.isOpen() || lane.inFlight >= lane.pace.limit() || lane.limitedUntil != null) {
      return;
    }
    if (!lane.first.isEmpty()) {
      ring(true, lane.proven).add(lane);
    }
    if (!lane.retry.isEmpty()) {
      ring(false, lane.proven).add(lane);
    }
  }

  private Ring ring(boolean first, boolean proven) {
    if (first) {
      return proven ? firstProven : firstUnproven;
    }
    return proven ? retryProven : retryUnproven;
  }

  /** Starts attempts while there are places, a limited number of those that take turns. */
  void run(Turn now) {
    hasMore = false;
    if (!stopped) {
      letGoOn(now);
    }
    if (!stopped && isLeased(now)) {
      for (Lane lane = awaitingLease.poll(); lane != null; lane = awaitingLease.poll()) {
        startWithEvents(lane, now);
      }
      while (!urgent.isEmpty() && hasPlaceFor(urgent.element().lane)) {
        takeUrgent(urgent.remove(), now);
      }
      startNext(now);
    }
    loadEvents(now);
  }

  private void startNext(Turn now) {
    int started = 0;
    while (hasPlace()) {
      if (started == limits.startsInAStep()) {
        hasMore = true;
        return;
      }
      Held next = next(now);
      if (next == null) {
        return;
      }
      take(next, now);
      started++;
    }
  }

  /** Attempts may start before this time. */
  void leased(Instant until) {
    leasedUntil = until;
  }

  private boolean isLeased(Turn now) {
    return now.now().isBefore(leasedUntil);
  }

  /** Looks at the lanes again whose rate limit lets them send from now on. */
  private void letGoOn(Turn now) {
    for (Alarm next = limited.peek();
        next != null && !next.at().isAfter(now.now());
        next = limited.peek()) {
      limited.remove();
      if (next.at().equals(next.lane().limitedUntil)) {
        unlimit(next.lane());
      }
    }
  }

  /** A lane's rate limit has changed: it is looked at by the new one. */
  void limitChanged(Lane lane) {
    unlimit(lane);
  }

  private void unlimit(Lane lane) {
    lane.limitedUntil = null;
    if (lane.urgentLater != null) {
      urgent.addAll(lane.urgentLater);
      lane.urgentLater = null;
    }
    ready(lane);
  }

  /** Whether a lane's rate limit keeps it from sending one more; if so, it waits for its time. */
  private boolean isLimited(Lane lane, Turn now) {
    TokenBucket bucket = lane.bucket();
    if (bucket == null) {
      return false;
    }
    // What was taken before and has not started yet will need its token too.
    Instant at = bucket.hasAt(lane.awaitingEvent.size() + 1L, lane.bucketFullAt, now.now());
    if (!at.isAfter(now.now())) {
      return false;
    }
    if (!at.equals(lane.limitedUntil)) {
      lane.limitedUntil = at;
      limited.add(new Alarm(at, lane));
    }
    return true;
  }

  private void takeUrgent(Held held, Turn now) {
    Lane lane = held.lane;
    if (!isLimited(lane, now)) {
      take(held, now);
      return;
    }
    if (lane.urgentLater == null) {
      lane.urgentLater = new ArrayDeque<>(1);
    }
    lane.urgentLater.add(held);
  }

  private boolean hasPlace() {
    return inFlight < limits.inFlight()
        && sendingBytes < limits.sendingBytes()
        && commit.hasRoomForOutcomes();
  }

  private boolean hasPlaceFor(Lane lane) {
    return hasPlace() && (lane.proven || hasUnprovenPlace());
  }

  private boolean hasUnprovenPlace() {
    return inFlightUnproven < limits.inFlightUnproven()
        && sendingBytesUnproven < limits.sendingBytes() / 2;
  }

  private @Nullable Held next(Turn now) {
    boolean retryTurn = turn % RETRY_TURN == RETRY_TURN - 1;
    Held next = next(!retryTurn, now);
    if (next == null) {
      return next(retryTurn, now);
    }
    turn++;
    return next;
  }

  /** The next first attempt, or the next one due again. */
  private @Nullable Held next(boolean first, Turn now) {
    unprovenTurn = !unprovenTurn;
    Held next = next(first, !unprovenTurn, now);
    return next != null ? next : next(first, unprovenTurn, now);
  }

  private @Nullable Held next(boolean first, boolean proven, Turn now) {
    if (!proven && !hasUnprovenPlace()) {
      return null;
    }
    Ring ring = ring(first, proven);
    for (Lane lane = ring.poll(); lane != null; lane = ring.poll()) {
      Deque<Held> queue = first ? lane.first : lane.retry;
      if (!lane.isOpen() || lane.inFlight >= lane.pace.limit() || queue.isEmpty()) {
        continue;
      }
      if (lane.proven != proven) {
        ready(lane);
        continue;
      }
      if (isLimited(lane, now)) {
        continue;
      }
      return queue.remove();
    }
    return null;
  }

  /** Gives a message its place, and starts its attempt once its event is there. */
  private void take(Held held, Turn now) {
    Lane lane = held.lane;
    refill.want(lane);
    Standing standing = standing(held);
    if (standing != Standing.FITS) {
      free(held);
      park.align(held, standing, now);
      ready(lane);
      return;
    }
    held.place = Place.SENDING;
    held.unproven = !lane.proven;
    lane.inFlight++;
    occupy(held, 1);
    ready(lane);
    if (held.urgent) {
      lane.awaitingEvent.addFirst(held);
    } else {
      lane.awaitingEvent.add(held);
    }
    if (held.event() == null) {
      want(held);
    } else {
      startWithEvents(lane, now);
    }
  }

  /** How a message stands to its subscription; one that is tried by hand is not held back. */
  private Standing standing(Held held) {
    Standing standing = match.standing(held.message);
    return standing == Standing.HELD_BACK && held.urgent && !held.probe ? Standing.FITS : standing;
  }

  private void occupy(Held held, int direction) {
    inFlight += direction;
    sendingBytes += (long) direction * held.message.size();
    if (held.unproven) {
      inFlightUnproven += direction;
      sendingBytesUnproven += (long) direction * held.message.size();
    }
  }

  private void want(Held held) {
    Long event = held.message.event();
    List<Held> wanting = eventsWanted.get(event);
    if (wanting == null) {
      wanting = new ArrayList<>(1);
      eventsWanted.put(event, wanting);
      eventsToLoad.add(event);
    }
    wanting.add(held);
  }

  private void loadEvents(Turn now) {
    while (!eventsToLoad.isEmpty() && loads.hasRoom()) {
      List<Long> ids = new ArrayList<>(Math.min(eventsToLoad.size(), EVENTS_AT_ONCE));
      while (!eventsToLoad.isEmpty() && ids.size() < EVENTS_AT_ONCE) {
        ids.add(eventsToLoad.remove());
      }
      loads.start(new Load.Events(ids), now);
    }
  }

  /** Events have been read: starts the attempts that waited for them. */
  void eventsLoaded(Load.Events load, Collection<Event> events, Turn now) {
    for (Event event : events) {
      List<Held> wanting = eventsWanted.remove(event.id());
      if (wanting == null) {
        continue;
      }
      BodyCache.Body body = BodyCache.read(event);
      for (Held held : wanting) {
        bodies.hold(held, body);
      }
      for (Held held : wanting) {
        startWithEvents(held.lane, now);
      }
    }
    List<Long> missing = load.ids().stream().filter(eventsWanted::containsKey).toList();
    if (!missing.isEmpty()) {
      loads.failed(new Load.Events(missing), now);
    }
  }

  /**
   * Starts what was taken and has its event. A lane whose pace has slowed down since it was taken
   * lets it wait.
   */
  private void startWithEvents(Lane lane, Turn now) {
    if (!stopped && !lane.awaitingEvent.isEmpty() && !isLeased(now)) {
      awaitingLease.add(lane);
      return;
    }
    for (Held held = lane.awaitingEvent.peek();
        held != null
            && held.body != null
            && (isOutOfTurn(held) || lane.started() < lane.pace.limit());
        held = lane.awaitingEvent.peek()) {
      lane.awaitingEvent.remove();
      start(held, held.body.event(), now);
    }
  }

  /** Takes back what was taken from a lane that has closed and was not sent yet. */
  void close(Lane lane, Turn now) {
    List<Held> waiting = List.copyOf(lane.awaitingEvent);
    lane.awaitingEvent.clear();
    for (Held held : waiting) {
      if (mayStart(held)) {
        lane.awaitingEvent.add(held);
      } else {
        takeBack(held);
        park.putBack(held, now);
      }
    }
  }

  /** Takes back a message that was taken from its lane and was not sent yet. */
  private void takeBack(Held held) {
    List<Held> wanting = eventsWanted.get(held.message.event());
    if (wanting != null && wanting.remove(held) && wanting.isEmpty()) {
      eventsWanted.remove(held.message.event());
    }
    ended(held);
  }

  /** Lets go of all that was not sent yet to lanes that this node does not work on any more. */
  void letGo(Collection<Lane> lost) {
    for (Lane lane : lost) {
      lane.first.forEach(lanes::letGo);
      lane.first.clear();
      lane.retry.forEach(lanes::letGo);
      lane.retry.clear();
      lane.unheard.forEach(lanes::letGo);
      lane.unheard.clear();
      List<Held> taken = List.copyOf(lane.awaitingEvent);
      lane.awaitingEvent.clear();
      for (Held held : taken) {
        takeBack(held);
        lanes.letGo(held);
      }
      if (lane.urgentLater != null) {
        urgent.addAll(lane.urgentLater);
        lane.urgentLater = null;
      }
    }
    for (Iterator<Held> left = urgent.iterator(); left.hasNext(); ) {
      Held held = left.next();
      if (!held.lane.ours) {
        left.remove();
        free(held);
        lanes.letGo(held);
      }
    }
  }

  /** Whether a message need not wait for its lane; a probe has to once the lane is open again. */
  private static boolean isOutOfTurn(Held held) {
    return held.urgent && !(held.probe && held.lane.isOpen());
  }

  private static boolean mayStart(Held held) {
    Health health = held.lane.health();
    if (health.isEnabled()) {
      return true;
    }
    return held.probe ? health.isCircuitOpen() : held.urgent && health.state() != State.FROZEN;
  }

  private void start(Held held, Event event, Turn now) {
    Lane lane = held.lane;
    Subscription subscription = match.get(held.message.subscription());
    Standing standing = standing(held);
    if (stopped || !mayStart(held) || subscription == null || standing != Standing.FITS) {
      ended(held);
      if (stopped) {
        lanes.letGo(held);
      } else if (standing != Standing.FITS) {
        park.align(held, standing, now);
      } else {
        park.putBack(held, now);
      }
      // Its place is free for another message of the lane.
      ready(lane);
      return;
    }
    TokenBucket bucket = lane.bucket();
    if (bucket != null) {
      lane.bucketFullAt = bucket.taken(1, lane.bucketFullAt, now.now());
    }
    now.effect(
        new Effect.Send(
            new Delivery(
                held.message,
                event,
                subscription,
                lane.endpoint.url(),
                lane.endpoint.tls(),
                now.now(),
                !held.unproven)));
  }

  /** The attempt has ended: its place is free. */
  void ended(Held held) {
    held.lane.inFlight--;
    occupy(held, -1);
    bodies.letGo(held);
    free(held);
  }

  private static void free(Held held) {
    if (held.probe) {
      held.lane.probing = false;
    }
    held.probe = false;
    held.urgent = false;
  }

  /** A lane may have room again. */
  void goOn(Lane lane, Turn now) {
    startWithEvents(lane, now);
    ready(lane);
  }

  /** Starts nothing any more. */
  void stop() {
    stopped = true;
  }

  @Nullable Instant nextWake() {
    if (hasMore) {
      return Loop.AT_ONCE;
    }
    Alarm next = limited.peek();
    return next == null ? null : next.at();
  }

  int inFlight() {
    return inFlight;
  }

  long sendingBytes() {
    return sendingBytes;
  }
}
