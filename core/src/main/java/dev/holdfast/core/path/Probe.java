package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Load;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: tries one message of a disabled endpoint now and then, at most one at a time. With
 * nothing to try the probe stays due until there is something.
 */
final class Probe {
  private static final Duration LOOK_AGAIN_AFTER = Duration.ofMinutes(1);

  private final Limits limits;
  private final Lanes lanes;
  private final Loads loads;
  private final Wait wait;
  private final Dispatch dispatch;
  private final PriorityQueue<Alarm> alarms = new PriorityQueue<>();
  private final Deque<Lane> candidates = new ArrayDeque<>();

  Probe(Limits limits, Lanes lanes, Loads loads, Wait wait, Dispatch dispatch) {
    this.limits = limits;
    this.lanes = lanes;
    this.loads = loads;
    this.wait = wait;
    this.dispatch = dispatch;
  }

  private record Alarm(Instant at, Lane lane) implements Comparable<Alarm> {
    @Override
    public int compareTo(Alarm other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(lane.endpoint.id(), other.lane.endpoint.id());
    }
  }

  /** Sees to it that the lane is probed when its health says so. */
  void arm(Lane lane) {
    Instant at = lane.health().nextProbeAt();
    if (lane.ours && lane.health().isCircuitOpen() && at != null) {
      alarms.add(new Alarm(at, lane));
    }
  }

  /** A closed lane has got something that a probe could try. */
  void somethingToTry(Lane lane) {
    if (lane.ours && lane.health().isCircuitOpen()) {
      candidates.add(lane);
    }
  }

  /** Asks for the messages to probe with, where a probe is due. */
  void run(Turn turn) {
    for (Alarm next = alarms.peek();
        next != null && !next.at().isAfter(turn.now());
        next = alarms.peek()) {
      candidates.add(alarms.remove().lane());
    }
    while (loads.hasRoom() && !candidates.isEmpty()) {
      Lane lane = candidates.remove();
      if (isDue(lane, turn)
          && !lane.loadingProbe
          && lane.tally.waiting() + lane.tally.parked() > 0) {
        lane.loadingProbe = true;
        loads.start(new Load.Probe(lane.endpoint.id(), turn.now()), turn);
      }
    }
  }

  private static boolean isDue(Lane lane, Turn turn) {
    Instant at = lane.health().nextProbeAt();
    return lane.ours
        && lane.health().isCircuitOpen()
        && !lane.probing
        && at != null
        && !at.isAfter(turn.now());
  }

  /** The store has chosen a message, if there is one. */
  void loaded(Load.Probe load, List<Message> chosen, long number, Turn turn) {
    Lane lane = lanes.of(load.endpoint());
    lane.loadingProbe = false;
    if (!isDue(lane, turn)) {
      return;
    }
    if (chosen.isEmpty()) {
      // Whatever there is asked to be left alone for now.
      lookAgain(lane, LOOK_AGAIN_AFTER, turn);
      return;
    }
    Message message = chosen.getFirst();
    Held held = lanes.held(message.id());
    if (loads.isOutOfTime(message.id(), number)) {
      lookAgain(lane, limits.retryStoreAfter(), turn);
    } else if (held == null) {
      start(lanes.hold(lane, message, Place.SENDING));
    } else if (held.place == Place.TIMER) {
      wait.take(held);
      start(held);
    } else {
      lookAgain(lane, limits.retryStoreAfter(), turn);
    }
  }

  private void lookAgain(Lane lane, Duration after, Turn turn) {
    alarms.add(new Alarm(turn.now().plus(after), lane));
  }

  private void start(Held held) {
    held.probe = true;
    held.lane.probing = true;
    dispatch.offerUrgent(held);
  }

  @Nullable Instant nextWake() {
    Alarm next = alarms.peek();
    return next == null ? null : next.at();
  }
}
