package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TenantsTest {
  private static final long ENDPOINT = 1_000_001;

  private final Sample sample = new Sample();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Test
  void what_is_removed_is_no_longer_counted() throws Exception {
    AcceptedEvent first = sample.pending(ENDPOINT);
    AcceptedEvent second = sample.pending(ENDPOINT);
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.write(batch(new Write.Accept(List.of(first)), new Write.Accept(List.of(second))));
      store
          .writer()
          .execute(
              "removing an event",
              "DELETE FROM events WHERE id = ?",
              statement -> {
                statement.setLong(1, first.event().id());
                store.writer().removes(TENANT, 1, first.event().size());
              });
    }
    try (SqliteStore store = SqliteStore.open(directory)) {
      assertThat(store.snapshot().stored())
          .isEqualTo(Map.of(TENANT, new Stored(1, second.event().size())));
    }
  }

  @Test
  void a_batch_that_is_not_kept_is_not_counted() throws Exception {
    AcceptedEvent event = sample.pending(ENDPOINT);
    try (SqliteStore store = SqliteStore.open(directory)) {
      Write finished = Sample.deliver(sample.pending(ENDPOINT).messages().getFirst());
      assertThatThrownBy(() -> store.write(batch(new Write.Accept(List.of(event)), finished)))
          .isInstanceOf(StoreException.class);
      assertThat(store.snapshot().stored()).isEmpty();
      store.write(batch(new Write.Accept(List.of(event))));
      assertThat(store.snapshot().stored())
          .isEqualTo(Map.of(TENANT, new Stored(1, event.event().size())));
    }
  }

  @Test
  void a_store_from_before_they_were_counted_is_counted_when_it_is_opened() throws Exception {
    AcceptedEvent event = sample.pending(ENDPOINT);
    Endpoint endpoint = sample.endpoint("https://one.example/");
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.write(
          batch(
              new Write.Subscribe(sample.subscription(endpoint, "t"), endpoint),
              new Write.Accept(List.of(event))));
    }
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(
          connection,
          "DROP TABLE tenants",
          "ALTER TABLE endpoints DROP COLUMN rate_limit",
          "ALTER TABLE endpoints DROP COLUMN gone_at",
          "ALTER TABLE subscriptions DROP COLUMN connector",
          "ALTER TABLE subscriptions DROP COLUMN filters",
          "ALTER TABLE subscriptions DROP COLUMN format",
          "ALTER TABLE subscriptions DROP COLUMN base64",
          "ALTER TABLE subscriptions DROP COLUMN auth_token",
          "ALTER TABLE subscriptions DROP COLUMN headers",
          "ALTER TABLE subscriptions DROP COLUMN secrets",
          "ALTER TABLE replays DROP COLUMN below",
          "ALTER TABLE subscriptions DROP COLUMN changed_at",
          "ALTER TABLE subscriptions DROP COLUMN version",
          "ALTER TABLE subscriptions DROP COLUMN version_changed_at",
          "ALTER TABLE subscriptions DROP COLUMN written_url",
          "ALTER TABLE open DROP COLUMN version",
          "ALTER TABLE messages DROP COLUMN version",
          "ALTER TABLE fan_outs DROP COLUMN versions",
          "UPDATE endpoints SET url = '%s', sum = %d"
              .formatted(endpoint.url(), Rows.sum(endpoint, false)),
          "DROP TABLE data_keys",
          "ALTER TABLE subscriptions DROP COLUMN sealed",
          "ALTER TABLE endpoints DROP COLUMN sealed",
          "ALTER TABLE api_keys DROP COLUMN expires_at",
          "ALTER TABLE api_keys DROP COLUMN last_used_at",
          "DROP TABLE audit",
          "DROP TABLE sessions",
          "DROP TABLE activity",
          "DROP INDEX endpoint_changes_by_tenant",
          "ALTER TABLE endpoint_changes DROP COLUMN tenant",
          "PRAGMA user_version = 3");
    }
    assertThatThrownBy(() -> StoreCheck.run(directory)).hasMessageContaining("earlier Holdfast");
    try (SqliteStore store = SqliteStore.open(directory)) {
      assertThat(store.snapshot().stored())
          .isEqualTo(Map.of(TENANT, new Stored(1, event.event().size())));
      assertThat(store.snapshot().endpoints()).containsExactly(endpoint);
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }
}
