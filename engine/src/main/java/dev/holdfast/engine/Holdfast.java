package dev.holdfast.engine;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.cluster.Cluster;
import dev.holdfast.engine.cluster.ClusterState;
import dev.holdfast.engine.cluster.DatabaseClock;
import dev.holdfast.engine.http.Attempts;
import dev.holdfast.engine.http.ShownRequest;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.Database;
import dev.holdfast.engine.store.EndpointReads;
import dev.holdfast.engine.store.EndpointReads.EndpointPage;
import dev.holdfast.engine.store.Sessions;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running engine: accepts, delivers, retries, until it is stopped.
 *
 * <p>This is where the parts are put together. {@link LoopRunner} turns the loop, {@link Committer}
 * writes, {@link Readers} read, and {@link Attempts} makes the attempts.
 */
public final class Holdfast {
  private static final Logger log = LoggerFactory.getLogger(Holdfast.class);
  private static final Duration WORTH_A_WARNING = Duration.ofSeconds(10);

  /** For how long people who look at measurements wait for the store. */
  private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

  /** A read over a network waits more than it works. */
  private static final int SHARED_PATH_READERS = 3;

  private final Context context;
  private final Database store;
  private final LoopRunner runner;
  private final Attempts attempts;
  private final Readers historyReaders;
  private final String version;
  private final String userAgent;

  /** Learns for people, who need not wait for others' lists. */
  private final Readers learner = new Readers("holdfast-learner", 1);

  private final TestMessages tests;
  private final AutoCloseable beside;
  private final @Nullable Shared shared;
  private final InstantSource clock;
  private final Instant startedAt;

  /** What there is only where several nodes share the store. */
  private record Shared(Cluster cluster, EndpointReads endpoints) {}

  private Holdfast(
      Context context,
      Database store,
      LoopRunner runner,
      Attempts attempts,
      Readers historyReaders,
      String version,
      String userAgent,
      TestMessages tests,
      AutoCloseable beside,
      @Nullable Shared shared,
      InstantSource clock) {
    this.context = context;
    this.store = store;
    this.runner = runner;
    this.attempts = attempts;
    this.historyReaders = historyReaders;
    this.version = version;
    this.userAgent = userAgent;
    this.tests = tests;
    this.beside = beside;
    this.shared = shared;
    this.clock = clock;
    this.startedAt = clock.instant();
  }

  /**
   * Opens the store and starts delivering. Blocks until ready.
   *
   * @param wall the time of day, which somebody may change
   * @param whenBroken told, once, when the engine cannot go on: the process has to end, and finds
   *     everything that was accepted when it starts again
   */
  public static Holdfast open(
      Options options, Vertx vertx, InstantSource wall, Consumer<Throwable> whenBroken)
      throws StoreException, StoreRefused {
    return open(options, vertx, wall, null, whenBroken);
  }

  /**
   * Opens the store and starts delivering, with a span for each attempt.
   *
   * @param tracer absent when nobody wants to see attempts as spans
   * @see #open(Options, Vertx, InstantSource, Consumer)
   */
  public static Holdfast open(
      Options options,
      Vertx vertx,
      InstantSource wall,
      @Nullable Tracer tracer,
      Consumer<Throwable> whenBroken)
      throws StoreException, StoreRefused {
    Options.Shared shared = options.shared();
    if (shared != null) {
      return openShared(options, shared, vertx, wall, tracer, whenBroken);
    }
    SqliteStore store = SqliteStore.open(options.data(), options.masterKeys(), wall);
    try {
      return start(options, vertx, wall, tracer, whenBroken, store);
    } catch (StoreException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private static Holdfast start(
      Options options,
      Vertx vertx,
      InstantSource wall,
      @Nullable Tracer tracer,
      Consumer<Throwable> whenBroken,
      SqliteStore store)
      throws StoreException {
    SteadyClock clock = clock(wall, store.latestTime());
    Snapshot snapshot = complete(store.snapshot());
    Loop loop =
        new Loop(
            options.schedule(),
            options.health(),
            options.recovery(),
            options.limits(),
            options.overload(),
            0,
            snapshot);
    Parts parts = new Parts(options, vertx, clock, tracer, store, false);
    LoopRunner runner = parts.runner(loop, whenBroken, null);
    SpaceWatch space =
        new SpaceWatch(options.data(), free -> runner.put(new Input.SpaceLeft(free)));
    space.start();
    runner.start();
    parts.committer.startUpkeep(removed -> runner.put(new Input.Removed(removed.ofTenants())));
    return parts.engine(runner, space, null);
  }

  private static Holdfast openShared(
      Options options,
      Options.Shared shared,
      Vertx vertx,
      InstantSource wall,
      @Nullable Tracer tracer,
      Consumer<Throwable> whenBroken)
      throws StoreException, StoreRefused {
    makeRoomForKey(options);
    PostgresStore store = PostgresStore.open(shared.database(), options.masterKeys(), wall);
    try {
      return startShared(options, shared, vertx, wall, tracer, whenBroken, store);
    } catch (StoreException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  /** The directory of the embedded store is where the key file is, if nobody says where. */
  private static void makeRoomForKey(Options options) throws StoreRefused {
    if (options.masterKeys() instanceof KeyFile file
        && options.data().equals(file.path().getParent())) {
      try {
        Files.createDirectories(options.data());
      } catch (IOException e) {
        throw new StoreRefused(
            "The directory %s cannot be made for the key file: %s"
                .formatted(options.data(), e.getMessage()),
            e);
      }
    }
  }

  private static Holdfast startShared(
      Options options,
      Options.Shared shared,
      Vertx vertx,
      InstantSource wall,
      @Nullable Tracer tracer,
      Consumer<Throwable> whenBroken,
      PostgresStore store)
      throws StoreException {
    DatabaseClock measured = new DatabaseClock(System::nanoTime, now(store));
    SteadyClock clock = new SteadyClock(measured, System::nanoTime, store.latestTime());
    Cluster cluster =
        new Cluster(
            store,
            seat(store),
            store.connections()::own,
            store,
            store,
            new Cluster.Settings(shared.database().lease(), options.timeout(), shared.listens()),
            wall,
            measured,
            clock,
            (slot, snapshot) ->
                new Loop(
                    options.schedule(),
                    options.health(),
                    options.recovery(),
                    options.limits(),
                    options.overload(),
                    slot,
                    snapshot,
                    Shards.NONE));
    store.tell(
        new PostgresStore.Listener() {
          @Override
          public void left(Shards shards) {
            cluster.left(shards);
          }

          @Override
          public void changed() {
            cluster.changed();
          }

          @Override
          public void inDoubt(Throwable cause) {
            cluster.away(cause);
          }
        });
    Loop loop = firstLoop(cluster);
    Parts parts = new Parts(options, vertx, clock, tracer, store, true);
    LoopRunner runner = parts.runner(loop, whenBroken, cluster);
    runner.start();
    cluster.start(runner);
    parts.committer.startUpkeep(removed -> runner.put(new Input.Removed(removed.ofTenants())));
    return parts.engine(runner, cluster, new Shared(cluster, store));
  }

  /** The lease is kept from now on, so that a long start does not cost the node its place. */
  private static Loop firstLoop(Cluster cluster) throws StoreException {
    cluster.keepSeat();
    try {
      return cluster.firstLoop();
    } catch (StoreException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static Instant now(PostgresStore store) throws StoreException {
    return store
        .connections()
        .read(
            "asking for the time",
            connection -> {
              try (Statement statement = connection.createStatement();
                  ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
                row.next();
                return row.getObject(1, OffsetDateTime.class).toInstant();
              }
            });
  }

  private static Cluster.Seat seat(PostgresStore store) {
    return new Cluster.Seat() {
      @Override
      public long node() {
        return store.nodeId();
      }

      @Override
      public long askedNanos() {
        return store.askedNanos();
      }

      @Override
      public int slot() {
        return store.slot();
      }

      @Override
      public Snapshot beginning() throws StoreException {
        return store.beginning();
      }

      @Override
      public void takeNew() throws StoreException {
        store.rejoin();
      }
    };
  }

  /** What an engine is made of, whatever its store. */
  private static final class Parts {
    private final Vertx vertx;
    private final InstantSource clock;
    private final Database store;
    private final Context context;
    private final Attempts attempts;
    private final Committer committer;
    private final Readers pathReaders;
    private final Readers historyReaders;

    /** Read for replays: with a network, beside those who read for people. */
    private final Readers replayReaders;

    private final String version;
    private final String userAgent;

    Parts(
        Options options,
        Vertx vertx,
        InstantSource clock,
        @Nullable Tracer tracer,
        Database store,
        boolean isShared) {
      this.vertx = vertx;
      this.clock = clock;
      this.store = store;
      context = ((VertxInternal) vertx).createEventLoopContext();
      attempts =
          new Attempts(
              context,
              ((VertxInternal) vertx).createEventLoopContext(),
              options.egress(),
              options.timeout(),
              options.limits().inFlight(),
              options.userAgent(),
              tracer);
      committer =
          new Committer(store, () -> store.upkeep(options.retention(), clock.instant()), isShared);
      pathReaders = new Readers("holdfast-path-reader", isShared ? SHARED_PATH_READERS : 1);
      historyReaders = new Readers("holdfast-history-reader", 2);
      replayReaders = isShared ? new Readers("holdfast-replay-reader", 1) : historyReaders;
      version = options.version();
      userAgent = options.userAgent();
    }

    LoopRunner runner(Loop loop, Consumer<Throwable> whenBroken, @Nullable Cluster cluster) {
      return new LoopRunner(
          loop,
          new LoopRunner.World(
              vertx,
              context,
              clock,
              store,
              store.activity(),
              committer,
              pathReaders,
              replayReaders,
              attempts,
              whenBroken,
              cluster));
    }

    Holdfast engine(LoopRunner runner, AutoCloseable beside, @Nullable Shared shared) {
      return new Holdfast(
          context,
          store,
          runner,
          attempts,
          historyReaders,
          version,
          userAgent,
          new TestMessages(attempts::send, clock),
          () -> {
            beside.close();
            replayReaders.close();
          },
          shared,
          clock);
    }
  }

  /** A message whose endpoint is not there would never be tried. */
  private static Snapshot complete(Snapshot snapshot) throws StoreException {
    Set<Long> missing = new TreeSet<>(snapshot.unfinished().keySet());
    snapshot.endpoints().forEach(endpoint -> missing.remove(endpoint.id()));
    if (!missing.isEmpty()) {
      throw SqliteStore.missing("endpoints of unfinished messages", missing);
    }
    return snapshot;
  }

  /** A clock that goes on where the store's was, also when somebody has set the system's back. */
  private static SteadyClock clock(InstantSource wall, Instant latest) {
    Duration behind = Duration.between(wall.instant(), latest);
    if (behind.compareTo(WORTH_A_WARNING) > 0) {
      log.warn(
          "clock.behind by={}s next=\"time runs at half speed until the system's clock has caught up\"",
          behind.toSeconds());
    }
    return new SteadyClock(wall, System::nanoTime, latest);
  }

  /**
   * The event loop that the engine runs on. A server that shares it hands over without a wake-up.
   */
  public Context context() {
    return context;
  }

  /** Asks for something. May be called by any thread; the reply comes on {@link #context}. */
  public void ask(Request request, Consumer<Answer> replyTo) {
    ask(request, Actor.PROGRAM, replyTo);
  }

  /**
   * Asks for something in somebody's name.
   *
   * @see #ask(Request, Consumer)
   */
  public void ask(Request request, Actor by, Consumer<Answer> replyTo) {
    if (shared == null || request instanceof Request.Submit) {
      askOnce(request, by, replyTo);
    } else {
      askOnce(request, by, answer -> askAgainIfNotFound(request, by, answer, replyTo));
    }
  }

  /** Another node may have made just now what this one does not find. */
  private void askAgainIfNotFound(
      Request request, Actor by, Answer answer, Consumer<Answer> replyTo) {
    Shared nodes = shared;
    if (nodes == null || !(answer instanceof Answer.NotFound)) {
      replyTo.accept(answer);
      return;
    }
    on(
            learner,
            () -> {
              nodes.cluster().learn();
              return true;
            })
        .onComplete(
            learned -> {
              if (learned.succeeded()) {
                askOnce(request, by, replyTo);
              } else {
                replyTo.accept(new Answer.Refused(Answer.Refused.Why.STORE_AWAY));
              }
            });
  }

  private void askOnce(Request request, Actor by, Consumer<Answer> replyTo) {
    Shared nodes = shared;
    if (nodes != null && nodes.cluster().isAway()) {
      // A batch may wait for the database's return: whoever asks now shall not wait with it.
      runner.refuse(replyTo, Answer.Refused.Why.STORE_AWAY);
      return;
    }
    if (nodes != null && request instanceof Request.Configure configure) {
      runner.ask(request, by, answer -> complete(configure, answer, replyTo));
      return;
    }
    if (nodes == null || !Cluster.isForOneNode(request)) {
      runner.put(new Input.Asked(request, by, replyTo));
      return;
    }
    runner.ask(
        request,
        by,
        answer -> {
          if (answer instanceof Answer.NotOurs(int shard)) {
            nodes
                .cluster()
                .ask(shard, request, by, late -> context.runOnContext(_ -> replyTo.accept(late)));
          } else {
            replyTo.accept(answer);
          }
        });
  }

  /** Any node can set something about an endpoint, and only one knows how the endpoint is. */
  private void complete(Request.Configure request, Answer answer, Consumer<Answer> replyTo) {
    if (!(answer instanceof Answer.EndpointIs)) {
      replyTo.accept(answer);
      return;
    }
    endpoint(request.tenant(), request.endpoint())
        .onComplete(
            read ->
                replyTo.accept(
                    read.succeeded() && read.result().isPresent()
                        ? new Answer.EndpointIs(
                            read.result().get().endpoint(), read.result().get().unfinished())
                        : answer));
  }

  /** Looks at the present state. May be called by any thread; completes on {@link #context}. */
  public <T> Future<T> look(Function<View, T> question) {
    return runner.look(question);
  }

  /**
   * The same, with all that other nodes have changed of subscriptions and settings until now.
   *
   * @see #look(Function)
   */
  public <T> Future<T> lookAtLatest(Function<View, T> question) {
    Shared nodes = shared;
    if (nodes == null) {
      return look(question);
    }
    return on(
            learner,
            () -> {
              nodes.cluster().learn();
              return true;
            })
        .compose(_ -> runner.lookAfterAll(question));
  }

  /** An endpoint of the tenant as it is now, whichever node decides for it. */
  public Future<Optional<EndpointNow>> endpoint(String tenant, long id) {
    Shared nodes = shared;
    return nodes == null
        ? look(view -> view.endpoint(tenant, id))
        : onReader(() -> nodes.endpoints().endpoint(tenant, id).map(Holdfast::now));
  }

  /**
   * Endpoints of the tenant with an id below {@code before}, the newest first, as the database has
   * them; empty when this engine shares its store with nobody, and knows them all.
   */
  public Optional<Future<EndpointPage>> endpoints(
      String tenant, Health.@Nullable State state, long before, int limit) {
    return Optional.ofNullable(shared)
        .map(nodes -> onReader(() -> nodes.endpoints().endpoints(tenant, state, before, limit)));
  }

  /**
   * What endpoints can be sorted by, of all that the tenant has, or of the newest, as the database
   * has them; empty when this engine shares its store with nobody, and knows them all.
   */
  public Optional<Future<List<EndpointReads.Outline>>> outlines(String tenant, int most) {
    return Optional.ofNullable(shared)
        .map(nodes -> onReader(() -> nodes.endpoints().outlines(tenant, most)));
  }

  /** Those of these endpoints that the tenant has, as they are now, in any order. */
  public Future<List<EndpointNow>> endpoints(String tenant, List<Long> ids) {
    Shared nodes = shared;
    return nodes == null
        ? look(view -> ids.stream().flatMap(id -> view.endpoint(tenant, id).stream()).toList())
        : onReader(
            () -> nodes.endpoints().endpoints(tenant, ids).stream().map(Holdfast::now).toList());
  }

  /** The request that an attempt sends, without what only its receiver should know. */
  public Optional<ShownRequest> shown(Delivery delivery) {
    return ShownRequest.of(delivery, userAgent);
  }

  private static EndpointNow now(EndpointReads.EndpointNow found) {
    return new EndpointNow(found.endpoint(), found.unfinished());
  }

  /** Whether the engine can accept and deliver now. May be called by any thread. */
  public boolean isReady() {
    return shared == null || shared.cluster().isReady();
  }

  /** Whether other nodes may share the store. */
  public boolean isShared() {
    return shared != null;
  }

  /** All nodes that share the store; this one alone when nobody does. */
  public Future<ClusterState> cluster() {
    Shared nodes = shared;
    return nodes == null ? look(this::alone) : onReader(nodes.cluster()::state);
  }

  private ClusterState alone(View view) {
    View.Gauges seen = view.gauges();
    ClusterState.Node node =
        new ClusterState.Node(
            0,
            "embedded",
            version,
            startedAt,
            null,
            Shards.COUNT,
            new ClusterState.Report(
                clock.instant(),
                seen.inFlight(),
                seen.pending(),
                seen.waiting(),
                seen.parked(),
                seen.eventsAccepted(),
                seen.messagesAccepted(),
                seen.delivered(),
                0,
                0));
    return new ClusterState(0, List.of(node), List.of(), 0, 0, 0, null);
  }

  private <T> Future<T> onReader(Readers.Read<T> read) {
    return on(historyReaders, read);
  }

  private <T> Future<T> on(Readers readers, Readers.Read<T> read) {
    Promise<T> promise = Promise.promise();
    readers.read(
        read,
        value -> context.runOnContext(_ -> promise.complete(value)),
        failure -> context.runOnContext(_ -> promise.fail(failure)));
    return promise.future();
  }

  /** Reads history on a reader's thread, with a time limit; completes on {@link #context}. */
  public <T> Future<T> read(HistoryRead<T> question) {
    return onReader(() -> question.ask(store));
  }

  /**
   * What has happened of a tenant's lately. Of the minute that is not over it is what this node has
   * counted. May be called by any thread; completes on {@link #context}.
   */
  public Future<ActivityReport> activity(String tenant, ActivityReport.Span span) {
    return runner.report(tenant, span);
  }

  /**
   * Tells somebody once a second what happens of a tenant's on this node. To be called on {@link
   * #context}, as what it returns.
   */
  public Watcher.Watching watch(String tenant, Watcher watcher) {
    return runner.watch(tenant, watcher);
  }

  /**
   * Sends a test message to an endpoint of the tenant, as its subscriptions would send theirs. It
   * touches neither the endpoint's health nor its counts. Empty when there is no such endpoint;
   * fails with {@link TooManyTests}. May be called by any thread; completes on {@link #context}.
   */
  public Future<Optional<Tested>> test(String tenant, long endpoint) {
    return look(view -> tests.send(view, tenant, endpoint)).compose(tested -> tested);
  }

  /**
   * Finds among these hosts those that no attempt may be made to: their names lead to addresses,
   * but the egress rules forbid all of them. A name that cannot be looked up in this time is not
   * among them: each attempt is checked anyway. May be called by any thread; completes on {@link
   * #context}.
   */
  public Future<Set<String>> findForbidden(Set<String> hosts, Duration patience) {
    Promise<Set<String>> found = Promise.promise();
    attempts.findForbidden(hosts, patience, found::complete);
    return found.future();
  }

  /** What came of a test message. */
  public record Tested(Outcome outcome, long durationMillis) {}

  /** The keys that open the API. Blocking. */
  public ApiKeys apiKeys() {
    return store.apiKeys();
  }

  /** The browsers that have signed in with one of them. Blocking. */
  public Sessions sessions() {
    return store.sessions();
  }

  /** What secrets are sealed with. Blocking. */
  public StoreVault vault() {
    return store.vault();
  }

  /** The audit log. Blocking. */
  public Audit audit() {
    return store.audit();
  }

  /**
   * Looks into the audit log, on a reader's thread. May be called by any thread; completes on
   * {@link #context}.
   */
  public Future<Audit.Found> audit(Audit.Query query) {
    return onReader(() -> store.audit().find(query));
  }

  /**
   * What has been measured so far, and what the store finds now. May be called by any thread;
   * completes on {@link #context}, without what the store finds if that takes too long.
   */
  public Future<Measurements> measure() {
    Promise<Database.Extent> asked = Promise.promise();
    historyReaders.read(
        store::extent,
        extent -> context.runOnContext(_ -> asked.tryComplete(extent)),
        failure -> context.runOnContext(_ -> asked.tryFail(failure)));
    Promise<Measurements> measured = Promise.promise();
    asked
        .future()
        .timeout(LONGEST_LOOK.toMillis(), TimeUnit.MILLISECONDS)
        .onComplete(
            found -> {
              Database.Extent extent = found.succeeded() ? found.result() : null;
              context.runOnContext(
                  _ -> measured.complete(runner.measured(historyReaders.waiting(), extent)));
            });
    return measured.future();
  }

  /**
   * Stops accepting and starting, lets what is in flight end, keeps the outcomes, closes the store.
   */
  public Future<Void> stop() {
    if (shared != null) {
      shared.cluster().stopping();
    }
    return runner.stop().eventually(() -> context.executeBlocking(this::close, false)).mapEmpty();
  }

  private boolean close() throws Exception {
    beside.close();
    runner.close();
    historyReaders.close();
    learner.close();
    store.close();
    return true;
  }

  /** A question about history. */
  @FunctionalInterface
  public interface HistoryRead<T> {
    T ask(History history) throws StoreException;
  }
}
