package dev.holdfast.server.api;

import dev.holdfast.core.path.Delays.Percentiles;
import dev.holdfast.engine.ActivityReport;
import dev.holdfast.engine.ActivityReport.Span;
import dev.holdfast.engine.ActivityReport.Step;
import dev.holdfast.engine.TooManyReports;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Shows what has happened of a tenant's in the last hour or day. */
final class ActivityApi {
  private final Engine engine;

  ActivityApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/activity", Access.LOOK, Set.of("span"), this::show));
  }

  private void show(Exchange exchange, byte[] body) {
    Span span = span(exchange.parameters().one("span"));
    exchange.then(
        engine.activity(exchange.tenant(), span).recover(ActivityApi::refuseTooMany),
        report -> exchange.answer(200, Json.write(out -> write(out, report))));
  }

  private static Future<ActivityReport> refuseTooMany(Throwable failure) {
    return Future.failedFuture(
        failure instanceof TooManyReports
            ? new Refusal(
                Problem.of(Kind.OVERLOADED, "Many such reports are under way. Send this again.")
                    .retryAfter(1))
            : failure);
  }

  private static Span span(@Nullable String given) {
    if (given == null) {
      return Span.HOUR;
    }
    for (Span span : Span.values()) {
      if (Json.kebab(span).equals(given)) {
        return span;
      }
    }
    throw Refusal.of(Kind.INVALID_PARAMETER, "span", "Give one of: hour, day.");
  }

  private static void write(JsonGenerator out, ActivityReport report) {
    out.writeStartObject();
    Json.constant(out, "span", report.span());
    out.writeNumberProperty("stepSeconds", report.span().step().toSeconds());
    Json.time(out, "from", report.from());
    Json.time(out, "to", report.to());
    out.writeArrayPropertyStart("items");
    for (Step step : report.steps()) {
      out.writeStartObject();
      Json.time(out, "at", step.at());
      out.writeNumberProperty("accepted", step.accepted());
      out.writeNumberProperty("delivered", step.delivered());
      out.writeNumberProperty("failed", step.failed());
      out.writeNumberProperty("dropped", step.dropped());
      write(out, step.delays());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  /** How long deliveries took. */
  static void write(JsonGenerator out, @Nullable Percentiles delays) {
    write(out, "p50Millis", delays == null ? null : Long.valueOf(delays.p50Millis()));
    write(out, "p95Millis", delays == null ? null : Long.valueOf(delays.p95Millis()));
    write(out, "p99Millis", delays == null ? null : Long.valueOf(delays.p99Millis()));
  }

  private static void write(JsonGenerator out, String name, @Nullable Long value) {
    if (value == null) {
      out.writeNullProperty(name);
    } else {
      out.writeNumberProperty(name, value);
    }
  }
}
