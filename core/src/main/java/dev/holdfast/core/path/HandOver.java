package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Arrivals.Arrived;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes in messages that the store has got just now: into their lane when there is room, or to
 * where their time will find them.
 */
final class HandOver {
  private final Lanes lanes;
  private final BodyCache bodies;
  private final Dispatch dispatch;
  private final Refill refill;
  private final Probe probe;
  private final Wait wait;
  private final Spread spread;
  private final Match match;
  private final Park park;
  private final Activities activities;

  /** What the node decided for when the batch was made that has landed; others get the rest. */
  private Shards landed = Shards.NONE;

  long events;
  long messages;

  HandOver(
      Lanes lanes,
      BodyCache bodies,
      Dispatch dispatch,
      Refill refill,
      Probe probe,
      Wait wait,
      Spread spread,
      Match match,
      Park park,
      Activities activities) {
    this.lanes = lanes;
    this.bodies = bodies;
    this.dispatch = dispatch;
    this.refill = refill;
    this.probe = probe;
    this.wait = wait;
    this.spread = spread;
    this.match = match;
    this.park = park;
    this.activities = activities;
  }

  /** A batch is on disk: what is taken in from now on is of it. */
  void landing(Shards ours) {
    landed = ours;
  }

  /** Whether what has this id and was in the batch is this node's, and was left for no other. */
  boolean isOurs(long id) {
    return landed.has(id) && lanes.isOurs(id);
  }

  void accepted(AcceptedEvent accepted, Turn turn) {
    events++;
    activities.of(accepted.event().tenant()).accepted();
    BodyCache.Body body =
        bodies.hasRoomFor(accepted.event()) ? bodies.keep(accepted.event()) : null;
    for (Message message : accepted.messages()) {
      made(message, body, turn);
    }
    if (!accepted.later().isEmpty() && isOurs(accepted.event().id())) {
      spread.add(accepted.later());
    }
  }

  /** Messages of an event that was accepted before. */
  void made(List<Message> made, Turn turn) {
    for (Message message : made) {
      made(message, null, turn);
    }
  }

  private void made(Message message, BodyCache.@Nullable Body body, Turn turn) {
    messages++;
    take(message, body, turn);
  }

  /** A message that the store has at another endpoint than before. */
  void moved(Message message, Turn turn) {
    take(message, null, turn);
  }

  private void take(Message message, BodyCache.@Nullable Body body, Turn turn) {
    Lane lane = lanes.of(message.endpoint());
    if (!lane.ours || !landed.has(message.endpoint())) {
      return;
    }
    boolean nothingBefore = lane.pendingUnheld() == 0;
    lanes.counted(lane, message.status(), 1);
    place(lane, message, body, nothingBefore, turn);
  }

  /**
   * A message that another node has left for this one, or this one before it decided for the shard.
   *
   * @param isFresh whether this node has not written the message since it was read
   * @return whether it will be found; if not, it has to be looked at anew
   */
  boolean arrived(Arrived arrived, boolean isFresh, Turn turn) {
    Lane lane = lanes.of(arrived.endpoint());
    if (!lane.ours) {
      return true;
    }
    boolean isNext = lane.pendingUnheld() == 0;
    lanes.counted(lane, arrived.status(), 1);
    Message message = arrived.message();
    boolean isUnplaced =
        message != null
            && message.endpoint() == arrived.endpoint()
            && lanes.held(message.id()) == null;
    if (message != null && isUnplaced && isFresh) {
      place(lane, message, null, isNext, turn);
    }
    goOn(lane);
    return isFresh || !isUnplaced;
  }

  /** A message that the store has and that is counted. */
  void found(Message message, Turn turn) {
    Lane lane = lanes.of(message.endpoint());
    place(lane, message, null, false, turn);
    goOn(lane);
  }

  /** The lane may have something to do that it had not. */
  void goOn(Lane lane) {
    refill.want(lane);
    probe.somethingToTry(lane);
  }

  private void place(
      Lane lane, Message message, BodyCache.@Nullable Body body, boolean nothingBefore, Turn turn) {
    if (!match.isAligned(message)) {
      park.align(lanes.hold(lane, message, Place.WRITING), match.standing(message), turn);
      return;
    }
    switch (message.status()) {
      case PENDING -> {
        if (nothingBefore && lane.firstSize() < refill.window()) {
          dispatch.addFirst(lane, message, body, turn);
        } else {
          refill.want(lane);
        }
      }
      case PARKED -> {
        if (lane.isOpen()) {
          lane.leaveBehind(message);
          refill.expectBacklog(lane);
        } else {
          wait.keepStored(lane, message);
          probe.somethingToTry(lane);
        }
      }
      case WAITING -> {
        wait.keepStored(lane, message);
        probe.somethingToTry(lane);
      }
      case PAUSED -> wait.keepStored(lane, message);
    }
  }
}
