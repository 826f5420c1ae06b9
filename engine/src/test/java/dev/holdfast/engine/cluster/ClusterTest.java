package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.engine.store.postgres.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several engines on one database, with a real receiver. */
@Timeout(120)
class ClusterTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final String url = PostgresServer.freshDatabase();
  private final CountingReceiver receiver;
  private final List<Node> nodes = new ArrayList<>();

  ClusterTest() throws Exception {
    receiver = new CountingReceiver();
  }

  @AfterEach
  void close() {
    nodes.forEach(Node::close);
    receiver.close();
  }

  @Test
  void what_one_node_accepts_another_delivers_at_once() throws Exception {
    Node one = open("one");
    Node two = open("two");
    awaitShards(one, two);
    List<Answer.Subscribed> subscribed = subscribe(one, 32);
    warmUp(one, subscribed.size());

    long asked = System.nanoTime();
    Answer.Accepted accepted = (Answer.Accepted) one.ask(Node.submit("order.paid", "{}"));
    assertThat(accepted.receipts().getFirst().messages()).isEqualTo(32);
    await("all are there", () -> receiver.messages.size() == 64);

    assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofMillis(800));
    assertThat(two.own().arrivals()).isPositive();
    assertThat(one.own().handedOver()).isPositive();
    assertNothingIsDoubled();
  }

  @Test
  void without_being_woken_a_node_finds_what_was_left_for_it_within_a_second() throws Exception {
    Node one = keep(Node.deaf(url, "one"));
    Node two = keep(Node.deaf(url, "two"));
    awaitShards(one, two);
    subscribe(one, 32);
    warmUp(one, 32);

    long asked = System.nanoTime();
    one.ask(Node.submit("order.paid", "{}"));
    await("all are there", () -> receiver.messages.size() == 64);

    assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofMillis(2_000));
    assertNothingIsDoubled();
  }

  @Test
  void a_subscription_made_on_one_node_is_matched_by_an_event_sent_to_another_right_after()
      throws Exception {
    Node one = open("one");
    Node two = open("two");
    awaitShards(one, two);
    for (int i = 0; i < 20; i++) {
      assertThat(one.ask(wish(i, "type" + i))).isInstanceOf(Answer.Subscribed.class);
      Answer.Accepted accepted = (Answer.Accepted) two.ask(Node.submit("type" + i, "{}"));
      assertThat(accepted.receipts().getFirst().messages()).isEqualTo(1);
    }
    await("all are there", () -> receiver.messages.size() == 20);
  }

  @Test
  void a_message_of_a_subscription_that_its_node_has_not_heard_of_is_delivered() throws Exception {
    Node one = keep(Node.deaf(url, "one"));
    Node two = keep(Node.deaf(url, "two"));
    awaitShards(one, two);
    subscribe(one, 32);
    warmUp(one, 32);
    // Each node learns once a second by itself, and looks into the store at any time.
    for (int i = 0; i < 32; i++) {
      Node maker = i % 2 == 0 ? one : two;
      assertThat(maker.ask(wish(i, "late"))).isInstanceOf(Answer.Subscribed.class);
      maker.ask(Node.submit("order.paid", "{}"));
      maker.ask(Node.submit("late", "{}"));
    }
    int late = 32 * 33 / 2;
    await("all are there", () -> receiver.messages.size() == 32 + 32 * 32 + late);
    assertNothingIsDoubled();
  }

  @Test
  void what_one_node_has_just_made_another_finds() throws Exception {
    Node one = keep(Node.deaf(url, "one"));
    Node two = keep(Node.deaf(url, "two"));
    awaitShards(one, two);
    for (int i = 0; i < 5; i++) {
      Answer.Subscribed made = (Answer.Subscribed) one.ask(wish(i, "type" + i));
      assertThat(two.ask(new Request.Unsubscribe("default", made.subscription().id())))
          .isInstanceOf(Answer.Unsubscribed.class);
    }
  }

  @Test
  void shards_move_as_nodes_come_and_go_and_nothing_is_lost_or_doubled() throws Exception {
    Node one = open("one");
    awaitShards(one);
    subscribe(one, 40);
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicInteger sent = new AtomicInteger();
    Thread sender = Thread.ofVirtual().start(() -> send(one, isOver, sent));

    Node two = open("two");
    awaitShards(one, two);
    Node three = open("three");
    awaitShards(one, two, three);
    nodes.remove(two);
    two.close();
    awaitShards(one, three);
    isOver.set(true);
    sender.join();

    int expected = sent.get() * 40;
    await("all are there", () -> receiver.messages.size() == expected);
    assertNothingIsDoubled();
    assertThat(sent.get()).isPositive();
  }

  private void send(Node node, AtomicBoolean isOver, AtomicInteger sent) {
    Semaphore underWay = new Semaphore(4);
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    while (!isOver.get()) {
      underWay.acquireUninterruptibly();
      CompletableFuture<Answer> answer = node.begin(Node.submit("order.paid", "{}"));
      answers.add(
          answer.whenComplete(
              (given, _) -> {
                if (given instanceof Answer.Accepted) {
                  sent.incrementAndGet();
                }
                underWay.release();
              }));
      LockSupport.parkNanos(2_000_000);
    }
    answers.forEach(CompletableFuture::join);
  }

  @Test
  void what_only_one_node_decides_can_be_asked_of_any() throws Exception {
    Node one = open("one");
    Node two = open("two");
    awaitShards(one, two);
    List<Answer.Subscribed> subscribed = subscribe(one, 16);

    for (Answer.Subscribed each : subscribed) {
      Answer answer =
          two.ask(
              new Request.Operate(Node.TENANT, each.endpoint().id(), Request.Operation.DISABLE));
      assertThat(answer)
          .isInstanceOfSatisfying(
              Answer.EndpointIs.class,
              is -> assertThat(is.endpoint().health().state()).isEqualTo(Health.State.DISABLED));
      assertThat(
              one.engine
                  .endpoint(Node.TENANT, each.endpoint().id())
                  .await()
                  .orElseThrow()
                  .endpoint()
                  .health()
                  .state())
          .isEqualTo(Health.State.DISABLED);
    }
    assertThat(two.own().calls()).isPositive();
    assertThat(two.ask(new Request.Operate(Node.TENANT, 12_345, Request.Operation.ENABLE)))
        .isInstanceOf(Answer.NotFound.class);
  }

  @Test
  void a_node_that_others_took_over_from_writes_nothing_more_and_begins_anew() throws Exception {
    Node one = open("one");
    Node two = open("two");
    awaitShards(one, two);
    subscribe(one, 8);
    long before = one.engine.cluster().await().self();

    execute("DELETE FROM nodes WHERE name = 'one'");
    Answer first = one.ask(Node.submit("order.paid", "{}"));

    assertThat(first).isInstanceOf(Answer.Refused.class);
    await("it takes part anew", () -> one.engine.isReady() && one.own().fenced() == 1);
    awaitShards(one, two);
    assertThat(one.engine.cluster().await().self()).isNotEqualTo(before);
    assertThat(one.ask(Node.submit("order.paid", "{}"))).isInstanceOf(Answer.Accepted.class);
    await("all are there", () -> receiver.messages.size() == 8);
    assertThat(one.broken).isNull();
  }

  @Test
  void a_node_that_has_lost_shards_and_not_its_row_begins_anew() throws Exception {
    Node one = open("one");
    awaitShards(one);

    execute("UPDATE shards SET node = NULL, epoch = epoch + 1 WHERE shard < 3");

    await("it takes part anew", () -> one.own().fenced() == 1 && one.engine.isReady());
    await("it has everything again", () -> one.shards() == 256);
    assertThat(one.ask(Node.submit("order.paid", "{}"))).isInstanceOf(Answer.Accepted.class);
  }

  /**
   * @param isHanging whether a session of the node waits for the rest of a batch, and holds its row
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_node_that_is_gone_is_taken_over_from_within_its_lease_and_a_second(boolean isHanging)
      throws Exception {
    Node one = open("one");
    awaitShards(one);
    subscribe(one, 8);
    execute(
        "INSERT INTO nodes (slot, name, version, started_at, expires_at)"
            + " VALUES (1000, 'dead', '1', now(), clock_timestamp() + interval '5 seconds')");
    execute(
        "UPDATE shards SET node = (SELECT id FROM nodes WHERE name = 'dead') WHERE node IS NULL");
    await("it has given back its share", () -> one.shards() == 128);
    execute(
        "UPDATE shards SET node = (SELECT id FROM nodes WHERE name = 'dead') WHERE node IS NULL");
    execute(
        "UPDATE nodes SET expires_at = clock_timestamp() + interval '5 seconds' WHERE name = 'dead'");
    long since = System.nanoTime();

    try (Connection hanging = DriverManager.getConnection(url)) {
      if (isHanging) {
        holdDead(hanging);
      }
      await("it has everything again", () -> one.shards() == 256);
    }

    assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(Node.LEASE.plusSeconds(1));
    one.ask(Node.submit("order.paid", "{}"));
    await("all are there", () -> receiver.messages.size() == 8);
  }

  /** As a writer does that has sent a part of a batch. */
  private static void holdDead(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "SELECT pg_advisory_lock_shared(x'48656c64'::int, id::int) FROM nodes"
              + " WHERE name = 'dead'");
      statement.execute("SELECT 1 FROM nodes WHERE name = 'dead' FOR KEY SHARE");
    }
  }

  @Test
  void while_the_database_is_away_nothing_is_accepted_and_then_everything_goes_on()
      throws Exception {
    Node one = open("one");
    Node two = open("two");
    awaitShards(one, two);
    subscribe(one, 8);
    one.ask(Node.submit("order.paid", "{}"));
    await("all are there", () -> receiver.messages.size() == 8);

    allowConnections(false);
    await("both notice", () -> !one.engine.isReady() && !two.engine.isReady());
    assertThat(one.ask(Node.submit("order.paid", "{}")))
        .isEqualTo(new Answer.Refused(Answer.Refused.Why.STORE_AWAY));
    allowConnections(true);

    await("both are ready", () -> one.engine.isReady() && two.engine.isReady());
    await(
        "events are accepted",
        () -> one.ask(Node.submit("order.paid", "{}")) instanceof Answer.Accepted);
    await("all are there", () -> receiver.messages.size() == 16);
    assertNothingIsDoubled();
    assertThat(one.own().fenced() + two.own().fenced()).isZero();
    assertThat(one.broken).isNull();
  }

  @Test
  void clocks_of_machines_do_not_matter() throws Exception {
    Node one = keep(Node.withClock(url, "one", Duration.ofHours(1)));
    Node two = keep(Node.withClock(url, "two", Duration.ofHours(-1)));
    awaitShards(one, two);
    subscribe(one, 8);
    receiver.status = 500;
    one.ask(Node.submit("order.paid", "{}"));
    two.ask(Node.submit("order.paid", "{}"));
    receiver.status = 200;

    await("all are there", () -> receiver.messages.size() == 16);

    assertThat(one.own().clockOffset()).isBetween(Duration.ofMinutes(-61), Duration.ofMinutes(-59));
    assertThat(two.own().clockOffset()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
  }

  /**
   * No message came more often than attempts of it are recorded: on a busy machine an answer may
   * come too late, and the message again.
   */
  private void assertNothingIsDoubled() throws SQLException {
    Map<String, Integer> recorded = new HashMap<>();
    await("all is recorded", () -> unfinished() == 0);
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT id, attempts FROM messages")) {
      while (row.next()) {
        recorded.put(Id.text(Id.MESSAGE, row.getLong(1)), row.getInt(2));
      }
    }
    receiver.messages.forEach(
        (id, times) -> assertThat(times).as(id).isLessThanOrEqualTo(recorded.getOrDefault(id, 0)));
  }

  private long unfinished() {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*) FROM open")) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private Node open(String name) throws Exception {
    return keep(Node.open(url, name));
  }

  private Node keep(Node node) {
    nodes.add(node);
    return node;
  }

  private List<Answer.Subscribed> subscribe(Node node, int count) {
    List<Answer.Subscribed> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add((Answer.Subscribed) node.ask(wish(i, "order.paid")));
    }
    return all;
  }

  private Request wish(int number, String type) {
    return new Request.Subscribe(
        Node.TENANT, receiver.url("/" + number), List.of(new TypePattern(type)), null);
  }

  private void warmUp(Node node, int count) throws Exception {
    int before = receiver.messages.size();
    node.ask(Node.submit("order.paid", "{}"));
    await("the first are there", () -> receiver.messages.size() == before + count);
  }

  /** Each has its share, and all together everything. */
  private static void awaitShards(Node... all) throws Exception {
    int share = Math.ceilDiv(256, all.length);
    await(
        "the shards are shared",
        () -> {
          int total = 0;
          for (Node node : all) {
            int held = node.shards();
            if (held > share) {
              return false;
            }
            total += held;
          }
          return total == 256;
        });
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      LockSupport.parkNanos(2_000_000);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Cuts everybody off from the database, or lets them in again. */
  private void allowConnections(boolean isAllowed) throws SQLException {
    String name = url.replaceAll(".*/(holdfast_\\d+)\\?.*", "$1");
    String other = url.replace("/" + name + "?", "/postgres?");
    try (Connection connection = DriverManager.getConnection(other);
        Statement statement = connection.createStatement()) {
      statement.execute("ALTER DATABASE " + name + " ALLOW_CONNECTIONS " + isAllowed);
      if (!isAllowed) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"
                + name
                + "'");
      }
    }
  }
}
