package dev.holdfast.core.path;

import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

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

  long refused;

  Accept(Limits limits, Make make, Commit commit, Loads loads, Spread spread, HandOver handOver) {
    this.limits = limits;
    this.make = make;
    this.commit = commit;
    this.loads = loads;
    this.spread = spread;
    this.handOver = handOver;
  }

  void submit(Request.Submit request, Consumer<Answer> replyTo, Turn turn) {
    List<Write.AcceptedEvent> accepted = new ArrayList<>(request.events().size());
    long bytes = 0;
    for (NewEvent submitted : request.events()) {
      bytes += submitted.data().length;
      bytes += submitted.previous() == null ? 0 : submitted.previous().length;
    }
    if (!commit.hasRoomFor(bytes)) {
      refused++;
      turn.reply(replyTo, new Refused(Refused.Why.OVERLOADED));
      return;
    }
    int weight = 0;
    int later = 0;
    for (NewEvent submitted : request.events()) {
      int room = Math.clamp(MATCHES_PER_REQUEST - weight, 0, limits.matchesAtOnce());
      Write.AcceptedEvent event = make.event(request.tenant(), submitted, room, turn);
      weight += 1 + event.messages().size() + event.later().size();
      later += event.total() - event.messages().size();
      accepted.add(event);
    }
    if (later > 0 && !spread.hasRoomFor(later)) {
      refused++;
      turn.reply(replyTo, new Refused(Refused.Why.OVERLOADED));
      return;
    }
    loads.unlanded(firstId(accepted));
    commit.add(new Commit.Entry(new Write.Accept(accepted), null, null, replyTo, weight, bytes));
  }

  /** The events of one request are on disk, or one of them is in conflict with an earlier one. */
  void committed(Write.Accept write, AcceptResult result, Consumer<Answer> replyTo, Turn turn) {
    loads.landed(firstId(write.events()));
    switch (result) {
      case AcceptResult.Conflict conflict ->
          turn.reply(replyTo, new Answer.Conflict(conflict.index()));
      case AcceptResult.Kept kept -> {
        turn.reply(replyTo, new Answer.Accepted(kept.receipts()));
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
    loads.landed(firstId(write.events()));
  }

  private static Long firstId(List<Write.AcceptedEvent> accepted) {
    return accepted.isEmpty() ? Long.MAX_VALUE : accepted.getFirst().event().id();
  }
}
