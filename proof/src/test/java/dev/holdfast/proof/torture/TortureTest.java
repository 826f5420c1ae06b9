package dev.holdfast.proof.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.proof.stage.PostgresPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The torture, short. {@code ./holdfast torture --cycles 200} is the long one. */
@Execution(ExecutionMode.CONCURRENT)
class TortureTest {
  @TempDir Path directory;

  @Test
  void nothing_is_lost_by_kill_9_at_random_moments() throws IOException {
    assertThat(torture("kill", 3)).isZero();
    assertThat(figure("kill", "kills")).isEqualTo(3);
    assertThat(figure("kill", "events acknowledged")).isPositive();
  }

  @Test
  void nothing_is_lost_when_the_process_stands_still() {
    assertThat(torture("stop", 1)).isZero();
  }

  @Test
  void nothing_is_lost_when_the_clock_is_set() {
    assertThat(torture("clock", 4)).isZero();
  }

  @Test
  void no_damage_goes_unnoticed() throws IOException {
    assertThat(torture("damage", 2)).isZero();
    assertThat(figure("damage", "files damaged")).isEqualTo(2);
  }

  @Test
  void nothing_is_lost_when_the_disk_is_full() throws IOException {
    Path probe = Files.createDirectory(directory.resolve("probe"));
    StringBuilder why = new StringBuilder();
    var disk = SmallDisk.mount(probe, 1, why);
    if (disk.isPresent()) {
      disk.get().close();
      assertThat(torture("disk", 4)).isZero();
      assertThat(figure("disk", "events refused")).isPositive();
      assertThat(figure("disk", "messages taken while the reserve was left")).isPositive();
    } else {
      // Where nothing may be mounted, it says so, and fails only for who asked for it by name.
      assertThat(torture("disk", 4)).isEqualTo(1);
      assertThat(report().path("failures").toString()).contains("SKIPPED");
    }
  }

  @Test
  void nothing_is_lost_when_one_of_two_nodes_is_killed() throws IOException {
    assumeTrue(PostgresPrograms.jar().isPresent(), "there is no PostgreSQL for this system");
    assertThat(torture("cluster-kill", 1)).isZero();
    assertThat(figure("cluster-kill", "kills")).isEqualTo(1);
    assertThat(figure("cluster-kill", "events acknowledged")).isPositive();
    assertThat(figure("cluster-kill", "acknowledged and not arrived")).isZero();
  }

  @Test
  void hostile_endpoints_take_nothing_from_others() throws IOException {
    assertThat(torture("hostile", 1)).isZero();
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

  private int torture(String scenario, int cycles) {
    int code =
        new CommandLine(new Torture())
            .execute(
                "--only",
                scenario,
                "--cycles",
                Integer.toString(cycles),
                "--hostile",
                "50",
                "--longest-attempt",
                "60000",
                "--dir",
                directory.resolve("data").toString(),
                "--json",
                json().toString());
    assertThat(directory.resolve("data")).isEmptyDirectory();
    return code;
  }

  private Path json() {
    return directory.resolve("report.json");
  }

  private JsonNode report() throws IOException {
    return JsonMapper.shared().readTree(Files.readString(json()));
  }

  private double figure(String scenario, String name) throws IOException {
    return report()
        .path("figures")
        .valueStream()
        .filter(each -> each.path("scenario").asString().equals(scenario))
        .filter(each -> each.path("figure").asString().equals(name))
        .mapToDouble(each -> each.path("value").asDouble())
        .findFirst()
        .orElseThrow();
  }
}
