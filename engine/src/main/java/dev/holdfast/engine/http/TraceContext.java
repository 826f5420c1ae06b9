package dev.holdfast.engine.http;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/** The W3C trace context, between its header and OpenTelemetry's words. */
public final class TraceContext {
  private static final int TRACE_ID = 3;
  private static final int SPAN_ID = 36;
  private static final int FLAGS = 53;
  private static final int END = 55;

  private TraceContext() {}

  /**
   * The parent that a {@code traceparent} names; none when there is no header or it has not the
   * standard's form.
   */
  public static Context parent(@Nullable String traceparent) {
    if (traceparent == null || traceparent.length() < END || !isHex(traceparent, FLAGS, END)) {
      return Context.root();
    }
    SpanContext parent =
        SpanContext.createFromRemoteParent(
            traceparent.substring(TRACE_ID, SPAN_ID - 1),
            traceparent.substring(SPAN_ID, FLAGS - 1),
            TraceFlags.fromHex(traceparent, FLAGS),
            TraceState.getDefault());
    return parent.isValid() ? Context.root().with(Span.wrap(parent)) : Context.root();
  }

  private static boolean isHex(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return true;
  }

  /** The header that makes a span the parent of what its receiver does. */
  public static String traceparent(Span span) {
    SpanContext context = span.getSpanContext();
    return "00-"
        + context.getTraceId()
        + "-"
        + context.getSpanId()
        + "-"
        + context.getTraceFlags().asHex();
  }
}
