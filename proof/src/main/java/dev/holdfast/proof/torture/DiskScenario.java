package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * The data directory is on a file system of a few megabytes, which fills up under load and is freed
 * again. While only the reserve is left, events are refused with a sentence, and what was accepted
 * goes on being delivered. While it is full, nothing that was acknowledged is lost; when there is
 * room again, the server goes on by itself. Now and then it is killed while there is no room, and
 * has to start or to say why it does not.
 */
final class DiskScenario implements Scenario {
  private static final int MEGABYTES = 64;
  private static final int RESERVE_MEGABYTES = 8;

  /** Less than the reserve, and more than the part of it at which no attempt starts. */
  private static final long LEFT_BYTES = 6L << 20;

  private static final int CYCLES_PER_ROUND = 4;

  /** Nothing is deleted, so the disk would be full for good after more of them. */
  private static final int MOST_ROUNDS = 12;

  private static final int KILL_PERCENT = 30;
  private static final Duration SHORTEST = Duration.ofMillis(100);
  private static final Duration LONGEST_FULL = Duration.ofMillis(1_500);
  private static final Duration LONGEST_FREE = Duration.ofMillis(1_500);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Within which a server must go on when there is room again. */
  private static final Duration RECOVERY = Duration.ofSeconds(10);

  private static final Duration START_PATIENCE = Duration.ofSeconds(5);
  private static final Duration ASK_EVERY = Duration.ofMillis(20);

  @Override
  public String name() {
    return "disk";
  }

  @Override
  public String about() {
    return "a data directory on a tiny file system that fills up and is freed";
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    StringBuilder why = new StringBuilder();
    Path given = run.smallDisk();
    Optional<SmallDisk> disk =
        given != null
            ? Optional.of(SmallDisk.of(given))
            : SmallDisk.mount(run.directory().resolve("small-disk"), MEGABYTES, why);
    if (disk.isEmpty()) {
      run.skip(
          "disk: SKIPPED, since no small file system can be mounted here: %s. Run it as root, or name one with --small-disk."
              .formatted(why));
      return;
    }
    run.track(disk.get());
    run(run, disk.get());
  }

  private void run(Torture.Run run, SmallDisk disk) throws IOException {
    int rounds = Math.clamp(run.cycles() / CYCLES_PER_ROUND, 1, MOST_ROUNDS);
    try (Scene scene =
        new Scene(
            run,
            name(),
            disk.root().resolve("data"),
            Server.Program.released(
                "retry.unit=300ms",
                "delivery.timeout=30s",
                "store.reserve=" + RESERVE_MEGABYTES + "MB"))) {
      scene.publishers().start();
      int kills = 0;
      int takenInReserve = 0;
      for (int round = 1; round <= rounds; round++) {
        scene.tick("full disk %d of %d".formatted(round, rounds));
        Scene.pause(scene.plan().between(SHORTEST, LONGEST_FREE));
        takenInReserve += leaveReserve(scene, disk);
        fill(scene, disk);
        Scene.pause(scene.plan().between(SHORTEST, LONGEST_FULL));
        if (scene.plan().percent(KILL_PERCENT)) {
          kills++;
          killWhileFull(scene, disk);
        }
        disk.free();
        awaitAcceptance(scene);
      }
      scene.settle();
      run.report().count(name(), "times full", rounds);
      run.report().count(name(), "kills while full", kills);
      run.report().count(name(), "messages taken while the reserve was left", takenInReserve);
    }
  }

  /**
   * Leaves the reserve, until the server refuses events and all that was accepted has been
   * delivered all the same.
   *
   * @return how many messages were delivered meanwhile
   */
  private static int leaveReserve(Scene scene, SmallDisk disk) {
    int before = scene.publishers().refusals();
    disk.fillBut(LEFT_BYTES);
    await(
        scene,
        () -> scene.publishers().refusals() > before,
        PATIENCE,
        "only the reserve is left and nobody is refused");
    int taken = scene.ledger().counts().taken();
    await(
        scene,
        () -> scene.ledger().missing() == 0,
        PATIENCE,
        "only the reserve is left and what was accepted is not delivered");
    return scene.ledger().counts().taken() - taken;
  }

  /** Takes all room, until the server has noticed. */
  private static void fill(Scene scene, SmallDisk disk) {
    int before = scene.publishers().refusals();
    disk.fill();
    await(
        scene,
        () -> {
          // What the server deletes or shortens becomes free, and it would go on.
          disk.fill();
          return scene.publishers().refusals() > before;
        },
        PATIENCE,
        "the disk is full and nobody is refused");
  }

  private static void killWhileFull(Scene scene, SmallDisk disk) throws IOException {
    scene.kill();
    scene.server().restart();
    OptionalInt code = scene.server().awaitEnd(START_PATIENCE);
    disk.free();
    if (code.isPresent()) {
      if (!scene.server().log().contains("room")) {
        scene
            .ledger()
            .problem("a start on a full disk failed without saying so:\n" + scene.server().tail());
      }
      scene.server().restart();
    }
    scene.server().awaitReady();
  }

  private static void awaitAcceptance(Scene scene) {
    int before = scene.ledger().counts().acknowledged();
    await(
        scene,
        () -> scene.ledger().counts().acknowledged() > before,
        RECOVERY,
        "there is room again and nothing is accepted");
  }

  private static void await(
      Scene scene, BooleanSupplier condition, Duration patience, String otherwise) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline || !scene.server().isAlive()) {
        throw new ProofException(otherwise + ":\n" + scene.server().tail());
      }
      Scene.pause(ASK_EVERY);
    }
  }
}
