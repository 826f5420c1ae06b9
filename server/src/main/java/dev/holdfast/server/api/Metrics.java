package dev.holdfast.server.api;

import dev.holdfast.core.path.View.Gauges;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.function.ToDoubleFunction;

/**
 * What is counted, for Prometheus.
 *
 * <p>No endpoint and no tenant is a label: there may be very many of them. Everything is read when
 * somebody asks; nothing is done on the path of a message.
 */
final class Metrics implements AutoCloseable {
  private static final Seen NOTHING_SEEN =
      new Seen(
          new Gauges(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 0);

  private final PrometheusMeterRegistry registry;
  private final Connections connections;
  private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
  private volatile Seen seen = NOTHING_SEEN;

  /** What the event loop last saw; read by whichever thread writes the metrics out. */
  private record Seen(Gauges gauges, int openConnections, long heldBytes) {}

  Metrics(PrometheusMeterRegistry registry, Connections connections) {
    this.registry = registry;
    this.connections = connections;
    unfinished("pending", Gauges::pending);
    unfinished("waiting", Gauges::waiting);
    unfinished("parked", Gauges::parked);
    endpoints("enabled", Gauges::endpointsEnabled);
    endpoints("disabled", Gauges::endpointsDisabled);
    endpoints("frozen", Gauges::endpointsFrozen);
    attempts("success", Gauges::attemptsSucceeded);
    attempts("failure", Gauges::attemptsFailed);
    finished("delivered", Gauges::delivered);
    finished("dropped", Gauges::dropped);
    bytes("bodies", Gauges::bodyBytes);
    bytes("sending", Gauges::sendingBytes);
    bytes("accepting", Gauges::acceptingBytes);
    gauge("holdfast.subscriptions", "Subscriptions", Gauges::subscriptions);
    gauge("holdfast.attempts.in.flight", "Attempts under way", Gauges::inFlight);
    gauge("holdfast.messages.held", "Messages held in memory to be sent", Gauges::held);
    gauge("holdfast.messages.timed", "Messages held in memory until due", Gauges::timers);
    gauge("holdfast.writes.waiting", "Writes that wait for a batch", Gauges::unwritten);
    counter("holdfast.events.accepted", "Events accepted", Gauges::eventsAccepted);
    counter("holdfast.messages.accepted", "Messages accepted", Gauges::messagesAccepted);
    counter("holdfast.requests.refused", "Requests that the engine refused", Gauges::refused);
    counter(
        "holdfast.requests.over.quota",
        "Requests that were refused since a tenant's quota was used up",
        Gauges::refusedByQuota);
    gauge(
        "holdfast.endpoints.gone",
        "Endpoints whose last answer was 410 Gone",
        Gauges::endpointsGone);
    gauge(
        "holdfast.store.free.bytes",
        "Bytes free on the store's disk",
        gauges -> gauges.freeBytes() == Long.MAX_VALUE ? Double.NaN : gauges.freeBytes());
    Gauge.builder("holdfast.http.connections", this, self -> self.seen.openConnections())
        .description("Connections open to the HTTP interface")
        .register(registry);
    Gauge.builder("holdfast.http.held.bytes", this, self -> self.seen.heldBytes())
        .description("Bytes of request bodies that are held")
        .register(registry);
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    garbageCollection.bindTo(registry);
  }

  private void unfinished(String status, ToDoubleFunction<Gauges> value) {
    gauge("holdfast.messages.unfinished", "Messages by status", value, "status", status);
  }

  private void endpoints(String state, ToDoubleFunction<Gauges> value) {
    gauge("holdfast.endpoints", "Endpoints by state", value, "state", state);
  }

  private void attempts(String outcome, ToDoubleFunction<Gauges> value) {
    counter("holdfast.attempts", "Attempts by outcome", value, "outcome", outcome);
  }

  private void finished(String status, ToDoubleFunction<Gauges> value) {
    counter("holdfast.messages.finished", "Messages finished", value, "status", status);
  }

  private void bytes(String of, ToDoubleFunction<Gauges> value) {
    gauge("holdfast.bytes", "Event bytes held in memory", value, "of", of);
  }

  private void gauge(
      String name, String description, ToDoubleFunction<Gauges> value, String... tags) {
    Gauge.builder(name, this, self -> value.applyAsDouble(self.seen.gauges()))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  private void counter(
      String name, String description, ToDoubleFunction<Gauges> value, String... tags) {
    FunctionCounter.builder(name, this, self -> value.applyAsDouble(self.seen.gauges()))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  /** Takes in what the event loop sees now. */
  void update(Gauges gauges) {
    seen = new Seen(gauges, connections.open(), connections.heldBytes());
  }

  String scrape() {
    return registry.scrape();
  }

  @Override
  public void close() {
    garbageCollection.close();
  }
}
