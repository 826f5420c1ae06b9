package dev.holdfast.engine.http;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.port.Delivery;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A span for each attempt, under the trace that its event came with.
 *
 * <p>The names are those of OpenTelemetry's conventions for HTTP clients. Of the URL only scheme,
 * host and port are told: a path or a query may hold a token. Headers and bodies are never told.
 */
final class AttemptSpans {
  private static final String METHOD = "POST";

  private static final AttributeKey<String> HTTP_METHOD = stringKey("http.request.method");
  private static final AttributeKey<Long> HTTP_RESEND_COUNT = longKey("http.request.resend_count");
  private static final AttributeKey<Long> HTTP_STATUS = longKey("http.response.status_code");
  private static final AttributeKey<String> PROTOCOL_VERSION =
      stringKey("network.protocol.version");
  private static final AttributeKey<String> SERVER_ADDRESS = stringKey("server.address");
  private static final AttributeKey<Long> SERVER_PORT = longKey("server.port");
  private static final AttributeKey<String> URL_SCHEME = stringKey("url.scheme");
  private static final AttributeKey<String> ERROR_TYPE = stringKey("error.type");
  private static final AttributeKey<String> TENANT = stringKey("holdfast.tenant");
  private static final AttributeKey<String> MESSAGE_ID = stringKey("holdfast.message.id");
  private static final AttributeKey<String> EVENT_ID = stringKey("holdfast.event.id");
  private static final AttributeKey<String> EVENT_TYPE = stringKey("holdfast.event.type");
  private static final AttributeKey<String> ENDPOINT_ID = stringKey("holdfast.endpoint.id");
  private static final AttributeKey<String> SUBSCRIPTION_ID = stringKey("holdfast.subscription.id");
  private static final AttributeKey<Long> ATTEMPT_NUMBER = longKey("holdfast.attempt.number");
  private static final AttributeKey<String> OUTCOME = stringKey("holdfast.attempt.outcome");
  private static final AttributeKey<String> ERROR_KIND = stringKey("holdfast.attempt.error");

  private final Tracer tracer;

  AttemptSpans(Tracer tracer) {
    this.tracer = tracer;
  }

  Span start(Delivery delivery) {
    return tracer
        .spanBuilder(METHOD)
        .setSpanKind(SpanKind.CLIENT)
        .setParent(TraceContext.parent(delivery.event().traceparent()))
        .setStartTimestamp(delivery.startedAt())
        .startSpan();
  }

  /**
   * Tells how an attempt ended.
   *
   * @param origin where it went; absent when its URL cannot be sent to
   * @param protocol the version of HTTP; absent when there was no connection
   */
  void end(
      Span span,
      Delivery delivery,
      @Nullable Origin origin,
      @Nullable String protocol,
      Outcome outcome,
      long nanos) {
    if (span.isRecording()) {
      describe(span, delivery, origin);
      if (protocol != null) {
        span.setAttribute(PROTOCOL_VERSION, protocol);
      }
      describe(span, outcome);
    }
    Instant endedAt = delivery.startedAt().plusNanos(nanos);
    span.end(endedAt);
  }

  private static void describe(Span span, Delivery delivery, @Nullable Origin origin) {
    Message message = delivery.message();
    span.setAttribute(HTTP_METHOD, METHOD);
    if (message.attempts() > 0) {
      span.setAttribute(HTTP_RESEND_COUNT, (long) message.attempts());
    }
    if (origin != null) {
      span.setAttribute(SERVER_ADDRESS, origin.key.host());
      span.setAttribute(SERVER_PORT, (long) origin.key.port());
      span.setAttribute(URL_SCHEME, origin.key.https() ? "https" : "http");
    }
    span.setAttribute(TENANT, delivery.event().tenant());
    span.setAttribute(MESSAGE_ID, Id.text(Id.MESSAGE, message.id()));
    span.setAttribute(EVENT_ID, delivery.event().publicId());
    span.setAttribute(EVENT_TYPE, delivery.event().type());
    span.setAttribute(ENDPOINT_ID, Id.text(Id.ENDPOINT, message.endpoint()));
    span.setAttribute(SUBSCRIPTION_ID, Id.text(Id.SUBSCRIPTION, message.subscription()));
    span.setAttribute(ATTEMPT_NUMBER, message.attempts() + 1L);
  }

  private static void describe(Span span, Outcome outcome) {
    switch (outcome) {
      case Outcome.Success success -> {
        span.setAttribute(OUTCOME, "success");
        span.setAttribute(HTTP_STATUS, (long) success.status());
      }
      case Outcome.Failure failure -> {
        String kind = failure.kind().name().toLowerCase(Locale.ROOT);
        Integer status = failure.status();
        span.setAttribute(OUTCOME, "failure");
        span.setAttribute(ERROR_KIND, kind);
        span.setAttribute(ERROR_TYPE, status == null ? kind : status.toString());
        if (status != null) {
          span.setAttribute(HTTP_STATUS, (long) status);
        }
        span.setStatus(StatusCode.ERROR);
      }
    }
  }
}
