package dev.holdfast.engine.cluster;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Shards;
import dev.holdfast.engine.store.postgres.Connections;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeasesTest {
  private static final Duration LEASE = Duration.ofSeconds(15);

  private final Connections connections =
      new Connections(new PostgresOptions(PostgresServer.freshDatabase()));
  private Connection connection;

  @SuppressWarnings("NullAway.Init")
  LeasesTest() {}

  @BeforeEach
  void open() throws Exception {
    Schema.apply(connections);
    connection = connections.own();
  }

  @AfterEach
  void close() throws Exception {
    connection.close();
    connections.close();
  }

  @Test
  void a_renewal_extends_the_lease_and_tells_the_time_and_of_the_node() throws Exception {
    long node = join(0, "1 second");

    assertThat(Leases.renew(connection, node, LEASE, "{\"inFlight\":7}")).isPresent();

    ClusterState state = ClusterReads.state(connection, node);
    assertThat(state.nodes()).hasSize(1);
    assertThat(state.nodes().getFirst().leaseLeft()).isBetween(LEASE.minusSeconds(5), LEASE);
    ClusterState.Report report = requireNonNull(state.nodes().getFirst().report());
    assertThat(report.inFlight()).isEqualTo(7);
  }

  @Test
  void a_node_whose_row_is_gone_cannot_renew_nor_claim() throws Exception {
    assertThat(Leases.renew(connection, 12_345, LEASE, "{}")).isEmpty();
    assertThat(Leases.claim(connection, 12_345, 10)).isEmpty();
    assertThat(Leases.look(connection, 12_345).free()).isEqualTo(Shards.ALL);
  }

  @Test
  void two_nodes_that_claim_share_the_shards_and_have_none_in_common() throws Exception {
    long one = join(0, "15 seconds");
    long two = join(1, "15 seconds");

    Shards ofOne = claim(one, 128);
    Shards ofTwo = claim(two, 200);

    assertThat(ofOne.size()).isEqualTo(128);
    assertThat(ofOne.plus(ofTwo)).isEqualTo(Shards.ALL);
    assertThat(ofOne.minus(ofTwo)).isEqualTo(ofOne);
    assertThat(Leases.look(connection, two).mine().keySet())
        .containsExactlyElementsOf(ofTwo.numbers());
    assertThat(Leases.look(connection, two).nodes()).isEqualTo(2);
  }

  @Test
  void an_expired_node_is_taken_out_once_and_its_shards_are_free_with_another_epoch()
      throws Exception {
    long dead = join(0, "-1 second");
    long live = join(1, "15 seconds");
    Shards had = claim(dead, 3);
    List<Leases.Other> others = Leases.look(connection, live).others();
    assertThat(others.getFirst().left()).isNegative();

    assertThat(Leases.expire(connection, others)).containsExactly(new Leases.Gone(dead, "node", 3));

    assertThat(Leases.expire(connection, others)).isEmpty();
    assertThat(Leases.look(connection, live).free()).isEqualTo(Shards.ALL);
    assertThat(ClusterReads.state(connection, live).shards().get(had.numbers().getFirst()).epoch())
        .isEqualTo(2);
  }

  @Test
  void an_expired_node_that_nobody_has_taken_out_can_renew() throws Exception {
    long late = join(0, "-1 second");
    long other = join(1, "15 seconds");
    List<Leases.Other> seen = Leases.look(connection, other).others();

    assertThat(Leases.renew(connection, late, LEASE, "{}")).isPresent();

    assertThat(Leases.expire(connection, seen)).isEmpty();
  }

  @Test
  void a_node_that_is_writing_is_not_taken_out_before_its_transaction_ends() throws Exception {
    long dead = join(0, "-1 second");
    long live = join(1, "15 seconds");
    try (Connection writing = connections.own()) {
      writing.setAutoCommit(false);
      try (PreparedStatement statement =
          writing.prepareStatement("SELECT 1 FROM nodes WHERE id = ? FOR KEY SHARE")) {
        statement.setLong(1, dead);
        statement.execute();
      }

      assertThat(Leases.expire(connection, Leases.look(connection, live).others())).isEmpty();
      assertThat(Leases.renew(connection, dead, Duration.ofSeconds(1), "{}"))
          .as("its own renewals do not wait for its writes")
          .isPresent();
      writing.rollback();
    }
  }

  @Test
  void what_a_node_gives_back_is_free_and_what_is_left_by_one_that_leaves_too() throws Exception {
    long node = join(0, "15 seconds");
    SortedMap<Integer, Long> had = Leases.claim(connection, node, 5);

    Leases.release(connection, node, had.headMap(2));
    assertThat(Leases.look(connection, node).mine()).isEqualTo(had.tailMap(2));

    Leases.leave(connection, node);
    assertThat(Leases.look(connection, node).free()).isEqualTo(Shards.ALL);
    assertThat(ClusterReads.state(connection, node).nodes()).isEmpty();
  }

  @Test
  void giving_back_that_comes_late_takes_nothing_from_a_node_that_has_it_again() throws Exception {
    long node = join(0, "15 seconds");
    SortedMap<Integer, Long> before = Leases.claim(connection, node, 5);
    Leases.release(connection, node, before);
    SortedMap<Integer, Long> again = Leases.claim(connection, node, 5);

    Leases.release(connection, node, before);

    assertThat(again).containsOnlyKeys(before.keySet());
    assertThat(Leases.look(connection, node).mine()).isEqualTo(again);
  }

  @Test
  void a_node_that_rests_has_no_share() throws Exception {
    long one = join(0, "15 seconds");
    long two = join(1, "15 seconds");
    Leases.renew(connection, two, LEASE, "{\"isResting\":false}");
    assertThat(Leases.look(connection, one).sharing()).isEqualTo(2);

    Leases.renew(connection, two, LEASE, "{\"isResting\":true}");

    assertThat(Leases.look(connection, one).sharing()).isEqualTo(1);
    assertThat(Leases.look(connection, one).nodes()).isEqualTo(2);
    assertThat(Leases.look(connection, two).sharing()).isEqualTo(2);
  }

  @Test
  void shards_of_a_node_that_there_is_not_become_free() throws Exception {
    long node = join(0, "15 seconds");
    Leases.claim(connection, node, 5);
    execute("DELETE FROM nodes WHERE id = " + node);
    execute("UPDATE shards SET since = since - interval '1 minute'");
    assertThat(Leases.look(connection, node).isOrphaned()).isTrue();

    Leases.freeOrphans(connection, LEASE);

    assertThat(Leases.look(connection, node).free()).isEqualTo(Shards.ALL);
  }

  @Test
  void numbers_that_are_told_are_understood_and_what_is_not_is_about_all() {
    assertThat(Wakeups.shards("3,77")).isEqualTo(Shards.of(List.of(3, 77)));
    assertThat(Wakeups.shards("")).isEqualTo(Shards.ALL);
    assertThat(Wakeups.shards("x,400,-1")).isEqualTo(Shards.ALL);
    assertThat(Wakeups.shards("-1")).isEqualTo(Shards.ALL);
  }

  private Shards claim(long node, int most) throws SQLException {
    return Shards.of(Leases.claim(connection, node, most).keySet());
  }

  private long join(int slot, String left) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "INSERT INTO nodes (slot, name, version, started_at, expires_at) VALUES ("
                    + slot
                    + ", 'node', '1', now(), clock_timestamp() + interval '"
                    + left
                    + "') RETURNING id")) {
      row.next();
      return row.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
