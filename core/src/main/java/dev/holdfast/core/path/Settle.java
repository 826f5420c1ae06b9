package dev.holdfast.core.path;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.core.rules.Verdict;

/**
 * Last step: an attempt has ended. The rules decide about its message and its endpoint; what they
 * decide is written, and then acted on.
 */
final class Settle {
  private static final int GONE = 410;

  private final RetrySchedule schedule;
  private final EndpointHealth health;
  private final Recovery recovery;
  private final Lanes lanes;
  private final Match match;
  private final Commit commit;
  private final Dispatch dispatch;
  private final Circuit circuit;
  private final Wait wait;
  private final Refill refill;
  private final Probe probe;
  private final HandOver handOver;
  private final Announce announce;
  private final Park park;

  long succeeded;
  long failed;
  long delivered;
  long dropped;

  Settle(
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Lanes lanes,
      Match match,
      Commit commit,
      Dispatch dispatch,
      Circuit circuit,
      Wait wait,
      Refill refill,
      Probe probe,
      HandOver handOver,
      Announce announce,
      Park park) {
    this.schedule = schedule;
    this.health = health;
    this.recovery = recovery;
    this.lanes = lanes;
    this.match = match;
    this.commit = commit;
    this.dispatch = dispatch;
    this.circuit = circuit;
    this.wait = wait;
    this.refill = refill;
    this.probe = probe;
    this.handOver = handOver;
    this.announce = announce;
    this.park = park;
  }

  void attemptEnded(Delivery delivery, Outcome outcome, long durationMillis, Turn turn) {
    Held held = lanes.held(delivery.message().id());
    if (held == null || held.place != Place.SENDING) {
      throw new IllegalStateException(
          "an attempt ended that was not under way: " + delivery.message().id());
    }
    Message message = held.message;
    Attempt attempt =
        new Attempt(
            message.id(),
            message.attempts() + 1,
            delivery.startedAt(),
            durationMillis,
            schedule.isScheduled(message, delivery.startedAt()),
            outcome);
    boolean wasProbe = held.probe;
    dispatch.ended(held);
    held.place = Place.WRITING;
    decideMessage(held, attempt, turn);
    decideEndpoint(held.lane, attempt, wasProbe, turn);
    dispatch.goOn(held.lane, turn);
  }

  private void decideMessage(Held held, Attempt attempt, Turn turn) {
    Verdict verdict = schedule.after(held.message, attempt.at(), attempt.outcome(), turn.now());
    if (verdict instanceof Verdict.Wait && match.get(held.message.subscription()) == null) {
      verdict = new Verdict.Drop(DropReason.UNSUBSCRIBED);
    }
    Write write =
        switch (verdict) {
          case Verdict.Delivered _ -> new Write.Deliver(held.message, attempt, turn.now());
          case Verdict.Drop drop ->
              new Write.Drop(
                  held.message,
                  drop.reason(),
                  attempt,
                  turn.now(),
                  announce.dropped(
                      held.message,
                      held.lane.endpoint.tenant(),
                      drop.reason(),
                      attempt.number(),
                      turn));
          case Verdict.Wait next -> {
            held.message = next.message();
            yield new Write.Retry(next.message(), attempt);
          }
        };
    commit.add(Commit.Entry.of(write, held));
  }

  private void decideEndpoint(Lane lane, Attempt attempt, boolean wasProbe, Turn turn) {
    boolean success = attempt.outcome() instanceof Outcome.Success;
    if (success) {
      succeeded++;
    } else {
      failed++;
    }
    lane.proven = success;
    decideGone(lane, attempt.outcome(), turn);
    Health before = lane.health();
    if (!attempt.at().isBefore(before.since())) {
      lane.pace = lane.pace.after(attempt.outcome());
    }
    Health after = health.after(before, attempt.at(), success, wasProbe, turn.now());
    circuit.set(lane, after, null, turn);
  }

  /** A 410 says that the endpoint is gone; any other answer says that it is there. */
  private static void decideGone(Lane lane, Outcome outcome, Turn turn) {
    Integer status =
        switch (outcome) {
          case Outcome.Success success -> success.status();
          case Outcome.Failure failure -> failure.status();
        };
    if (status == null) {
      return;
    }
    boolean wasGone = lane.endpoint.goneAt() != null;
    boolean isGone = status == GONE;
    if (isGone || wasGone) {
      lane.endpoint = lane.endpoint.withGoneAt(isGone ? turn.now() : null);
    }
    if (isGone != wasGone) {
      turn.effect(new Effect.GoneChanged(lane.endpoint));
    }
  }

  /** The message is finished, on disk. */
  void finished(Held held, boolean wasDelivered) {
    if (wasDelivered) {
      delivered++;
    } else {
      dropped++;
    }
    Lane lane = held.lane;
    lanes.finished(held);
    probe.somethingToTry(lane);
    refill.want(lane);
  }

  /** The message waits again, or is for another endpoint, on disk. */
  void moved(Held held, Turn turn) {
    Message message = held.message;
    Lane lane = held.lane;
    if (message.endpoint() == lane.endpoint.id()) {
      unfinished(held, turn);
      return;
    }
    lanes.finished(held);
    probe.somethingToTry(lane);
    refill.want(lane);
    handOver.moved(message, turn);
  }

  /** The message waits or is parked, on disk: it goes where its time will find it. */
  void unfinished(Held held, Turn turn) {
    Lane lane = held.lane;
    lanes.stored(held);
    if (!lane.ours) {
      lanes.letGo(held);
    } else if (match.isHeldBackInVain(held.message)) {
      park.align(held, Match.Standing.FITS, turn);
    } else if (lane.isOpen() && recovery.isDue(held.message, lane.health(), turn.now())) {
      dispatch.offerRetry(held);
    } else {
      wait.keep(held);
      probe.somethingToTry(lane);
      refill.want(lane);
    }
  }
}
