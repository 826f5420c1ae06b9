package dev.holdfast.proof.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PostgresTest {
  private static final String DATABASE = Postgres.USER;

  @TempDir Path directory;

  @Test
  void what_is_committed_survives_a_kill_and_the_loss_of_the_primary() throws Exception {
    try (Postgres primary = Postgres.create(programs(), directory.resolve("primary"))) {
      primary.execute(DATABASE, "CREATE TABLE t AS SELECT 1 AS n");
      primary.kill();
      assertThat(primary.isAlive()).isFalse();
      primary.start();
      assertThat(primary.number(DATABASE, "SELECT sum(n) FROM t")).isEqualTo(1);

      try (Postgres standby = primary.startStandby(directory.resolve("standby"))) {
        primary.execute(DATABASE, "INSERT INTO t VALUES (2)");
        assertThatThrownBy(() -> standby.execute(DATABASE, "INSERT INTO t VALUES (3)"))
            .isInstanceOf(SQLException.class)
            .hasMessageContaining("read-only");
        primary.kill();
        standby.promote();
        standby.execute(DATABASE, "INSERT INTO t VALUES (4)");
        assertThat(standby.number(DATABASE, "SELECT sum(n) FROM t")).isEqualTo(7);
        standby.stop(Postgres.Ending.FAST);
      }
    }
  }

  @Test
  void nothing_is_found_where_nothing_is_installed() {
    assertThatThrownBy(() -> PostgresPrograms.find(directory, directory.resolve("unpacked")))
        .isInstanceOf(ProofException.class)
        .hasMessageContaining("no program named postgres");
  }

  private PostgresPrograms programs() throws IOException {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "there is one for Linux only");
    return PostgresPrograms.find(null, directory.resolve("programs"));
  }
}
