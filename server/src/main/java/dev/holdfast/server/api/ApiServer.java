package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.server.pages.Pages;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP interface of a running engine, on the engine's own event loop. */
public final class ApiServer {
  private static final Logger log = LoggerFactory.getLogger(ApiServer.class);

  private static final int CHUNK_BYTES = 64 << 10;
  private static final int ACCEPT_BACKLOG = 4_096;
  private static final Duration START_TIME = Duration.ofSeconds(30);
  private static final Duration STOP_TIME = Duration.ofSeconds(10);
  private static final long SWEEPS_PER_LIMIT = 8;
  private static final long SLOWEST_SWEEP_MILLIS = 1_000;

  private final Context context;
  private final AtomicBoolean stopping;
  private final Metrics metrics;
  private final LiveApi live;
  private final HttpServer server;
  private final List<Long> timers;
  private final List<Route> routes;

  /**
   * How the server is to run.
   *
   * @param port 0 for any free one
   * @param schedule the engine's, to show when messages are given up
   * @param metrics where all parts of the program register what they measure
   * @param tracer makes spans of requests that bring events; absent when nobody wants them
   * @param tls encrypts connections; absent if somebody else does, or nobody
   * @param dashboard what only the dashboard asks for
   */
  public record Options(
      String host,
      int port,
      ApiLimits limits,
      RetrySchedule schedule,
      EndpointUrls urls,
      Keyring keyring,
      InstantSource clock,
      PrometheusMeterRegistry metrics,
      @Nullable Tracer tracer,
      @Nullable ServerTls tls,
      Dashboard dashboard) {}

  /**
   * What the dashboard asks for.
   *
   * @param sessionLength how long somebody stays signed in
   * @param version of this program, to be shown
   * @param speed how many times faster than usual the times of the rules go by: 1, but in a demo
   * @param settings all of them, without secrets
   */
  public record Dashboard(
      Duration sessionLength, String version, int speed, List<SettingInUse> settings) {}

  private ApiServer(
      Context context,
      AtomicBoolean stopping,
      Metrics metrics,
      LiveApi live,
      HttpServer server,
      List<Long> timers,
      List<Route> routes) {
    this.context = context;
    this.stopping = stopping;
    this.metrics = metrics;
    this.live = live;
    this.server = server;
    this.timers = timers;
    this.routes = routes;
  }

  /** Starts serving. Blocks until connections are taken, so not to be called on an event loop. */
  public static ApiServer start(Holdfast holdfast, Options options) throws IOException {
    return start(Engine.of(holdfast), options);
  }

  static ApiServer start(Engine engine, Options options) throws IOException {
    Promise<ApiServer> started = Promise.promise();
    Pages pages = Pages.load();
    SignedIn signedIn = signedIn(engine, options);
    Doorkeeper keeper = Doorkeeper.stand(engine.context().owner());
    engine
        .context()
        .runOnContext(
            _ ->
                listen(engine, options, pages, signedIn)
                    .onComplete(_ -> keeper.leave())
                    .onComplete(started));
    try {
      return started
          .future()
          .toCompletionStage()
          .toCompletableFuture()
          .get(START_TIME.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("cannot listen on " + options.host() + ":" + options.port(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while starting to listen", e);
    }
  }

  private static SignedIn signedIn(Engine engine, Options options) throws IOException {
    try {
      return SignedIn.open(
          engine.sessions(),
          options.keyring(),
          options.clock(),
          options.dashboard().sessionLength());
    } catch (StoreException e) {
      throw new IOException("cannot read who has signed in", e);
    }
  }

  private static Future<ApiServer> listen(
      Engine engine, Options options, Pages pages, SignedIn signedIn) {
    Context context = engine.context();
    Vertx vertx = context.owner();
    ApiLimits limits = options.limits();
    Connections connections = new Connections(context, limits);
    AtomicBoolean stopping = new AtomicBoolean();
    ServerTls tls = options.tls();
    Metrics metrics =
        new Metrics(
            options.metrics(),
            connections,
            () -> !stopping.get() && engine.isReady(),
            tls == null ? () -> 0 : tls::handshakesClosed);
    List<Route> routes = new ArrayList<>();
    EventsApi events = new EventsApi(engine, limits, options.schedule(), options.tracer());
    routes.addAll(events.routes());
    routes.addAll(new EventListApi(engine).routes());
    SubscriptionReader subscriptions = new SubscriptionReader(options.urls(), options.clock());
    Destinations destinations = new Destinations(options.urls());
    routes.addAll(
        new SubscriptionsApi(engine, subscriptions, destinations, options.clock()).routes());
    routes.addAll(new PreviewApi(engine, limits, subscriptions).routes());
    routes.addAll(new ImportApi(engine, subscriptions, destinations).routes());
    routes.addAll(new EndpointsApi(engine, options.clock()).routes());
    routes.addAll(new AttemptsApi(engine, options.schedule(), options.clock()).routes());
    routes.addAll(new MessagesApi(engine, options.schedule()).routes());
    routes.addAll(new RequestApi(engine, options.clock()).routes());
    routes.addAll(new ReplaysApi(engine).routes());
    routes.addAll(new KeysApi(engine, options.keyring(), options.clock()).routes());
    routes.addAll(new MasterKeyApi(engine, options.clock()).routes());
    routes.addAll(new AuditApi(engine).routes());
    routes.addAll(new HealthApi(engine, metrics, stopping::get).routes());
    routes.addAll(new ClusterApi(engine).routes());
    WorkfrontReader workfront = new WorkfrontReader(subscriptions, limits.messageBytes());
    routes.addAll(new WorkfrontApi(engine, limits, workfront, destinations, events).routes());
    routes.addAll(new OpenApi().routes());
    FailedKeys failedKeys = new FailedKeys();
    Authentication authentication =
        new Authentication(options.keyring(), options.clock(), failedKeys, signedIn);
    routes.addAll(new SessionApi(engine, authentication, signedIn, options.dashboard()).routes());
    routes.addAll(new SettingsApi(options.dashboard().settings()).routes());
    LiveApi live = new LiveApi(engine, authentication);
    routes.addAll(live.routes());
    routes.addAll(new ActivityApi(engine).routes());
    routes.addAll(new ChangesApi(engine).routes());
    Intake intake =
        new Intake(
            new Router(routes),
            new Router(new PagesApi(pages).routes()),
            authentication,
            connections,
            stopping::get);
    HttpServer server =
        vertx
            .createHttpServer(httpOptions(options))
            .connectionHandler(
                connection -> {
                  BeforeVertx.stand(connection);
                  connections.opened(connection);
                })
            .requestHandler(intake::handle)
            .invalidRequestHandler(intake::handleInvalid)
            .exceptionHandler(e -> log.debug("api.connection-failed", e));
    long sweeper =
        vertx.setPeriodic(
            sweepMillis(limits),
            _ -> {
              connections.sweep();
              failedKeys.sweep(Connections.now());
            });
    List<Long> timers = new ArrayList<>(List.of(sweeper));
    if (signedIn.isShared()) {
      timers.add(
          vertx.setPeriodic(ApiLimits.SESSIONS_READ.toMillis(), _ -> signedIn.learn(context)));
    }
    return server
        .listen()
        .map(
            listening ->
                new ApiServer(
                    context,
                    stopping,
                    metrics,
                    live,
                    listening,
                    timers(timers, tls, vertx, listening),
                    List.copyOf(routes)))
        .onFailure(
            _ -> {
              timers.forEach(vertx::cancelTimer);
              metrics.close();
            });
  }

  private static List<Long> timers(
      List<Long> begun, @Nullable ServerTls tls, Vertx vertx, HttpServer server) {
    List<Long> timers = new ArrayList<>(begun);
    if (tls != null) {
      timers.add(tls.watch(vertx, server));
    }
    return List.copyOf(timers);
  }

  /**
   * HTTP/1.1 without upgrades, so that a connection has one request at a time. Time limits are kept
   * by {@link Connections}, which also bounds heads that come byte by byte.
   */
  private static HttpServerOptions httpOptions(Options options) {
    HttpServerOptions plain =
        new HttpServerOptions()
            .setHost(options.host())
            .setPort(options.port())
            .setAcceptBacklog(ACCEPT_BACKLOG)
            .setHttp2ClearTextEnabled(false)
            .setMaxInitialLineLength(ApiLimits.INITIAL_LINE_BYTES)
            .setMaxHeaderSize(ApiLimits.HEADER_BYTES)
            .setMaxChunkSize(CHUNK_BYTES);
    ServerTls tls = options.tls();
    return tls == null ? plain : tls.applyTo(plain);
  }

  private static long sweepMillis(ApiLimits limits) {
    long shortest =
        Math.min(
            limits.requestTime().toMillis(),
            Math.min(limits.idleTime().toMillis(), limits.answerTime().toMillis()));
    return Math.clamp(shortest / SWEEPS_PER_LIMIT, 1, SLOWEST_SWEEP_MILLIS);
  }

  /** Where connections are taken. */
  public int port() {
    return server.actualPort();
  }

  /** All that is served. */
  List<Route> routes() {
    return routes;
  }

  /**
   * Takes no more requests, gives those under way some time to be answered, and closes all
   * connections. To be called before the engine is stopped.
   */
  public Future<Void> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        _ -> {
          stopping.set(true);
          live.stop();
          server
              .shutdown(STOP_TIME)
              .onComplete(
                  result -> {
                    timers.forEach(context.owner()::cancelTimer);
                    metrics.close();
                    stopped.handle(result);
                  });
        });
    return stopped.future();
  }
}
