package dev.holdfast.core.model;

import dev.holdfast.core.model.Form.Version;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event for one subscription, while it is unfinished.
 *
 * @param attempts how many attempts have been made, scheduled or not
 * @param slot the number of the next scheduled attempt: 0 is the first attempt, <i>n</i> is retry
 *     <i>n</i>
 * @param base the moment from which its slots are counted; absent until the first attempt failed or
 *     the message was parked
 * @param due waiting: when its next scheduled attempt is due; parked or paused: its deadline;
 *     pending: absent
 * @param notBefore until when its endpoint asked to be left alone (Retry-After)
 * @param lastAttemptAt when its last attempt started
 * @param size the bytes that its event takes in memory
 * @param version the version that it is sent in, whatever its subscription's is by then; absent
 *     unless its event is sent in both
 */
public record Message(
    long id,
    long event,
    long subscription,
    long endpoint,
    Status status,
    int attempts,
    int slot,
    @Nullable Instant base,
    @Nullable Instant due,
    @Nullable Instant notBefore,
    @Nullable Instant lastAttemptAt,
    int size,
    @Nullable Version version) {

  public enum Status {
    /** Never tried. */
    PENDING,
    /** Failed; a retry is scheduled. */
    WAITING,
    /** Its slot has come, but its endpoint takes no deliveries now. */
    PARKED,
    /** Held back because its subscription is paused. People see it as parked. */
    PAUSED
  }

  /** Why a message was given up. */
  public enum DropReason {
    EXHAUSTED,
    EXPIRED,
    UNSUBSCRIBED
  }

  public Message {
    if ((status == Status.PENDING) != (due == null)) {
      throw new IllegalArgumentException("a message is pending or has a due time: " + id);
    }
    if (status != Status.PENDING && base == null) {
      throw new IllegalArgumentException("a message that is not pending has a base: " + id);
    }
  }

  /** A message that nobody has tried yet. */
  public static Message pending(
      long id, long event, long subscription, long endpoint, int size, @Nullable Version version) {
    return new Message(
        id,
        event,
        subscription,
        endpoint,
        Status.PENDING,
        0,
        0,
        null,
        null,
        null,
        null,
        size,
        version);
  }

  /** The same, sent in the version that its subscription has by then. */
  public static Message pending(long id, long event, long subscription, long endpoint, int size) {
    return pending(id, event, subscription, endpoint, size, null);
  }

  /** The same message, for another endpoint. */
  public Message at(long otherEndpoint) {
    return new Message(
        id,
        event,
        subscription,
        otherEndpoint,
        status,
        attempts,
        slot,
        base,
        due,
        notBefore,
        lastAttemptAt,
        size,
        version);
  }

  /** The same message in another status, due then. */
  public Message as(Status otherStatus, Instant otherBase, Instant otherDue) {
    return new Message(
        id,
        event,
        subscription,
        endpoint,
        otherStatus,
        attempts,
        slot,
        otherBase,
        otherDue,
        notBefore,
        lastAttemptAt,
        size,
        version);
  }

  public Instant createdAt() {
    return Id.time(id);
  }
}
