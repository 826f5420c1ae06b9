package dev.holdfast.server.api;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.engine.Measurements;
import dev.holdfast.engine.Measurements.StoreState;
import dev.holdfast.engine.cluster.ClusterState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
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
          new Gauges(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
          Measurements.none(),
          new AnswerCounts().read(),
          0,
          0);

  /** The first digits of the statuses that there are. */
  private static final int[] ANSWER_CLASSES = {2, 4, 5};

  private final PrometheusMeterRegistry registry;
  private final Connections connections;
  private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
  private volatile Seen seen = NOTHING_SEEN;

  /** What the event loop last saw; read by whichever thread writes the metrics out. */
  private record Seen(
      Gauges gauges,
      Measurements measured,
      AnswerCounts.Read answers,
      int openConnections,
      long heldBytes) {}

  /**
   * @param ready whether requests are taken
   * @param handshakesClosed connections that were closed in their handshakes, to make room
   */
  Metrics(
      PrometheusMeterRegistry registry,
      Connections connections,
      BooleanSupplier ready,
      LongSupplier handshakesClosed) {
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
    Gauge.builder("holdfast.http.connections", this, self -> self.seen.openConnections())
        .description("Connections open to the HTTP interface")
        .register(registry);
    Gauge.builder("holdfast.http.held.bytes", this, self -> self.seen.heldBytes())
        .description("Bytes of request bodies that are held")
        .register(registry);
    FunctionCounter.builder(
            "holdfast.http.handshakes.closed", this, _ -> handshakesClosed.getAsLong())
        .description("Connections closed in their TLS handshakes to make room for others")
        .register(registry);
    Gauge.builder("holdfast.ready", ready, is -> is.getAsBoolean() ? 1 : 0)
        .strongReference(true)
        .description("1 while requests are taken")
        .register(registry);
    measured();
    node();
    answers();
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    garbageCollection.bindTo(registry);
  }

  private void measured() {
    Histograms histograms = new Histograms(registry.getPrometheusRegistry());
    histograms.times(
        "holdfast_attempt_duration_seconds",
        "How long attempts took",
        () -> seen.measured().attemptDuration());
    histograms.times(
        "holdfast_first_attempt_delay_seconds",
        "From a message's acceptance to its first attempt",
        () -> seen.measured().firstAttemptDelay());
    histograms.times(
        "holdfast_delivery_delay_seconds",
        "From a message's acceptance to its delivery",
        () -> seen.measured().deliveryDelay());
    histograms.times(
        "holdfast_retry_lateness_seconds",
        "How long after their slots retries started",
        () -> seen.measured().retryLateness());
    histograms.times(
        "holdfast_commit_duration_seconds",
        "How long batches took to be on disk",
        () -> seen.measured().commitDuration());
    histograms.numbers(
        "holdfast_commit_writes",
        "How many writes batches had",
        () -> seen.measured().commitWrites());
    histograms.times(
        "holdfast_event_loop_lag_seconds",
        "How late the event loop was, sampled four times a second",
        () -> seen.measured().eventLoopLag());
    for (Failure.Kind kind : Failure.Kind.values()) {
      measuredCounter(
          "holdfast.attempt.failures",
          "Attempts that failed, by what went wrong",
          measured -> measured.failures().getOrDefault(kind, 0L),
          "error",
          name(kind));
    }
    for (Health.State state : Health.State.values()) {
      measuredCounter(
          "holdfast.endpoint.changes",
          "How often endpoints came into a state",
          measured -> measured.changes().getOrDefault(state, 0L),
          "state",
          name(state));
    }
    for (DropReason reason : DropReason.values()) {
      measuredCounter(
          "holdfast.messages.dropped",
          "Messages given up, by the reason",
          measured -> measured.dropped().getOrDefault(reason, 0L),
          "reason",
          name(reason));
    }
    measuredGauge(
        "holdfast.reads.waiting",
        "Reads of the store that wait for their turn",
        Measurements::pathReadsWaiting,
        "by",
        "path");
    measuredGauge(
        "holdfast.reads.waiting",
        "Reads of the store that wait for their turn",
        Measurements::historyReadsWaiting,
        "by",
        "history");
    measuredGauge(
        "holdfast.endpoint.connections",
        "Connections open to endpoints",
        Measurements::openConnections);
    store(
        "holdfast.store.bytes", "Bytes of the store", StoreState::databaseBytes, "of", "database");
    store("holdfast.store.bytes", "Bytes of the store", StoreState::logBytes, "of", "log");
    store(
        "holdfast.disk.free.bytes", "Bytes that the store's disk has left", StoreState::freeBytes);
    store(
        "holdfast.oldest.unfinished.age.seconds",
        "How long ago the oldest unfinished message was accepted",
        state -> seconds(state.oldestUnfinished()));
    store(
        "holdfast.due.lag.seconds",
        "For how long the message that is due for longest has been due",
        state -> seconds(state.dueLag()));
  }

  /** What there is only where several nodes share a database; elsewhere one has everything. */
  private void node() {
    node(
        "holdfast.cluster.nodes",
        "Nodes that share the database and can be counted on",
        1,
        ClusterState.Own::nodes);
    node(
        "holdfast.cluster.shards",
        "Shards that this node decides for, of 256",
        Shards.COUNT,
        ClusterState.Own::shards);
    node(
        "holdfast.cluster.lease.left.seconds",
        "For how long this node may start attempts if its lease is not renewed",
        Double.NaN,
        own -> seconds(own.leaseLeft()));
    node(
        "holdfast.store.away",
        "1 while the database cannot be reached",
        0,
        own -> own.isAway() ? 1 : 0);
    node(
        "holdfast.cluster.clock.offset.seconds",
        "By how much the database's clock is ahead of this machine's",
        0,
        own -> seconds(own.clockOffset()));
    node(
        "holdfast.cluster.known.version",
        "The version of what every node knows, as far as this one has learned it",
        0,
        ClusterState.Own::known);
    nodeCounter(
        "holdfast.cluster.arrivals",
        "Messages that other nodes have left for this one",
        ClusterState.Own::arrivals);
    nodeCounter(
        "holdfast.cluster.handovers",
        "Batches that have left something for other nodes",
        ClusterState.Own::handedOver);
    nodeCounter(
        "holdfast.cluster.calls",
        "Requests that another node was asked for",
        ClusterState.Own::calls);
    nodeCounter(
        "holdfast.cluster.fenced",
        "How often others had taken over from this node",
        ClusterState.Own::fenced);
  }

  private void node(
      String name, String description, double alone, ToDoubleFunction<ClusterState.Own> value) {
    measuredGauge(
        name,
        description,
        measured -> {
          ClusterState.Own own = measured.node();
          return own == null ? alone : value.applyAsDouble(own);
        });
  }

  private void nodeCounter(
      String name, String description, ToDoubleFunction<ClusterState.Own> value) {
    measuredCounter(
        name,
        description,
        measured -> {
          ClusterState.Own own = measured.node();
          return own == null ? 0 : value.applyAsDouble(own);
        });
  }

  private void answers() {
    for (int digit : ANSWER_CLASSES) {
      FunctionCounter.builder(
              "holdfast.http.answers", this, self -> self.seen.answers().byClass()[digit])
          .description("Requests answered, by the class of their status")
          .tags("status", digit + "xx")
          .register(registry);
    }
    for (Problem.Kind kind : Problem.Kind.values()) {
      FunctionCounter.builder(
              "holdfast.http.refusals",
              this,
              self -> self.seen.answers().refusals().getOrDefault(kind, 0L))
          .description("Requests refused, by the reason")
          .tags("reason", name(kind))
          .register(registry);
    }
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1e3;
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private void measuredCounter(
      String name, String description, ToDoubleFunction<Measurements> value, String... tags) {
    FunctionCounter.builder(name, this, self -> value.applyAsDouble(self.seen.measured()))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  private void measuredGauge(
      String name, String description, ToDoubleFunction<Measurements> value, String... tags) {
    Gauge.builder(name, this, self -> value.applyAsDouble(self.seen.measured()))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  /** What the store finds is not known when it does not answer in time. */
  private void store(
      String name, String description, ToDoubleFunction<StoreState> value, String... tags) {
    measuredGauge(
        name,
        description,
        measured -> {
          StoreState state = measured.store();
          return state == null ? Double.NaN : value.applyAsDouble(state);
        },
        tags);
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
  void update(Gauges gauges, Measurements measured) {
    seen =
        new Seen(
            gauges,
            measured,
            connections.answers().read(),
            connections.open(),
            connections.heldBytes());
  }

  String scrape() {
    return registry.scrape();
  }

  @Override
  public void close() {
    garbageCollection.close();
  }
}
