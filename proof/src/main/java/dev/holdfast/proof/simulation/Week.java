package dev.holdfast.proof.simulation;

import dev.holdfast.core.path.Limits;
import dev.holdfast.proof.model.Contract;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/** Makes a large world with the shipped settings: many endpoints, and an event a second. */
final class Week {
  private static final int ENDPOINTS = 1_000;
  private static final Duration LENGTH = Duration.ofDays(7);
  private static final int LANE_IN_FLIGHT = 32;

  private Week() {}

  static World make(long seed) {
    return make(seed, ENDPOINTS, LENGTH);
  }

  static World make(long seed, int endpoints, Duration length) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Action> script = new ArrayList<>();
    for (int i = 0; i < endpoints; i++) {
      script.add(new Action.Behave(World.START, i, usual(i, random)));
      // A type of its own for each endpoint, so that an event has one message.
      script.add(new Action.Subscribe(World.START.plusMillis(i), i, "t" + i, null));
    }
    for (long second = 2; second < length.toSeconds(); second++) {
      Instant at = World.START.plusSeconds(second).plusNanos(1_000L * random.nextInt(1_000_000));
      script.add(
          new Action.Submit(
              at, "t" + random.nextInt(endpoints), null, 1, 0, Action.Submit.NO_ID, false));
      if (random.nextInt(3_600) == 0) {
        script.add(trouble(at, random.nextInt(endpoints), random));
      }
    }
    script.sort(Comparator.comparing(Action::at));
    return new World(
        seed,
        Contract.shipped(11, LANE_IN_FLIGHT),
        Limits.forHeap(128L << 20, LANE_IN_FLIGHT),
        1_000,
        Duration.ofMillis(4),
        Duration.ofMillis(2),
        script,
        false,
        World.START.plus(length));
  }

  /** One in twenty is in trouble from the start. */
  private static Behaviour usual(int endpoint, SplittableRandom random) {
    return switch (endpoint % 100) {
      case 0 -> new Behaviour.Hanging();
      case 1, 2 -> new Behaviour.Failing(100, Duration.ofMillis(100));
      case 3 -> new Behaviour.Flapping(Duration.ofHours(5), Duration.ofHours(2));
      case 4 -> new Behaviour.RateLimiting(50, Duration.ofHours(1));
      default -> new Behaviour.Healthy(Duration.ofMillis(random.nextInt(5, 500)));
    };
  }

  /** About once an hour something happens somewhere. */
  private static Action trouble(Instant at, int endpoint, SplittableRandom random) {
    return switch (random.nextInt(9)) {
      case 0 -> new Action.Crash(at, random.nextInt(20), Duration.ofSeconds(5));
      case 1 -> new Action.Stop(at, Duration.ofSeconds(30));
      case 2 -> new Action.FillDisk(at, Duration.ofMinutes(random.nextInt(1, 20)));
      case 3 ->
          new Action.SlowStore(
              at, Duration.ofMinutes(2), Duration.ofMillis(500), Duration.ofSeconds(2));
      case 4 -> new Action.LoseCommit(at, random.nextBoolean(), Duration.ofSeconds(10));
      case 5 -> new Action.Behave(at, endpoint, new Behaviour.Hanging());
      case 6 -> new Action.SetClock(at, Duration.ofSeconds(random.nextBoolean() ? 3_600 : -3_600));
      default -> new Action.Behave(at, endpoint, new Behaviour.Healthy(Duration.ofMillis(100)));
    };
  }
}
