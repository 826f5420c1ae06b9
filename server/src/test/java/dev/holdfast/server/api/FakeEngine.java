package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.engine.ActivityReport;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Holdfast.Tested;
import dev.holdfast.engine.Measurements;
import dev.holdfast.engine.Watcher;
import dev.holdfast.engine.cluster.ClusterState;
import dev.holdfast.engine.http.ShownRequest;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.EndpointReads.EndpointPage;
import dev.holdfast.engine.store.EndpointReads.Outline;
import dev.holdfast.engine.store.StoreVault;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An engine that does what a test tells it, for what a real one cannot be brought to do at will:
 * refuse, fail, hang.
 */
final class FakeEngine implements Engine {
  private final Context context;
  private final AtomicInteger ids = new AtomicInteger();
  private final Map<String, Watcher> watchers = new ConcurrentHashMap<>();

  /** One for each who begins to watch, and each who ends it. */
  final Semaphore watched = new Semaphore(0);

  private final FakeSessions sessions = new FakeSessions();

  /** What was asked, in order. */
  final List<Request> asked = new CopyOnWriteArrayList<>();

  /** What requests are answered with; no answer when absent. */
  volatile Function<Request, @Nullable Answer> answer = this::accept;

  /** Gets what was asked and is not answered. */
  volatile Consumer<Consumer<Answer>> unanswered = _ -> {};

  volatile Callable<View> view =
      () -> {
        throw new IllegalStateException("nothing to look at");
      };

  volatile Callable<History> history = EmptyHistory::new;

  /** Whether it says that it can accept and deliver. */
  volatile boolean ready = true;

  volatile Callable<ClusterState> cluster =
      () -> new ClusterState(0, List.of(), List.of(), 0, 0, 0, null);

  /** Reads of history wait for this. */
  volatile Future<?> readable = Future.succeededFuture();

  /** One for each that was asked for. */
  final Semaphore reads = new Semaphore(0);

  FakeEngine(Vertx vertx) {
    this.context = vertx.getOrCreateContext();
  }

  /** Accepts every event. */
  Answer accept(Request request) {
    if (request instanceof Request.Submit submit) {
      return new Answer.Accepted(
          submit.events().stream()
              .map(
                  event -> {
                    String id = event.callerId();
                    int number = ids.incrementAndGet();
                    return new Receipt(
                        number, id == null ? Id.text(Id.EVENT, number) : id, 1, false);
                  })
              .toList());
    }
    return new Answer.NotFound();
  }

  @Override
  public Context context() {
    return context;
  }

  @Override
  public void ask(Request request, Actor by, Consumer<Answer> replyTo) {
    asked.add(request);
    Answer given = answer.apply(request);
    if (given != null) {
      context.runOnContext(_ -> replyTo.accept(given));
    } else {
      unanswered.accept(replyTo);
    }
  }

  /** At once for who asks on the event loop, as a real one. */
  @Override
  public <T> Future<T> look(Function<View, T> question) {
    if (!((ContextInternal) context).nettyEventLoop().inEventLoop()) {
      return onContext(() -> question.apply(view.call()));
    }
    try {
      return Future.succeededFuture(question.apply(view.call()));
    } catch (Exception e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Future<Gauges> gauges() {
    return look(View::gauges);
  }

  @Override
  public Future<Optional<EndpointNow>> endpoint(String tenant, long id) {
    return look(seen -> seen.endpoint(tenant, id));
  }

  @Override
  public Optional<Future<EndpointPage>> endpoints(
      String tenant, Health.@Nullable State state, long before, int limit) {
    return Optional.empty();
  }

  @Override
  public Optional<Future<List<Outline>>> outlines(String tenant, int most) {
    return Optional.empty();
  }

  @Override
  public Future<List<EndpointNow>> endpoints(String tenant, List<Long> ids) {
    return look(seen -> ids.stream().flatMap(id -> seen.endpoint(tenant, id).stream()).toList());
  }

  @Override
  public Optional<ShownRequest> shown(Delivery delivery) {
    return ShownRequest.of(delivery, "Holdfast/0");
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public Future<ClusterState> cluster() {
    return onContext(() -> cluster.call());
  }

  @Override
  public <T> Future<T> read(Holdfast.HistoryRead<T> question) {
    reads.release();
    return readable.compose(_ -> onContext(() -> question.ask(history.call())));
  }

  @Override
  public Future<Audit.Found> audit(Audit.Query query) {
    return onContext(() -> new Audit.Found(List.of(), null));
  }

  @Override
  public Future<Measurements> measure() {
    return onContext(Measurements::none);
  }

  private <T> Future<T> onContext(Question<T> question) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(
        _ -> {
          try {
            promise.complete(question.ask());
          } catch (Exception e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  /** A store that has nothing. */
  private static final class EmptyHistory implements History {
    @Override
    public Optional<Replay> replay(String tenant, long id) {
      return Optional.empty();
    }

    @Override
    public List<Replay> replays(String tenant, long before, int limit) {
      return List.of();
    }

    @Override
    public List<Event> latestEvents(String tenant, int limit) {
      return List.of();
    }

    @Override
    public Page messages(Query query) {
      return new Page(List.of(), null);
    }

    @Override
    public Optional<MessageDetail> message(String tenant, long id) {
      return Optional.empty();
    }

    @Override
    public Optional<EventDetail> event(String tenant, EventKey key) {
      return Optional.empty();
    }

    @Override
    public Optional<Event> eventAlone(String tenant, EventKey key) {
      return Optional.empty();
    }

    @Override
    public EventPage events(EventQuery query) {
      return new EventPage(List.of(), null);
    }

    @Override
    public AttemptPage attempts(AttemptQuery query) {
      return new AttemptPage(List.of(), null);
    }

    @Override
    public Map<Long, List<AttemptMark>> latestAttempts(
        String tenant, List<Long> endpoints, Instant since, int each) {
      return Map.of();
    }

    @Override
    public List<Change> changes(long endpoint, int limit) {
      return List.of();
    }

    @Override
    public List<EndpointChange> changes(ChangeQuery query) {
      return List.of();
    }
  }

  private interface Question<T> {
    T ask() throws Exception;
  }

  @Override
  public Future<Optional<Tested>> test(String tenant, long endpoint) {
    return Future.succeededFuture(Optional.empty());
  }

  @Override
  public SessionRows sessions() {
    return sessions;
  }

  @Override
  public Future<ActivityReport> activity(String tenant, ActivityReport.Span span) {
    return Future.failedFuture(new IllegalStateException("nothing has happened here"));
  }

  @Override
  public Watcher.Watching watch(String tenant, Watcher watcher) {
    if (watchers.put(tenant, watcher) != null) {
      throw new IllegalStateException("two watch for one tenant");
    }
    watched.release();
    return () -> {
      if (watchers.remove(tenant, watcher)) {
        watched.release();
      }
    };
  }

  /** Tells who watches a tenant something, if anybody does; on the event loop, and waits for it. */
  void tell(String tenant, Consumer<Watcher> what) {
    onContext(
            () -> {
              Watcher watcher = watchers.get(tenant);
              if (watcher != null) {
                what.accept(watcher);
              }
              return true;
            })
        .await();
  }

  @Override
  public StoreVault vault() {
    throw new IllegalStateException("nothing is sealed here");
  }
}
