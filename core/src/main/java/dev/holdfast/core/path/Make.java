package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.Arrival;
import dev.holdfast.core.rules.RetrySchedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes events and their messages. The messages of an event have the ids right after its own; when
 * they are very many, they are made in steps, of which only the plan is made here. A subscription
 * that has changed its version lately gets two messages, one in each.
 */
final class Make {
  /** The version that the subscription has at each attempt. */
  private static final List<@Nullable Version> AS_IT_IS_THEN = Collections.singletonList(null);

  private static final List<@Nullable Version> OLD_AND_NEW =
      Collections.unmodifiableList(Arrays.asList(Version.V1, Version.V2));
  private static final List<@Nullable Version> NEW_AND_OLD =
      Collections.unmodifiableList(Arrays.asList(Version.V2, Version.V1));

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
    int count = count(wanting, turn);
    if (count > room) {
      ids.reserve(count);
      return new AcceptedEvent(event, List.of(), steps(event, wanting, turn));
    }
    List<Message> made = new ArrayList<>(count);
    for (Subscription subscription : wanting) {
      for (Version version : versions(subscription, turn)) {
        made.add(
            message(
                ids.next(turn.now()),
                event.id(),
                event.size(),
                target(subscription, version),
                subscription.paused(),
                turn));
      }
    }
    return new AcceptedEvent(event, made, List.of());
  }

  /** How many messages an event has that these want. */
  int count(List<Subscription> wanting, Turn turn) {
    int count = 0;
    for (Subscription subscription : wanting) {
      count += versions(subscription, turn).size();
    }
    return count;
  }

  /** In which versions a subscription gets an event that comes now. */
  private List<@Nullable Version> versions(Subscription subscription, Turn turn) {
    Form form = subscription.form();
    if (!form.isBothAt(turn.now(), limits.bothVersions())) {
      return AS_IT_IS_THEN;
    }
    return form.version() == Version.V1 ? OLD_AND_NEW : NEW_AND_OLD;
  }

  private List<FanOut> steps(Event event, List<Subscription> wanting, Turn turn) {
    List<FanOut.Target> targets = new ArrayList<>(wanting.size());
    for (Subscription subscription : wanting) {
      for (Version version : versions(subscription, turn)) {
        targets.add(target(subscription, version));
      }
    }
    List<FanOut> steps = new ArrayList<>(1 + targets.size() / limits.matchesAtOnce());
    for (int from = 0; from < targets.size(); from += limits.matchesAtOnce()) {
      int to = Math.min(from + limits.matchesAtOnce(), targets.size());
      steps.add(new FanOut(event.id(), event.size(), from, targets.subList(from, to)));
    }
    return steps;
  }

  private static FanOut.Target target(Subscription subscription, @Nullable Version version) {
    return new FanOut.Target(subscription.id(), subscription.endpoint(), version);
  }

  /** A new message as it stands: pending, parked when its endpoint takes nothing, or paused. */
  Message message(
      long id, long event, int eventSize, FanOut.Target target, boolean paused, Turn turn) {
    Message message =
        Message.pending(
            id, event, target.subscription(), target.endpoint(), eventSize, target.version());
    Lane lane = lanes.of(target.endpoint());
    if (!paused && !lane.ours) {
      // Whoever decides for the endpoint knows whether it takes anything.
      return message;
    }
    Arrival arrival =
        paused
            ? schedule.whenPaused(message, turn.now())
            : schedule.whenDue(message, lane.health(), turn.now());
    return arrival instanceof Arrival.Park park ? park.message() : message;
  }
}
