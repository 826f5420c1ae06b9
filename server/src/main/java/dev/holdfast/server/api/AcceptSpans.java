package dev.holdfast.server.api;

import dev.holdfast.engine.http.TraceContext;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * A span for each request that brings events: from its last byte to its answer.
 *
 * <p>The events go on under this span. So all attempts of an event are one trace, also when it came
 * without one.
 */
final class AcceptSpans {
  private static final AttributeKey<String> HTTP_METHOD =
      AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> HTTP_ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> TENANT = AttributeKey.stringKey("holdfast.tenant");
  private static final AttributeKey<Long> HTTP_STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final int SERVER_FAULT = 500;

  private final Tracer tracer;

  AcceptSpans(Tracer tracer) {
    this.tracer = tracer;
  }

  /** Begins a span; returns the trace context that the events are to be kept with. */
  String start(Exchange exchange, String route, @Nullable String traceparent) {
    Span span =
        tracer
            .spanBuilder("POST " + route)
            .setSpanKind(SpanKind.SERVER)
            .setParent(TraceContext.parent(traceparent))
            .startSpan();
    span.setAttribute(HTTP_METHOD, "POST");
    span.setAttribute(HTTP_ROUTE, route);
    span.setAttribute(TENANT, exchange.tenant());
    exchange.traced(span);
    return TraceContext.traceparent(span);
  }

  static void end(Span span, int status) {
    span.setAttribute(HTTP_STATUS, (long) status);
    if (status >= SERVER_FAULT) {
      span.setStatus(StatusCode.ERROR);
    }
    span.end();
  }
}
