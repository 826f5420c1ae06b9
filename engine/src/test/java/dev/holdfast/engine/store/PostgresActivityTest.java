package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.postgres.PostgresCheck;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
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
