package dev.holdfast.engine.http;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.port.Delivery;
import io.netty.buffer.ByteBuf;
import io.opentelemetry.api.trace.Span;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An attempt under way, and what has come back of its answer so far. */
final class Sending {

  /** How much of an answer is kept. */
  static final int KEPT_BYTES = 4 * 1024;

  /** How much of an answer is read, so that its connection can be used again. */
  static final int READ_BYTES = 16 * 1024;

  /** A {@code Retry-After} that is longer says nothing that could be understood. */
  private static final int MOST_RETRY_AFTER_CHARACTERS = 128;

  final Delivery delivery;
  final Attempts.Ended ended;
  final Target target;

  /** When its time began. */
  long startedNanos;

  /** Whether {@link Deadlines} knows it. */
  boolean timed;

  /** What shows it to people, when there is tracing. */
  final @Nullable Span span;

  final Letterhead letterhead;

  /** Its signatures, if they were made beforehand. */
  byte @Nullable [] signatures;

  /** Whether it has not to wait for signatures of its own any more. */
  boolean isSigned;

  /** Why its signatures could not be made. */
  @Nullable Throwable unsignable;

  /** The neighbours in {@link Deadlines}. */
  @Nullable Sending older;

  @Nullable Sending newer;

  /** What it is on, once there is something. */
  @Nullable Carrier carrier;

  /** Whether it was written once already, to a connection whose server has not dealt with it. */
  boolean rewritten;

  /** The version of HTTP that it was written in, once it was. */
  @Nullable String protocol;

  boolean done;

  /** The answer's status; 0 until its headers are complete. */
  private int status;

  private @Nullable String retryAfter;
  private byte[] response = Outcome.NO_RESPONSE;
  private int received;

  Sending(
      Delivery delivery,
      Attempts.Ended ended,
      Target target,
      Letterhead letterhead,
      @Nullable Span span) {
    this.delivery = delivery;
    this.ended = ended;
    this.target = target;
    this.letterhead = letterhead;
    this.span = span;
  }

  /** Its {@code webhook-id}. */
  String id() {
    return Id.text(Id.MESSAGE, delivery.message().id());
  }

  /** Its {@code webhook-timestamp}. */
  String timestamp() {
    return Long.toString(delivery.startedAt().getEpochSecond());
  }

  /** The trace context that the receiver is to go on with: the attempt's own, or the event's. */
  @Nullable String traceparent() {
    return span == null ? delivery.event().traceparent() : TraceContext.traceparent(span);
  }

  boolean isAnswered() {
    return status != 0;
  }

  void answered(int answer, @Nullable String wait) {
    status = answer;
    retryAfter = wait != null && wait.length() <= MOST_RETRY_AFTER_CHARACTERS ? wait : null;
  }

  /** Takes a piece of the answer's body. Returns false when it is time to stop reading. */
  boolean take(ByteBuf content) {
    int length = content.readableBytes();
    int kept = Math.min(length, KEPT_BYTES - response.length);
    if (kept > 0) {
      int before = response.length;
      response = Arrays.copyOf(response, before + kept);
      content.getBytes(content.readerIndex(), response, before, kept);
    }
    received += length;
    return received <= READ_BYTES;
  }

  /** What the answer means. */
  Outcome outcome() {
    return status >= 200 && status < 300
        ? new Outcome.Success(status, response)
        : new Outcome.Failure(Outcome.Failure.Kind.STATUS, status, response, retryAfter);
  }
}
