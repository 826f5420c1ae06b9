package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer.NotRetryable;
import dev.holdfast.core.path.Answer.NotRetryable.Obstacle;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Load;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Off the path: somebody wants a message tried now. */
final class RetryByHand {
  private final Lanes lanes;
  private final Loads loads;
  private final Wait wait;
  private final Dispatch dispatch;
  private final Commit commit;
  private final IdentityHashMap<Load, Asked> asked = new IdentityHashMap<>();

  RetryByHand(Lanes lanes, Loads loads, Wait wait, Dispatch dispatch, Commit commit) {
    this.lanes = lanes;
    this.loads = loads;
    this.wait = wait;
    this.dispatch = dispatch;
    this.commit = commit;
  }

  /** Those whose answer may be from before another node decided for the message. */
  private final Set<Load> doubtful = Collections.newSetFromMap(new IdentityHashMap<>());

  private record Asked(Request.RetryNow request, Actor by, Consumer<Answer> replyTo) {}

  /** Endpoints change hands: what is being read may be from before another node decided. */
  void doubt() {
    doubtful.addAll(asked.keySet());
  }

  /** Everybody who waits for an answer. */
  List<Consumer<Answer>> waiting() {
    return asked.values().stream().map(Asked::replyTo).toList();
  }

  void retry(Request.RetryNow request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Held held = lanes.held(request.message());
    if (held != null) {
      turn.reply(replyTo, retry(held, request.tenant(), by, turn));
      return;
    }
    Load load = new Load.Unfinished(request.message());
    asked.put(load, new Asked(request, by, replyTo));
    loads.start(load, turn);
  }

  void loaded(Load.Unfinished load, List<Message> found, long number, Turn turn) {
    Asked question = asked.remove(load);
    if (question == null) {
      throw new IllegalStateException("nobody asked for message " + load.message());
    }
    if (doubtful.remove(load)
        || lanes.held(load.message()) != null
        || loads.isOutOfTime(load.message(), number)) {
      retry(question.request(), question.by(), question.replyTo(), turn);
      return;
    }
    if (found.isEmpty()) {
      turn.reply(question.replyTo(), new Answer.NotFound());
      return;
    }
    Message message = found.getFirst();
    Lane lane = lanes.get(message.endpoint());
    if (lane == null) {
      // Another node has made the endpoint just now.
      turn.reply(question.replyTo(), new Answer.NotOurs(Shards.of(message.endpoint())));
      return;
    }
    Answer refusal = refusal(lane, message, question.request().tenant());
    if (refusal == null) {
      start(lanes.hold(lane, message, Place.RETRY), question.by(), turn);
    }
    turn.reply(question.replyTo(), refusal == null ? new Answer.RetryStarted() : refusal);
  }

  private Answer retry(Held held, String tenant, Actor by, Turn turn) {
    Answer refusal = refusal(held.lane, held.message, tenant);
    if (refusal != null) {
      return refusal;
    }
    if (held.place == Place.SENDING || held.place == Place.WRITING) {
      return new NotRetryable(Obstacle.BEING_SENT);
    }
    if (held.place == Place.TIMER) {
      wait.take(held);
    } else {
      (held.place == Place.UNHEARD ? held.lane.unheard : held.lane.retry).remove(held);
    }
    start(held, by, turn);
    return new Answer.RetryStarted();
  }

  /** What is written down of it is on disk no later than what becomes of the attempt. */
  private void start(Held held, Actor by, Turn turn) {
    dispatch.offerUrgent(held);
    commit.add(
        new Deed(by, turn.now(), held.lane.endpoint.tenant(), new Deed.Retried(held.message.id())));
  }

  /** Why a message cannot be tried by hand; absent when it can. */
  private static @Nullable Answer refusal(Lane lane, Message message, String tenant) {
    if (!lane.endpoint.tenant().equals(tenant)) {
      return new Answer.NotFound();
    }
    if (!lane.ours) {
      return new Answer.NotOurs(Shards.of(lane.endpoint.id()));
    }
    if (message.status() == Status.PENDING) {
      return new NotRetryable(Obstacle.BEING_SENT);
    }
    return lane.health().state() == State.FROZEN
        ? new NotRetryable(Obstacle.ENDPOINT_FROZEN)
        : null;
  }
}
