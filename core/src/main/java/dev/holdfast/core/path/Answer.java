package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Written.Receipt;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a {@link Request} is answered with. Whatever it says was done is on disk. */
public sealed interface Answer {

  record Accepted(List<Receipt> receipts) implements Answer {}

  /** Nothing was accepted: the event at {@code index} has a known id and other content. */
  record Conflict(int index) implements Answer {}

  /** An answer to whoever wants to have, change or end subscriptions. */
  sealed interface OfSubscriptions extends Answer {}

  /**
   * The subscription is there.
   *
   * @param history brings what was accepted before, if that was asked for
   */
  record Subscribed(Subscription subscription, Endpoint endpoint, @Nullable Replay history)
      implements OfSubscriptions {}

  /** Nothing was done: there is a subscription like the one that was asked for. */
  record AlreadyThere(long subscription) implements OfSubscriptions {}

  record Updated(Subscription subscription, Endpoint endpoint) implements OfSubscriptions {}

  /** Nothing was changed: what is to be changed does not go with what stays. */
  record Unfit(String field, String reason) implements OfSubscriptions {}

  /** Nothing was changed: so many secrets are still valid that there can be no more. */
  record TooManySecrets(int most) implements OfSubscriptions {}

  /** Nothing was done: so many subscriptions are being brought what was before them. */
  record TooManyHistories(int most) implements OfSubscriptions {}

  /** What became of each subscription that was to be had, or would become of it. */
  record Imported(List<Item> items) implements OfSubscriptions {

    public record Item(Result result, Subscription subscription, Endpoint endpoint) {}

    public enum Result {
      CREATED,
      CHANGED,
      UNCHANGED
    }
  }

  record Unsubscribed() implements OfSubscriptions {}

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

  /** Nothing was done: another node decides for this shard, and has to be asked. */
  record NotOurs(int shard) implements Answer {}

  /**
   * Nothing was done.
   *
   * @param excess by how much, when a quota is exceeded
   */
  record Refused(Why why, @Nullable Excess excess) implements Answer {
    public Refused(Why why) {
      this(why, null);
    }

    /**
     * A quota and what is too much for it.
     *
     * @param quota what is allowed: events a second, or bytes kept
     * @param present events: how many may ever come at once; bytes: what is kept now
     * @param asked what the request has: events, or bytes
     * @param retryAfter how long until the same request may be taken; absent when nobody can say,
     *     or when it never will be
     */
    public record Excess(long quota, long present, long asked, @Nullable Duration retryAfter) {}

    /** What stands in the way. */
    public enum Why {
      /** More is accepted than can be kept up with. */
      OVERLOADED,
      /** More of this tenant's events wait to be written than is its share. */
      TENANT_OVERLOADED,
      /** The tenant has sent more events than its quota allows. */
      EVENT_QUOTA,
      /** As much of the tenant's is kept as its quota allows. */
      STORED_QUOTA,
      /** What is left on disk is for the outcomes of attempts. */
      STORE_LOW,
      /** No room on disk. */
      STORE_FULL,
      /** The store cannot keep this. */
      NOT_STORABLE,
      /** The store cannot be reached, or another node has taken over from this one. */
      STORE_AWAY,
      STOPPING
    }
  }
}
