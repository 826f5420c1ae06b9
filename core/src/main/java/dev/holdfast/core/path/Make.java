package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.Arrival;
import dev.holdfast.core.rules.RetrySchedule;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes events and their messages. The messages of an event have the ids right after its own; when
 * they are very many, they are made in steps, of which only the plan is made here.
 */
final class Make {
  private final Limits limits;
  private final RetrySchedule schedule;
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;

  Make(Limits limits, RetrySchedule schedule, IdSource ids, Match match, Lanes lanes) {
    this.limits = limits;
    this.schedule = schedule;
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
  }

  /**
   * An event for each subscription that wants it.
   *
   * @param room how many messages may be made at once
   */
  AcceptedEvent event(String tenant, NewEvent submitted, int room, Turn turn) {
    return event(tenant, submitted, match.wanting(tenant, submitted), room, turn);
  }

  AcceptedEvent event(
      String tenant, NewEvent submitted, List<Subscription> wanting, int room, Turn turn) {
    Event event =
        new Event(
            ids.next(turn.now()),
            tenant,
            submitted.type(),
            submitted.subject(),
            submitted.occurredAt(),
            submitted.data(),
            submitted.previous(),
            submitted.callerId(),
            submitted.traceparent());
    if (wanting.size() > room) {
      ids.reserve(wanting.size());
      return new AcceptedEvent(event, List.of(), steps(event, wanting));
    }
    List<Message> made = new ArrayList<>(wanting.size());
    for (Subscription subscription : wanting) {
      made.add(
          message(
              ids.next(turn.now()),
              event.id(),
              event.size(),
              subscription.id(),
              subscription.endpoint(),
              subscription.paused(),
              turn));
    }
    return new AcceptedEvent(event, made, List.of());
  }

  private List<FanOut> steps(Event event, List<Subscription> wanting) {
    List<FanOut> steps = new ArrayList<>(1 + wanting.size() / limits.matchesAtOnce());
    for (int from = 0; from < wanting.size(); from += limits.matchesAtOnce()) {
      int to = Math.min(from + limits.matchesAtOnce(), wanting.size());
      List<FanOut.Target> targets = new ArrayList<>(to - from);
      for (Subscription subscription : wanting.subList(from, to)) {
        targets.add(new FanOut.Target(subscription.id(), subscription.endpoint()));
      }
      steps.add(new FanOut(event.id(), event.size(), from, targets));
    }
    return steps;
  }

  /** A new message as it stands: pending, parked when its endpoint takes nothing, or paused. */
  Message message(
      long id,
      long event,
      int eventSize,
      long subscription,
      long endpoint,
      boolean paused,
      Turn turn) {
    Message message = Message.pending(id, event, subscription, endpoint, eventSize);
    Arrival arrival =
        paused
            ? schedule.whenPaused(message, turn.now())
            : schedule.whenDue(message, lanes.of(endpoint).health(), turn.now());
    return arrival instanceof Arrival.Park park ? park.message() : message;
  }
}
