package dev.holdfast.proof.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.proof.stage.PostgresPrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The torture of nodes, short, and beside nothing else: nodes whose leases are as short as here
 * lose them on a machine that has no time for them.
 */
@Isolated
class ClusterTortureTest {
  @TempDir Path directory;

  @Test
  void nothing_is_lost_when_one_of_two_nodes_is_killed() throws IOException {
    assumeTrue(PostgresPrograms.jar().isPresent(), "there is no PostgreSQL for this system");
    ShortTorture run = new ShortTorture(directory);
    run.prove("cluster-kill", 1);
    assertThat(run.figure("cluster-kill", "kills")).isEqualTo(1);
    assertThat(run.figure("cluster-kill", "events acknowledged")).isPositive();
    assertThat(run.figure("cluster-kill", "acknowledged and not arrived")).isZero();
  }
}
