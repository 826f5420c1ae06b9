package dev.holdfast.core.port;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One thing to be kept. A write takes effect whole or not at all. */
public sealed interface Write {

  /**
   * Events that came in one request, with their messages: all are kept, or none.
   *
   * <p>An event whose caller-given id is known already is not kept again: the same content is a
   * repeat, other content a conflict that refuses the whole request.
   */
  record Accept(List<AcceptedEvent> events) implements Write {}

  /**
   * An event and what has to be delivered of it. Its messages are pending, parked or paused.
   *
   * @param later messages that are made in steps of their own
   */
  record AcceptedEvent(Event event, List<Message> messages, List<FanOut> later) {

    /** An event whose messages are all made at once. */
    public AcceptedEvent(Event event, List<Message> messages) {
      this(event, messages, List.of());
    }

    /** The last id that is written with it. */
    public long lastId() {
      return messages.isEmpty() ? event.id() : messages.getLast().id();
    }

    /** How many messages the event has, made or not. */
    public int total() {
      int total = messages.size();
      for (FanOut step : later) {
        total += step.targets().size();
      }
      return total;
    }
  }

  /** The messages of one step are made. */
  record Spread(FanOut step, List<Message> messages) implements Write {}

  /** The attempt succeeded: the message is finished. */
  record Deliver(Message message, Attempt attempt, Instant at) implements Write {}

  /** The attempt failed: {@code message} says how it waits from now on. */
  record Retry(Message message, Attempt attempt) implements Write {}

  /** The message is parked or paused, as it says. */
  record Park(Message message) implements Write {}

  /** The message waits again, or for another endpoint, as it says. */
  record Move(Message message) implements Write {}

  /**
   * The message is given up, after {@code attempt} if that was the last.
   *
   * @param announced the event that tells of it, if somebody wants to know
   */
  record Drop(
      Message message,
      DropReason reason,
      @Nullable Attempt attempt,
      Instant at,
      @Nullable AcceptedEvent announced)
      implements Write {

    /** A drop that nobody wants to be told of. */
    public Drop(Message message, DropReason reason, @Nullable Attempt attempt, Instant at) {
      this(message, reason, attempt, at, null);
    }
  }

  /**
   * A subscription, and its endpoint when {@code newEndpoint} is there.
   *
   * @param history brings it what was accepted before it
   */
  record Subscribe(
      Subscription subscription, @Nullable Endpoint newEndpoint, @Nullable Replay history)
      implements Write {

    /** A subscription that wants nothing of what was before it. */
    public Subscribe(Subscription subscription, @Nullable Endpoint newEndpoint) {
      this(subscription, newEndpoint, null);
    }
  }

  /** Subscriptions of one tenant, new and changed: all or none. */
  record Import(List<Subscribe> created, List<Update> changed) implements Write {}

  /** A subscription as it is from now on, and its endpoint when {@code newEndpoint} is there. */
  record Update(Subscription subscription, @Nullable Endpoint newEndpoint) implements Write {}

  /** The subscription wants nothing any more; its row stays until its messages are dropped. */
  record Unsubscribe(Subscription subscription, Instant at) implements Write {}

  /** No unfinished message of an ended subscription is left. */
  record Forget(long subscription) implements Write {}

  /** Somebody has set something about the endpoint, which is among those of the batch. */
  record Configure(long endpoint) implements Write {}

  /**
   * The endpoint entered the state that its health tells. Its counts follow with the batch.
   *
   * @param announced the event that tells of it, if somebody wants to know
   */
  record ChangeState(Endpoint endpoint, @Nullable AcceptedEvent announced) implements Write {

    /** A change that nobody wants to be told of. */
    public ChangeState(Endpoint endpoint) {
      this(endpoint, null);
    }
  }

  /**
   * How far a replay is, with the messages that it has made since the last time.
   *
   * @param before the replay as it was then; absent for a new one
   */
  record Progress(@Nullable Replay before, Replay replay, List<Remade> made) implements Write {}

  /** A message that a replay has made of another. */
  record Remade(Message message, long original) {}
}
