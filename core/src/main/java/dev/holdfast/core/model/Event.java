package dev.holdfast.core.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened, as its sender told it.
 *
 * <p>{@code data} and {@code previous} are the bytes of two JSON values exactly as they came in;
 * they are carried, never rewritten. The arrays are not copied and must not be changed.
 *
 * @param callerId the id that the sender chose, if it chose one
 * @param traceparent the W3C trace context that came with the event
 */
public record Event(
    long id,
    String tenant,
    String type,
    @Nullable String subject,
    @Nullable Instant occurredAt,
    byte[] data,
    byte @Nullable [] previous,
    @Nullable String callerId,
    @Nullable String traceparent) {

  /** What an event is reckoned at beyond its payload, in memory and in the store. */
  public static final int OVERHEAD_BYTES = 256;

  /** The id that everybody outside sees: the sender's own, else ours. */
  public String publicId() {
    return callerId != null ? callerId : Id.text(Id.EVENT, id);
  }

  public Instant acceptedAt() {
    return Id.time(id);
  }

  /** The bytes that holding this event in memory is reckoned at. */
  public int size() {
    return sizeOf(data.length + (previous == null ? 0 : previous.length));
  }

  /** The same for an event of which only the length of its payload is known. */
  public static int sizeOf(int payloadBytes) {
    return OVERHEAD_BYTES + payloadBytes;
  }
}
