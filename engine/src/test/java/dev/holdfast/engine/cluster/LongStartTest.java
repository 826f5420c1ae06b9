package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Overload;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that takes longer to begin than its lease lasts. */
@Timeout(60)
class LongStartTest {
  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofMillis(1_500);

  private final PostgresStore store;
  private final FakePath path = new FakePath();
  private final SlowSeat seat = new SlowSeat();
  private final Cluster cluster;

  LongStartTest() throws Exception {
    store =
        PostgresStore.open(
            new PostgresOptions(PostgresServer.freshDatabase(), null, null, 4, LEASE, "one"),
            new MasterKeySource.Given(
                List.of(
                    MasterKey.parse("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=").orElseThrow()),
                "the test"),
            InstantSource.system());
    DatabaseClock clock = new DatabaseClock(System::nanoTime, Instant.now());
    cluster =
        new Cluster(
            store,
            seat,
            store.connections()::own,
            store,
            store,
            new Cluster.Settings(LEASE, TIMEOUT, false),
            InstantSource.system(),
            clock,
            clock,
            (slot, snapshot) ->
                new Loop(
                    new RetrySchedule(Duration.ofMillis(200), 8),
                    new EndpointHealth(
                        100,
                        700_000,
                        1_000,
                        2_000,
                        Duration.ofDays(3),
                        50_000,
                        Duration.ofMinutes(10)),
                    Recovery.DRAIN,
                    Limits.forHeap(256L << 20, 32),
                    Overload.NONE,
                    slot,
                    snapshot,
                    Shards.NONE));
  }

  @AfterEach
  void close() {
    seat.mayBegin.countDown();
    cluster.close();
    store.close();
  }

  @Test
  void the_lease_is_renewed_while_what_the_node_begins_with_is_read() throws Exception {
    long first = expires();
    cluster.keepSeat();

    awaitRenewal(first);

    seat.mayBegin.countDown();
    cluster.firstLoop();
    cluster.start(path);
    awaitReady();
    assertThat(cluster.own().fenced()).isZero();
  }

  @Test
  void the_first_lease_runs_from_the_moment_that_the_node_asked_to_take_part() throws Exception {
    Instant before = Instant.now();

    cluster.start(path);

    Input.Leased leased = path.leased.poll(30, TimeUnit.SECONDS);
    assertThat(leased).isNotNull();
    assertThat(leased.until()).isBefore(before);
    assertThat(cluster.isReady()).isFalse();
  }

  @Test
  void the_lease_is_renewed_while_a_node_begins_anew() throws Exception {
    cluster.keepSeat();
    cluster.start(path);
    long old = store.nodeId();

    cluster.fenced("the test");
    seat.isBeginning.await();

    assertThat(store.nodeId()).isNotEqualTo(old);
    assertThat(number("SELECT count(*) FROM nodes")).as("the old one has left").isEqualTo(1);
    awaitRenewal(expires());
    assertThat(cluster.isReady()).isFalse();
    assertThat(resting()).as("it has no share yet").isEqualTo(1);
    seat.mayBegin.countDown();
    path.begun.await();
    awaitReady();
    while (resting() > 0) {
      LockSupport.parkNanos(10_000_000);
    }
    assertThat(cluster.own().fenced()).isEqualTo(1);
  }

  @Test
  void a_place_with_which_nothing_can_be_begun_is_left() throws Exception {
    cluster.keepSeat();
    cluster.start(path);
    seat.isUnreadable = true;
    seat.mayBegin.countDown();

    cluster.fenced("the test");
    seat.isBeginning.await();

    while (number("SELECT count(*) FROM nodes") > 0) {
      LockSupport.parkNanos(1_000_000);
    }
    seat.isUnreadable = false;
    path.begun.await();
    awaitReady();
  }

  private long resting() throws SQLException {
    return number(
        "SELECT count(*) FROM node_reports JOIN nodes ON nodes.id = node"
            + " WHERE (report::json ->> 'isResting')::boolean");
  }

  private void awaitReady() {
    while (!cluster.isReady()) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void awaitRenewal(long before) throws SQLException {
    while (expires() == before) {
      LockSupport.parkNanos(10_000_000);
    }
  }

  private long expires() throws SQLException {
    return number("SELECT (extract(epoch FROM expires_at) * 1000000)::bigint FROM nodes");
  }

  private long number(String sql) throws SQLException {
    try (Connection connection = store.connections().own();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** One that was asked for a lease ago, and begins when the test lets it. */
  private final class SlowSeat implements Cluster.Seat {
    private final CountDownLatch isBeginning = new CountDownLatch(1);
    private final CountDownLatch mayBegin = new CountDownLatch(1);
    private volatile boolean isUnreadable;
    private volatile long asked = System.nanoTime() - LEASE.toNanos();

    @Override
    public long node() {
      return store.nodeId();
    }

    @Override
    public long askedNanos() {
      return asked;
    }

    @Override
    public int slot() {
      return store.slot();
    }

    @Override
    public Snapshot beginning() throws StoreException {
      isBeginning.countDown();
      try {
        mayBegin.await();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
      if (isUnreadable) {
        throw new StoreException(
            StoreException.Kind.REFUSED, "sealed with another key", new SQLException("sealed"));
      }
      return store.beginning();
    }

    @Override
    public void takeNew() throws StoreException {
      asked = System.nanoTime();
      store.rejoin();
    }
  }

  /** A path that just keeps its leases. */
  private static final class FakePath implements Cluster.Path {
    private final BlockingQueue<Input.Leased> leased = new LinkedBlockingQueue<>();
    private final CountDownLatch begun = new CountDownLatch(1);

    @Override
    public void put(Input input) {
      if (input instanceof Input.Leased lease) {
        leased.add(lease);
      }
    }

    @Override
    public void ask(Request request, Actor by, Consumer<Answer> replyTo) {}

    @Override
    public void breakDown(Throwable cause) {}

    @Override
    public void abandon() {}

    @Override
    public void whenQuiet(Runnable task) {
      task.run();
    }

    @Override
    public void begin(Loop loop) {
      begun.countDown();
    }

    @Override
    public void count(Consumer<Gauges> seen) {}
  }
}
