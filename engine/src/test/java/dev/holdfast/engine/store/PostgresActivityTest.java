package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.postgres.PostgresCheck;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store that several nodes share keeps minutes and changes. */
final class PostgresActivityTest extends ActivityContract {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  PostgresStore open() throws Exception {
    return PostgresStore.open(
        new PostgresOptions(url), KeyFile.in(directory), InstantSource.system());
  }

  @Test
  void a_damaged_minute_is_left_out() throws Exception {
    try (PostgresStore store = open()) {
      ActivityRow next = row("acme", NOW.plusSeconds(60), 3);
      store.activity().add(List.of(row("acme", NOW, 1, 5), next), NOW);
      execute("UPDATE activity SET accepted = 7 WHERE accepted = 1");
      assertThat(store.activity().since("acme", NOW)).containsExactly(next);
    }
  }

  @Test
  void old_minutes_that_somebody_holds_are_passed_over() throws Exception {
    Instant later = NOW.plus(ActivityRows.KEPT).plusSeconds(60);
    try (PostgresStore store = open();
        Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      store.activity().add(List.of(row("acme", NOW, 1), row("other", NOW, 2)), NOW);
      other.setAutoCommit(false);
      statement.execute("SELECT 1 FROM activity WHERE tenant = 'acme' FOR UPDATE");
      store.activity().add(List.of(), later);
      assertThat(store.activity().since("acme", NOW)).hasSize(1);
      assertThat(store.activity().since("other", NOW)).isEmpty();
      other.rollback();
      store.activity().add(List.of(), later);
      assertThat(store.activity().since("acme", NOW)).isEmpty();
    }
  }

  private void execute(String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void each_node_has_minutes_of_its_own_and_all_are_read() throws Exception {
    try (PostgresStore one = open();
        PostgresStore two = open()) {
      one.activity().add(List.of(row("acme", NOW, 1, 5)), NOW);
      two.activity().add(List.of(row("acme", NOW, 2)), NOW);
      assertThat(one.activity().since("acme", NOW))
          .containsExactlyInAnyOrder(row("acme", NOW, 1, 5), row("acme", NOW, 2));
      assertThat(two.activity().droppedSince("acme", NOW)).isEqualTo(3);
      assertThat(PostgresCheck.run(new PostgresOptions(url), KeyFile.in(directory)).problems())
          .isEmpty();
    }
  }
}
