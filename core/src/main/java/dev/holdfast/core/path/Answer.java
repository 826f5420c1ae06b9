package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Written.Receipt;
import java.util.List;

/** What a {@link Request} is answered with. Whatever it says was done is on disk. */
public sealed interface Answer {

  record Accepted(List<Receipt> receipts) implements Answer {}

  /** Nothing was accepted: the event at {@code index} has a known id and other content. */
  record Conflict(int index) implements Answer {}

  record Subscribed(Subscription subscription, Endpoint endpoint) implements Answer {}

  record Updated(Subscription subscription, Endpoint endpoint) implements Answer {}

  record Unsubscribed() implements Answer {}

  record ReplayIs(Replay replay) implements Answer {}

  record EndpointIs(Endpoint endpoint, Unfinished unfinished) implements Answer {}

  record RetryStarted() implements Answer {}

  record NotRetryable(Obstacle obstacle) implements Answer {
    /** What stands in the way. */
    public enum Obstacle {
      /** Delivered or dropped: a replay makes a new message. */
      FINISHED,
      ENDPOINT_FROZEN,
      /** Its first attempt is still to come, or an attempt is under way. */
      BEING_SENT
    }
  }

  record NotFound() implements Answer {}

  /** Nothing was done. */
  record Refused(Why why) implements Answer {
    /** What stands in the way. */
    public enum Why {
      /** More is accepted than can be kept up with. */
      OVERLOADED,
      /** No room on disk. */
      STORE_FULL,
      /** The store cannot keep this. */
      NOT_STORABLE,
      STOPPING
    }
  }
}
