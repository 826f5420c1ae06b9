package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.Arrival;
import dev.holdfast.core.rules.RetrySchedule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * First step: gives events their ids, has them matched, and hands them to {@link Commit}. When they
 * are on disk, answers, and hands their messages to {@link Dispatch} from memory.
 */
final class Accept {
  private final RetrySchedule schedule;
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Commit commit;
  private final BodyCache bodies;
  private final Dispatch dispatch;
  private final Refill refill;
  private final Probe probe;
  private final Wait wait;
  private final Loads loads;
  private final Admission admission;

  long events;
  long messages;

  Accept(
      RetrySchedule schedule,
      IdSource ids,
      Match match,
      Lanes lanes,
      Commit commit,
      BodyCache bodies,
      Dispatch dispatch,
      Refill refill,
      Probe probe,
      Wait wait,
      Loads loads,
      Admission admission) {
    this.schedule = schedule;
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.commit = commit;
    this.bodies = bodies;
    this.dispatch = dispatch;
    this.refill = refill;
    this.probe = probe;
    this.wait = wait;
    this.loads = loads;
    this.admission = admission;
  }

  void submit(Request.Submit request, Consumer<Answer> replyTo, Turn turn) {
    List<Write.AcceptedEvent> accepted = new ArrayList<>(request.events().size());
    long bytes = 0;
    for (NewEvent submitted : request.events()) {
      bytes += submitted.data().length;
      bytes += submitted.previous() == null ? 0 : submitted.previous().length;
    }
    int count = request.events().size();
    Admission.Amount load =
        new Admission.Amount(
            request.tenant(), count, bytes, bytes + (long) count * Event.OVERHEAD_BYTES);
    Refused refusal = admission.refusal(load, turn);
    if (refusal != null) {
      turn.reply(replyTo, refusal);
      return;
    }
    int weight = 0;
    for (NewEvent submitted : request.events()) {
      Write.AcceptedEvent event = accept(request.tenant(), submitted, turn);
      weight += 1 + event.messages().size();
      accepted.add(event);
    }
    admission.taken(load, weight, turn);
    loads.accepting(firstId(accepted), lastId(accepted));
    commit.add(new Commit.Entry(new Write.Accept(accepted), null, null, replyTo, weight, bytes));
  }

  private Write.AcceptedEvent accept(String tenant, NewEvent submitted, Turn turn) {
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
    List<Subscription> wanting = match.wanting(tenant, event.type(), event.subject());
    List<Message> made = new ArrayList<>(wanting.size());
    for (Subscription subscription : wanting) {
      Lane lane = lanes.of(subscription.endpoint());
      Message message =
          Message.pending(
              ids.next(turn.now()),
              event.id(),
              subscription.id(),
              subscription.endpoint(),
              event.size());
      made.add(
          schedule.whenDue(message, lane.health(), turn.now()) instanceof Arrival.Park park
              ? park.message()
              : message);
    }
    return new Write.AcceptedEvent(event, made);
  }

  /** The events of one request are on disk, or one of them is in conflict with an earlier one. */
  void committed(Write.Accept write, AcceptResult result, Consumer<Answer> replyTo, Turn turn) {
    landed(write);
    switch (result) {
      case AcceptResult.Conflict conflict -> {
        release(write, _ -> true);
        turn.reply(replyTo, new Answer.Conflict(conflict.index()));
      }
      case AcceptResult.Kept kept -> {
        release(write, index -> kept.receipts().get(index).repeat());
        turn.reply(replyTo, new Answer.Accepted(kept.receipts()));
        for (int i = 0; i < kept.receipts().size(); i++) {
          Receipt receipt = kept.receipts().get(i);
          if (!receipt.repeat()) {
            handOver(write.events().get(i), turn);
          }
        }
      }
    }
  }

  /** The events of one request could not be written. */
  void notCommitted(Write.Accept write) {
    landed(write);
    release(write, _ -> true);
  }

  /** Tells what no longer waits to be written, and which of its events were not kept. */
  private void release(Write.Accept write, IntPredicate isNotKept) {
    if (write.events().isEmpty()) {
      return;
    }
    String tenant = write.events().getFirst().event().tenant();
    int rows = 0;
    long size = 0;
    int notKept = 0;
    long notKeptSize = 0;
    for (int i = 0; i < write.events().size(); i++) {
      Write.AcceptedEvent accepted = write.events().get(i);
      rows += 1 + accepted.messages().size();
      size += accepted.event().size();
      if (isNotKept.test(i)) {
        notKept++;
        notKeptSize += accepted.event().size();
      }
    }
    int count = write.events().size();
    admission.landed(
        new Admission.Amount(tenant, count, size - (long) count * Event.OVERHEAD_BYTES, size),
        rows,
        new Admission.Amount(tenant, notKept, 0, notKeptSize));
  }

  private void landed(Write.Accept write) {
    loads.accepted(firstId(write.events()));
  }

  private static long firstId(List<Write.AcceptedEvent> accepted) {
    return accepted.isEmpty() ? Long.MAX_VALUE : accepted.getFirst().event().id();
  }

  private static long lastId(List<Write.AcceptedEvent> accepted) {
    if (accepted.isEmpty()) {
      return Long.MAX_VALUE;
    }
    Write.AcceptedEvent last = accepted.getLast();
    return last.messages().isEmpty() ? last.event().id() : last.messages().getLast().id();
  }

  private void handOver(Write.AcceptedEvent accepted, Turn turn) {
    events++;
    messages += accepted.messages().size();
    BodyCache.Body body =
        bodies.hasRoomFor(accepted.event()) ? bodies.keep(accepted.event()) : null;
    for (Message message : accepted.messages()) {
      Lane lane = lanes.of(message.endpoint());
      boolean nothingBefore = lane.pendingUnheld() == 0;
      lanes.counted(lane, message.status(), 1);
      switch (message.status()) {
        case PENDING -> {
          if (nothingBefore && lane.first.size() < refill.window()) {
            dispatch.addFirst(lane, message, body, turn);
          } else {
            refill.want(lane);
          }
        }
        case PARKED, WAITING -> {
          if (lane.isOpen()) {
            refill.expectBacklog(lane);
          } else {
            wait.keepStored(lane, message);
            probe.somethingToTry(lane);
          }
        }
      }
    }
  }
}
