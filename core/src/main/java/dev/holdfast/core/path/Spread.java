package dev.holdfast.core.path;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: makes the messages of an event that very many subscriptions want. They are made in
 * steps, one at a time, each in the order of the plan that is on disk with the event, so that
 * nobody's commit waits for more than one step, and a restart goes on with the next.
 */
final class Spread {
  private final Limits limits;
  private final Match match;
  private final Make make;
  private final Commit commit;
  private final Loads loads;
  private final Lanes lanes;
  private final Deque<FanOut> steps = new ArrayDeque<>();
  private @Nullable FanOut underWay;
  private int waiting;

  /** When a step that could not be written is tried again. */
  private Instant retryAt = Instant.EPOCH;

  Spread(Limits limits, Match match, Make make, Commit commit, Loads loads, Lanes lanes) {
    this.limits = limits;
    this.match = match;
    this.make = make;
    this.commit = commit;
    this.loads = loads;
    this.lanes = lanes;
  }

  /** Whether so many more messages may wait to be made. */
  boolean hasRoomFor(int messages) {
    return waiting + messages <= limits.spreading();
  }

  /** Whether messages are still to be made of an event with an id up to this one. */
  boolean isPlannedUpTo(long id) {
    return firstPlanned() <= id;
  }

  /** The first event of which messages are still to be made. */
  long firstPlanned() {
    return steps.stream().mapToLong(FanOut::event).min().orElse(Long.MAX_VALUE);
  }

  /** The store has these steps; those of other nodes' events are for them to make. */
  void add(Collection<FanOut> planned) {
    for (FanOut step : planned) {
      if (lanes.isOurs(step.event())) {
        steps.add(step);
        waiting += step.targets().size();
      }
    }
  }

  /** Leaves what this node does not work on any more to the one that will. */
  void letGo() {
    for (Iterator<FanOut> left = steps.iterator(); left.hasNext(); ) {
      FanOut step = left.next();
      if (!lanes.isOurs(step.event())) {
        left.remove();
        waiting -= step.targets().size();
      }
    }
  }

  /** Whether a step of an event in these shards is being written. */
  boolean isAbout(Shards shards) {
    return underWay != null && shards.has(underWay.event());
  }

  void run(Turn turn) {
    if (!mayRun() || turn.now().isBefore(retryAt)) {
      return;
    }
    retryAt = Instant.EPOCH;
    FanOut step = steps.remove();
    underWay = step;
    List<Message> made = new ArrayList<>(step.targets().size());
    for (int i = 0; i < step.targets().size(); i++) {
      FanOut.Target target = step.targets().get(i);
      made.add(
          make.message(
              step.message(i),
              step.event(),
              step.eventSize(),
              new FanOut.Target(
                  target.subscription(),
                  match.endpointOf(target.subscription(), target.endpoint()),
                  target.version()),
              match.isPaused(target.subscription()),
              turn));
    }
    loads.accepting(step.message(0), step.lastMessage());
    commit.add(
        new Commit.Entry(new Write.Spread(step, made), null, null, null, 1 + made.size(), 0));
  }

  private boolean mayRun() {
    return underWay == null && !steps.isEmpty() && commit.hasRoomForOutcomes();
  }

  /** The messages of a step are on disk. */
  void made(FanOut step) {
    loads.accepted(step.message(0));
    underWay = null;
    waiting -= step.targets().size();
  }

  /** The messages of a step could not be written: it is tried again a little later. */
  void notMade(FanOut step, Turn turn) {
    loads.accepted(step.message(0));
    underWay = null;
    if (!lanes.isOurs(step.event())) {
      waiting -= step.targets().size();
      return;
    }
    steps.addFirst(step);
    retryAt = turn.now().plus(limits.retryStoreAfter());
  }

  @Nullable Instant nextWake() {
    return mayRun() ? retryAt : null;
  }
}
