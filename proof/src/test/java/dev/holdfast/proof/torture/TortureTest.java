package dev.holdfast.proof.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import picocli.CommandLine;

/** The torture, short. {@code ./holdfast torture --cycles 200} is the long one. */
@Execution(ExecutionMode.CONCURRENT)
class TortureTest {
  @TempDir Path directory;

  @Test
  void nothing_is_lost_by_kill_9_at_random_moments() throws IOException {
    prove("kill", 3);
    assertThat(figure("kill", "kills")).isEqualTo(3);
    assertThat(figure("kill", "events acknowledged")).isPositive();
  }

  @Test
  void nothing_is_lost_when_the_process_stands_still() throws IOException {
    prove("stop", 1);
  }

  @Test
  void nothing_is_lost_when_the_clock_is_set() throws IOException {
    prove("clock", 4);
  }

  @Test
  void no_damage_goes_unnoticed() throws IOException {
    prove("damage", 2);
    assertThat(figure("damage", "files damaged")).isEqualTo(2);
  }

  @Test
  void nothing_is_lost_when_the_disk_is_full() throws IOException {
    Path probe = Files.createDirectory(directory.resolve("probe"));
    StringBuilder why = new StringBuilder();
    var disk = SmallDisk.mount(probe, 1, why);
    if (disk.isPresent()) {
      disk.get().close();
      prove("disk", 4);
      assertThat(figure("disk", "events refused")).isPositive();
      assertThat(figure("disk", "messages taken while the reserve was left")).isPositive();
    } else {
      // Where nothing may be mounted, it says so, and fails only for who asked for it by name.
      assertThat(torture("disk", 4)).isEqualTo(1);
      assertThat(run().failures()).contains("SKIPPED");
    }
  }

  @Test
  void hostile_endpoints_take_nothing_from_others() throws IOException {
    prove("hostile", 1);
    assertThat(figure("hostile", "hostile attempts")).isGreaterThan(50);
    assertThat(figure("hostile", "acknowledged and not arrived")).isZero();
  }

  @Test
  void wrong_usage_is_refused() {
    assertThat(new CommandLine(new Torture()).execute("--only", "nonsense")).isEqualTo(2);
    assertThat(new CommandLine(new Torture()).execute("--cycles", "0")).isEqualTo(2);
    assertThat(new CommandLine(new Torture()).execute("--hostile", "0")).isEqualTo(2);
    assertThat(new CommandLine(new Torture()).execute("--longest-attempt", "1")).isEqualTo(2);
  }

  private void prove(String scenario, int cycles) throws IOException {
    run().prove(scenario, cycles);
  }

  private int torture(String scenario, int cycles) {
    return run().play(scenario, cycles);
  }

  private double figure(String scenario, String name) throws IOException {
    return run().figure(scenario, name);
  }

  private ShortTorture run() {
    return new ShortTorture(directory);
  }
}
