package dev.holdfast.proof.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The clock is set an hour forward and an hour back, while the server runs and while it does not.
 * Nobody may notice: what waits is tried soon, and neither dropped nor put off for an hour.
 */
final class ClockScenario implements Scenario {
  private static final Duration STEP = Duration.ofHours(1);
  private static final int CYCLES_PER_ROUND = 2;
  private static final int KILL_PERCENT = 50;
  private static final Duration SHORTEST = Duration.ofMillis(50);
  private static final Duration LONGEST = Duration.ofMillis(900);

  @Override
  public String name() {
    return "clock";
  }

  @Override
  public String about() {
    return "the clock is set an hour forward and back, also between kill -9 and the next start";
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    Path clock = run.directory().resolve("clock-offset");
    SteppedClock.set(clock, Duration.ZERO);
    Server.Program program =
        new Server.Program(
            SteppedServer.class.getName(),
            Stream.concat(
                    Server.BRIEFLY.stream(),
                    Stream.of("-D" + SteppedServer.FILE_PROPERTY + "=" + clock))
                .toList(),
            // Late enough a deadline that an hour does not make it pass: nothing may be dropped.
            List.of("retry.unit=300ms", "retry.max=14", "delivery.timeout=30s"));
    // An even number, so that the last one is back: what waits has due times in the next hour then.
    int steps = Math.max(2, run.cycles() / CYCLES_PER_ROUND / 2 * 2);
    try (Scene scene = new Scene(run, name(), run.directory().resolve(name()), program)) {
      scene.publishers().start();
      for (int step = 1; step <= steps; step++) {
        scene.tick("step %d of %d".formatted(step, steps));
        Scene.pause(scene.plan().between(SHORTEST, LONGEST));
        Duration offset = step % 2 == 1 ? STEP : Duration.ZERO;
        if (step == steps || scene.plan().percent(KILL_PERCENT)) {
          scene.kill();
          SteppedClock.set(clock, offset);
          scene.server().restart();
          scene.server().awaitReady();
        } else {
          SteppedClock.set(clock, offset);
        }
      }
      scene.settle();
      run.report().count(name(), "steps of an hour", steps);
    }
  }
}
