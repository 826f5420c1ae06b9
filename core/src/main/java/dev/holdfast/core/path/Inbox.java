package dev.holdfast.core.path;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Arrivals.Arrived;
import dev.holdfast.core.port.Load;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: what other nodes have left for this one. One read is under way at a time. Each
 * message that it brings is counted, whether or not another read has brought it before; it is put
 * into its lane if none has.
 */
final class Inbox {
  private final Limits limits;
  private final Lanes lanes;
  private final Loads loads;
  private final HandOver handOver;
  private final Spread spread;
  private final Replays replays;
  private final Look look;
  private boolean isWanted;
  private Load.@Nullable Arrivals reading;
  private Instant retryAt = Instant.EPOCH;

  /**
   * What has come for endpoints that this node does not know of yet, or by a batch of its own that
   * has not been answered yet.
   */
  private List<Early> early = new ArrayList<>();

  Inbox(
      Limits limits,
      Lanes lanes,
      Loads loads,
      HandOver handOver,
      Spread spread,
      Replays replays,
      Look look) {
    this.limits = limits;
    this.lanes = lanes;
    this.loads = loads;
    this.handOver = handOver;
    this.spread = spread;
    this.replays = replays;
    this.look = look;
  }

  /** What has come too early, with the shard that it has come for. */
  private sealed interface Early {
    record OfMessage(Arrived arrived) implements Early {}

    record OfStep(FanOut step) implements Early {}
  }

  /** There may be something. */
  void wake() {
    isWanted = true;
  }

  /** Whether something of these shards may be among what is being read. */
  boolean isReadingFor(Shards shards) {
    return reading != null && reading.ours().hasAny(shards);
  }

  void run(Turn turn) {
    if (mayRead() && !turn.now().isBefore(retryAt)) {
      isWanted = false;
      retryAt = Instant.EPOCH;
      if (!lanes.ours().isEmpty()) {
        reading = new Load.Arrivals(lanes.ours(), Limits.ARRIVALS);
        loads.start(reading, turn);
      }
    }
  }

  /** While too much waits for what is not known, the rest waits in the store. */
  private boolean mayRead() {
    return isWanted && reading == null && early.size() < Limits.ARRIVALS;
  }

  void loaded(Load.Arrivals load, Arrivals arrivals, Turn turn) {
    long number = loads.number(load);
    reading = null;
    isWanted |= arrivals.isMore();
    for (Arrived arrived : arrivals.messages()) {
      arrived(arrived, !loads.isOutOfTime(arrived.id(), number), turn);
    }
    arrivals.fanOuts().forEach(this::arrived);
    for (Replay replay : arrivals.replays()) {
      replays.resume(replay);
    }
    loads.forget(load);
  }

  private void arrived(Arrived arrived, boolean isFresh, Turn turn) {
    if (!lanes.isOurs(arrived.endpoint())) {
      // It is let go since: whoever gets the shard finds it.
      return;
    }
    if (lanes.get(arrived.endpoint()) == null || isUnanswered(arrived)) {
      early.add(new Early.OfMessage(arrived));
    } else if (!handOver.arrived(arrived, isFresh, turn)) {
      look.at(arrived.id(), arrived.endpoint());
    }
  }

  /**
   * Whether this node has brought the message there itself, before it decided for the shard, and
   * does not know yet that this is on disk. Until it does, no read is believed about it.
   */
  private boolean isUnanswered(Arrived arrived) {
    Message message = arrived.message();
    Held held = lanes.held(arrived.id());
    return loads.isAccepting(arrived.id())
        || (message != null
            && held != null
            && message.endpoint() == arrived.endpoint()
            && held.lane.endpoint.id() != arrived.endpoint());
  }

  /** What is to be made in shards that this node works on now. */
  void gained(List<FanOut> steps) {
    steps.forEach(this::arrived);
  }

  private void arrived(FanOut step) {
    if (!lanes.isOurs(step.event())) {
      return;
    }
    for (FanOut.Target target : step.targets()) {
      if (lanes.get(target.endpoint()) == null) {
        early.add(new Early.OfStep(step));
        return;
      }
    }
    spread.add(List.of(step));
  }

  /** The read failed. It is asked for anew, since it may be for other shards by then. */
  void notRead(Load.Arrivals load, Turn turn) {
    loads.forget(load);
    reading = null;
    isWanted = true;
    retryAt = turn.now().plus(limits.retryStoreAfter());
  }

  /** More endpoints are known, or a batch has been answered: takes in what has waited for it. */
  void goOn(Turn turn) {
    if (early.isEmpty()) {
      return;
    }
    List<Early> before = early;
    early = new ArrayList<>();
    for (Early one : before) {
      switch (one) {
        case Early.OfStep(FanOut step) -> arrived(step);
        // Another read may have brought it meanwhile, and this node have written it: it is read
        // anew.
        case Early.OfMessage(Arrived arrived) -> arrived(arrived, false, turn);
      }
    }
  }

  /** Shards are let go: whoever gets them finds what has come for them. */
  void letGo(Shards shards) {
    early.removeIf(
        one ->
            switch (one) {
              case Early.OfStep(FanOut step) -> shards.has(step.event());
              case Early.OfMessage(Arrived arrived) -> shards.has(arrived.endpoint());
            });
  }

  @Nullable Instant nextWake() {
    return mayRead() ? retryAt : null;
  }
}
