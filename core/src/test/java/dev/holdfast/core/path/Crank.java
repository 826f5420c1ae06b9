package dev.holdfast.core.path;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Turns the loop by hand: the test decides what time it is and what every receiver answers. */
final class Crank {
  static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);
  static final EndpointHealth HEALTH =
      new EndpointHealth(
          100, 700_000, 1_000, 2_000, Duration.ofHours(72), 50_000, Duration.ofMinutes(10));
  static final Outcome OK = new Outcome.Success(200, Outcome.NO_RESPONSE);
  static final Outcome DOWN =
      new Outcome.Failure(Outcome.Failure.Kind.STATUS, 500, Outcome.NO_RESPONSE, null);
  static final Outcome TIMED_OUT = Outcome.Failure.of(Outcome.Failure.Kind.TIMEOUT);

  final MemoryStore store = new MemoryStore();
  final Limits limits;
  final Recovery recovery;
  final Overload overload;
  Loop loop;
  Instant now = START;

  /** What a receiver answers at once; null leaves the attempt in flight. */
  Function<Delivery, @Nullable Outcome> receiver = _ -> OK;

  /** What the next commit fails with. */
  StoreException.@Nullable Kind failNextCommit;

  /** Which batches the store refuses. */
  Function<Batch, Boolean> refuses = _ -> false;

  /** Whether commits wait until {@link #commit} is called. */
  boolean holdCommits;

  /**
   * Whether loads wait until {@link #answerLoads} is called; they answer from when they were asked.
   */
  boolean holdLoads;

  /** What comes in after each step, before the next one. */
  Runnable afterStep = () -> {};

  /** How often a receiver has taken each message. */
  final Map<Long, Integer> taken = new HashMap<>();

  final List<Delivery> sent = new ArrayList<>();
  final List<Delivery> inFlight = new ArrayList<>();
  final List<Effect.StateChanged> changes = new ArrayList<>();
  final List<Effect.GoneChanged> gone = new ArrayList<>();
  final List<Effect.Space> spaces = new ArrayList<>();
  private final Deque<Input> inputs = new ArrayDeque<>();
  private final Deque<Batch> heldCommits = new ArrayDeque<>();
  private final Deque<Input> heldLoads = new ArrayDeque<>();

  Crank() {
    this(Limits.forHeap(512L << 20, 32), Recovery.DRAIN);
  }

  Crank(Limits limits, Recovery recovery) {
    this(limits, recovery, Overload.NONE);
  }

  /** Batches follow each other at once, since time passes only when a test says so. */
  Crank(Limits limits, Recovery recovery, Overload overload) {
    this(limits, recovery, overload, Duration.ZERO);
  }

  /** The same with batches that begin this far apart. */
  static Crank withBatchEvery(Duration apart) {
    return new Crank(Limits.forHeap(512L << 20, 32), Recovery.DRAIN, Overload.NONE, apart);
  }

  private Crank(Limits limits, Recovery recovery, Overload overload, Duration batchEvery) {
    this.limits = limits.withBatchEvery(batchEvery);
    this.overload = overload;
    this.recovery = recovery;
    loop = start();
  }

  private Loop start() {
    return new Loop(SCHEDULE, HEALTH, recovery, limits, overload, 0, store.snapshot());
  }

  /** The process dies and starts again: only the store is left. */
  void crash() {
    inputs.clear();
    heldCommits.clear();
    heldLoads.clear();
    inFlight.clear();
    loop = start();
    turn();
  }

  /** Lets everything happen that can happen without time passing. */
  void turn() {
    step();
    while (!inputs.isEmpty() || isToStepAtOnce(loop)) {
      step();
    }
  }

  static boolean isToStepAtOnce(Loop loop) {
    return loop.nextWake().filter(Loop.AT_ONCE::equals).isPresent();
  }

  private void step() {
    List<Input> batch = List.copyOf(inputs);
    inputs.clear();
    List<Effect> effects = new ArrayList<>();
    loop.step(batch, now, effects::add);
    effects.forEach(this::perform);
    afterStep.run();
  }

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Commit commit -> {
        heldCommits.add(commit.batch());
        if (!holdCommits) {
          finishCommit();
        }
      }
      case Effect.Send send -> {
        sent.add(send.delivery());
        Outcome outcome = receiver.apply(send.delivery());
        if (outcome == null) {
          inFlight.add(send.delivery());
        } else {
          ended(send.delivery(), outcome);
        }
      }
      case Effect.Fetch fetch -> {
        Input answer = load(fetch.load());
        (holdLoads ? heldLoads : inputs).add(answer);
      }
      case Effect.Reply reply -> reply.to().accept(reply.answer());
      case Effect.StateChanged changed -> changes.add(changed);
      case Effect.GoneChanged changed -> gone.add(changed);
      case Effect.SpaceChanged changed -> spaces.add(changed.space());
      case Effect.LetGo _ -> throw new IllegalStateException("one node decides for all");
    }
  }

  private void finishCommit() {
    Batch batch = heldCommits.remove();
    StoreException.Kind kind = failNextCommit;
    if (kind == null && refuses.apply(batch)) {
      kind = StoreException.Kind.REFUSED;
    }
    failNextCommit = null;
    inputs.add(
        kind != null
            ? new Input.CommitFailed(batch, kind, "as the test wants it")
            : new Input.Committed(batch, store.write(batch)));
  }

  /** Lets the commits that were held back end. */
  void commit() {
    while (!heldCommits.isEmpty()) {
      finishCommit();
      turn();
    }
  }

  /** Lets the commit that was held back end; the next one is held back again. */
  void commitOne() {
    finishCommit();
    turn();
  }

  /** Lets the loads that were held back answer. */
  void answerLoads() {
    while (!heldLoads.isEmpty()) {
      inputs.add(heldLoads.remove());
      turn();
    }
  }

  /** Something happens that nobody asked for. */
  void put(Input input) {
    inputs.add(input);
    turn();
  }

  /** Ends an attempt that was left in flight. */
  void end(Delivery delivery, Outcome outcome) {
    if (!inFlight.remove(delivery)) {
      throw new IllegalStateException("not in flight: " + delivery);
    }
    ended(delivery, outcome);
    turn();
  }

  private void ended(Delivery delivery, Outcome outcome) {
    if (outcome instanceof Outcome.Success) {
      taken.merge(delivery.message().id(), 1, Integer::sum);
    }
    inputs.add(new Input.AttemptEnded(delivery, outcome, 1));
  }

  void endAll(Outcome outcome) {
    for (Delivery delivery : List.copyOf(inFlight)) {
      end(delivery, outcome);
    }
  }

  private Input load(Load load) {
    return load(store, load);
  }

  /** What the store answers. */
  static Input load(MemoryStore store, Load load) {
    return switch (load) {
      case Load.Events events -> new Input.EventsLoaded(events, store.events(events.ids()));
      case Load.Due due ->
          new Input.Loaded(load, store.due(due.after(), due.through(), due.limit()));
      case Load.Pending pending ->
          new Input.Loaded(load, store.pending(pending.endpoint(), pending.limit()));
      case Load.Backlog backlog ->
          new Input.BacklogLoaded(
              backlog,
              store.backlog(
                  backlog.endpoint(),
                  backlog.triedBefore(),
                  backlog.after(),
                  backlog.now(),
                  backlog.limit()));
      case Load.Probe probe ->
          new Input.Loaded(load, store.probe(probe.endpoint(), probe.now()).stream().toList());
      case Load.OfSubscription of ->
          new Input.Loaded(
              load, store.ofSubscription(of.endpoint(), of.subscription(), of.which(), of.limit()));
      case Load.Originals originals ->
          new Input.OriginalsLoaded(
              originals, store.originals(originals.replay(), originals.limit()));
      case Load.Past past ->
          new Input.OriginalsLoaded(past, store.past(past.replay(), past.interest(), past.limit()));
      case Load.Unfinished unfinished ->
          new Input.Loaded(load, store.unfinished(unfinished.message()).stream().toList());
      case Load.Arrivals _ -> throw new IllegalStateException("nobody shares this store");
    };
  }

  /** Lets time pass, waking the loop whenever it asked for it. */
  void pass(Duration duration) {
    passUntil(now.plus(duration));
  }

  void passUntil(Instant end) {
    while (true) {
      Instant wake = loop.nextWake().orElse(end);
      if (wake.isAfter(end)) {
        break;
      }
      now = wake.isAfter(now) ? wake : now.plusMillis(1);
      if (now.isAfter(end)) {
        break;
      }
      turn();
    }
    now = end;
    turn();
  }

  Subscription subscribe(String url, String... types) {
    return subscribeFor("default", url, types);
  }

  Subscription subscribeFor(String tenant, String url, String... types) {
    Answer answer =
        ask(
            new Request.Subscribe(
                tenant, url, List.of(types).stream().map(TypePattern::new).toList(), null));
    return ((Answer.Subscribed) answer).subscription();
  }

  /** Sends {@code count} events of a type, all in one request. */
  Answer send(String type, int count) {
    return send("default", type, count);
  }

  Answer send(String tenant, String type, int count) {
    return ask(submit(tenant, type, count));
  }

  static Request.Submit submit(String tenant, String type, int count) {
    byte[] data = "{\"n\":1}".getBytes(UTF_8);
    return new Request.Submit(
        tenant,
        IntStream.range(0, count)
            .mapToObj(_ -> new NewEvent(type, null, null, data, null, null, null))
            .toList());
  }

  Answer operate(Subscription subscription, Operation operation) {
    return ask(new Request.Operate(subscription.tenant(), subscription.endpoint(), operation));
  }

  /** Asks and turns until nothing more happens; the answer is there unless commits are held. */
  Answer ask(Request request) {
    return ask(request, Actor.PROGRAM);
  }

  Answer ask(Request request, Actor by) {
    List<Answer> answers = askLater(request, by);
    if (answers.size() != 1) {
      throw new IllegalStateException("answers to " + request + ": " + answers);
    }
    return answers.getFirst();
  }

  /** Asks; the answer is added to the list when it comes. */
  List<Answer> askLater(Request request) {
    return askLater(request, Actor.PROGRAM);
  }

  List<Answer> askLater(Request request, Actor by) {
    List<Answer> answers = new ArrayList<>();
    comesIn(new Input.Asked(request, by, answers::add));
    turn();
    return answers;
  }

  /** Something comes in, and is heard in the next step. */
  void comesIn(Input input) {
    inputs.add(input);
  }

  Message onlyOpen() {
    if (store.open.size() != 1) {
      throw new IllegalStateException("unfinished: " + store.open.values());
    }
    return store.open.values().iterator().next();
  }

  List<Duration> sentAfterStart() {
    return sent.stream().map(delivery -> Duration.between(START, delivery.startedAt())).toList();
  }
}
