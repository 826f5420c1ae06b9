package dev.holdfast.engine.format;

import static dev.holdfast.engine.format.Body.ascii;
import static dev.holdfast.engine.format.Body.put;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;
import java.util.Base64;

/**
 * The format {@code workfront}: what event subscriptions of Adobe Workfront send.
 *
 * <p>An event's type is {@code objCode.eventType}, such as {@code PROJ.UPDATE}; the body has what
 * is after the last dot. {@code newState} is the event's {@code data}, {@code oldState} its {@code
 * previous}, or an empty object, as receivers of these messages know it from creations. In version
 * 2 both are the very bytes that came in, in version 1 those of {@link SingleValues}; or the same
 * bytes in Base64 as a text.
 */
final class WorkfrontFormat {
  private static final byte[] EVENT_TYPE = ascii("{\"eventType\":");
  private static final byte[] SUBSCRIPTION_ID = ascii(",\"subscriptionId\":");
  private static final byte[] EPOCH_SECOND = ascii(",\"eventTime\":{\"epochSecond\":");
  private static final byte[] NANO = ascii(",\"nano\":");
  private static final byte[] EVENT_V1 = ascii("},\"eventVersion\":\"v1\"");
  private static final byte[] EVENT_V2 = ascii("},\"eventVersion\":\"v2\"");
  private static final byte[] SUBSCRIPTION_V1 = ascii(",\"subscriptionVersion\":\"v1\"");
  private static final byte[] SUBSCRIPTION_V2 = ascii(",\"subscriptionVersion\":\"v2\"");
  private static final byte[] NEW_STATE = ascii(",\"newState\":");
  private static final byte[] OLD_STATE = ascii(",\"oldState\":");
  private static final byte[] NEW_STATE_TEXT = ascii(",\"newState\":\"");
  private static final byte[] OLD_STATE_TEXT = ascii("\",\"oldState\":\"");
  private static final byte[] NO_STATE = ascii("{}");
  private static final byte[] END = ascii("}");
  private static final byte[] END_TEXT = ascii("\"}");

  private WorkfrontFormat() {}

  /**
   * @param version the one that the body is in, which may be another than the subscription's
   */
  static Body body(Event event, Subscription subscription, Version version) {
    String eventType = eventType(event.type());
    String subscriptionId = Id.text(Id.SUBSCRIPTION, subscription.id());
    Instant occurredAt = event.occurredAt();
    Instant time = occurredAt == null ? event.acceptedAt() : occurredAt;
    byte[] epochSecond = ascii(Long.toString(time.getEpochSecond()));
    byte[] nano = ascii(Integer.toString(time.getNano()));
    byte[] eventVersion = version == Version.V1 ? EVENT_V1 : EVENT_V2;
    byte[] subscriptionVersion =
        subscription.form().version() == Version.V1 ? SUBSCRIPTION_V1 : SUBSCRIPTION_V2;
    byte[] newState = state(event.data(), version);
    byte[] oldState = event.previous() == null ? NO_STATE : state(event.previous(), version);
    boolean base64 = subscription.form().base64();
    byte[] newStateStart = base64 ? NEW_STATE_TEXT : NEW_STATE;
    byte[][] tail =
        base64
            ? new byte[][] {encoded(newState), OLD_STATE_TEXT, encoded(oldState), END_TEXT}
            : new byte[][] {newState, OLD_STATE, oldState, END};

    int head =
        EVENT_TYPE.length
            + JsonText.length(eventType)
            + SUBSCRIPTION_ID.length
            + JsonText.length(subscriptionId)
            + EPOCH_SECOND.length
            + epochSecond.length
            + NANO.length
            + nano.length
            + eventVersion.length
            + subscriptionVersion.length
            + newStateStart.length;

    byte[] bytes = Body.room(head, tail);
    int at = put(EVENT_TYPE, bytes, 0);
    at = JsonText.write(eventType, bytes, at);
    at = put(SUBSCRIPTION_ID, bytes, at);
    at = JsonText.write(subscriptionId, bytes, at);
    at = put(EPOCH_SECOND, bytes, at);
    at = put(epochSecond, bytes, at);
    at = put(NANO, bytes, at);
    at = put(nano, bytes, at);
    at = put(eventVersion, bytes, at);
    at = put(subscriptionVersion, bytes, at);
    at = put(newStateStart, bytes, at);
    return Body.joined(bytes, at, tail);
  }

  /** A type without a dot, or with nothing after its last one, is the event type as it is. */
  private static String eventType(String type) {
    int start = type.lastIndexOf('.') + 1;
    return start == 0 || start == type.length() ? type : type.substring(start);
  }

  private static byte[] state(byte[] bytes, Version version) {
    return version == Version.V1 ? SingleValues.bare(bytes) : bytes;
  }

  private static byte[] encoded(byte[] state) {
    return Base64.getEncoder().encode(state);
  }
}
