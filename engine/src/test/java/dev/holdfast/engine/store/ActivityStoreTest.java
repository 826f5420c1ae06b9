package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.port.History.ChangeQuery;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The embedded store keeps minutes and changes. */
final class ActivityStoreTest extends ActivityContract {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  SqliteStore open() throws Exception {
    return SqliteStore.open(directory);
  }

  @Test
  void a_damaged_minute_is_found_by_the_check_and_does_not_keep_others_from_being_written()
      throws Exception {
    try (SqliteStore store = open()) {
      store.activity().add(List.of(row("acme", NOW, 1, 5)), NOW);
    }
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(connection, "UPDATE activity SET accepted = 7");
    }
    assertThat(StoreCheck.run(directory).problems())
        .singleElement()
        .asString()
        .contains("activity");
    try (SqliteStore store = open()) {
      ActivityRow next = row("acme", NOW.plusSeconds(60), 3);
      store.activity().add(List.of(next), NOW);
      assertThat(store.activity().since("acme", NOW)).as("without it").containsExactly(next);
      store.activity().add(List.of(row("acme", NOW, 2, 5)), NOW);
      assertThat(store.activity().since("acme", NOW)).containsExactly(row("acme", NOW, 2, 5), next);
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  @Test
  void lists_of_changes_and_minutes_go_along_indexes() throws Exception {
    try (SqliteStore store = open()) {
      assertThat(store.changes(new ChangeQuery("acme", null, null, null, 1))).isEmpty();
      for (String sql :
          List.of(
              "SELECT id FROM endpoint_changes WHERE tenant = 'a' AND (at, id) < (9, 9)"
                  + " AND at >= 1 ORDER BY at DESC, id DESC LIMIT 5",
              "SELECT delays FROM activity WHERE tenant = 'a' AND at >= 5 ORDER BY at, slot",
              "SELECT tenant, at, slot FROM activity WHERE at < 5 ORDER BY at LIMIT 5",
              "DELETE FROM activity WHERE (tenant, at, slot) IN (SELECT tenant, at, slot"
                  + " FROM activity WHERE at < 5 ORDER BY at, tenant, slot LIMIT 5)")) {
        String plan = plan(sql);
        assertThat(plan).contains("SEARCH").doesNotContain("SCAN", "TEMP B-TREE");
      }
    }
  }

  private String plan(String sql) throws Exception {
    StringBuilder plan = new StringBuilder();
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0);
        var statement = connection.createStatement();
        var rows = statement.executeQuery("EXPLAIN QUERY PLAN " + sql)) {
      while (rows.next()) {
        plan.append(rows.getString("detail")).append('\n');
      }
    }
    return plan.toString();
  }
}
