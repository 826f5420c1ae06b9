package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.postgres.Connections;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who has which shards, with tables that are real and shards of which some cannot be read. */
@Timeout(60)
class BalanceTest {
  private static final Duration LEASE = Duration.ofSeconds(15);

  private long nanos;
  private Shards unreadable = Shards.NONE;
  private final Connections connections =
      new Connections(new PostgresOptions(PostgresServer.freshDatabase()));
  private final FakeHost host = new FakeHost();
  private final Balance balance =
      new Balance(this::read, connections::own, LEASE, () -> nanos, host);
  private Connection connection;
  private long node;

  @SuppressWarnings("NullAway.Init")
  BalanceTest() {}

  @BeforeEach
  void open() throws Exception {
    Schema.apply(connections);
    connection = connections.own();
    node = join(0);
  }

  @AfterEach
  void close() throws Exception {
    balance.close();
    connection.close();
    connections.close();
  }

  @Test
  void a_node_alone_takes_everything_in() throws Exception {
    settleFor(Duration.ofSeconds(2));

    assertThat(balance.held()).isEqualTo(Shards.ALL);
    assertThat(host.gained).isEqualTo(Shards.ALL);
  }

  @Test
  void a_shard_that_cannot_be_read_keeps_no_other_out_and_is_given_back_after_a_lease()
      throws Exception {
    unreadable = Shards.of(List.of(0));

    settleFor(LEASE.dividedBy(2));
    assertThat(balance.held()).isEqualTo(Shards.ALL.minus(unreadable));
    assertThat(free()).isZero();
    assertThat(balance.isResting()).isFalse();

    settleFor(LEASE);
    assertThat(free()).isEqualTo(1);
    assertThat(balance.isResting()).isTrue();
    assertThat(balance.held()).isEqualTo(Shards.ALL.minus(unreadable));

    unreadable = Shards.NONE;
    settleFor(LEASE.multipliedBy(4));
    assertThat(balance.held()).isEqualTo(Shards.ALL);
    assertThat(balance.isResting()).isFalse();
  }

  @Test
  void a_node_that_can_read_nothing_gives_everything_back_and_tries_with_one_ever_more_seldom()
      throws Exception {
    unreadable = Shards.ALL;

    settleFor(LEASE.plusSeconds(5));
    assertThat(free()).isEqualTo(256);
    assertThat(host.restChanges).isEqualTo(1);

    int tries = host.learned;
    settleFor(LEASE.multipliedBy(3));
    assertThat(host.learned).as("it rests").isEqualTo(tries);
    settleFor(LEASE);
    assertThat(host.learned).as("it has tried once").isEqualTo(tries + 1);
    assertThat(epochs(1)).as("with one shard").isEqualTo(2 * 256 + 2);
    settleFor(LEASE.multipliedBy(7));
    assertThat(host.learned).as("it rests for longer").isEqualTo(tries + 1);
    assertThat(free()).isEqualTo(256);
  }

  @Test
  void a_node_that_cannot_learn_claims_nothing() throws Exception {
    host.isIgnorant = true;

    settleFor(LEASE.multipliedBy(2));

    assertThat(free()).isEqualTo(256);
    assertThat(epochs(0)).as("none was ever claimed").isZero();
    assertThat(balance.isResting()).as("others take everything").isTrue();
  }

  @Test
  void the_share_of_a_node_that_rests_is_taken_by_the_others() throws Exception {
    long resting = join(1);
    Leases.renew(connection, resting, LEASE, "{\"isResting\":true}");

    settleFor(Duration.ofSeconds(2));

    assertThat(balance.held()).isEqualTo(Shards.ALL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"node = NULL, epoch = epoch + 1", "epoch = epoch + 2"})
  void a_node_that_has_lost_a_shard_without_noticing_has_to_begin_anew(String change)
      throws Exception {
    settleFor(Duration.ofSeconds(2));
    execute("UPDATE shards SET " + change + " WHERE shard = 7");

    assertThatThrownBy(() -> balance.settle(node))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.FENCED));
  }

  /** What the node's thread does in some time. */
  private void settleFor(Duration time) throws Exception {
    long end = nanos + time.toNanos();
    while (nanos < end) {
      Duration pause = balance.settle(node);
      nanos += Math.max(pause.toNanos(), 1_000_000);
    }
  }

  private Holdings read(Shards shards) throws StoreException {
    if (shards.hasAny(unreadable)) {
      throw unreadable();
    }
    return new Holdings(List.of(), Map.of(), List.of(), List.of());
  }

  private static StoreException unreadable() {
    return new StoreException(
        StoreException.Kind.REFUSED, "sealed with another key", new SQLException("sealed"));
  }

  private long free() throws SQLException {
    return number("SELECT count(*) FROM shards WHERE node IS NULL");
  }

  /** The sum of all epochs. */
  private long epochs(int least) throws SQLException {
    return number("SELECT coalesce(sum(epoch), 0) FROM shards WHERE epoch >= " + least);
  }

  private long join(int slot) throws SQLException {
    return number(
        "INSERT INTO nodes (slot, name, version, started_at, expires_at) VALUES ("
            + slot
            + ", 'node', '1', now(), clock_timestamp() + interval '1 hour') RETURNING id");
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** A node that takes everything in. */
  private static final class FakeHost implements Balance.Host {
    private Shards gained = Shards.NONE;
    private int learned;
    private int restChanges;
    private boolean isIgnorant;

    @Override
    public void learn() throws StoreException {
      learned++;
      if (isIgnorant) {
        throw unreadable();
      }
    }

    @Override
    public void put(Input input) {
      if (input instanceof Input.Gained more) {
        gained = gained.plus(more.shards());
      }
    }

    @Override
    public void gained() {}

    @Override
    public void restChanged() {
      restChanges++;
    }

    @Override
    public void tell() {}

    @Override
    public boolean isStopping() {
      return false;
    }

    @Override
    public boolean pause(Duration pause) {
      return false;
    }
  }
}
