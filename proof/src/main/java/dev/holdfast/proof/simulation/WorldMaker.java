package dev.holdfast.proof.simulation;

import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.proof.model.Contract;
import dev.holdfast.proof.simulation.Action.Submit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Makes a small world from a seed: few endpoints, much trouble. */
final class WorldMaker {
  private static final Duration UNIT = Duration.ofMillis(84_800);
  private static final List<Operation> OPERATIONS = List.of(Operation.values());
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

  static World make(long seed) {
    World world = new WorldMaker(seed).make();
    return seed >= LIMITED_FROM ? limited(world) : world;
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
      script.add(action(moment()));
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
        World.START.plus(length));
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
        random.nextInt(1, 12),
        100_000,
        random.nextInt(2_000, 100_000),
        random.nextInt(50, 500),
        random.nextInt(4, 40),
        Duration.ofSeconds(random.nextInt(30, 3_600)),
        random.nextInt(1, 5),
        random.nextInt(1, 8),
        1_000,
        1_000_000,
        Duration.ofSeconds(1));
  }

  private Instant moment() {
    Duration most = random.nextInt(3) == 0 ? length.dividedBy(10) : length;
    return World.START.plusSeconds(1).plusNanos(1_000 * random.nextLong(most.toNanos() / 1_000));
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
