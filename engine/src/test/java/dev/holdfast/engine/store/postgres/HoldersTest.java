package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.PostgresWriter.Node;
import java.sql.Connection;
import java.sql.SQLException;
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
      Holders.end(taking, node.id());

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

      Holders.end(taking, node.id());

      ofOther.commit();
      assertThat(resting.isValid(5)).isTrue();
    }
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
