package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Answer.Refused.Excess;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was not done, and what to do about it: a problem document as in RFC 9457.
 *
 * @param field the field, parameter or header that is at fault
 * @param index which event of a batch is at fault
 * @param reference under which the log says more
 * @param retryAfterSeconds when the same request may succeed
 * @param allow the methods that the path knows
 */
record Problem(
    Kind kind,
    String detail,
    @Nullable String field,
    @Nullable Integer index,
    @Nullable String reference,
    int retryAfterSeconds,
    @Nullable String allow) {

  /** Where the kinds are named; not meant to be fetched. */
  private static final String TYPE_PREFIX = "urn:holdfast:problem:";

  /** Nobody knows when old events make room; asking once a minute costs nobody much. */
  private static final int STORED_QUOTA_RETRY_SECONDS = 60;

  enum Kind {
    BAD_HTTP(400, "bad-http", "The request is not proper HTTP"),
    INVALID_JSON(400, "invalid-json", "The body is not valid JSON"),
    INVALID_FIELD(400, "invalid-field", "A field has a value that it cannot have"),
    UNKNOWN_FIELD(400, "unknown-field", "The body has a field that is not known"),
    INVALID_PARAMETER(400, "invalid-parameter", "A parameter or header is not valid"),
    LIST_TOO_LONG(400, "list-too-long", "The list is too long for one answer"),
    UNEXPECTED_BODY(400, "unexpected-body", "This call takes no body"),
    UNAUTHENTICATED(401, "unauthenticated", "A valid key is needed"),
    KEY_EXPIRED(401, "key-expired", "The key has expired"),
    NOT_ALLOWED(403, "not-allowed", "The key does not allow this"),
    CSRF_TOKEN(403, "csrf-token", "The header Holdfast-Csrf is missing or not right"),
    NOT_FOUND(404, "not-found", "There is no such thing"),
    NO_SUCH_PATH(404, "no-such-path", "There is no such path"),
    METHOD_NOT_ALLOWED(405, "method-not-allowed", "The path does not know this method"),
    TOO_SLOW(408, "too-slow", "The request did not arrive in time"),
    ALREADY_SUBSCRIBED(409, "already-subscribed", "There is such a subscription already"),
    ID_CONFLICT(409, "id-conflict", "The event id is taken"),
    LAST_ADMIN_KEY(409, "last-admin-key", "The last admin key cannot be revoked"),
    MASTER_KEY_NOT_ROTATED(409, "master-key-not-rotated", "The master key was not changed"),
    NOT_RETRYABLE(409, "not-retryable", "The message cannot be retried"),
    TOO_MANY_HISTORIES(409, "too-many-histories", "Too many histories are under way"),
    TOO_MANY_SECRETS(409, "too-many-secrets", "Too many secrets are valid at once"),
    TOO_LARGE(413, "too-large", "The request is too large"),
    BATCH_OVER_QUOTA(413, "batch-over-quota", "The request is larger than the quota ever allows"),
    URI_TOO_LONG(414, "uri-too-long", "The request line is too long"),
    UNSUPPORTED_MEDIA_TYPE(415, "unsupported-media-type", "The body must be JSON"),
    EXPECTATION_FAILED(417, "expectation-failed", "The expectation cannot be met"),
    NOT_STORABLE(422, "not-storable", "The store cannot keep this"),
    OVERLOADED(429, "overloaded", "Too much at once"),
    TOO_MANY_FAILED_KEYS(429, "too-many-failed-keys", "Too many keys were not valid"),
    QUOTA_EXCEEDED(429, "quota-exceeded", "The tenant's quota is used up"),
    HEADERS_TOO_LARGE(431, "headers-too-large", "The headers are too large"),
    INTERNAL(500, "internal", "Something went wrong on our side"),
    STORE_FULL(503, "store-full", "There is no room left"),
    STORE_AWAY(503, "store-away", "The database cannot be reached"),
    STOPPING(503, "stopping", "The server is stopping"),
    NOT_READY(503, "not-ready", "The server is not ready"),
    UNAVAILABLE(503, "unavailable", "There is no answer at the moment");

    final int status;
    final String type;
    final String title;

    Kind(int status, String slug, String title) {
      this.status = status;
      this.type = TYPE_PREFIX + slug;
      this.title = title;
    }
  }

  static final Problem UNKNOWN_ID =
      of(Kind.NOT_FOUND, "Check the id, and that the key belongs to the tenant that has it.");

  static final Problem SESSION_ENDED =
      of(
          Kind.UNAUTHENTICATED,
          "The session has ended. Sign in again, with POST /v1/session and a valid key.");

  static final Problem CSRF_TOKEN =
      of(
          Kind.CSRF_TOKEN,
          "Holdfast-Csrf",
          "With the cookie of a session, every request that changes something needs the header"
              + " \"Holdfast-Csrf: <csrf>\". GET /v1/session tells its value.");

  static final Problem STOPPING =
      of(Kind.STOPPING, "Send the same request again in a few seconds.").retryAfter(5);

  static Problem of(Kind kind, String detail) {
    return new Problem(kind, detail, null, null, null, 0, null);
  }

  static Problem of(Kind kind, String field, String detail) {
    return new Problem(kind, detail, field, null, null, 0, null);
  }

  static Problem conflict(int index, boolean batch) {
    return new Problem(
        Kind.ID_CONFLICT,
        "An event with this id and other content was accepted before. Give this one an id of its"
            + " own, or send the same content to get the first result again."
            + (batch ? " Nothing of the batch was accepted." : ""),
        batch ? "events[" + index + "].id" : "id",
        batch ? index : null,
        null,
        0,
        null);
  }

  static Problem methodNotAllowed(String allow) {
    return new Problem(
        Kind.METHOD_NOT_ALLOWED, "Use one of: " + allow + ".", null, null, null, 0, allow);
  }

  static Problem expired(Instant at) {
    return of(
        Kind.KEY_EXPIRED, "It opens nothing since %s. Ask an admin for a new key.".formatted(at));
  }

  static Problem tooManyFailedKeys(int retryAfterSeconds) {
    return of(
            Kind.TOO_MANY_FAILED_KEYS,
            "The key is not valid, and more than %d that were not came from this address within a minute. Check the key, and try it after the time in Retry-After."
                .formatted(ApiLimits.FAILED_KEYS))
        .retryAfter(retryAfterSeconds);
  }

  static Problem alreadySubscribed(long subscription) {
    return of(
        Kind.ALREADY_SUBSCRIBED,
        "The subscription %s is the same in every field, so nothing was created. Use that one, or ask for something else."
            .formatted(Id.text(Id.SUBSCRIPTION, subscription)));
  }

  static Problem tooManySecrets(int most) {
    return of(
        Kind.TOO_MANY_SECRETS,
        "%d secrets can be valid at once, no more. Wait until older ones have ended, or end them now with \"oldValidFor\": \"0s\"."
            .formatted(most));
  }

  static Problem tooManyHistories(int most) {
    return of(
        Kind.TOO_MANY_HISTORIES,
        "since",
        "%d subscriptions of a tenant can be brought what was before them at once, no more. Wait for one to end, or cancel one: GET /v1/replays lists them. Nothing was created."
            .formatted(most));
  }

  static Problem internal(String reference) {
    return new Problem(
        Kind.INTERNAL,
        "Try again; if it happens again, ask the operator to look for the reference in the log.",
        null,
        null,
        reference,
        0,
        null);
  }

  static Problem of(Refused refused) {
    return switch (refused.why()) {
      case OVERLOADED ->
          of(Kind.OVERLOADED, "More comes in than can be written. Send the same request again.")
              .retryAfter(1);
      case TENANT_OVERLOADED ->
          of(
                  Kind.OVERLOADED,
                  "So much of this tenant's waits to be written that others would have to wait."
                      + " Send the same request again, and less at once.")
              .retryAfter(1);
      case EVENT_QUOTA -> overEvents(refused.excess());
      case STORED_QUOTA -> overStored(refused.excess());
      case STORE_LOW ->
          of(
                  Kind.STORE_FULL,
                  "The store's disk is nearly full, and the rest is for the outcomes of deliveries."
                      + " What was accepted is still delivered; send the same request again when the"
                      + " operator has made room.")
              .retryAfter(10);
      case STORE_FULL ->
          of(
                  Kind.STORE_FULL,
                  "The store's disk is full. What was accepted is still delivered; send the same"
                      + " request again when the operator has made room.")
              .retryAfter(30);
      case NOT_STORABLE ->
          of(
              Kind.NOT_STORABLE,
              "Nothing was kept. Send the events one by one to find the one that is at fault, and"
                  + " make it smaller or simpler.");
      case STORE_AWAY ->
          of(
                  Kind.STORE_AWAY,
                  "The database cannot be reached now. What was accepted is in it and goes on being"
                      + " delivered when it is back; send the same request again.")
              .retryAfter(1);
      case STOPPING -> STOPPING;
    };
  }

  private static Problem overEvents(@Nullable Excess excess) {
    if (excess == null) {
      return of(Kind.QUOTA_EXCEEDED, "Send the same request again.").retryAfter(1);
    }
    String quota =
        "The tenant's quota is %d events a second, at most %d at once"
            .formatted(excess.quota(), excess.present());
    Duration wait = excess.retryAfter();
    if (wait == null) {
      return of(
          Kind.BATCH_OVER_QUOTA,
          quota
              + ". This batch has "
              + excess.asked()
              + " and will never fit: send smaller ones, or ask the operator to raise"
              + " quota.events-per-second or quota.burst. Nothing of it was accepted.");
    }
    return of(
            Kind.QUOTA_EXCEEDED,
            quota
                + ", and it is used up (quota.events-per-second). Nothing of the request was"
                + " accepted; send it again after the time in Retry-After.")
        .retryAfter((int) Math.max(1, wait.plusMillis(999).toSeconds()));
  }

  private static Problem overStored(@Nullable Excess excess) {
    if (excess == null) {
      return of(Kind.QUOTA_EXCEEDED, "Send the same request again.")
          .retryAfter(STORED_QUOTA_RETRY_SECONDS);
    }
    String quota =
        "The tenant's quota is %d bytes of kept events (quota.stored-bytes)"
            .formatted(excess.quota());
    if (excess.asked() > excess.quota()) {
      return of(
          Kind.BATCH_OVER_QUOTA,
          quota
              + ". This request has "
              + excess.asked()
              + " and will never fit: send less at once, or ask the operator to raise the quota."
              + " Nothing of it was accepted.");
    }
    return of(
            Kind.QUOTA_EXCEEDED,
            quota
                + ": %d are kept, and this would add %d. Nothing of it was accepted; send it again"
                    .formatted(excess.present(), excess.asked())
                + " when older events have been removed as their retention ended, or ask the"
                + " operator to raise the quota.")
        .retryAfter(STORED_QUOTA_RETRY_SECONDS);
  }

  /** The same about an event at this place of a batch. */
  Problem inBatch(int place) {
    Problem there = at("events[" + place + "]");
    return new Problem(kind, detail, there.field, place, reference, retryAfterSeconds, allow);
  }

  /** The same about something that stands at this place of the body. */
  Problem at(String place) {
    return new Problem(
        kind,
        detail,
        field == null ? place : place + "." + field,
        index,
        reference,
        retryAfterSeconds,
        allow);
  }

  Problem retryAfter(int seconds) {
    return new Problem(kind, detail, field, index, reference, seconds, allow);
  }

  Buffer json() {
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeStringProperty("type", kind.type);
          out.writeStringProperty("title", kind.title);
          out.writeNumberProperty("status", kind.status);
          out.writeStringProperty("detail", Text.whole(detail));
          if (field != null) {
            out.writeStringProperty("field", Text.whole(field));
          }
          if (index != null) {
            out.writeNumberProperty("index", index);
          }
          if (reference != null) {
            out.writeStringProperty("reference", reference);
          }
          out.writeEndObject();
        });
  }
}
