package dev.holdfast.engine;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.http.Attempts;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.Database;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
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

  private final Context context;
  private final SqliteStore store;
  private final LoopRunner runner;
  private final Attempts attempts;
  private final Readers historyReaders;
  private final TestMessages tests;
  private final SpaceWatch space;

  private Holdfast(
      Context context,
      SqliteStore store,
      LoopRunner runner,
      Attempts attempts,
      Readers historyReaders,
      TestMessages tests,
      SpaceWatch space) {
    this.context = context;
    this.store = store;
    this.runner = runner;
    this.attempts = attempts;
    this.historyReaders = historyReaders;
    this.tests = tests;
    this.space = space;
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
    Context context = ((VertxInternal) vertx).createEventLoopContext();
    Context apart = ((VertxInternal) vertx).createEventLoopContext();
    Attempts attempts =
        new Attempts(
            context,
            apart,
            options.egress(),
            options.timeout(),
            options.limits().inFlight(),
            options.userAgent(),
            tracer);
    Committer committer =
        new Committer(store, () -> store.upkeep(options.retention(), clock.instant()));
    Readers pathReaders = new Readers("holdfast-path-reader", 1);
    Readers historyReaders = new Readers("holdfast-history-reader", 2);
    LoopRunner runner =
        new LoopRunner(
            loop,
            new LoopRunner.World(
                vertx,
                context,
                clock,
                store,
                committer,
                pathReaders,
                historyReaders,
                attempts,
                whenBroken));
    SpaceWatch space =
        new SpaceWatch(options.data(), free -> runner.put(new Input.SpaceLeft(free)));
    space.start();
    runner.start();
    committer.startUpkeep(removed -> runner.put(new Input.Removed(removed.ofTenants())));
    return new Holdfast(
        context,
        store,
        runner,
        attempts,
        historyReaders,
        new TestMessages(attempts::send, clock),
        space);
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
    runner.put(new Input.Asked(request, by, replyTo));
  }

  /** Looks at the present state. May be called by any thread; completes on {@link #context}. */
  public <T> Future<T> look(Function<View, T> question) {
    return runner.look(question);
  }

  /** Reads history on a reader's thread, with a time limit; completes on {@link #context}. */
  public <T> Future<T> read(HistoryRead<T> question) {
    Promise<T> promise = Promise.promise();
    historyReaders.read(
        () -> question.ask(store),
        value -> context.runOnContext(_ -> promise.complete(value)),
        failure -> context.runOnContext(_ -> promise.fail(failure)));
    return promise.future();
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
    Promise<Audit.Found> promise = Promise.promise();
    historyReaders.read(
        () -> store.audit().find(query),
        value -> context.runOnContext(_ -> promise.complete(value)),
        failure -> context.runOnContext(_ -> promise.fail(failure)));
    return promise.future();
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
    return runner
        .stop()
        .onComplete(
            _ -> {
              space.close();
              historyReaders.close();
              store.close();
            });
  }

  /** A question about history. */
  @FunctionalInterface
  public interface HistoryRead<T> {
    T ask(History history) throws StoreException;
  }
}
