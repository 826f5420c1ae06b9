package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.path.Match.Standing;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.Arrival;
import dev.holdfast.core.rules.RetrySchedule;
import java.util.Objects;

/**
 * Off the path: messages whose time has come while their endpoint takes no deliveries, and messages
 * that are given up without an attempt.
 */
final class Park {
  private final RetrySchedule schedule;
  private final Commit commit;
  private final Wait wait;
  private final BodyCache bodies;
  private final Match match;
  private final Announce announce;

  Park(
      RetrySchedule schedule,
      Commit commit,
      Wait wait,
      BodyCache bodies,
      Match match,
      Announce announce) {
    this.schedule = schedule;
    this.commit = commit;
    this.wait = wait;
    this.bodies = bodies;
    this.match = match;
    this.announce = announce;
  }

  /** Parks a message of a closed lane whose time has come, or gives it up if that has passed. */
  void park(Held held, Turn turn) {
    switch (schedule.whenDue(held.message, held.lane.health(), turn.now())) {
      case Arrival.Park parked -> {
        held.message = parked.message();
        write(new Write.Park(parked.message()), held);
      }
      case Arrival.Expire _ -> drop(held, DropReason.EXPIRED, turn);
      case Arrival.Try _ ->
          throw new IllegalStateException("an open lane parks nothing: " + held.message.id());
    }
  }

  /** Does with a message what its subscription, which has changed, wants done. */
  void align(Held held, Standing standing, Turn turn) {
    switch (standing) {
      case UNSUBSCRIBED -> drop(held, DropReason.UNSUBSCRIBED, turn);
      // If somebody has made the subscription, the store refuses that, and it is known soon.
      case UNHEARD ->
          write(
              Commit.Entry.of(dropped(held, DropReason.UNSUBSCRIBED, turn), held).ifAsKnown(),
              held);
      case ELSEWHERE -> move(held);
      case HELD_BACK -> holdBack(held, turn);
      case FITS -> {
        held.message = schedule.released(held.message);
        write(new Write.Move(held.message), held);
      }
    }
  }

  private void move(Held held) {
    Subscription subscription =
        Objects.requireNonNull(match.get(held.message.subscription()), "it has another endpoint");
    boolean staysPaused = subscription.paused() && held.message.status() == Status.PAUSED;
    Message message = staysPaused ? held.message : schedule.released(held.message);
    held.message = message.at(subscription.endpoint());
    write(new Write.Move(held.message), held);
  }

  private void holdBack(Held held, Turn turn) {
    switch (schedule.whenPaused(held.message, turn.now())) {
      case Arrival.Park paused -> {
        held.message = paused.message();
        write(new Write.Park(paused.message()), held);
      }
      case Arrival.Expire _ -> drop(held, DropReason.EXPIRED, turn);
      case Arrival.Try _ ->
          throw new IllegalStateException("it is held back: " + held.message.id());
    }
  }

  private void drop(Held held, DropReason reason, Turn turn) {
    write(dropped(held, reason, turn), held);
  }

  private Write dropped(Held held, DropReason reason, Turn turn) {
    Message message = held.message;
    String tenant = held.lane.endpoint.tenant();
    return new Write.Drop(
        message,
        reason,
        null,
        turn.now(),
        announce.dropped(message, tenant, reason, message.attempts(), turn));
  }

  private void write(Write write, Held held) {
    write(Commit.Entry.of(write, held), held);
  }

  private void write(Commit.Entry entry, Held held) {
    bodies.letGo(held);
    held.place = Place.WRITING;
    commit.add(entry);
  }

  /** Empties the queues of a lane that has closed. */
  void close(Lane lane, Turn turn) {
    lane.backlog = false;
    wait.bringBack(lane);
    for (Held held = lane.first.poll(); held != null; held = lane.first.poll()) {
      park(held, turn);
    }
    for (Held held = lane.retry.poll(); held != null; held = lane.retry.poll()) {
      putBack(held, turn);
    }
  }

  /** Takes a message out of a lane that has closed: to where it was before it became due. */
  void putBack(Held held, Turn turn) {
    bodies.letGo(held);
    switch (held.message.status()) {
      case PENDING -> park(held, turn);
      case PARKED, PAUSED -> wait.keep(held);
      case WAITING -> {
        if (wait.slotHasCome(held, turn)) {
          park(held, turn);
        } else {
          wait.keep(held);
        }
      }
    }
  }
}
