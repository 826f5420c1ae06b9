package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Snapshot.Unfinished;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Off the path: shards come to this node, and go to others.
 *
 * <p>Of a shard that is to go nothing more is started and nothing is kept in memory but what is
 * under way. When that has ended and is on disk, the node decides for the shard no longer; and when
 * no batch is under way that was made while it did, others may have it. For such a batch leaves no
 * word for them of what it brings.
 */
final class Custody {
  private final Lanes lanes;
  private final Loads loads;
  private final Commit commit;
  private final Dispatch dispatch;
  private final Wait wait;
  private final Circuit circuit;
  private final Align align;
  private final Spread spread;
  private final Replays replays;
  private final RetryByHand byHand;
  private final Inbox inbox;
  private final Look look;
  private final List<Leaving> leaving = new ArrayList<>();

  Custody(
      Lanes lanes,
      Loads loads,
      Commit commit,
      Dispatch dispatch,
      Wait wait,
      Circuit circuit,
      Align align,
      Spread spread,
      Replays replays,
      RetryByHand byHand,
      Inbox inbox,
      Look look) {
    this.lanes = lanes;
    this.loads = loads;
    this.commit = commit;
    this.dispatch = dispatch;
    this.wait = wait;
    this.circuit = circuit;
    this.align = align;
    this.spread = spread;
    this.replays = replays;
    this.byHand = byHand;
    this.inbox = inbox;
    this.look = look;
  }

  /** Shards that are to go. */
  private static final class Leaving {
    final Shards shards;

    /** Those of their lanes that something is under way of. */
    final List<Lane> busy;

    /** Whether this node decides for them no longer. */
    boolean isClosed;

    Leaving(Shards shards, List<Lane> busy) {
      this.shards = shards;
      this.busy = busy;
    }
  }

  void gained(Shards shards, Holdings holdings) {
    workOn(lanes.ours().plus(shards));
    commit.decideFor(commit.ours().plus(shards));
    for (Endpoint endpoint : holdings.endpoints()) {
      Lane lane = lanes.get(endpoint.id());
      if (lane == null) {
        lanes.add(endpoint, true, null);
      } else {
        // What is set about it is known to everyone, and may be newer here.
        lane.stored = true;
        lane.endpoint = lane.endpoint.with(endpoint.health()).withGoneAt(endpoint.goneAt());
        lane.recount();
      }
    }
    for (Lane lane : List.copyOf(lanes.all())) {
      if (shards.has(lane.endpoint.id())) {
        lanes.begin(
            lane, holdings.unfinished().getOrDefault(lane.endpoint.id(), Unfinished.NOTHING));
        circuit.resume(lane);
      }
    }
    inbox.gained(holdings.fanOuts());
    for (Replay replay : holdings.replays()) {
      replays.resume(replay);
    }
    byHand.doubt();
    align.gained(shards);
    inbox.wake();
  }

  void release(Shards shards) {
    workOn(lanes.ours().minus(shards));
    List<Lane> lost = new ArrayList<>();
    for (Lane lane : lanes.all()) {
      if (shards.has(lane.endpoint.id())) {
        lost.add(lane);
      }
    }
    loads.disown(load -> isAbout(load, shards) || look.isAbout(load, shards));
    look.letGo(shards);
    byHand.doubt();
    dispatch.letGo(lost);
    for (Held held : lanes.heldOfOthers()) {
      if (held.place == Place.TIMER) {
        wait.take(held);
        lanes.letGo(held);
      }
    }
    align.letGo();
    spread.letGo();
    replays.letGo();
    inbox.letGo(shards);
    leaving.add(new Leaving(shards, lost));
  }

  private static boolean isAbout(Load load, Shards shards) {
    return switch (load) {
      case Load.Pending pending -> shards.has(pending.endpoint());
      case Load.Backlog backlog -> shards.has(backlog.endpoint());
      case Load.Probe probe -> shards.has(probe.endpoint());
      // The others look after themselves.
      case Load.OfSubscription _,
          Load.Due _,
          Load.OfReplay _,
          Load.Unfinished _,
          Load.Arrivals _,
          Load.Events _ ->
          false;
    };
  }

  private void workOn(Shards shards) {
    lanes.setOurs(shards);
    wait.workOn(shards);
  }

  /** Lets go of what nothing is under way of any more. */
  void run(Turn turn) {
    for (Iterator<Leaving> left = leaving.iterator(); left.hasNext(); ) {
      Leaving one = left.next();
      if (!one.isClosed && hasEnded(one)) {
        close(one);
      }
      if (one.isClosed && !commit.isUnderWayFor(one.shards)) {
        left.remove();
        turn.effect(new Effect.LetGo(one.shards));
      }
    }
  }

  private boolean hasEnded(Leaving one) {
    one.busy.removeIf(lane -> lane.holding == 0);
    return one.busy.isEmpty()
        && !commit.isAbout(one.shards)
        && !spread.isAbout(one.shards)
        && !replays.isAbout(one.shards)
        && !inbox.isReadingFor(one.shards);
  }

  private void close(Leaving one) {
    one.isClosed = true;
    commit.decideFor(commit.ours().minus(one.shards));
    for (Lane lane : lanes.all()) {
      if (one.shards.has(lane.endpoint.id())) {
        lanes.end(lane);
      }
    }
  }
}
