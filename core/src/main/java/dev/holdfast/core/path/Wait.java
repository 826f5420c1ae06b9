package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Load;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: messages that failed, until their slot comes; and parked ones, until their
 * deadline.
 */
final class Wait {
  private final Lanes lanes;
  private final Loads loads;
  private final RetryTimer timer;

  Wait(Lanes lanes, Loads loads, RetryTimer timer) {
    this.lanes = lanes;
    this.loads = loads;
    this.timer = timer;
  }

  /** Holds a message that the store has if it is due soon, else leaves it to the store. */
  void keep(Held held) {
    Instant due = held.message.due();
    if (due == null) {
      throw new IllegalStateException("a message that waits has a due time: " + held.message.id());
    }
    if (timer.covers(due, held.message.id())) {
      keepUntil(held, due);
    } else {
      lanes.letGo(held);
    }
  }

  /** Takes in a message that only the store has if it is due soon. */
  void keepStored(Lane lane, Message message) {
    if (message.due() != null && timer.covers(message.due(), message.id())) {
      keep(lanes.hold(lane, message, Place.TIMER));
    }
  }

  /** Brings back what was left to a lane's backlog, now that the lane has closed. */
  void bringBack(Lane lane) {
    if (lane.leftBehind != null) {
      timer.rewind(lane.leftBehind, 0);
      lane.leftBehind = null;
    }
  }

  /** Holds a message until then, even when the store knows of another time. */
  void keepUntil(Held held, Instant at) {
    Held left = timer.add(held, at);
    if (left != null) {
      lanes.letGo(left);
    }
  }

  /** The node works on other shards from now on. */
  void workOn(Shards shards) {
    timer.loadFor(shards);
  }

  boolean slotHasCome(Held held, Turn turn) {
    Instant due = held.message.due();
    return due == null || !turn.now().isBefore(due);
  }

  void load(Turn turn) {
    timer.load(turn);
  }

  /** Messages that are due soon have been read. */
  void loaded(Load.Due load, List<Message> messages, long number) {
    timer.loaded(load, messages);
    for (Message message : messages) {
      Lane lane = lanes.get(message.endpoint());
      if (lane == null
          || !lane.ours
          || timer.isLost(message)
          || message.due() == null
          || lanes.held(message.id()) != null
          || loads.isOutOfTime(message.id(), number)) {
        continue;
      }
      if (message.status() == Status.PARKED && lane.isOpen()) {
        lane.leaveBehind(message);
        continue;
      }
      keepUntil(lanes.hold(lane, message, Place.TIMER), message.due());
    }
  }

  /** The next message whose time has come. */
  @Nullable Held next(Turn turn) {
    return timer.poll(turn.now());
  }

  /** Takes a message out of the timer, to be used elsewhere. */
  void take(Held held) {
    timer.remove(held);
  }

  int size() {
    return timer.size();
  }

  @Nullable Instant nextWake() {
    return timer.nextWake();
  }
}
