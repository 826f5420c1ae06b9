package dev.holdfast.engine;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Effect;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.cluster.Cluster;
import dev.holdfast.engine.http.Attempts;
import dev.holdfast.engine.store.ActivityRows;
import dev.holdfast.engine.store.Database;
import dev.holdfast.engine.store.SqliteStore;
import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the {@link Loop} on one event loop: gathers what has happened, steps, and carries out what
 * the loop wants done.
 *
 * <p>All that happens during one round of the event loop is one step, so that a busy process takes
 * few and large steps.
 */
final class LoopRunner implements Cluster.Path {
  private static final Logger log = LoggerFactory.getLogger(LoopRunner.class);
  private static final Duration LONGEST_SLEEP = Duration.ofMinutes(1);

  /** So that a time that has come, but is not over, does not keep the event loop from sleeping. */
  private static final Duration SHORTEST_SLEEP = Duration.ofNanos(50_000);

  /** How often it is measured how late the event loop is. */
  private static final Duration TICK = Duration.ofMillis(250);

  /** How often what was counted is taken from the loop. */
  private static final Duration BEAT = Duration.ofSeconds(1);

  /** How long the process waits at its end for the last minute to be written. */
  private static final Duration LAST_MINUTE = Duration.ofSeconds(2);

  private final World world;
  private final ContextInternal context;
  private final EventLoop eventLoop;
  private final Promise<Void> stopped = Promise.promise();
  private final Recorder recorder = new Recorder();
  private final Pulse pulse;
  private final Failing failing = new Failing();
  private final Map<Refused.Why, Seldom> refusing = new EnumMap<>(Refused.Why.class);
  private final Seldom storeFull = new Seldom();
  private final Seldom storeUnreadable = new Seldom();
  private Loop loop;

  /** Grows with each loop: what was begun for an earlier one is nobody's any more. */
  private volatile int generation;

  /** Whether others decide for everything that the loop was about; another is to come. */
  private boolean abandoned;

  private boolean stopping;
  private List<Input> inputs = new ArrayList<>();
  private List<Input> stepping = new ArrayList<>();
  private boolean scheduled;
  private boolean broken;
  private @Nullable Instant wakeAt;
  private @Nullable ScheduledFuture<?> wakeTimer;
  private long sweptNanos = System.nanoTime();

  LoopRunner(Loop loop, World world) {
    this.loop = loop;
    this.world = world;
    this.context = (ContextInternal) world.context();
    this.eventLoop = context.nettyEventLoop();
    this.pulse = new Pulse(world.activity(), this::onContext, () -> this.loop);
  }

  /** What the loop's effects act on. */
  record World(
      Vertx vertx,
      Context context,
      InstantSource clock,
      Store store,
      ActivityRows activity,
      Committer committer,
      Readers readers,
      Readers replayReaders,
      Attempts attempts,
      Consumer<Throwable> whenBroken,
      @Nullable Cluster cluster) {

    /** The nodes that share the store. */
    Cluster sharing() {
      return Objects.requireNonNull(cluster, "nobody shares this store");
    }
  }

  void start() {
    onContext(
        () -> {
          schedule();
          tick();
          beat();
        });
  }

  /** Takes what the loop has counted, again and again. */
  private void beat() {
    world
        .vertx()
        .setTimer(
            BEAT.toMillis(),
            _ -> {
              if (stopped.future().isComplete()) {
                return;
              }
              try {
                pulse.beat(loop.takeActivity(), now());
              } finally {
                beat();
              }
            });
  }

  /** What has happened of a tenant's until now. */
  Future<ActivityReport> report(String tenant, ActivityReport.Span span) {
    Promise<ActivityReport> promise = Promise.promise();
    onContext(() -> pulse.report(tenant, span, now()).onComplete(promise));
    return promise.future();
  }

  /** Tells somebody what happens of a tenant's. To be called on the event loop. */
  Watcher.Watching watch(String tenant, Watcher watcher) {
    return pulse.watch(tenant, watcher, now());
  }

  /** Measures how late the event loop is, and lets the log tell what has gathered. */
  private void tick() {
    long dueNanos = System.nanoTime() + TICK.toNanos();
    world
        .vertx()
        .setTimer(
            TICK.toMillis(),
            _ -> {
              long nowNanos = System.nanoTime();
              recorder.eventLoopWasLate(nowNanos - dueNanos);
              if (nowNanos - sweptNanos >= Seldom.EVERY.toNanos()) {
                sweptNanos = nowNanos;
                failing.sweep(now());
              }
              if (!stopped.future().isComplete()) {
                tick();
              }
            });
  }

  /** Takes an input, from any thread. */
  @Override
  public void put(Input input) {
    onContext(
        () -> {
          inputs.add(input);
          schedule();
        });
  }

  /**
   * Takes an input that is the outcome of something begun for a loop; others have no use for it.
   */
  private void put(int begunFor, Input input) {
    onContext(
        () -> {
          if (begunFor == generation) {
            inputs.add(input);
            schedule();
          }
        });
  }

  @Override
  public void ask(Request request, Actor by, Consumer<Answer> replyTo) {
    put(new Input.Asked(request, by, replyTo));
  }

  /** Refuses without asking the loop, from any thread. */
  void refuse(Consumer<Answer> replyTo, Refused.Why why) {
    onContext(
        () -> {
          tell(why);
          replyTo.accept(new Refused(why));
        });
  }

  @Override
  public void abandon() {
    onContext(this::abandonNow);
  }

  private void abandonNow() {
    if (abandoned || broken) {
      return;
    }
    inputs.add(new Input.Abandoned());
    step();
    abandoned = true;
    nextGeneration();
    if (stopping) {
      stopped.tryComplete();
    }
  }

  /** Only the event loop changes it; readers look at it. */
  private void nextGeneration() {
    int before = generation;
    generation = before + 1;
  }

  @Override
  public void whenQuiet(Runnable task) {
    onContext(() -> world.committer().run(task));
  }

  @Override
  public void begin(Loop next) {
    onContext(
        () -> {
          pulse.count(loop.takeActivity(), now());
          loop = next;
          nextGeneration();
          abandoned = false;
          wakeAt = null;
          if (stopping) {
            inputs.add(new Input.StopRequested());
          }
          schedule();
        });
  }

  @Override
  public void count(Consumer<View.Gauges> seen) {
    onContext(() -> seen.accept(loop.gauges()));
  }

  /** Nobody decides now, so that nothing can be done. */
  private void refuseAll(List<Input> batch) {
    for (Input input : batch) {
      if (input instanceof Input.Asked asked) {
        tell(Refused.Why.STORE_AWAY);
        asked.accept(new Refused(Refused.Why.STORE_AWAY));
      }
    }
    batch.clear();
  }

  <T> Future<T> look(Function<View, T> question) {
    Promise<T> promise = Promise.promise();
    onContext(
        () -> {
          try {
            promise.complete(question.apply(loop));
          } catch (RuntimeException e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  /** Looks when all that was put before has been taken in. */
  <T> Future<T> lookAfterAll(Function<View, T> question) {
    Promise<T> promise = Promise.promise();
    world
        .context()
        .runOnContext(
            _ -> {
              if (!inputs.isEmpty()) {
                step();
              }
              look(question).onComplete(promise);
            });
    return promise.future();
  }

  /** What was measured, with what others have found out. To be called on the event loop. */
  Measurements measured(int historyReadsWaiting, Database.@Nullable Extent extent) {
    Measurements.StoreState store =
        extent == null
            ? null
            : new Measurements.StoreState(
                extent.databaseBytes(),
                extent.logBytes(),
                extent.freeBytes(),
                since(extent.oldestUnfinished()),
                since(extent.earliestDue()));
    Cluster cluster = world.cluster();
    Measurements measured =
        recorder.read(
            world.committer().dropped(),
            world.readers().waiting(),
            historyReadsWaiting,
            world.attempts().openConnections(),
            store);
    return cluster == null ? measured : measured.with(cluster.own());
  }

  /** How long ago something was; nothing when it was not, or is yet to come. */
  private Duration since(@Nullable Instant then) {
    Instant now = now();
    return then == null || then.isAfter(now) ? Duration.ZERO : Duration.between(then, now);
  }

  /** Ends when everything under way has ended and is on disk. */
  Future<Void> stop() {
    onContext(
        () -> {
          stopping = true;
          if (abandoned) {
            stopped.tryComplete();
          } else {
            put(new Input.StopRequested());
          }
        });
    return stopped
        .future()
        .eventually(this::finishPulse)
        .eventually(
            () -> {
              world.committer().close();
              world.readers().close();
              world.attempts().close();
              return Future.succeededFuture();
            });
  }

  private Future<Void> finishPulse() {
    Promise<Void> finished = Promise.promise();
    long timer =
        world.vertx().setTimer(LAST_MINUTE.toMillis(), _ -> onContext(finished::tryComplete));
    onContext(
        () ->
            pulse
                .finish(loop.takeActivity(), now())
                .onComplete(
                    _ -> {
                      world.vertx().cancelTimer(timer);
                      finished.tryComplete();
                    }));
    return finished.future();
  }

  /** Lets go of what is beside the loop. Blocks for a moment. */
  void close() {
    pulse.close();
  }

  private void onContext(Runnable task) {
    if (eventLoop.inEventLoop()) {
      task.run();
    } else {
      context.runOnContext(_ -> task.run());
    }
  }

  private void schedule() {
    if (!scheduled) {
      scheduled = true;
      context.runOnContext(_ -> scheduledStep());
    }
  }

  /**
   * A task would run in this round of the event loop, before anything has been read. A timer that
   * has run out runs in the next one.
   */
  private void scheduleBehindInput() {
    if (!scheduled) {
      scheduled = true;
      var _ =
          eventLoop.schedule(() -> context.dispatch(this::scheduledStep), 1, TimeUnit.NANOSECONDS);
    }
  }

  private void scheduledStep() {
    scheduled = false;
    step();
  }

  private void step() {
    if (broken) {
      return;
    }
    List<Input> batch = inputs;
    inputs = stepping;
    stepping = batch;
    if (abandoned) {
      refuseAll(batch);
      return;
    }
    try {
      loop.step(batch, now(), this::perform);
    } catch (RuntimeException | Error e) {
      breakDown(e);
      return;
    }
    batch.clear();
    if (stopping && loop.isStopped()) {
      stopped.tryComplete();
    }
    sleep();
  }

  /** To the microsecond, as the store keeps it: nothing is due earlier because it was stored. */
  private Instant now() {
    return world.clock().instant().truncatedTo(ChronoUnit.MICROS);
  }

  private void sleep() {
    Instant next = loop.nextWake().orElse(null);
    if (Loop.AT_ONCE.equals(next)) {
      scheduleBehindInput();
      return;
    }
    if (next == null || (wakeAt != null && !next.isBefore(wakeAt))) {
      return;
    }
    if (wakeTimer != null) {
      wakeTimer.cancel(false);
    }
    wakeAt = next;
    Duration sleep = Duration.between(now(), next);
    long nanos = (sleep.compareTo(LONGEST_SLEEP) < 0 ? sleep : LONGEST_SLEEP).toNanos();
    // Netty's own timer, since a batch that gathers waits for less than the millisecond of
    // Vert.x's.
    wakeTimer =
        eventLoop.schedule(
            () -> {
              wakeAt = null;
              wakeTimer = null;
              schedule();
            },
            Math.max(nanos, SHORTEST_SLEEP.toNanos()),
            TimeUnit.NANOSECONDS);
  }

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Commit commit -> {
        int begun = generation;
        world
            .committer()
            .write(commit.batch(), (batch, end, nanos) -> committed(begun, batch, end, nanos));
      }
      case Effect.Send send -> send(send.delivery());
      case Effect.Fetch fetch -> fetch(fetch.load());
      case Effect.Reply reply -> {
        if (reply.answer() instanceof Refused refused) {
          tell(refused.why());
        }
        reply.to().accept(reply.answer());
      }
      case Effect.StateChanged changed -> {
        recorder.changed(changed.endpoint().health().state());
        pulse.changed(changed.endpoint());
        tell(changed.endpoint(), changed.before());
      }
      case Effect.GoneChanged changed -> tellGone(changed.endpoint());
      case Effect.SpaceChanged changed -> tellSpace(changed.space(), changed.freeBytes());
      case Effect.LetGo released -> world.sharing().letGo(released.shards());
    }
  }

  private void send(Delivery delivery) {
    int begun = generation;
    recorder.starts(delivery);
    world
        .attempts()
        .send(
            delivery,
            (outcome, millis) -> {
              recorder.ended(delivery, outcome, millis);
              tell(delivery, outcome, millis);
              put(begun, new Input.AttemptEnded(delivery, outcome, millis));
            });
  }

  private void committed(int begun, Batch batch, Input ended, long nanos) {
    Cluster cluster = world.cluster();
    if (cluster != null && ended instanceof Input.Committed) {
      cluster.committed();
    }
    onContext(
        () -> {
          recorder.committed(batch.writes().size(), nanos);
          if (begun != generation) {
            return;
          }
          if (!(ended instanceof Input.CommitFailed failed)) {
            put(ended);
          } else if (failed.kind() == StoreException.Kind.FENCED && cluster != null) {
            cluster.fenced(failed.detail());
          } else {
            tell(failed);
            put(ended);
          }
        });
  }

  private void tell(Input.CommitFailed failed) {
    switch (failed.kind()) {
      case BROKEN, FENCED -> breakDown(new IllegalStateException(failed.detail()));
      case AWAY -> world.sharing().away(new IllegalStateException(failed.detail()));
      case STALE -> world.sharing().stale();
      case FULL -> {
        long times = storeFull.happened(now());
        if (times > 0) {
          log.warn(
              "store.full times={} detail=\"{}\" next=\"trying again every second; what asks to be accepted is refused\"",
              times,
              failed.detail());
        }
      }
      case REFUSED ->
          log.error(
              "store.refused writes={} detail=\"{}\" next=\"splitting the batch\"",
              failed.batch().writes().size(),
              failed.detail());
    }
  }

  private void fetch(Load load) {
    int begun = generation;
    switch (load) {
      case Load.Events events ->
          world
              .readers()
              .read(
                  () -> world.store().events(events.ids()),
                  (List<Event> found) -> eventsLoaded(begun, events, found),
                  failure -> loadFailed(begun, load, failure));
      case Load.Due due ->
          fetchMessages(
              begun,
              load,
              () -> world.store().due(due.shards(), due.after(), due.through(), due.limit()));
      case Load.Pending pending ->
          fetchMessages(
              begun, load, () -> world.store().pending(pending.endpoint(), pending.limit()));
      case Load.Backlog backlog ->
          world
              .readers()
              .read(
                  () ->
                      world
                          .store()
                          .backlog(
                              backlog.endpoint(),
                              backlog.triedBefore(),
                              backlog.after(),
                              backlog.now(),
                              backlog.limit()),
                  (Store.Backlog found) -> put(begun, new Input.BacklogLoaded(backlog, found)),
                  failure -> loadFailed(begun, load, failure));
      case Load.Probe probe ->
          fetchMessages(
              begun,
              load,
              () -> world.store().probe(probe.endpoint(), probe.now()).stream().toList());
      case Load.OfSubscription of ->
          fetchMessages(
              begun,
              load,
              () ->
                  world
                      .store()
                      .ofSubscription(of.endpoint(), of.subscription(), of.which(), of.limit()));
      case Load.Originals originals ->
          world
              .replayReaders()
              .read(
                  () -> world.store().originals(originals.replay(), originals.limit()),
                  (Store.Originals found) ->
                      put(begun, new Input.OriginalsLoaded(originals, found)),
                  failure -> loadFailed(begun, load, failure));
      case Load.Past past ->
          world
              .replayReaders()
              .read(
                  () -> world.store().past(past.replay(), past.interest(), past.limit()),
                  (Store.Originals found) -> put(begun, new Input.OriginalsLoaded(past, found)),
                  failure -> loadFailed(begun, load, failure));
      case Load.Arrivals arrivals ->
          world
              .readers()
              .read(
                  () -> arrivals(begun, arrivals),
                  (Arrivals found) -> put(begun, new Input.ArrivalsLoaded(arrivals, found)),
                  failure -> loadFailed(begun, load, failure));
      case Load.Unfinished unfinished ->
          fetchMessages(
              begun, load, () -> world.store().unfinished(unfinished.message()).stream().toList());
    }
  }

  /** What has arrived is given once: it must not be asked for by what is nobody's any more. */
  private Arrivals arrivals(int begun, Load.Arrivals load) throws StoreException {
    return begun == generation ? world.sharing().arrivals(load) : Arrivals.NOTHING;
  }

  /** Events are kept for as long as a message of theirs is unfinished, so none can be missing. */
  private void eventsLoaded(int begun, Load.Events load, List<Event> found) {
    if (found.size() < load.ids().size()) {
      Set<Long> missing = new TreeSet<>(load.ids());
      found.forEach(event -> missing.remove(event.id()));
      loadFailed(begun, load, SqliteStore.missing("events of unfinished messages", missing));
    } else {
      put(begun, new Input.EventsLoaded(load, found));
    }
  }

  private void fetchMessages(int begun, Load load, Readers.Read<List<Message>> read) {
    world
        .readers()
        .read(
            read,
            messages -> put(begun, new Input.Loaded(load, messages)),
            failure -> loadFailed(begun, load, failure));
  }

  private void loadFailed(int begun, Load load, Throwable failure) {
    if (failure instanceof StoreException e && e.kind() == StoreException.Kind.BROKEN) {
      breakDown(e);
      return;
    }
    Cluster cluster = world.cluster();
    if (cluster != null
        && failure instanceof StoreException e
        && e.kind() == StoreException.Kind.AWAY) {
      cluster.away(e);
      put(begun, new Input.LoadFailed(load));
      return;
    }
    onContext(
        () -> {
          long times = storeUnreadable.happened(now());
          if (times > 0) {
            log.warn(
                "store.read-failed times={} load={} next=\"trying again in a second\"",
                times,
                load,
                failure);
          }
          put(begun, new Input.LoadFailed(load));
        });
  }

  @Override
  public void breakDown(Throwable cause) {
    onContext(() -> breakDownNow(cause));
  }

  private void breakDownNow(Throwable cause) {
    if (!broken) {
      broken = true;
      log.error("engine.broken next=\"the process ends; what was accepted is on disk\"", cause);
      world.whenBroken().accept(cause);
    }
  }

  private void tell(Delivery delivery, Outcome outcome, long millis) {
    switch (outcome) {
      case Outcome.Failure failure -> failing.failed(delivery, failure, now());
      case Outcome.Success success -> {
        if (log.isDebugEnabled()) {
          log.debug(
              "delivery.succeeded message={} endpoint={} attempt={} status={} millis={}",
              Id.text(Id.MESSAGE, delivery.message().id()),
              Id.text(Id.ENDPOINT, delivery.message().endpoint()),
              delivery.message().attempts() + 1,
              success.status(),
              millis);
        }
      }
    }
  }

  private void tell(Refused.Why why) {
    long times = refusing.computeIfAbsent(why, _ -> new Seldom()).happened(now());
    if (times > 0) {
      log.warn(
          "request.refused why={} times={} next=\"the caller is told; what was accepted goes on being delivered\"",
          name(why),
          times);
    }
  }

  private static void tell(Endpoint endpoint, Health before) {
    Health health = endpoint.health();
    log.info(
        "endpoint.{} endpoint={} tenant={} before={} reason={} consecutiveFailures={} counted={}/{}",
        name(health.state()),
        Id.text(Id.ENDPOINT, endpoint.id()),
        endpoint.tenant(),
        name(before.state()),
        name(health.reason()),
        before.consecutiveFailures(),
        before.sinceEnabled().failures(),
        before.sinceEnabled().attempts());
  }

  private static void tellGone(Endpoint endpoint) {
    String id = Id.text(Id.ENDPOINT, endpoint.id());
    if (endpoint.goneAt() == null) {
      log.info("endpoint.back endpoint={} tenant={}", id, endpoint.tenant());
    } else {
      log.warn(
          "endpoint.gone endpoint={} tenant={} next=\"it answered 410: delete its subscriptions or"
              + " give them another URL; until then its messages are retried as after any failure\"",
          id,
          endpoint.tenant());
    }
  }

  private static void tellSpace(Effect.Space space, long freeBytes) {
    switch (space) {
      case ENOUGH -> log.info("store.space-enough free={} next=\"accepting again\"", freeBytes);
      case LOW ->
          log.warn(
              "store.space-low free={} next=\"nothing new is accepted, what was accepted goes on;"
                  + " make room on the store's disk\"",
              freeBytes);
      case GONE ->
          log.error(
              "store.space-gone free={} next=\"nothing is accepted and no attempt starts; make room"
                  + " on the store's disk\"",
              freeBytes);
    }
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
