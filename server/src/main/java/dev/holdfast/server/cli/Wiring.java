package dev.holdfast.server.cli;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Options;
import dev.holdfast.engine.http.Attempts;
import dev.holdfast.engine.http.Lookups;
import dev.holdfast.engine.store.Act;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.store.postgres.Connections;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.Rights;
import dev.holdfast.engine.store.postgres.Schema;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.server.api.ApiLimits;
import dev.holdfast.server.api.ApiServer;
import dev.holdfast.server.api.EndpointUrls;
import dev.holdfast.server.api.ServerIdentity;
import dev.holdfast.server.api.ServerTls;
import dev.holdfast.server.cli.Settings.StoreMigration;
import dev.holdfast.server.tracing.Tracing;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.trace.Tracer;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.dns.AddressResolverOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the parts of a server together. */
final class Wiring {
  private static final Logger log = LoggerFactory.getLogger(Wiring.class);

  /** The engine's own, with everything on the path; and one apart, see {@link Attempts}. */
  private static final int EVENT_LOOPS = 2;

  private static final Duration USES_WRITTEN_EVERY = Duration.ofMinutes(1);

  /** How soon a server learns of keys that were made or revoked through another. */
  private static final Duration KEYS_READ_EVERY = Duration.ofSeconds(1);

  private Wiring() {}

  static Server start(Settings settings, InstantSource clock, PrintWriter out) throws CannotStart {
    return start(settings, clock, out, 1);
  }

  /** One whose rules are set to go by so many times faster than usual, as its pages tell. */
  static Server start(Settings settings, InstantSource clock, PrintWriter out, int speed)
      throws CannotStart {
    return start(
        settings, clock, out, Lookups.within(settings.get(Settings.DELIVERY_TIMEOUT)), speed);
  }

  /**
   * @param names how names are looked up: by the system's name servers, or in tests by others
   */
  static Server start(
      Settings settings, InstantSource clock, PrintWriter out, AddressResolverOptions names)
      throws CannotStart {
    return start(settings, clock, out, names, 1);
  }

  private static Server start(
      Settings settings,
      InstantSource clock,
      PrintWriter out,
      AddressResolverOptions names,
      int speed)
      throws CannotStart {
    ServerTls tls = tls(settings, clock);
    Options options =
        settings.options(Runtime.getRuntime().maxMemory(), OpenFiles.forAttempts(), Version.NUMBER);
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(EVENT_LOOPS)
                .setAddressResolverOptions(names));
    Tracing tracing =
        settings.tracing(Version.NUMBER).map(to -> Tracing.start(to, clock)).orElse(null);
    Tracer tracer = tracing == null ? null : tracing.tracer();
    Holdfast engine = null;
    ApiServer api = null;
    try {
      checkDatabase(settings);
      engine =
          Holdfast.open(
              options, vertx, clock, tracer, _ -> Runtime.getRuntime().halt(ExitCode.BROKEN));
      Keys keys = Keys.open(settings, engine.apiKeys(), clock, out);
      PrometheusMeterRegistry metrics = metrics(tracing);
      EndpointUrls urls = new PermittedUrls(options.egress(), engine::findForbidden);
      api =
          ApiServer.start(
              engine,
              apiOptions(settings, options, urls, keys, clock, metrics, tracer, tls, speed));
      engine.audit().append(started(settings, clock.instant()));
      List<Long> timers = new ArrayList<>();
      timers.add(vertx.setPeriodic(USES_WRITTEN_EVERY.toMillis(), _ -> writeUses(vertx, keys)));
      if (engine.isShared()) {
        OthersKeys again = new OthersKeys(keys, engine.vault());
        timers.add(vertx.setPeriodic(KEYS_READ_EVERY.toMillis(), _ -> again.read(vertx)));
      }
      return new Running(
          vertx, engine, api, tracing, keys, List.copyOf(timers), warnings(engine.vault()));
    } catch (StoreRefused e) {
      stop(null, null, tracing, vertx);
      throw new CannotStart(String.valueOf(e.getMessage()));
    } catch (StoreException e) {
      stop(api, engine, tracing, vertx);
      throw new CannotStart("The store in %s: %s".formatted(place(options), e.getMessage()));
    } catch (IOException e) {
      stop(api, engine, tracing, vertx);
      throw CannotStart.listening(
          settings.get(Settings.SERVER_HOST), settings.get(Settings.SERVER_PORT), e);
    }
  }

  /** Says at once what is wrong with a database; looks first where tables must not be changed. */
  private static void checkDatabase(Settings settings) throws StoreException, StoreRefused {
    PostgresOptions database = settings.database().orElse(null);
    if (database != null) {
      try (Connections connections = new Connections(database)) {
        connections.reach();
        if (settings.get(Settings.STORE_MIGRATE) == StoreMigration.CHECK) {
          Schema.check(connections);
          Rights.check(connections);
        }
      }
    }
  }

  private static List<String> warnings(StoreVault vault) {
    Optional<Path> open = vault.keyFile().filter(KeyFile::isReadableByOthers).map(KeyFile::path);
    if (open.isEmpty()) {
      return List.of();
    }
    log.warn(
        "secrets.key-file-open file={} next=\"others can read the master key; chmod 600\"",
        open.get());
    return List.of(
        "others can read the master key; chmod 600 " + Printable.text(open.get().toString()));
  }

  /** What is written down of a start, when it has succeeded: with which settings. */
  private static Act started(Settings settings, Instant now) {
    return new Act(
        Actor.SERVER,
        now,
        null,
        "server.started",
        null,
        null,
        settings.facts().text("version", Version.NUMBER));
  }

  private static @Nullable ServerTls tls(Settings settings, InstantSource clock)
      throws CannotStart {
    Path certificate = settings.get(Settings.SERVER_TLS_CERTIFICATE).orElse(null);
    Path key = settings.get(Settings.SERVER_TLS_KEY).orElse(null);
    if (certificate == null || key == null) {
      return null;
    }
    try {
      ServerTls tls = ServerTls.of(certificate, key, clock);
      if (KeyFile.isReadableByOthers(key)) {
        log.warn(
            "server.key-readable file=\"{}\" next=\"it is used all the same; take the right to read"
                + " it from others\"",
            key);
      }
      return tls;
    } catch (ServerIdentity.Unusable e) {
      throw new CannotStart(
          "The server cannot encrypt connections (server.tls.certificate, server.tls.key). "
              + e.getMessage());
    }
  }

  private static ApiServer.Options apiOptions(
      Settings settings,
      Options options,
      EndpointUrls urls,
      Keys keys,
      InstantSource clock,
      PrometheusMeterRegistry metrics,
      @Nullable Tracer tracer,
      @Nullable ServerTls tls,
      int speed) {
    return new ApiServer.Options(
        settings.get(Settings.SERVER_HOST),
        settings.get(Settings.SERVER_PORT),
        limits(settings),
        options.schedule(),
        urls,
        keys,
        clock,
        metrics,
        tracer,
        tls,
        new ApiServer.Dashboard(
            settings.get(Settings.SESSION_LENGTH), Version.NUMBER, speed, settings.inUse()));
  }

  /** Where everything that is measured comes together, with what only this class knows. */
  private static PrometheusMeterRegistry metrics(@Nullable Tracing tracing) {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    InfoSnapshot build =
        InfoSnapshot.builder()
            .name("holdfast_build")
            .help("What runs here")
            .dataPoint(
                InfoDataPointSnapshot.builder()
                    .labels(
                        Labels.of(
                            "version",
                            Version.NUMBER,
                            "java",
                            Runtime.version().toString(),
                            "tls",
                            Attempts.encryption()))
                    .build())
            .build();
    registry.getPrometheusRegistry().register(() -> build);
    registry.getPrometheusRegistry().register(() -> spans(tracing));
    return registry;
  }

  private static CounterSnapshot spans(@Nullable Tracing tracing) {
    return CounterSnapshot.builder()
        .name("holdfast_spans")
        .help("Spans made, by whether the collector has taken them")
        .dataPoint(spans("exported", tracing == null ? 0 : tracing.exported()))
        .dataPoint(spans("dropped", tracing == null ? 0 : tracing.dropped()))
        .build();
  }

  private static CounterDataPointSnapshot spans(String outcome, long count) {
    return CounterDataPointSnapshot.builder()
        .labels(Labels.of("outcome", outcome))
        .value((double) count)
        .build();
  }

  private static ApiLimits limits(Settings settings) {
    ApiLimits limits =
        ApiLimits.defaults().withMessageBytes(settings.get(Settings.MESSAGE_MAX_BYTES));
    long most = settings.get(Settings.OVERLOAD_MAX_BYTES);
    return most == 0 ? limits : limits.withReceivingBytes(most);
  }

  /** Once a minute at most, so the log needs no count. */
  private static Future<?> writeUses(Vertx vertx, Keys keys) {
    return vertx
        .executeBlocking(
            () -> {
              keys.writeUses();
              return true;
            })
        .onFailure(
            e ->
                log.warn(
                    "keys.uses-unwritten next=\"when keys were last used is written later\"", e));
  }

  private static String place(Options options) {
    Options.Shared shared = options.shared();
    return shared == null ? options.data().toString() : shared.database().place();
  }

  private static void stop(
      @Nullable ApiServer api, @Nullable Holdfast engine, @Nullable Tracing tracing, Vertx vertx) {
    if (tracing != null) {
      tracing.close();
    }
    Future<Void> stopped = api == null ? Future.succeededFuture() : api.stop();
    if (engine != null) {
      stopped = stopped.eventually(engine::stop);
    }
    stopped.eventually(vertx::close).await();
  }

  private record Running(
      Vertx vertx,
      Holdfast engine,
      ApiServer api,
      @Nullable Tracing tracing,
      Keys keys,
      List<Long> timers,
      List<String> warnings)
      implements Server {
    @Override
    public String adminKey() {
      return keys.source();
    }

    @Override
    public String masterKey() {
      StoreVault.Shown key = engine.vault().shown();
      return "sealed under the master key %s, from %s".formatted(key.id(), key.source());
    }

    @Override
    public int port() {
      return api.port();
    }

    @Override
    public Future<Void> stop() {
      timers.forEach(vertx::cancelTimer);
      return api.stop()
          .eventually(() -> writeUses(vertx, keys))
          .eventually(engine::stop)
          .eventually(this::stopTracing)
          .eventually(vertx::close);
    }

    private Future<?> stopTracing() {
      Tracing stopping = tracing;
      if (stopping == null) {
        return Future.succeededFuture();
      }
      return vertx.executeBlocking(
          () -> {
            stopping.close();
            return true;
          });
    }
  }
}
