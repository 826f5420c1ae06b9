package dev.holdfast.engine.store;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.engine.store.Rows.EventHead;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/** How people see what is kept of messages, and which ids are theirs. */
public final class Summaries {
  /** The last time that an id can tell. */
  private static final Instant LAST_TIME = Id.time(Long.MAX_VALUE);

  private Summaries() {}

  /** An unfinished message. */
  public static MessageSummary of(Message message, EventHead event) {
    return new MessageSummary(
        message.id(),
        publicId(event),
        message.subscription(),
        message.endpoint(),
        event.type(),
        event.subject(),
        shown(message.status()),
        null,
        message.attempts(),
        message,
        message.version());
  }

  /** A finished message. */
  public static MessageSummary of(Finished message, EventHead event) {
    return new MessageSummary(
        message.id(),
        publicId(event),
        message.subscription(),
        message.endpoint(),
        event.type(),
        event.subject(),
        message.reason() == null ? Status.DELIVERED : Status.DROPPED,
        message.reason(),
        message.attempts(),
        null,
        message.version());
  }

  /**
   * An event.
   *
   * @param bytes how long its payload is
   * @param messages how many of its messages are in each status
   */
  public static EventSummary of(EventHead event, int bytes, Map<Status, Integer> messages) {
    return new EventSummary(
        event.id(),
        publicId(event),
        event.type(),
        event.subject(),
        event.occurredAt() == null ? null : Instant.parse(event.occurredAt()),
        bytes,
        Map.copyOf(messages));
  }

  /** The status that people see. */
  public static Status shown(Message.Status status) {
    return switch (status) {
      case PENDING -> Status.PENDING;
      case WAITING -> Status.WAITING;
      case PARKED, PAUSED -> Status.PARKED;
    };
  }

  private static String publicId(EventHead event) {
    return event.callerId() != null ? event.callerId() : Id.text(Id.EVENT, event.id());
  }

  /** The id of the last message that was made with an event. Those of replays come later. */
  public static long lastMessageOf(EventHead event) {
    return event.id() + event.messages() * Id.STRIDE;
  }

  /** The lowest id of what was created at {@code time} or later, to the millisecond. */
  public static long firstIdAt(Instant time) {
    if (time.isAfter(LAST_TIME)) {
      return Long.MAX_VALUE;
    }
    Instant millis = time.truncatedTo(ChronoUnit.MILLIS);
    return Id.floor(millis.equals(time) ? millis : millis.plusMillis(1));
  }
}
