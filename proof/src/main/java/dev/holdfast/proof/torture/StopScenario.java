package dev.holdfast.proof.torture;

import java.io.IOException;
import java.time.Duration;

/**
 * The process stands still for a while, as in a virtual machine that is moved: shorter and longer
 * than an attempt may take. Some receivers hang at first, too.
 */
final class StopScenario implements Scenario {
  private static final Duration SHORTEST = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofMillis(1_600);

  /** Longer than the time-out, so that some attempts time out without a stop as well. */
  private static final Duration HANG = Duration.ofMillis(1_500);

  private static final Duration LONGEST_RUN = Duration.ofMillis(700);

  @Override
  public String name() {
    return "stop";
  }

  @Override
  public String about() {
    return "SIGSTOP and SIGCONT at random moments under load";
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    try (Scene scene =
        new Scene(
            run,
            name(),
            run.directory().resolve(name()),
            Server.Program.released("retry.unit=300ms", "delivery.timeout=1s"),
            HANG)) {
      scene.publishers().start();
      for (int cycle = 1; cycle <= run.cycles(); cycle++) {
        scene.tick("stop %d of %d".formatted(cycle, run.cycles()));
        Scene.pause(scene.plan().between(SHORTEST, LONGEST_RUN));
        scene.server().signal("STOP");
        Scene.pause(scene.plan().between(SHORTEST, LONGEST));
        scene.server().signal("CONT");
      }
      scene.settle();
      run.report().count(name(), "stops", run.cycles());
    }
  }
}
