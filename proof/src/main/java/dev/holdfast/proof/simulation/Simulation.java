package dev.holdfast.proof.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Effect;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.proof.model.Contract;
import dev.holdfast.proof.model.Model;
import dev.holdfast.proof.model.Obstacles;
import dev.holdfast.proof.model.Violation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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

  /** How long, after the faults have ended, everything may take beyond the last deadline. */
  private static final Duration GRACE = Duration.ofHours(2);

  private static final Duration LONGEST_STOP = Duration.ofMinutes(1);

  private final World world;
  private final Trace trace;
  private final SimulatedStore store;
  private final Obstacles obstacles;
  private final Model model;
  private final Happenings happenings = new Happenings();
  private final Disk disk;
  private final Map<String, Behaviour> receivers = new HashMap<>();
  private List<Input> inputs = new ArrayList<>();
  private Instant now = World.START;
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

  private Simulation(World world, Trace trace) {
    this.world = world;
    this.trace = trace;
    this.store = new SimulatedStore(world.backlogRows());
    this.obstacles =
        new Obstacles(
            world.limits().inFlight(),
            world.limits().inFlightUnproven(),
            world.limits().sendingBytes());
    this.model = new Model(world.contract(), obstacles);
    this.disk = new Disk(world);
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
    Simulation simulation = new Simulation(world, trace);
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
        Duration.between(World.START, simulation.now),
        simulation.steps);
  }

  private void live() {
    for (Action action : world.script()) {
      happenings.plan(action.at(), () -> act(action));
    }
    happenings.plan(world.end(), this::heal);
    start();
    Instant limit = world.contract().deadline(world.end()).plus(GRACE);
    while (!now.isAfter(limit) && !isOver()) {
      Instant next = next();
      if (next == null) {
        break;
      }
      now = next.isAfter(now) ? next : now;
      happenings.happen(now);
      if (loop != null) {
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
      return now;
    }
    Instant planned = happenings.next();
    Instant wake = loop == null ? null : loop.nextWake().orElse(null);
    if (wake == null) {
      return planned;
    }
    return planned == null || wake.isBefore(planned) ? wake : planned;
  }

  // The process.

  private void start() {
    Contract contract = world.contract();
    incarnation++;
    stopping = false;
    effectsLeft = Integer.MAX_VALUE;
    inputs = new ArrayList<>();
    disk.starts();
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
            store.snapshot());
    model.starts(now);
    if (healed) {
      enableWhatPeopleMust();
    }
  }

  private void die(String how) {
    trace.line(now, () -> how);
    loop = null;
    incarnation++;
    inputs = new ArrayList<>();
    happenings.plan(now.plus(down), this::start);
  }

  /** Plans something of this process: it does not happen when the process has died. */
  private void plan(Duration in, Runnable what) {
    int planned = incarnation;
    happenings.plan(
        now.plus(in),
        () -> {
          if (incarnation == planned) {
            what.run();
          }
        });
  }

  private void step(Loop running) {
    countStep();
    List<Input> batch = inputs;
    inputs = new ArrayList<>();
    List<Effect> effects = new ArrayList<>();
    try {
      running.step(batch, now, effects::add);
    } catch (RuntimeException e) {
      throw new Violation("the loop does not break", e + " at " + e.getStackTrace()[0]);
    }
    Map<Consumer<Answer>, Answer> answers = new IdentityHashMap<>();
    for (Effect effect : effects) {
      if (effect instanceof Effect.Reply reply) {
        answers.put(reply.to(), reply.answer());
      }
    }
    batch.forEach(input -> tell(input, answers));
    for (Effect effect : effects) {
      if (effectsLeft-- == 0) {
        die("CRASH");
        return;
      }
      perform(effect);
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
    if (now.isAfter(second.plusSeconds(1))) {
      second = now;
      stepsInSecond = 0;
    }
    if (stepsInSecond > MOST_STEPS_A_SECOND) {
      throw new Violation("the loop gets somewhere", stepsInSecond + " steps in a second");
    }
  }

  /** Shows the model what the loop was told. */
  private void tell(Input input, Map<Consumer<Answer>, Answer> answers) {
    switch (input) {
      case Input.Asked asked -> {
        Answer answer = answers.get(asked.replyTo());
        if (!(answer instanceof Answer.Refused || answer instanceof Answer.NotFound)) {
          asked(asked.request());
        }
      }
      case Input.AttemptEnded ended -> {
        Delivery delivery = ended.delivery();
        trace.line(
            now,
            () -> "ended " + trace.message(delivery.message().id()) + " " + name(ended.outcome()));
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
        model.failed(failed.batch(), failed.kind());
      }
      case Input.Loaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.load() + " " + ids(loaded)));
        obstacles.readEnds(now);
      }
      case Input.BacklogLoaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.toString()));
        obstacles.readEnds(now);
      }
      case Input.EventsLoaded loaded -> {
        trace.line(now, () -> "read " + trace.named(loaded.load().toString()));
        obstacles.readEnds(now);
      }
      case Input.LoadFailed failed ->
          trace.line(now, () -> "read failed " + trace.named(failed.load().toString()));
      case Input.StopRequested _ -> trace.line(now, () -> "asked to stop");
    }
  }

  private static String name(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Success success -> Integer.toString(success.status());
      case Outcome.Failure failure ->
          failure.kind()
              + (failure.status() == null ? "" : " " + failure.status())
              + (failure.retryAfter() == null ? "" : " Retry-After: " + failure.retryAfter());
    };
  }

  private static String ids(Input.Loaded loaded) {
    return loaded.messages().stream().map(message -> message.id()).toList().toString();
  }

  private void asked(Request request) {
    switch (request) {
      case Request.Submit submit -> {
        for (NewEvent event : submit.events()) {
          long number = Long.parseLong(new String(event.data(), UTF_8).strip());
          model.submitted(number, event.type(), event.subject(), now);
        }
      }
      case Request.Unsubscribe unsubscribe -> model.unsubscribing(unsubscribe.subscription());
      case Request.Operate operate -> {
        switch (operate.operation()) {
          case ENABLE -> model.enabledByHand(operate.endpoint(), now);
          case DISABLE -> model.disabledByHand(operate.endpoint(), now);
          case FREEZE -> model.frozenByHand(operate.endpoint(), now);
        }
      }
      case Request.Subscribe _, Request.RetryNow _ -> {}
    }
  }

  // What the loop wants done.

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Commit commit -> commit(commit.batch());
      case Effect.Send send -> send(send.delivery());
      case Effect.Fetch fetch -> read(new Read(store, fetch.load()));
      case Effect.Reply reply -> {
        trace.line(now, () -> "answered " + trace.named(reply.answer().toString()));
        reply.to().accept(reply.answer());
      }
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

  private void commit(Batch batch) {
    trace.line(now, () -> "commit " + trace.named(summary(batch)));
    model.commits(batch, now);
    obstacles.commitStarts();
    Disk.Fate fate = disk.fateOf(batch, now);
    disk.commitStarts();
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
        plan(works.takes().dividedBy(2), () -> written[0] = write(batch));
        plan(
            works.takes(),
            () -> {
              disk.commitEnds();
              inputs.add(new Input.Committed(batch, written[0]));
            });
      }
      case Disk.Fate.Lost lost -> {
        if (lost.written()) {
          write(batch);
        }
        down = lost.down();
        effectsLeft = 0;
        plan(
            lost.takes(),
            () -> die("BROKEN, the last batch is " + (lost.written() ? "" : "not ") + "on disk"));
      }
    }
  }

  private Written write(Batch batch) {
    Written written = store.write(batch);
    trace.line(now, () -> "on disk");
    model.stored(batch, written, now);
    return written;
  }

  private static String summary(Batch batch) {
    StringBuilder text = new StringBuilder();
    for (Write write : batch.writes()) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(
              switch (write) {
                case Write.Accept accept ->
                    "accept "
                        + accept.events().stream()
                            .map(e -> e.event().id() + "->" + messages(e))
                            .toList();
                case Write.Deliver deliver -> "delivered " + deliver.message().id();
                case Write.Retry retry ->
                    "retry " + retry.message().id() + " slot " + retry.message().slot() + " due "
                        + due(retry.message().due());
                case Write.Park park -> "park " + park.message().id();
                case Write.Drop drop -> "drop " + drop.message().id() + " " + drop.reason();
                case Write.Subscribe subscribe ->
                    "subscribe " + subscribe.subscription().id() + " to "
                        + subscribe.subscription().endpoint();
                case Write.Unsubscribe unsubscribe ->
                    "unsubscribe " + unsubscribe.subscription().id();
                case Write.Forget forget -> "forget " + forget.subscription();
                case Write.ChangeState change ->
                    change.endpoint().id() + " is " + change.endpoint().health().state();
              });
    }
    return text + " and " + batch.endpoints().stream().map(Endpoint::id).toList();
  }

  private static String messages(Write.AcceptedEvent accepted) {
    return accepted.messages().stream()
        .map(message -> message.status() + " " + message.id() + " for " + message.endpoint())
        .toList()
        .toString();
  }

  private static String due(@Nullable Instant due) {
    return due == null ? "never" : Trace.time(due);
  }

  private void send(Delivery delivery) {
    trace.line(
        now,
        () ->
            "send "
                + trace.message(delivery.message().id())
                + " to "
                + trace.endpoint(delivery.message().endpoint()));
    model.sends(delivery, now);
    Behaviour behaviour =
        healed
            ? new Behaviour.Healthy(Duration.ofMillis(20))
            : receivers.getOrDefault(
                delivery.url(), new Behaviour.Healthy(Duration.ofMillis(20)));
    Behaviour.Reaction reaction =
        behaviour.react(now, dice(delivery.url().hashCode(), now.toEpochMilli()));
    plan(
        reaction.takes(),
        () ->
            inputs.add(
                new Input.AttemptEnded(
                    delivery, reaction.outcome(), reaction.takes().toMillis())));
  }

  private void read(Read read) {
    trace.line(now, () -> "asks for " + trace.named(read.load().toString()));
    obstacles.readStarts();
    if (disk.failsRead(now)) {
      plan(
          disk.readTime(now),
          () -> {
            obstacles.readEnds(now);
            inputs.add(new Input.LoadFailed(read.load()));
          });
      return;
    }
    Duration takes = disk.readTime(now);
    Input[] found = new Input[1];
    plan(disk.readsAt(takes, now), () -> found[0] = read.run());
    plan(takes, () -> inputs.add(found[0]));
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
      case Action.Unsubscribe unsubscribe -> {
        Subscription which = store.subscriptionAt(unsubscribe.which());
        if (which != null) {
          ask(
              new Request.Unsubscribe(TENANT, which.id()),
              answer -> {
                if (answer instanceof Answer.Refused) {
                  model.notUnsubscribed(which.id());
                }
              });
        }
      }
      case Action.Submit submit -> submit(submit);
      case Action.Operate operate -> {
        Endpoint which = store.endpointAt(operate.endpoint());
        if (which != null) {
          ask(new Request.Operate(TENANT, which.id(), operate.operation()), _ -> {});
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
      case Action.FillDisk fill -> disk.fill(now.plus(fill.time()));
      case Action.Poison poison -> disk.poison(now.plus(poison.time()), poison.oneIn());
      case Action.LoseCommit lose -> disk.loseNext(lose.written(), lose.down());
      case Action.SlowStore slow -> disk.slow(now.plus(slow.time()), slow.commits(), slow.reads());
      case Action.FailReads fail -> disk.failReads(now.plus(fail.time()), fail.oneIn());
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
          now.plus(Duration.ofHours(3)),
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
      plan(
          LONGEST_STOP.plus(disk.troubleLeft(now)),
          () -> {
            throw new Violation("a process that is asked to end ends", "it has not");
          });
    }
  }

  /** All faults end: what is disabled recovers by itself, what people closed people open. */
  private void heal() {
    trace.line(now, () -> "* all is well from now on");
    healed = true;
    disk.heal();
    enableWhatPeopleMust();
  }

  private void enableWhatPeopleMust() {
    for (Endpoint endpoint : store.snapshot().endpoints()) {
      boolean byItself =
          endpoint.health().isEnabled() || endpoint.health().isCircuitOpen();
      if (!byItself) {
        ask(new Request.Operate(TENANT, endpoint.id(), Operation.ENABLE), _ -> {});
      }
    }
  }

  // Checks.

  private void check(Loop running) {
    Gauges gauges = running.gauges();
    if (gauges.timers() >= world.limits().timers() / 2
        || gauges.unwritten() >= world.limits().unwritten()
        || gauges.held() >= world.limits().held()) {
      obstacles.crowded(now);
    }
    limit(gauges.inFlight(), world.limits().inFlight(), "in flight", gauges);
    limit(gauges.bodyBytes(), world.limits().bodyBytes(), "bytes kept", gauges);
    uncheckedSteps++;
    if (uncheckedSteps > model.unfinished() / 8) {
      uncheckedSteps = 0;
      if (!stopping) {
        model.checkNothingIsLate(now);
      }
      if (inputs.isEmpty() && disk.isIdle()) {
        model.checkCounts(
            new Unfinished((int) gauges.pending(), (int) gauges.waiting(), (int) gauges.parked()));
      }
    }
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
