package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Tells whether the server lives and is ready, and what it counts. */
final class HealthApi {
  private static final CharSequence PROMETHEUS_TEXT =
      HttpHeaders.createOptimized("text/plain; version=0.0.4; charset=utf-8");

  private final Engine engine;
  private final Metrics metrics;
  private final BooleanSupplier stopping;

  HealthApi(Engine engine, Metrics metrics, BooleanSupplier stopping) {
    this.engine = engine;
    this.metrics = metrics;
    this.stopping = stopping;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/health/live", Access.OPEN, Set.of(), this::live),
        Route.get("/health/ready", Access.OPEN, Set.of(), this::ready),
        Route.get("/metrics", Access.LOOK_AT_SERVER, Set.of(), this::metrics));
  }

  private void live(Exchange exchange, byte[] body) {
    exchange.answer(200, status("live"));
  }

  /**
   * Ready means that the loop answers: then it also accepts and delivers. A node that shares its
   * database with others is ready while it can reach that and has its lease.
   */
  private void ready(Exchange exchange, byte[] body) {
    if (stopping.getAsBoolean()) {
      exchange.refuse(notReady("The server is stopping."));
      return;
    }
    if (!engine.isReady()) {
      exchange.refuse(notReady("The database cannot be reached. Ask again."));
      return;
    }
    engine
        .gauges()
        .timeout(ApiLimits.READY_TIME.toMillis(), TimeUnit.MILLISECONDS)
        .onSuccess(_ -> exchange.answer(200, status("ready")))
        .onFailure(_ -> exchange.refuse(notReady("The engine does not answer. Ask again.")));
  }

  private static Problem notReady(String detail) {
    return Problem.of(Kind.NOT_READY, detail).retryAfter(1);
  }

  private static Buffer status(String word) {
    return Buffer.buffer("{\"status\":\"" + word + "\"}");
  }

  private void metrics(Exchange exchange, byte[] body) {
    exchange.then(
        engine
            .measure()
            .compose(
                measured ->
                    engine
                        .gauges()
                        .map(
                            gauges -> {
                              metrics.update(gauges, measured);
                              return measured;
                            }))
            .compose(_ -> engine.context().executeBlocking(metrics::scrape, false)),
        text -> exchange.answer(200, PROMETHEUS_TEXT, Buffer.buffer(text)));
  }
}
