package dev.holdfast.core.port;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
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

  /** An event and what has to be delivered of it. Its messages are pending, or parked. */
  record AcceptedEvent(Event event, List<Message> messages) {}

  /** The attempt succeeded: the message is finished. */
  record Deliver(Message message, Attempt attempt, Instant at) implements Write {}

  /** The attempt failed: {@code message} says how it waits from now on. */
  record Retry(Message message, Attempt attempt) implements Write {}

  /** The message is parked, as it says. */
  record Park(Message message) implements Write {}

  /** The message is given up, after {@code attempt} if that was the last. */
  record Drop(Message message, DropReason reason, @Nullable Attempt attempt, Instant at)
      implements Write {}

  /** A subscription, and its endpoint when {@code newEndpoint} is there. */
  record Subscribe(Subscription subscription, @Nullable Endpoint newEndpoint) implements Write {}

  /** The subscription wants nothing any more; its row stays until its messages are dropped. */
  record Unsubscribe(Subscription subscription, Instant at) implements Write {}

  /** No unfinished message of an ended subscription is left. */
  record Forget(long subscription) implements Write {}

  /** Somebody has set something about the endpoint, which is among those of the batch. */
  record Configure(long endpoint) implements Write {}

  /** The endpoint entered the state that its health tells. Its counts follow with the batch. */
  record ChangeState(Endpoint endpoint) implements Write {}
}
