package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.proof.simulation.Action.ManyToVersion;
import dev.holdfast.proof.simulation.Action.Submit;
import dev.holdfast.proof.simulation.Action.SubscribeIn;
import dev.holdfast.proof.simulation.Action.ToVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Puts into a world that most of its subscriptions are in the format that has versions, and people
 * who change these, most of them shortly before events come. What it draws is drawn apart, so that
 * the world stays as it is otherwise.
 */
final class Versions {
  private final World world;
  private final SplittableRandom random;
  private final Duration bothVersions;

  Versions(World world) {
    this.world = world;
    this.random = new SplittableRandom(world.seed() * 31);
    this.bothVersions =
        Duration.ofMillis(
            switch (random.nextInt(3)) {
              case 0 -> random.nextInt(200, 5_000);
              case 1 -> random.nextInt(5_000, 60_000);
              default -> random.nextInt(60_000, 600_000);
            });
  }

  World make() {
    List<Action> script = new ArrayList<>();
    for (Action action : world.script()) {
      script.add(inVersions(action));
    }
    addChanges(script);
    addNewcomers(script);
    script.sort(Comparator.comparing(Action::at));
    return world.with(script).with(world.limits().withBothVersions(bothVersions));
  }

  /** The same, with types that tell of objects, and in the format that has versions mostly. */
  private Action inVersions(Action action) {
    return switch (action) {
      case Action.Subscribe plain when random.nextInt(8) > 0 ->
          new SubscribeIn(
              plain.at(),
              version(),
              plain.endpoint(),
              ofObjects(plain.type()),
              plain.subject(),
              null);
      case Action.Subscribe plain ->
          new Action.Subscribe(
              plain.at(), plain.endpoint(), ofObjects(plain.type()), plain.subject());
      case Action.Retype retype ->
          new Action.Retype(retype.at(), retype.which(), ofObjects(retype.type()));
      case Submit submit ->
          new Submit(
              submit.at(),
              ofObjects(submit.type()),
              submit.subject(),
              submit.events(),
              submit.padding(),
              submit.callerId(),
              submit.poison());
      default -> action;
    };
  }

  private static String ofObjects(String type) {
    return type.matches("t[0-9]") ? type + ".UPDATE" : type;
  }

  private Version version() {
    return random.nextBoolean() ? Version.V1 : Version.V2;
  }

  private void addChanges(List<Action> script) {
    List<Instant> coming =
        script.stream().filter(Submit.class::isInstance).map(Action::at).toList();
    int changes = random.nextInt(3, 40);
    boolean troubled = random.nextBoolean();
    Instant at = soonBefore(coming);
    for (int i = 0; i < changes; i++) {
      // Many things at about the same time meet each other halfway.
      at =
          switch (random.nextInt(4)) {
            case 0 -> at;
            case 1 -> at.plusNanos(1_000L * random.nextInt(20_000));
            case 2 -> at.plusMillis(random.nextInt(2_000));
            default -> soonBefore(coming);
          };
      script.add(change(at));
      if (troubled && random.nextInt(4) == 0) {
        script.add(trouble(at.plusNanos(1_000L * random.nextInt(-5_000, 5_000))));
      }
      if (random.nextInt(3) == 0) {
        // Some come in the very moment in which both versions end.
        long micros = bothVersions.toMillis() * 1_000;
        long after = random.nextInt(4) == 0 ? micros : random.nextLong(2 * micros);
        script.add(event(at.plusNanos(1_000 * after)));
      }
    }
  }

  /** A moment at which an event comes while both versions are sent, or not any more. */
  private Instant soonBefore(List<Instant> coming) {
    if (coming.isEmpty()) {
      return World.START.plusSeconds(1 + random.nextInt(20));
    }
    Instant event = coming.get(random.nextInt(coming.size()));
    Instant at = event.minusMillis(random.nextLong(1, bothVersions.toMillis() * 3 / 2));
    Instant earliest = World.START.plusMillis(500);
    return at.isBefore(earliest) ? earliest : at;
  }

  private Action change(Instant at) {
    return switch (random.nextInt(8)) {
      case 0 -> new ManyToVersion(at, List.of(), version());
      case 1, 2 -> new ManyToVersion(at, some(), version());
      case 3 -> new Action.Pause(at, random.nextInt(100), random.nextBoolean());
      default -> new ToVersion(at, random.nextInt(100), version());
    };
  }

  private List<Integer> some() {
    List<Integer> some = new ArrayList<>();
    int count = random.nextInt(1, 6);
    for (int i = 0; i < count; i++) {
      some.add(random.nextInt(100));
    }
    return some;
  }

  /** Something short that goes wrong just when a version is being changed. */
  private Action trouble(Instant at) {
    Duration time = Duration.ofMillis(random.nextInt(1, 3_000));
    return switch (random.nextInt(5)) {
      case 0 -> new Action.FillDisk(at, time);
      case 1 -> new Action.Poison(at, time, random.nextInt(1, 4));
      case 2 -> new Action.Crash(at, random.nextInt(12), time);
      case 3 -> new Action.LoseCommit(at, random.nextBoolean(), time);
      default ->
          new Action.SlowStore(
              at, time, Duration.ofMillis(random.nextInt(1, 500)), time.dividedBy(2));
    };
  }

  private Action event(Instant at) {
    return new Submit(at, "t" + random.nextInt(2) + ".UPDATE", null, 1, 0, Submit.NO_ID, false);
  }

  private void addNewcomers(List<Action> script) {
    int newcomers = random.nextBoolean() ? 0 : random.nextInt(1, 4);
    for (int i = 0; i < newcomers; i++) {
      Action beside = world.script().get(random.nextInt(world.script().size()));
      script.add(
          new SubscribeIn(
              beside.at().plusNanos(1_000L * random.nextInt(20_000)),
              version(),
              random.nextInt(6),
              random.nextInt(3) == 0 ? "*" : "t" + random.nextInt(2) + ".UPDATE",
              null,
              Duration.ofSeconds(random.nextInt(1, 10_000))));
    }
  }
}
