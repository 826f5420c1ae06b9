package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.PostgresWriter.Node;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HoldersTest {
  private final String url = PostgresServer.freshDatabase();
  private final Connections connections = new Connections(new PostgresOptions(url));

  @BeforeEach
  void makeTables() throws Exception {
    Schema.apply(connections);
  }

  @AfterEach
  void close() {
    connections.close();
  }

  @Test
  void a_session_that_holds_a_nodes_row_and_does_not_go_on_is_ended() throws Exception {
    Node node = Nodes.join(connections);
    try (Connection stopped = holding(node, Holders.Until.SESSION);
        Connection taking = connections.own()) {
      Holders.endWaiting(taking, node.id());

      Connections.execute(taking, "DELETE FROM nodes WHERE id = " + node.id());
      assertThatThrownBy(stopped::commit).isInstanceOf(SQLException.class);
    }
  }

  @Test
  void neither_others_are_ended_nor_those_that_are_in_nothing() throws Exception {
    Node node = Nodes.join(connections);
    Node other = Nodes.join(connections);
    try (Connection resting = connections.own();
        Connection ofOther = holding(other, Holders.Until.TRANSACTION);
        Connection taking = connections.own()) {
      Holders.mark(resting, node.id(), Holders.Until.SESSION);

      Holders.endWaiting(taking, node.id());
      Holders.endGone(taking, node.id());

      ofOther.commit();
      assertThat(resting.isValid(5)).isTrue();
    }
  }

  @Test
  void one_that_reads_for_a_node_that_has_gone_is_ended_whatever_it_does() throws Exception {
    Node node = Nodes.join(connections);
    try (Connection reading = holding(node, Holders.Until.TRANSACTION);
        Connection taking = connections.own()) {
      Connections.execute(reading, "SET statement_timeout = 0");
      FutureTask<Long> read =
          new FutureTask<>(
              () -> Standing.number(reading, "SELECT 1 FROM (SELECT pg_sleep(50)) AS long"));
      Thread.ofVirtual().start(read);
      while (!isActive(taking)) {
        Thread.onSpinWait();
      }
      Holders.endWaiting(taking, node.id());
      assertThat(isActive(taking)).as("its own node lets it read").isTrue();

      Holders.endGone(taking, node.id());

      Connections.execute(taking, "DELETE FROM nodes WHERE id = " + node.id());
      assertThatThrownBy(read::get).hasCauseInstanceOf(SQLException.class);
    }
  }

  private static boolean isActive(Connection connection) throws SQLException {
    return Standing.number(
            connection,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                + " AND wait_event = 'PgSleep'")
        == 1;
  }

  @Test
  void a_url_with_which_batches_would_fall_apart_is_refused() throws Exception {
    String simple = url + (url.contains("?") ? "&" : "?") + "preferQueryMode=simple";
    assertThatThrownBy(() -> new PostgresOptions(simple).check())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("preferQueryMode=simple");
    new PostgresOptions(url).check();
  }

  private Connection holding(Node node, Holders.Until until) throws SQLException {
    Connection connection = connections.own();
    connection.setAutoCommit(false);
    Holders.mark(connection, node.id(), until);
    Connections.execute(
        connection, "SELECT 1 FROM nodes WHERE id = " + node.id() + " FOR KEY SHARE");
    return connection;
  }
}
