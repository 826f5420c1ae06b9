package dev.holdfast.proof.torture;

import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.vault.KeyFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/**
 * A file of the store loses its end or has a bit flipped while the server does not run.
 *
 * <p>Then the server must refuse to start, or stop when it comes to what is damaged, and say what
 * to do. Or the damage means nothing to it: then everything that was unfinished arrives, unchanged.
 * That something is missing and the server goes on is the one thing that must not be.
 */
final class DamageScenario implements Scenario {
  private static final int ROUNDS_PER_STORE = 10;
  private static final Duration LOAD = Duration.ofMillis(1_500);
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration ASK_EVERY = Duration.ofMillis(20);

  /** A damage is not always found at once, but what is due soon is read soon. */
  private static final String WHAT_TO_DO = "backup";

  @Override
  public String name() {
    return "damage";
  }

  @Override
  public String about() {
    return "a store file loses its end, or one of its bits flips";
  }

  /** What a server made of a damaged store. */
  private enum Outcome {
    REFUSED("refused at the start"),
    STOPPED("stopped when it was read"),
    HISTORY("not on the way of a message, named by a check"),
    HARMLESS("in a place that means nothing");

    private final String text;

    Outcome(String text) {
      this.text = text;
    }
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    Path intact = run.directory().resolve("intact");
    Path data = run.directory().resolve(name());
    Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    Server.Program program = Server.Program.released("retry.unit=300ms", "delivery.timeout=30s");
    try (Scene scene = new Scene(run, name(), data, program)) {
      for (int cycle = 1; cycle <= run.cycles(); cycle++) {
        scene.tick("damage %d of %d".formatted(cycle, run.cycles()));
        if (cycle % ROUNDS_PER_STORE == 1) {
          makeStore(scene, intact, cycle > 1);
        }
        copy(intact, data);
        Set<Long> unfinished = StoreLook.unfinished(data, run.directory().resolve("look"));
        String damage = damage(scene.plan(), data);
        scene.ledger().await(unfinished);
        scene.server().restart();
        Outcome outcome = outcome(scene, damage);
        outcomes.merge(outcome, 1, Integer::sum);
        scene.server().close();
      }
      run.report().count(name(), "files damaged", run.cycles());
      for (Outcome outcome : Outcome.values()) {
        run.report().count(name(), outcome.text, outcomes.getOrDefault(outcome, 0));
      }
      scene.ledger().problems().forEach(problem -> run.report().fail(name() + ": " + problem));
    }
  }

  /** Leaves a store with unfinished messages: of a server that was killed, or that was stopped. */
  private static void makeStore(Scene scene, Path intact, boolean again) throws IOException {
    if (again) {
      copy(intact, scene.data());
      scene.server().restart();
      scene.server().awaitReady();
    }
    scene.publishers().start();
    Scene.pause(LOAD);
    scene.publishers().pause();
    if (scene.plan().percent(50)) {
      scene.server().kill();
    } else {
      scene.server().stop();
    }
    copy(scene.data(), intact);
  }

  private static Outcome outcome(Scene scene, String damage) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (scene.server().isAlive() && scene.ledger().awaited() > 0) {
      if (System.nanoTime() > deadline) {
        scene
            .ledger()
            .problem(
                "%s: %d messages are missing and the server goes on"
                    .formatted(damage, scene.ledger().awaited()));
        return Outcome.HARMLESS;
      }
      Scene.pause(ASK_EVERY);
    }
    if (scene.server().isAlive()) {
      scene.server().kill();
      return check(scene);
    }
    OptionalInt code = scene.server().awaitEnd(PATIENCE);
    String log = scene.server().log();
    if (!log.contains("damaged") || !log.contains(WHAT_TO_DO)) {
      scene
          .ledger()
          .problem(
              "%s: the server does not say what is wrong:\n%s"
                  .formatted(damage, scene.server().tail()));
    }
    return code.orElse(0) == 1 ? Outcome.REFUSED : Outcome.STOPPED;
  }

  /** What a check says of a store that a server could work with. */
  private static Outcome check(Scene scene) {
    try {
      return StoreCheck.run(scene.data()).problems().isEmpty() ? Outcome.HARMLESS : Outcome.HISTORY;
    } catch (StoreRefused e) {
      return Outcome.HISTORY;
    }
  }

  private static String damage(Plan plan, Path data) throws IOException {
    Path log = data.resolve(StoreLook.LOG);
    boolean hasLog = Files.exists(log) && Files.size(log) > 0;
    Path file = hasLog && plan.percent(50) ? log : data.resolve(StoreLook.FILE);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long at = plan.below(channel.size());
      if (plan.percent(30)) {
        channel.truncate(at);
        return "%s cut off at byte %d".formatted(file.getFileName(), at);
      }
      int bit = plan.below(8);
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ (1 << bit)));
      channel.write(one.flip(), at);
      return "bit %d of byte %d of %s flipped".formatted(bit, at, file.getFileName());
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    if (Files.exists(to)) {
      Scene.delete(to);
    }
    Files.createDirectories(to);
    for (String name : Set.of(StoreLook.FILE, StoreLook.LOG, StoreLook.LOCK, KeyFile.NAME)) {
      if (Files.exists(from.resolve(name))) {
        Files.copy(from.resolve(name), to.resolve(name));
      }
    }
  }
}
