package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * First step: gives events their ids, has them matched, and hands them to {@link Commit}. When they
 * are on disk, answers, and hands their messages to {@link Dispatch} from memory.
 */
final class Accept {
  /** Messages that one request makes at once; the events after that get theirs in steps. */
  private static final int MATCHES_PER_REQUEST = 10_000;

  private final Limits limits;
  private final Make make;
  private final Commit commit;
  private final Loads loads;
  private final Spread spread;
  private final HandOver handOver;
  private final Admission admission;
  private final Answers answers;

  Accept(
      Limits limits,
      Make make,
      Commit commit,
      Loads loads,
      Spread spread,
      HandOver handOver,
      Admission admission,
      Answers answers) {
    this.limits = limits;
    this.make = make;
    this.commit = commit;
    this.loads = loads;
    this.spread = spread;
    this.handOver = handOver;
    this.admission = admission;
    this.answers = answers;
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
    int later = 0;
    for (NewEvent submitted : request.events()) {
      int room = Math.clamp(MATCHES_PER_REQUEST - weight, 0, limits.matchesAtOnce());
      Write.AcceptedEvent event = make.event(request.tenant(), submitted, room, turn);
      weight += rows(event);
      later += event.total() - event.messages().size();
      accepted.add(event);
    }
    if (later > 0 && !spread.hasRoomFor(later)) {
      turn.reply(replyTo, admission.tooMuchAtOnce());
      return;
    }
    admission.taken(load, weight, turn);
    loads.accepting(firstId(accepted), lastId(accepted));
    commit.add(new Commit.Entry(new Write.Accept(accepted), null, null, replyTo, weight, bytes));
  }

  /** The events of one request are on disk, or one of them is in conflict with an earlier one. */
  void committed(Write.Accept write, AcceptResult result, Consumer<Answer> replyTo, Turn turn) {
    loads.accepted(firstId(write.events()));
    switch (result) {
      case AcceptResult.Conflict conflict -> {
        release(write, _ -> true);
        answers.add(replyTo, new Answer.Conflict(conflict.index()));
      }
      case AcceptResult.Kept kept -> {
        release(write, index -> kept.receipts().get(index).repeat());
        answers.add(replyTo, new Answer.Accepted(kept.receipts()));
        for (int i = 0; i < kept.receipts().size(); i++) {
          Receipt receipt = kept.receipts().get(i);
          if (!receipt.repeat()) {
            handOver.accepted(write.events().get(i), turn);
          }
        }
      }
    }
  }

  /** The events of one request could not be written. */
  void notCommitted(Write.Accept write) {
    loads.accepted(firstId(write.events()));
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
      rows += rows(accepted);
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

  private static int rows(Write.AcceptedEvent accepted) {
    return 1 + accepted.messages().size() + accepted.later().size();
  }

  private static long firstId(List<Write.AcceptedEvent> accepted) {
    return accepted.isEmpty() ? Long.MAX_VALUE : accepted.getFirst().event().id();
  }

  private static long lastId(List<Write.AcceptedEvent> accepted) {
    if (accepted.isEmpty()) {
      return Long.MAX_VALUE;
    }
    return accepted.getLast().lastId();
  }
}
