package dev.holdfast.proof.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Effect;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.SteadyClock;
import dev.holdfast.proof.model.Contract;
import dev.holdfast.proof.model.Model;
import dev.holdfast.proof.model.Obstacles;
import dev.holdfast.proof.model.SubscriptionChange;
import dev.holdfast.proof.model.Violation;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lives through one world. It does what the engine's runner does in production, one thing at a
 * time: gathers inputs, steps the loop, carries out its effects; and shows everything to the model.
 */
final class Simulation {
  private static final String TENANT = "default";

  /** Steps within a simulated second: more means that the loop turns without getting anywhere. */
  private static final int MOST_STEPS_A_SECOND = 200_000;

  /** How long the engine may take for what it only has to do: the bound that is stated. */
  private static final Duration PROMPT = Duration.ofMillis(20);

  private static final Duration PROMPT_WITH_LITTLE_ROOM = Duration.ofMillis(500);
  private static final int ROOMY_TIMERS = 1_000;
  private static final int MOST_SAME_READS = 50;

  /** How long, after the faults have ended, everything may take beyond the last deadline. */
  private static final Duration GRACE = Duration.ofHours(2);

  /** The process does not wake up more often, however slowly its clock goes. */
  private static final Duration SHORTEST_SLEEP = Duration.ofNanos(1_000);

  private static final int MOST_STEP_MICROS = 300;

  private static final int FEW_ENDPOINTS = 64;

  /** Bytes of the largest event, and messages of the largest request, that worlds have. */
  private static final int LARGEST_EVENT = 1_000;

  private static final int LARGEST_REQUEST = 4_000;
  private static final int LARGEST_REQUEST_IN_BOTH_VERSIONS = 2 * LARGEST_REQUEST;

  private static final Duration LONGEST_STOP = Duration.ofMinutes(1);

  private final World world;
  private final Trace trace;
  private final Words words;
  private final Consumer<Batch> stored;
  private final SimulatedStore store;
  private final Obstacles obstacles;
  private final Model model;
  private final Happenings happenings = new Happenings();
  private final Disk disk;
  private final Map<String, Behaviour> receivers = new HashMap<>();
  private List<Input> inputs = new ArrayList<>();

  /** Time as it passes, whatever a clock says. Everything is planned by it. */
  private Instant passed = World.START;

  /** How far the machine's clock is from it. */
  private Duration wrong = Duration.ZERO;

  private SteadyClock clock = steadyClock(World.START);

  /** The latest time that something on disk tells of. */
  private Instant latestStored = World.START;

  /** What the process takes for the time. */
  private Instant now = World.START;

  /** When everything has to have come to its end. */
  private Instant limit = Instant.MAX;

  private long events;

  /** The process that runs; absent while there is none. */
  private @Nullable Loop loop;

  /** Which process this is: what was planned for an earlier one does not happen. */
  private int incarnation;

  private boolean stopping;
  private boolean healed;

  /** How many more effects the process carries out before it dies, if it is going to. */
  private int effectsLeft = Integer.MAX_VALUE;

  private Duration down = Duration.ZERO;
  private long steps;
  private long stepsInSecond;
  private Instant second = World.START;
  private int uncheckedSteps;

  /** Whether, after its last step, the engine held as much as it may. */
  private boolean crowded;

  /** The questions that the model has heard of, since they were not refused at once. */
  private final IdentityHashMap<Request, Boolean> heard = new IdentityHashMap<>();

  private @Nullable Load lastRead;
  private int sameReads;

  private Simulation(World world, Trace trace, Consumer<Batch> stored) {
    this.world = world;
    this.trace = trace;
    this.words = new Words(trace);
    this.stored = stored;
    this.store = new SimulatedStore(world.backlogRows());
    this.obstacles =
        new Obstacles(
            world.limits().inFlight(),
            world.limits().inFlightUnproven(),
            world.limits().sendingBytes());
    this.model =
        new Model(
            world.contract(),
            obstacles,
            prompt(world.limits()),
            world.limits().sweep(),
            world.limits().bothVersions());
    if (world.script().stream().anyMatch(Simulation::isOfThePast)) {
      store.remembers = true;
      model.remembersFinished();
    }
    this.disk = new Disk(world);
  }

  /** Whether what is over matters, since somebody wants to have it again. */
  private static boolean isOfThePast(Action action) {
    return action instanceof Action.Replay
        || action instanceof Action.SubscribeSince
        || (action instanceof Action.SubscribeIn newcomer && newcomer.back() != null);
  }

  /** With little room the engine has to read in small steps, one after the other. */
  private static Duration prompt(Limits limits) {
    return limits.timers() < ROOMY_TIMERS ? PROMPT_WITH_LITTLE_ROOM : PROMPT;
  }

  /** What came of a world. */
  record Result(
      World world,
      @Nullable Violation violation,
      String trace,
      Model.Counts counts,
      Duration lived,
      long steps) {}

  static Result run(World world, Trace trace) {
    return run(world, trace, _ -> {});
  }

  /**
   * Lives through a world.
   *
   * @param stored hears of each batch that is on disk
   */
  static Result run(World world, Trace trace, Consumer<Batch> stored) {
    Simulation simulation = new Simulation(world, trace, stored);
    Violation violation = null;
    try {
      simulation.live();
    } catch (Violation e) {
      violation = e;
      trace.line(simulation.now, () -> "VIOLATION " + trace.named(String.valueOf(e.getMessage())));
    }
    return new Result(
        world,
        violation,
        trace.text(),
        simulation.model.counts(),
        Duration.between(World.START, simulation.passed),
        simulation.steps);
  }

  private void live() {
    for (Action action : world.script()) {
      happenings.plan(action.at(), () -> act(action));
    }
    happenings.plan(world.end(), this::heal);
    start();
    while (!now.isAfter(limit) && !isOver()) {
      Instant next = next();
      if (next == null) {
        break;
      }
      passed = next.isAfter(passed) ? next : passed;
      readClock();
      happenings.happen(passed);
      if (loop != null && (!inputs.isEmpty() || isAwake(loop))) {
        step(loop);
      }
    }
    model.checkNothingIsLeft();
    checkNothingIsHeld();
  }

  private boolean isOver() {
    return healed && loop != null && model.isAtRest() && disk.isIdle() && inputs.isEmpty();
  }

  private @Nullable Instant next() {
    if (!inputs.isEmpty() && loop != null) {
      return passed;
    }
    Instant planned = happenings.next();
    Instant wake = loop == null ? null : loop.nextWake().orElse(null);
    if (wake == null) {
      return planned;
    }
    Instant at = wake.equals(Loop.AT_ONCE) ? passed.plus(stepTime()) : wakesAt(wake);
    return planned == null || at.isBefore(planned) ? at : planned;
  }

  private Instant wakesAt(Instant wake) {
    Duration sleep = Duration.between(now, wake);
    Instant woken = passed.plus(sleep.compareTo(SHORTEST_SLEEP) < 0 ? SHORTEST_SLEEP : sleep);
    return wake.isAfter(now) ? woken : passed;
  }

  /** What a step that has more to start takes: commits, answers and all else fall into it. */
  private Duration stepTime() {
    long since = Duration.between(World.START, passed).toNanos();
    var random = new SplittableRandom(world.seed() ^ since);
    return Duration.ofNanos(1_000 * random.nextLong(1, MOST_STEP_MICROS));
  }

  private boolean isAwake(Loop running) {
    return running.nextWake().filter(wake -> !wake.isAfter(now)).isPresent();
  }

  private SteadyClock steadyClock(Instant from) {
    return new SteadyClock(
        () -> passed.plus(wrong), () -> Duration.between(World.START, passed).toNanos(), from);
  }

  private void readClock() {
    if (loop != null) {
      now = clock.instant().truncatedTo(ChronoUnit.MICROS);
    }
  }

  // The process.

  private void start() {
    Contract contract = world.contract();
    incarnation++;
    model.counts().starts++;
    stopping = false;
    effectsLeft = Integer.MAX_VALUE;
    inputs = new ArrayList<>();
    heard.clear();
    crowded = false;
    disk.starts();
    store.deeds.died();
    Snapshot snapshot = store.snapshot();
    clock = steadyClock(latestStored);
    now = clock.instant().truncatedTo(ChronoUnit.MICROS);
    trace.line(now, () -> "START " + incarnation);
    loop =
        new Loop(
            new RetrySchedule(contract.unit(), contract.retries()),
            new EndpointHealth(
                contract.minAttempts(),
                contract.failuresPerMillion(),
                contract.window(),
                contract.disableAfter(),
                contract.freezeSilence(),
                contract.freezeAt(),
                contract.probeEvery()),
            contract.drain() ? Recovery.DRAIN : Recovery.SCHEDULE,
            world.limits(),
            0,
            snapshot);
    model.starts(now);
    if (healed) {
      bringToAnEnd();
    }
  }

  private void die(String how) {
    model.counts().deaths++;
    trace.line(now, () -> how);
    loop = null;
    incarnation++;
    inputs = new ArrayList<>();
    happenings.plan(passed.plus(down), this::start);
  }

  /** Plans something of this process: it does not happen when the process has died. */
  private void plan(Duration in, Runnable what) {
    int planned = incarnation;
    happenings.plan(
        passed.plus(in),
        () -> {
          if (incarnation == planned) {
            what.run();
          }
        });
  }

  private void step(Loop running) {
    countStep();
    if (crowded) {
      obstacles.crowded(now);
    }
    if (disk.isSlow(passed)) {
      obstacles.slow(now);
    }
    List<Input> batch = inputs;
    inputs = new ArrayList<>();
    List<Effect> effects = new ArrayList<>();
    // How many effects there were before each input was taken in.
    List<Integer> before = new ArrayList<>();
    Iterable<Input> taken = () -> batch.stream().peek(_ -> before.add(effects.size())).iterator();
    try {
      running.step(taken, now, effects::add);
    } catch (RuntimeException e) {
      throw new Violation("the loop does not break", e + " at " + e.getStackTrace()[0]);
    }
    IdentityHashMap<Consumer<Answer>, Answer> answers = new IdentityHashMap<>();
    for (Effect effect : effects) {
      if (effect instanceof Effect.Reply reply) {
        answers.put(reply.to(), reply.answer());
      }
    }
    int told = 0;
    for (int i = 0; i < effects.size(); i++) {
      for (; told < batch.size() && before.get(told) <= i; told++) {
        tell(batch.get(told), answers);
      }
      if (effectsLeft-- == 0) {
        die("CRASH");
        return;
      }
      perform(effects.get(i));
    }
    for (; told < batch.size(); told++) {
      tell(batch.get(told), answers);
    }
    check(running);
    if (stopping && running.isStopped()) {
      model.stopped();
      die("STOPPED");
    }
  }

  private void countStep() {
    steps++;
    stepsInSecond++;
    if (passed.isAfter(second.plusSeconds(1))) {
      second = passed;
      stepsInSecond = 0;
    }
    if (stepsInSecond > MOST_STEPS_A_SECOND || Thread.currentThread().isInterrupted()) {
      throw new Violation("the loop gets somewhere", stepsInSecond + " steps in a second");
    }
  }

  /** Shows the model what the loop was told. */
  private void tell(Input input, IdentityHashMap<Consumer<Answer>, Answer> answers) {
    switch (input) {
      case Input.Asked asked -> {
        Answer answer = answers.get(asked);
        if (!(answer instanceof Answer.Refused
            || answer instanceof Answer.NotFound
            || answer instanceof Answer.Unfit)) {
          asked(asked.request());
        }
      }
      case Input.AttemptEnded ended -> {
        Delivery delivery = ended.delivery();
        trace.line(
            now,
            () ->
                "ended "
                    + trace.message(delivery.message().id())
                    + " "
                    + Words.of(ended.outcome()));
        model.ended(delivery.message().id(), delivery.startedAt(), ended.outcome(), now);
      }
      case Input.Committed committed -> {
        trace.line(now, () -> "committed");
        obstacles.commitEnds(false, now);
        model.landed(committed.batch(), now);
      }
      case Input.CommitFailed failed -> {
        trace.line(now, () -> "commit failed " + failed.kind());
        obstacles.commitEnds(true, now);
        model.counts().failedCommits++;
        model.failed(failed.batch(), failed.kind());
      }
      case Input.Loaded loaded -> {
        if (loaded.load() instanceof Load.Probe) {
          loaded.messages().forEach(message -> model.choseProbe(message.id()));
        }
        if (!loaded.messages().isEmpty() || !(loaded.load() instanceof Load.Due)) {
          trace.line(now, () -> "read " + trace.named(loaded.load() + " " + Words.of(loaded)));
        }
      }
      case Input.BacklogLoaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.toString()));
      }
      case Input.OriginalsLoaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.toString()));
      }
      case Input.EventsLoaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.load().toString()));
      }
      case Input.LoadFailed failed -> {
        trace.line(now, () -> "read failed " + trace.named(failed.load().toString()));
        model.counts().failedReads++;
        sameReads = 0;
      }
      case Input.SpaceLeft space -> trace.line(now, () -> "free " + space.bytes());
      case Input.Removed _ -> {}
      case Input.StopRequested _ -> trace.line(now, () -> "asked to stop");
      case Input.Woken _,
          Input.ArrivalsLoaded _,
          Input.Learned _,
          Input.StoredByAll _,
          Input.Gained _,
          Input.Release _,
          Input.Leased _,
          Input.Abandoned _ ->
          throw new IllegalStateException("one node decides for all");
    }
  }

  private void asked(Request request) {
    heard.put(request, true);
    switch (request) {
      case Request.Submit submit -> {
        for (NewEvent event : submit.events()) {
          long number = Long.parseLong(new String(event.data(), UTF_8).strip());
          model.submitted(number, event.type(), event.subject(), now);
        }
      }
      case Request.Unsubscribe unsubscribe -> model.unsubscribing(unsubscribe.subscription(), now);
      case Request.Operate operate -> {
        switch (operate.operation()) {
          case ENABLE -> model.enabledByHand(operate.endpoint(), now);
          case DISABLE -> model.disabledByHand(operate.endpoint(), now);
          case FREEZE -> model.frozenByHand(operate.endpoint(), now);
        }
      }
      case Request.Configure configure -> {
        if (configure.rateLimit() != null) {
          model.limitsRate(configure.endpoint(), configure.rateLimit().limit(), now);
        }
      }
      case Request.Update update ->
          model.changing(update.subscription(), change(update.patch()), now);
      case Request.Replay replay -> model.replaying(replay.selection());
      case Request.CancelReplay cancel -> model.cancelling(cancel.replay());
      case Request.Subscribe _, Request.RetryNow _ -> {}
      case Request.ChangeVersion change ->
          model.changingVersion(change, change.subscriptions(), change.version(), now);
      case Request.Import _ -> throw new IllegalStateException("nobody imports in these worlds");
    }
  }

  // What the loop wants done.

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Commit commit -> commit(commit.batch());
      case Effect.Send send -> send(send.delivery());
      case Effect.Fetch fetch -> read(new Read(store, fetch.load()));
      case Effect.Reply reply -> {
        trace.line(now, () -> "answered: " + trace.named(Words.of(reply.answer())));
        reply.to().accept(reply.answer());
      }
      case Effect.GoneChanged _, Effect.SpaceChanged _ -> {}
      case Effect.LetGo _ -> throw new IllegalStateException("one node decides for all");
      case Effect.StateChanged changed -> {
        trace.line(
            now,
            () ->
                trace.endpoint(changed.endpoint().id())
                    + " becomes "
                    + changed.endpoint().health().state()
                    + " "
                    + changed.endpoint().health().reason());
        model.stateChanged(changed.endpoint());
      }
    }
  }

  /** However many want an event, a commit makes few of its messages. */
  private void checkSteps(Batch batch) {
    int most = world.limits().matchesAtOnce();
    for (Write write : batch.writes()) {
      int largest =
          switch (write) {
            case Write.Accept accept ->
                accept.events().stream().mapToInt(e -> e.messages().size()).max().orElse(0);
            case Write.Spread spread -> spread.messages().size();
            case Write.Progress progress ->
                progress.made().size() > world.limits().sweep() ? Integer.MAX_VALUE : 0;
            default -> 0;
          };
      if (largest > most) {
        throw new Violation("limits hold", largest + " messages made at once: " + write);
      }
    }
  }

  private void commit(Batch batch) {
    checkSteps(batch);
    trace.line(now, () -> "commit " + words.of(batch));
    model.commits(batch, now);
    obstacles.commitStarts();
    Disk.Fate fate = disk.fateOf(batch, passed);
    disk.commitStarts();
    Instant at = now;
    switch (fate) {
      case Disk.Fate.Fails fails ->
          plan(
              fails.takes(),
              () -> {
                disk.commitEnds();
                inputs.add(new Input.CommitFailed(batch, fails.kind(), "as the script wants it"));
              });
      case Disk.Fate.Works works -> {
        // Between these two the batch is on disk, but the engine does not know.
        Written[] written = new Written[1];
        plan(works.takes().dividedBy(2), () -> written[0] = write(batch, at));
        plan(
            works.takes(),
            () -> {
              disk.commitEnds();
              inputs.add(new Input.Committed(batch, written[0]));
            });
      }
      case Disk.Fate.Lost lost -> {
        if (lost.written()) {
          write(batch, at);
        }
        down = lost.down();
        effectsLeft = 0;
        plan(
            lost.takes(),
            () -> die("BROKEN, the last batch is " + (lost.written() ? "" : "not ") + "on disk"));
      }
    }
  }

  private Written write(Batch batch, Instant committedAt) {
    Written written = store.write(batch);
    stored.accept(batch);
    latestStored = committedAt;
    trace.line(now, () -> "on disk");
    model.stored(batch, written, now);
    return written;
  }

  private void send(Delivery delivery) {
    trace.line(
        now,
        () ->
            "send "
                + trace.message(delivery.message().id())
                + " to "
                + trace.endpoint(delivery.message().endpoint())
                + Words.version(delivery.message()));
    model.sends(delivery, now);
    Behaviour behaviour =
        healed
            ? new Behaviour.Healthy(Duration.ofMillis(20))
            : receivers.getOrDefault(delivery.url(), new Behaviour.Healthy(Duration.ofMillis(20)));
    Behaviour.Reaction reaction =
        behaviour.react(now, dice(delivery.url().hashCode(), now.toEpochMilli()));
    plan(
        reaction.takes(),
        () ->
            inputs.add(
                new Input.AttemptEnded(delivery, reaction.outcome(), reaction.takes().toMillis())));
  }

  private void checkIsNew(Load load) {
    boolean again =
        load instanceof Load.Due due
            && lastRead instanceof Load.Due last
            && due.after().equals(last.after());
    sameReads = again ? sameReads + 1 : 0;
    lastRead = load;
    if (sameReads > MOST_SAME_READS) {
      throw new Violation("the same is not read again and again", load.toString());
    }
  }

  private void read(Read read) {
    checkIsNew(read.load());
    if (read.load() instanceof Load.Probe probe) {
      model.choosesProbe(probe.endpoint(), probe.now());
    }
    if (!(read.load() instanceof Load.Due)) {
      trace.line(now, () -> "asks for " + trace.named(read.load().toString()));
    }
    // The timer reads ahead, so that only a slow store can make it late.
    boolean isInTheWay = !(read.load() instanceof Load.Due) || disk.isSlow(passed);
    if (isInTheWay) {
      obstacles.readStarts();
    }
    Duration takes = disk.readTime(passed);
    if (disk.failsRead(passed)) {
      plan(
          takes,
          () -> {
            obstacles.readFailed(isInTheWay, now);
            inputs.add(new Input.LoadFailed(read.load()));
          });
      return;
    }
    Input[] found = new Input[1];
    plan(disk.readsAt(takes, passed), () -> found[0] = read.run());
    plan(
        takes,
        () -> {
          if (isInTheWay) {
            obstacles.readEnds(now);
          }
          inputs.add(found[0]);
        });
  }

  // What the world does.

  private void act(Action action) {
    trace.line(now, () -> "* " + action);
    switch (action) {
      case Action.Subscribe subscribe ->
          ask(
              new Request.Subscribe(
                  TENANT,
                  url(subscribe.endpoint()),
                  List.of(new TypePattern(subscribe.type())),
                  subscribe.subject()),
              _ -> {});
      case Action.SubscribeSince newcomer -> subscribe(newcomer);
      case Action.SubscribeIn wanted -> subscribe(wanted);
      case Action.ToVersion to -> change(to.which(), Patch.of(Form.Change.to(to.version())));
      case Action.ManyToVersion many -> changeMany(many);
      case Action.Unsubscribe unsubscribe -> {
        Subscription which = store.subscriptionAt(unsubscribe.which());
        if (which != null) {
          Request question = new Request.Unsubscribe(TENANT, which.id());
          ask(
              question,
              answer -> {
                if (answer instanceof Answer.Refused && heard.containsKey(question)) {
                  model.notUnsubscribed(which.id(), now);
                }
              });
        }
      }
      case Action.Redirect redirect ->
          change(redirect.which(), Patch.toUrl(url(redirect.endpoint())));
      case Action.Retype retype ->
          change(retype.which(), Patch.toTypes(List.of(new TypePattern(retype.type()))));
      case Action.Pause pause -> change(pause.which(), Patch.toPaused(pause.paused()));
      case Action.Replay replay -> replay(replay);
      case Action.CancelReplay cancel -> {
        Replay which = store.replayAt(cancel.which());
        if (which != null) {
          ask(new Request.CancelReplay(TENANT, which.id()), this::replayIs);
        }
      }
      case Action.Submit submit -> submit(submit);
      case Action.Operate operate -> {
        Endpoint which = store.endpointAt(operate.endpoint());
        if (which != null) {
          ask(new Request.Operate(TENANT, which.id(), operate.operation()), _ -> {});
        }
      }
      case Action.LimitRate limit -> {
        Endpoint which = store.endpointAt(limit.endpoint());
        if (which != null) {
          RateLimit rate = new RateLimit(limit.perSecond());
          ask(Request.Configure.limitRate(TENANT, which.id(), rate), _ -> {});
        }
      }
      case Action.RetryByHand retry -> retryByHand(retry.which());
      case Action.Behave behave -> receivers.put(url(behave.endpoint()), behave.behaviour());
      case Action.Crash crash -> {
        if (loop != null) {
          down = crash.down();
          effectsLeft = Math.min(effectsLeft, crash.effects());
        }
      }
      case Action.Stop stop -> stop(stop.down());
      case Action.FillDisk fill -> disk.fill(passed.plus(fill.time()));
      case Action.Poison poison -> disk.poison(passed.plus(poison.time()), poison.oneIn());
      case Action.LoseCommit lose -> disk.loseNext(lose.written(), lose.down());
      case Action.SlowStore slow ->
          disk.slow(passed.plus(slow.time()), slow.commits(), slow.reads());
      case Action.SetClock set -> {
        wrong = wrong.plus(set.by());
        readClock();
        obstacles.leapt(now);
      }
      case Action.FailReads fail -> disk.failReads(passed.plus(fail.time()), fail.oneIn());
    }
  }

  private void subscribe(Action.SubscribeSince newcomer) {
    Interest interest = new Interest(List.of(new TypePattern(newcomer.type())), null, Filters.NONE);
    ask(
        new Request.Subscribe(
            TENANT,
            new Request.Wish(url(newcomer.endpoint()), interest, Form.PLAIN, null),
            now.minus(newcomer.back())),
        _ -> {});
  }

  private void subscribe(Action.SubscribeIn wanted) {
    Version version = wanted.version();
    Interest interest =
        new Interest(List.of(new TypePattern(wanted.type())), wanted.subject(), Filters.NONE);
    Form form =
        new Form(
            Format.WORKFRONT,
            new Edition(version, null),
            false,
            null,
            Collections.emptyNavigableMap(),
            List.of());
    String url = url(wanted.endpoint());
    // Every other one is content with another that is the same.
    boolean unlessThere = wanted.at().toEpochMilli() % 2 == 0;
    ask(
        new Request.Subscribe(
            TENANT,
            new Request.Wish(url, interest, form, null),
            wanted.back() == null ? null : now.minus(wanted.back()),
            unlessThere),
        answer -> {
          if (answer instanceof Answer.Subscribed subscribed) {
            model.subscribed(subscribed.subscription(), version);
          } else if (answer instanceof Answer.AlreadyThere(long id)) {
            model.alreadyThere(id, url, interest, version);
          }
        });
  }

  private void changeMany(Action.ManyToVersion many) {
    List<Long> ids = many.which().isEmpty() ? null : new ArrayList<>();
    for (int which : many.which()) {
      Subscription subscription = store.subscriptionAt(which);
      if (ids != null && subscription != null && ObjectEvent.of(subscription).isPresent()) {
        ids.add(subscription.id());
      }
    }
    Request question = new Request.ChangeVersion(TENANT, ids, many.version());
    ask(
        question,
        answer -> {
          if (answer instanceof Answer.Imported imported) {
            model.versionChanged(
                question, imported.items().stream().map(Item::subscription).toList());
          } else {
            model.versionNotChanged(question);
          }
        });
  }

  private void change(int which, Patch patch) {
    Subscription subscription = store.subscriptionAt(which);
    if (subscription != null) {
      change(subscription, patch);
    }
  }

  private void change(Subscription subscription, Patch patch) {
    Request question = new Request.Update(TENANT, subscription.id(), patch);
    ask(
        question,
        answer -> {
          if (answer instanceof Answer.Updated updated) {
            model.changed(updated.subscription(), change(patch));
          } else if (answer instanceof Answer.Refused && heard.containsKey(question)) {
            model.notChanged(subscription.id(), change(patch));
          }
        });
  }

  private static SubscriptionChange change(Patch patch) {
    return new SubscriptionChange(
        patch.url(), patch.interest().types(), patch.paused(), patch.form().version());
  }

  private void replay(Action.Replay replay) {
    Endpoint endpoint = replay.byEndpoint() ? store.endpointAt(replay.which()) : null;
    Subscription subscription = replay.byEndpoint() ? null : store.subscriptionAt(replay.which());
    if (endpoint == null && subscription == null) {
      return;
    }
    ask(
        new Request.Replay(
            TENANT,
            new Replay.Selection(
                endpoint == null ? null : endpoint.id(),
                subscription == null ? null : subscription.id(),
                replay.endings(),
                replay.recent() == null ? null : now.minus(replay.recent()),
                replay.recent() == null ? null : now,
                replay.again())),
        this::replayIs);
  }

  private void replayIs(Answer answer) {
    if (answer instanceof Answer.ReplayIs is) {
      model.replayIs(is.replay());
    }
  }

  private static String url(int endpoint) {
    return "http://e" + endpoint + ".example/";
  }

  private void submit(Action.Submit submit) {
    List<NewEvent> made = new ArrayList<>();
    for (int i = 0; i < submit.events(); i++) {
      boolean named = submit.callerId() != Action.Submit.NO_ID && i == 0;
      long number = events++;
      if (submit.poison()) {
        disk.poison(number);
      }
      made.add(
          new NewEvent(
              submit.type(),
              submit.subject(),
              null,
              (number + " ".repeat(submit.padding())).getBytes(UTF_8),
              null,
              named ? "caller-" + submit.callerId() : null,
              null));
    }
    ask(
        new Request.Submit(TENANT, made),
        answer -> {
          if (answer instanceof Answer.Accepted accepted) {
            model.answered(accepted.receipts());
          }
        });
  }

  private void retryByHand(int which) {
    List<Long> unfinished = List.copyOf(model.unfinishedIds());
    if (!unfinished.isEmpty()) {
      long message = unfinished.get(Math.floorMod(which, unfinished.size()));
      ask(
          new Request.RetryNow(TENANT, message),
          answer -> {
            if (answer instanceof Answer.RetryStarted) {
              model.retriedByHand(message);
              store.deeds.retried(message);
            }
          });
    }
  }

  private void ask(Request request, Consumer<Answer> replyTo) {
    if (loop != null) {
      int asked = incarnation;
      Instant askedAt = now;
      Promise promise = new Promise(replyTo);
      inputs.add(new Input.Asked(request, promise));
      happenings.plan(
          passed.plus(Duration.ofHours(3)),
          () -> {
            if (incarnation == asked && !promise.kept) {
              throw new Violation(
                  "every question is answered", request + " of " + Trace.time(askedAt));
            }
          });
    }
  }

  /** Somebody who waits for an answer, and gets one. */
  private static final class Promise implements Consumer<Answer> {
    private final Consumer<Answer> replyTo;
    private boolean kept;

    Promise(Consumer<Answer> replyTo) {
      this.replyTo = replyTo;
    }

    @Override
    public void accept(Answer answer) {
      if (kept) {
        throw new Violation("every question is answered once", answer.toString());
      }
      kept = true;
      replyTo.accept(answer);
    }
  }

  private void stop(Duration downtime) {
    if (loop != null && !stopping) {
      stopping = true;
      down = downtime;
      inputs.add(new Input.StopRequested());
      plan(LONGEST_STOP, this::checkStopped);
    }
  }

  private void checkStopped() {
    Duration trouble = disk.troubleLeft(passed);
    if (trouble.isPositive()) {
      plan(trouble.plus(LONGEST_STOP), this::checkStopped);
      return;
    }
    throw new Violation("a process that is asked to end ends", "it has not");
  }

  /** All faults end: what is disabled recovers by itself, what people closed people open. */
  private void heal() {
    trace.line(now, () -> "* all is well from now on");
    healed = true;
    disk.heal();
    bringToAnEnd();
  }

  private void bringToAnEnd() {
    Instant last = world.contract().deadline(now);
    if (world.seed() >= WorldMaker.CHANGING) {
      // What is told of the last change of state may be held back until it expires, and so may what
      // is told of that.
      last = world.contract().deadline(world.contract().deadline(last));
    }
    limit = last.plus(GRACE);
    for (Subscription subscription : store.snapshot().subscriptions()) {
      if (subscription.paused() && !world.staysPaused()) {
        change(subscription, Patch.toPaused(false));
      }
    }
    for (Endpoint endpoint : store.snapshot().endpoints()) {
      boolean byItself = endpoint.health().isEnabled() || endpoint.health().isCircuitOpen();
      if (!byItself) {
        ask(new Request.Operate(TENANT, endpoint.id(), Operation.ENABLE), _ -> {});
      }
      if (endpoint.rateLimit() != null) {
        ask(Request.Configure.limitRate(TENANT, endpoint.id(), null), _ -> {});
      }
    }
  }

  // Checks.

  /** What looks at everything is not done at each step of a large world. */
  private void check(Loop running) {
    uncheckedSteps++;
    boolean lookAtAll = uncheckedSteps > (model.unfinished() + store.endpoints()) / 8;
    if (!lookAtAll && store.endpoints() > FEW_ENDPOINTS) {
      return;
    }
    Gauges gauges = running.gauges();
    checkLimits(gauges);
    if (!lookAtAll) {
      return;
    }
    uncheckedSteps = 0;
    if (!stopping) {
      model.checkNothingIsLate(now);
    }
    if (inputs.isEmpty() && disk.isIdle()) {
      model.checkCounts(
          new Unfinished((int) gauges.pending(), (int) gauges.waiting(), (int) gauges.parked(), 0));
    }
  }

  private void checkLimits(Gauges gauges) {
    crowded =
        gauges.unwritten() >= world.limits().unwritten() || gauges.held() >= world.limits().held();
    Limits limits = world.limits();
    limit(gauges.inFlight(), limits.inFlight(), "in flight", gauges);
    limit(gauges.bodyBytes(), limits.bodyBytes(), "bytes kept", gauges);
    limit(gauges.acceptingBytes(), limits.acceptingBytes(), "bytes not on disk", gauges);
    limit(gauges.timers(), limits.timers() + model.unrecorded(), "messages that wait", gauges);
    // These are looked at before something is taken in, so that one more may be.
    limit(gauges.sendingBytes(), limits.sendingBytes() + LARGEST_EVENT, "bytes sent", gauges);
    int lanes = store.endpoints();
    limit(
        gauges.unwritten(),
        limits.unwritten()
            + limits.inFlight()
            + lanes * limits.laneWindow()
            + (world.seed() >= WorldMaker.VERSIONS_FROM
                ? LARGEST_REQUEST_IN_BOTH_VERSIONS
                : LARGEST_REQUEST),
        "writes that wait",
        gauges);
    limit(
        gauges.held(),
        limits.held()
            + gauges.timers()
            + gauges.inFlight()
            + gauges.unwritten()
            + lanes * 2 * limits.laneMinimum()
            + limits.loads() * limits.laneWindow(),
        "messages held",
        gauges);
  }

  private static void limit(long is, long most, String what, Gauges gauges) {
    if (is > most) {
      throw new Violation("limits hold", what + " " + is + " of " + most + "; " + gauges);
    }
  }

  private void checkNothingIsHeld() {
    if (loop == null) {
      return;
    }
    Gauges gauges = loop.gauges();
    if (gauges.held() != 0
        || gauges.inFlight() != 0
        || gauges.bodyBytes() != 0
        || gauges.sendingBytes() != 0
        || gauges.acceptingBytes() != 0
        || gauges.unwritten() != 0) {
      throw new Violation("nothing is held for what has ended", gauges.toString());
    }
  }

  private SplittableRandom dice(long one, long other) {
    return new SplittableRandom(world.seed() * 31 + one * 0x9E3779B97F4A7C15L + other);
  }
}
