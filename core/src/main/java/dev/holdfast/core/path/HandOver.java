package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.path.Held.Place;
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
      Park park) {
    this.lanes = lanes;
    this.bodies = bodies;
    this.dispatch = dispatch;
    this.refill = refill;
    this.probe = probe;
    this.wait = wait;
    this.spread = spread;
    this.match = match;
    this.park = park;
  }

  void accepted(AcceptedEvent accepted, Turn turn) {
    events++;
    BodyCache.Body body =
        bodies.hasRoomFor(accepted.event()) ? bodies.keep(accepted.event()) : null;
    for (Message message : accepted.messages()) {
      made(message, body, turn);
    }
    spread.add(accepted.later());
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
    boolean nothingBefore = lane.pendingUnheld() == 0;
    lanes.counted(lane, message.status(), 1);
    if (!match.isAligned(message)) {
      park.align(lanes.hold(lane, message, Place.WRITING), match.standing(message), turn);
      return;
    }
    switch (message.status()) {
      case PENDING -> {
        if (nothingBefore && lane.first.size() < refill.window()) {
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
