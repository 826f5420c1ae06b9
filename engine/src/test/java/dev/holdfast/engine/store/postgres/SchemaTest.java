package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.engine.store.StoreRefused;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchemaTest {
  private final Connections connections =
      new Connections(new PostgresOptions(PostgresServer.freshDatabase()));

  @AfterEach
  void close() {
    connections.close();
  }

  @Test
  void tables_are_made_once_however_many_nodes_begin_at_the_same_time() throws Exception {
    CompletableFuture<?>[] nodes = new CompletableFuture<?>[4];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] =
          CompletableFuture.runAsync(
              () -> {
                try {
                  Schema.apply(connections);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
    }
    CompletableFuture.allOf(nodes).join();
    assertThat(number("SELECT count(*) FROM shards")).isEqualTo(256);
    assertThat(number("SELECT version FROM schema_version")).isEqualTo(Schema.newest());
  }

  @Test
  void tables_of_a_later_version_are_refused_and_left_alone() throws Exception {
    Schema.apply(connections);
    int later = Schema.newest() + 1;
    connections.transact(
        "pretending",
        connection -> {
          Connections.execute(connection, "UPDATE schema_version SET version = " + later);
          return true;
        });
    assertThatThrownBy(() -> Schema.apply(connections))
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("a later version of Holdfast")
        .hasMessageNotContaining("password");
    assertThat(number("SELECT version FROM schema_version")).isEqualTo(later);
  }

  private static final List<String> LATER =
      List.of("postgres-0001.sql", "postgres-of-a-test-0002.sql");

  private CompletableFuture<Void> makingLater() {
    return CompletableFuture.runAsync(
        () -> {
          try {
            Schema.make(connections, LATER);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void tables_of_one_version_before_are_brought_forward_once_by_one_of_the_nodes()
      throws Exception {
    Schema.apply(connections);
    CompletableFuture.allOf(makingLater(), makingLater()).join();
    assertThat(number("SELECT version FROM schema_version")).isEqualTo(2);
    assertThat(number("SELECT count(*) FROM later")).isEqualTo(1);
    assertThat(number("SELECT count(*) FROM shards")).isEqualTo(256);
    assertThatThrownBy(() -> Schema.apply(connections))
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("its tables are of version 2, this one knows 1");
    assertThatThrownBy(() -> Schema.check(connections)).isInstanceOf(StoreRefused.class);
  }

  @Test
  void a_script_that_waits_for_a_table_lets_others_pass_and_comes_back() throws Exception {
    Schema.apply(connections);
    String waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'parts'::regclass";
    CompletableFuture<Void> making;
    try (Connection other = DriverManager.getConnection(connections.options().url());
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("LOCK TABLE parts IN ACCESS SHARE MODE");
      making = makingLater();
      for (int wanted : new int[] {1, 0, 1}) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (number(waiting) != wanted) {
          assertThat(System.nanoTime()).as("it waits for ever").isLessThan(end);
        }
      }
      other.rollback();
    }
    making.join();
    assertThat(number("SELECT version FROM schema_version")).isEqualTo(2);
  }

  @Test
  void what_is_acknowledged_is_on_disk_even_where_the_server_would_not_wait_for_it()
      throws Exception {
    String url = PostgresServer.freshDatabase();
    try (Connections relaxed =
        new Connections(new PostgresOptions(url + "&options=-c%20synchronous_commit=off"))) {
      assertThat(text(relaxed, "SHOW synchronous_commit")).isEqualTo("on");
    }
  }

  private int number(String sql) throws Exception {
    return Integer.parseInt(text(connections, sql));
  }

  private static String text(Connections connections, String sql) throws Exception {
    return connections.read(
        "asking",
        connection -> {
          try (ResultSet row = connection.createStatement().executeQuery(sql)) {
            row.next();
            return row.getString(1);
          }
        });
  }
}
