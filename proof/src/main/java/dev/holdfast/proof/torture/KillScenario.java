package dev.holdfast.proof.torture;

import java.io.IOException;
import java.time.Duration;

/** {@code kill -9} at random moments under load, also while the server is still starting. */
final class KillScenario implements Scenario {
  private static final Duration SOONEST = Duration.ofMillis(5);
  private static final Duration LATEST = Duration.ofMillis(1_200);
  private static final Duration LATEST_IN_START = Duration.ofMillis(900);
  private static final int IN_START_PERCENT = 15;

  @Override
  public String name() {
    return "kill";
  }

  @Override
  public String about() {
    return "kill -9 at random moments under load, and start again";
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    try (Scene scene =
        new Scene(
            run,
            name(),
            run.directory().resolve(name()),
            Server.Program.released(
                "retry.unit=300ms",
                // A machine that is busy with other things must not look like a receiver that
                // hangs.
                "delivery.timeout=30s"))) {
      scene.publishers().start();
      for (int cycle = 1; cycle <= run.cycles(); cycle++) {
        scene.tick("kill %d of %d".formatted(cycle, run.cycles()));
        if (scene.plan().percent(IN_START_PERCENT)) {
          Scene.pause(scene.plan().between(SOONEST, LATEST_IN_START));
        } else {
          scene.server().awaitReady();
          Scene.pause(scene.plan().between(SOONEST, LATEST));
        }
        scene.kill();
        scene.server().restart();
      }
      scene.server().awaitReady();
      scene.settle();
      run.report().count(name(), "kills", scene.ledger().counts().kills());
    }
  }
}
