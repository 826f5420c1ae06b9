package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.proof.model.Contract;
import dev.holdfast.proof.simulation.Action.Submit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Makes a small world from a seed: few endpoints, much trouble.
 *
 * <p>Seeds from {@link #CHANGING} on make worlds of a second kind, in which subscriptions change,
 * are paused and resumed, finished messages are replayed, events are wanted by more subscriptions
 * than get their messages at once, and somebody wants to be told of all that. What these have
 * beyond the others is drawn apart, so that the others stay as they are.
 */
final class WorldMaker {
  /** The first seed of a world in which subscriptions change. */
  static final long CHANGING = 1L << 40;

  private static final Duration UNIT = Duration.ofMillis(84_800);
  private static final List<Operation> OPERATIONS = List.of(Operation.values());
  private static final List<Set<Ending>> ENDINGS =
      List.of(
          Set.of(Ending.DROPPED),
          Set.of(Ending.DELIVERED),
          Set.of(Ending.DELIVERED, Ending.DROPPED));
  private static final List<String> OPERATIONAL =
      List.of(
          "endpoint.*", "endpoint.disabled", "endpoint.enabled", "message.dropped", "message.*");
  private static final List<Duration> LENGTHS =
      List.of(
          Duration.ofSeconds(30),
          Duration.ofMinutes(5),
          Duration.ofMinutes(20),
          Duration.ofMinutes(40),
          Duration.ofHours(3),
          Duration.ofHours(5),
          Duration.ofHours(30),
          Duration.ofDays(5));

  private final SplittableRandom random;

  /** What only worlds of the second kind are made from. */
  private final SplittableRandom more;

  private final long seed;
  private final List<Action> script = new ArrayList<>();
  private final int endpoints;
  private final Duration length;

  // Each kind of trouble is left out of some worlds, so that these show the rest more clearly.
  private final boolean storeFails;
  private final boolean storeIsSlow;
  private final boolean dies;
  private final boolean people;
  private final boolean subscriptionsEnd;
  private final boolean clockIsSet;

  private WorldMaker(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.more = new SplittableRandom(~seed);
    this.endpoints = random.nextInt(20) == 0 ? random.nextInt(6, 40) : random.nextInt(1, 6);
    this.length = LENGTHS.get(random.nextInt(LENGTHS.size()));
    this.storeFails = random.nextInt(3) == 0;
    this.storeIsSlow = random.nextInt(3) == 0;
    this.dies = random.nextBoolean();
    this.people = random.nextBoolean();
    this.subscriptionsEnd = random.nextInt(3) == 0;
    this.clockIsSet = random.nextInt(4) == 0;
  }

  /** The first seed of worlds in which people have limited the rate of endpoints. */
  static final long LIMITED_FROM = 1_000_000_000_000_000L;

  /** The first seed of worlds in which subscriptions come that want what was before them. */
  static final long NEWCOMERS_FROM = 2_000_000_000_000_000L;

  /** The first seed of worlds in which subscriptions change the version that they are sent. */
  static final long VERSIONS_FROM = 3_000_000_000_000_000L;

  static World make(long seed) {
    World world = new WorldMaker(seed).make();
    if (seed >= VERSIONS_FROM) {
      return new Versions(world).make();
    }
    if (seed >= NEWCOMERS_FROM) {
      return withNewcomers(world);
    }
    return seed >= LIMITED_FROM ? limited(world) : world;
  }

  /** Some come together with something else that happens, so that they meet it halfway. */
  private static World withNewcomers(World world) {
    SplittableRandom newcomers = new SplittableRandom(world.seed() * 31);
    List<Action> script = new ArrayList<>(world.script());
    int count = newcomers.nextInt(1, 8);
    for (int i = 0; i < count; i++) {
      Action beside = world.script().get(newcomers.nextInt(world.script().size()));
      script.add(
          new Action.SubscribeSince(
              beside.at().plusNanos(1_000L * newcomers.nextInt(20_000)),
              newcomers.nextInt(6),
              newcomers.nextInt(3) == 0 ? "*" : "t" + newcomers.nextInt(2),
              Duration.ofSeconds(newcomers.nextInt(1, newcomers.nextBoolean() ? 100 : 500_000))));
    }
    script.sort(Comparator.comparing(Action::at));
    return world.with(script);
  }

  /** Limits endpoints of a world before anything is sent to them; its other numbers stay. */
  private static World limited(World world) {
    SplittableRandom limits = new SplittableRandom(~world.seed());
    List<Action> script = new ArrayList<>(world.script());
    int most = limits.nextInt(1, 6);
    for (int i = 0; i < most; i++) {
      Instant at = World.START.plusMillis(500L + i);
      script.add(new Action.LimitRate(at, i, Math.pow(10, limits.nextDouble(-2, 2.5))));
    }
    script.sort(Comparator.comparing(Action::at));
    return world.with(script);
  }

  private World make() {
    Contract contract = contract();
    Limits limits = random.nextBoolean() ? roomy(contract) : tight(contract);
    for (int i = 0; i < endpoints; i++) {
      script.add(new Action.Behave(World.START, i, behaviour()));
      script.add(subscribe(World.START.plusMillis(i), i));
    }
    int actions = random.nextInt(10, 150);
    for (int i = 0; i < actions; i++) {
      script.add(action(moment(random)));
    }
    boolean changing = (seed >= CHANGING && seed < LIMITED_FROM) || seed >= NEWCOMERS_FROM;
    if (changing) {
      addChanges();
      limits = inSteps(limits);
    }
    script.sort(Comparator.comparing(Action::at));
    return new World(
        seed,
        contract,
        limits,
        random.nextBoolean() ? 1_000 : random.nextInt(1, 20),
        Duration.ofMillis(random.nextInt(1, 5)),
        Duration.ofMillis(random.nextInt(1, 3)),
        script,
        changing && more.nextInt(3) == 0,
        World.START.plus(length));
  }

  /** Several subscriptions for each endpoint, and what people do with them. */
  private void addChanges() {
    int extra = more.nextInt(1, 8);
    for (int i = 0; i < extra; i++) {
      script.add(
          new Action.Subscribe(
              World.START.plusMillis(200 + i),
              more.nextInt(endpoints),
              more.nextInt(3) == 0 ? "*" : "t" + more.nextInt(2),
              null));
    }
    int told = more.nextInt(4);
    for (int i = 0; i < told; i++) {
      Instant at = more.nextBoolean() ? World.START.plusMillis(300 + i) : moment(more);
      script.add(
          new Action.Subscribe(
              at,
              more.nextInt(endpoints),
              OPERATIONAL.get(more.nextInt(OPERATIONAL.size())),
              null));
    }
    int changes = more.nextInt(3, 60);
    boolean troubled = more.nextBoolean();
    Instant at = moment(more);
    for (int i = 0; i < changes; i++) {
      // Many things at about the same time meet each other halfway.
      at =
          switch (more.nextInt(4)) {
            case 0 -> at.plusNanos(1_000L * more.nextInt(20_000));
            case 1 -> at.plusMillis(more.nextInt(5_000));
            default -> moment(more);
          };
      script.add(troubled && more.nextInt(8) == 0 ? trouble(at) : change(at));
    }
  }

  /** Something short that goes wrong just when something is being changed. */
  private Action trouble(Instant at) {
    Duration time = Duration.ofMillis(more.nextInt(1, 4_000));
    return switch (more.nextInt(5)) {
      case 0 -> new Action.FillDisk(at, time);
      case 1 -> new Action.Poison(at, time, more.nextInt(1, 4));
      case 2 -> new Action.Crash(at, more.nextInt(12), time);
      case 3 ->
          new Action.SlowStore(
              at, time, Duration.ofMillis(more.nextInt(1, 500)), time.dividedBy(2));
      default ->
          new Action.Operate(
              at, more.nextInt(endpoints), OPERATIONS.get(more.nextInt(OPERATIONS.size())));
    };
  }

  private Action change(Instant at) {
    int which = more.nextInt(100);
    int dice = more.nextInt(100);
    if (dice < 25) {
      return new Action.Redirect(at, which, more.nextInt(endpoints + 2));
    }
    if (dice < 30) {
      return new Action.Retype(at, which, "t" + more.nextInt(3));
    }
    if (dice < 65) {
      return new Action.Pause(at, which, dice < 48);
    }
    if (dice < 82) {
      return new Action.Replay(
          at,
          which,
          more.nextBoolean(),
          ENDINGS.get(more.nextInt(ENDINGS.size())),
          more.nextInt(4) == 0 ? Duration.ofSeconds(more.nextInt(1, 10_000)) : null,
          more.nextInt(3) == 0);
    }
    if (dice < 88) {
      return new Action.CancelReplay(at, which);
    }
    return new Action.RetryByHand(at, more.nextInt(1_000));
  }

  /** The same limits, with few messages made at once. */
  private Limits inSteps(Limits limits) {
    return new Limits(
        limits.inFlight(),
        limits.inFlightUnproven(),
        limits.laneInFlight(),
        limits.laneWindow(),
        limits.held(),
        limits.laneMinimum(),
        limits.bodyBytes(),
        limits.sendingBytes(),
        limits.startsInAStep(),
        limits.answersInAStep(),
        limits.batchWrites(),
        limits.batchBytes(),
        limits.batchEvery(),
        limits.acceptingBytes(),
        limits.unwritten(),
        limits.timers(),
        limits.horizon(),
        limits.loads(),
        limits.sweep(),
        more.nextInt(4) == 0 ? limits.matchesAtOnce() : more.nextInt(1, 4),
        limits.spreading(),
        limits.retryStoreAfter(),
        Limits.BOTH_VERSIONS);
  }

  private Contract contract() {
    int retries = random.nextInt(3) == 0 ? random.nextInt(1, 6) : 11;
    boolean asShipped = random.nextInt(5) == 0;
    int lane = random.nextInt(3) == 0 ? random.nextInt(1, 5) : 32;
    return asShipped
        ? Contract.shipped(retries, lane)
        : new Contract(
            UNIT,
            retries,
            random.nextInt(1, 10),
            700_000,
            2 * random.nextInt(2, 20),
            random.nextInt(4, 20),
            Duration.ofMinutes(random.nextInt(10, 6_000)),
            random.nextInt(20, 80),
            Duration.ofMinutes(10),
            random.nextInt(4) > 0,
            lane);
  }

  private static Limits roomy(Contract contract) {
    return Limits.forHeap(128L << 20, contract.laneInFlight());
  }

  private Limits tight(Contract contract) {
    int inFlight = random.nextInt(4, 40);
    return new Limits(
        inFlight,
        random.nextInt(1, inFlight),
        contract.laneInFlight(),
        random.nextInt(2, 12),
        random.nextInt(5, 60),
        random.nextInt(1, 3),
        random.nextInt(500, 5_000),
        random.nextInt(1_000, 20_000),
        // Neither these nor the time between batches are of the dice: worlds of known seeds stay as
        // they are.
        1 + inFlight % 7,
        1 + inFlight % 3,
        random.nextInt(1, 12),
        100_000,
        Duration.ofMillis(inFlight % 4),
        random.nextInt(2_000, 100_000),
        random.nextInt(50, 500),
        random.nextInt(4, 40),
        Duration.ofSeconds(random.nextInt(30, 3_600)),
        random.nextInt(1, 5),
        random.nextInt(1, 8),
        1_000,
        1_000_000,
        Duration.ofSeconds(1),
        Limits.BOTH_VERSIONS);
  }

  private Instant moment(SplittableRandom from) {
    Duration most = from.nextInt(3) == 0 ? length.dividedBy(10) : length;
    return World.START.plusSeconds(1).plusNanos(1_000 * from.nextLong(most.toNanos() / 1_000));
  }

  private Action action(Instant at) {
    int dice = random.nextInt(100);
    if (dice < 55) {
      return submit(at);
    }
    if (dice < 75) {
      return new Action.Behave(at, random.nextInt(endpoints), behaviour());
    }
    if (dice < 82 && people) {
      return random.nextBoolean()
          ? new Action.Operate(
              at, random.nextInt(endpoints), OPERATIONS.get(random.nextInt(OPERATIONS.size())))
          : new Action.RetryByHand(at, random.nextInt(1_000));
    }
    if (dice < 87 && subscriptionsEnd) {
      return random.nextBoolean()
          ? new Action.Unsubscribe(at, random.nextInt(100))
          : subscribe(at, random.nextInt(endpoints));
    }
    if (dice < 91 && dies) {
      return random.nextInt(4) == 0
          ? new Action.Stop(at, shortTime())
          : new Action.Crash(at, random.nextInt(20), shortTime());
    }
    if (dice < 96 && storeFails) {
      return storeFault(at);
    }
    if (dice < 98 && clockIsSet) {
      Duration by = shortTime();
      return new Action.SetClock(at, random.nextBoolean() ? by : by.negated());
    }
    if (storeIsSlow) {
      return new Action.SlowStore(
          at,
          shortTime(),
          Duration.ofMillis(random.nextInt(1, 3_000)),
          Duration.ofMillis(random.nextInt(1, 20_000)));
    }
    return submit(at);
  }

  private Action storeFault(Instant at) {
    return switch (random.nextInt(4)) {
      case 0 -> new Action.FillDisk(at, shortTime());
      case 1 -> new Action.Poison(at, shortTime(), random.nextInt(1, 6));
      case 2 -> new Action.LoseCommit(at, random.nextBoolean(), shortTime());
      default -> new Action.FailReads(at, shortTime(), random.nextInt(1, 4));
    };
  }

  /** From a second to hours: shorter and longer than whatever the engine waits for. */
  private Duration shortTime() {
    return Duration.ofMillis(
        switch (random.nextInt(4)) {
          case 0 -> random.nextInt(1, 1_000);
          case 1 -> random.nextInt(1_000, 60_000);
          case 2 -> random.nextInt(60_000, 1_000_000);
          default -> random.nextInt(1, 7_200_000);
        });
  }

  private Action submit(Instant at) {
    return new Submit(
        at,
        "t" + random.nextInt(2),
        subject(),
        random.nextInt(4) == 0 ? random.nextInt(1, 40) : 1,
        random.nextInt(300),
        random.nextInt(8) == 0 ? random.nextInt(4) : Submit.NO_ID,
        storeFails && random.nextInt(20) == 0);
  }

  private Action subscribe(Instant at, int endpoint) {
    return new Action.Subscribe(
        at, endpoint, random.nextInt(3) == 0 ? "*" : "t" + random.nextInt(2), subject());
  }

  private @Nullable String subject() {
    return random.nextInt(4) == 0 ? "s" + random.nextInt(2) : null;
  }

  private Behaviour behaviour() {
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> new Behaviour.Healthy(Duration.ofMillis(random.nextInt(1, 100)));
      case 3 -> new Behaviour.Healthy(Duration.ofMillis(random.nextInt(1, 4_900)));
      case 4 -> new Behaviour.Failing(random.nextInt(1, 100), Duration.ofMillis(50));
      case 5, 6 -> new Behaviour.Failing(100, Duration.ofMillis(random.nextInt(1, 4_000)));
      case 7 -> new Behaviour.Hanging();
      case 8 ->
          new Behaviour.Flapping(
              Duration.ofSeconds(random.nextInt(1, 1_000)),
              Duration.ofSeconds(random.nextInt(1, 10_000)));
      default ->
          new Behaviour.RateLimiting(
              random.nextInt(10, 101), Duration.ofSeconds(random.nextInt(1, 40_000)));
    };
  }
}
