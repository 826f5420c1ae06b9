package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.batch;
import static dev.holdfast.engine.store.Sample.deliver;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Arrivals.Arrived;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.engine.store.postgres.CuttingProxy;
import dev.holdfast.engine.store.postgres.CuttingProxy.Cut;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What several nodes on one database owe each other. */
@Timeout(60)
final class SharedStoreTest {
  private static final long E1 = 1_000_001;

  private final String url = PostgresServer.freshDatabase();
  private final List<PostgresStore> opened = new ArrayList<>();
  private final Sample sample = new Sample();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @AfterEach
  void close() {
    opened.forEach(PostgresStore::close);
  }

  private PostgresStore node() throws StoreRefused {
    return node(url);
  }

  private PostgresStore node(String at) throws StoreRefused {
    PostgresStore store =
        PostgresStore.open(
            new PostgresOptions(at, null, null, 4, Duration.ofSeconds(15), "test"),
            KeyFile.in(directory),
            InstantSource.system());
    opened.add(store);
    return store;
  }

  private void run(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long number(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).isTrue();
      return row.getLong(1);
    }
  }

  private void give(Shards shards, PostgresStore to) throws SQLException {
    run(
        "UPDATE shards SET node = %d WHERE shard = ANY ('{%s}')"
            .formatted(
                to.nodeId(),
                shards.numbers().stream().map(String::valueOf).collect(Collectors.joining(","))));
  }

  /** What was decided by all that its tenants had changed up to a version. */
  private static Batch of(Shards ours, long version, Write... writes) {
    Map<String, Long> basis = new HashMap<>();
    for (Write write : writes) {
      if (write instanceof Write.Accept accept) {
        accept.events().forEach(event -> basis.put(event.event().tenant(), version));
      } else if (write instanceof Write.Subscribe subscribe) {
        basis.put(subscribe.subscription().tenant(), version);
      }
    }
    return new Batch(List.of(writes), List.of(), List.of(), ours, basis);
  }

  private static void assertKind(Kind kind, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            StoreException.class, failure -> assertThat(failure.kind()).isEqualTo(kind));
  }

  // Who takes part

  @Test
  void each_node_has_an_id_and_a_slot_of_its_own_and_slots_are_given_again() throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    assertThat(other.nodeId()).isNotEqualTo(one.nodeId());
    assertThat(other.slot()).isNotEqualTo(one.slot());
    one.close();
    PostgresStore third = node();
    assertThat(third.slot()).isEqualTo(one.slot());
    assertThat(third.nodeId()).isGreaterThan(other.nodeId());
  }

  @Test
  void a_node_that_leaves_leaves_its_shards() throws Exception {
    PostgresStore one = node();
    give(Shards.of(List.of(1, 2)), one);
    one.close();
    assertThat(number("SELECT count(*) FROM shards WHERE node IS NOT NULL")).isZero();
    assertThat(number("SELECT count(*) FROM nodes")).isZero();
  }

  @Test
  void what_was_the_latest_time_and_the_highest_id_is_known_after_all_have_left() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    PostgresStore one = node();
    one.write(batch(accept(event)));
    one.write(batch(deliver(message)));
    one.close();
    node().close();
    PostgresStore later = node();
    assertThat(later.latestTime()).isEqualTo(after(1));
    assertThat(later.beginning().highestId()).isEqualTo(message.id());
  }

  // Fencing

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_node_whose_row_is_gone_writes_nothing_any_more(boolean withCallersId) throws Exception {
    PostgresStore one = node();
    one.write(batch(accept(sample.pending(E1))));
    run("DELETE FROM nodes WHERE id = " + one.nodeId());
    AcceptedEvent event = sample.pending(sample.event(TENANT, withCallersId ? "id" : null, "1"));
    assertKind(Kind.FENCED, () -> one.write(batch(accept(event))));
    assertThat(one.events(List.of(event.event().id()))).isEmpty();
    assertThat(number("SELECT count(*) FROM keys")).isZero();
  }

  @Test
  void whoever_takes_over_waits_for_a_write_under_way() throws Exception {
    PostgresStore one = node();
    one.write(batch(accept(sample.pending(E1))));
    AcceptedEvent event = sample.pending(E1);
    try (Connection blocking = DriverManager.getConnection(url);
        ExecutorService writing = Executors.newSingleThreadExecutor()) {
      blocking.setAutoCommit(false);
      blocking.createStatement().execute("LOCK TABLE open IN ACCESS EXCLUSIVE MODE");
      Future<?> written = writing.submit(() -> one.write(batch(accept(event))));
      while (number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0) {
        Thread.onSpinWait();
      }
      String takeOver = "DELETE FROM nodes WHERE id = " + one.nodeId();
      assertThatThrownBy(() -> run("SET lock_timeout = '100ms'; " + takeOver))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("lock timeout");
      blocking.rollback();
      written.get();
      run(takeOver);
    }
    assertThat(one.events(List.of(event.event().id()))).hasSize(1);
    assertKind(Kind.FENCED, () -> one.write(batch(accept(sample.pending(E1)))));
  }

  // A commit in doubt

  @ParameterizedTest
  @EnumSource
  void a_batch_whose_answer_does_not_come_is_kept_once(Cut cut) throws Exception {
    keptOnce(cut, null);
  }

  @ParameterizedTest
  @EnumSource
  void so_is_one_with_ids_of_callers(Cut cut) throws Exception {
    keptOnce(cut, "callers");
  }

  private void keptOnce(Cut cut, @Nullable String callerId) throws Exception {
    try (CuttingProxy proxy = new CuttingProxy(url)) {
      PostgresStore one = node(proxy.url());
      AcceptedEvent event = sample.pending(sample.event(TENANT, callerId, "1"), E1);
      proxy.cutNext(cut);
      assertThat(one.write(batch(accept(event))).accepts())
          .singleElement()
          .isInstanceOfSatisfying(
              AcceptResult.Kept.class,
              kept -> assertThat(kept.receipts().getFirst().repeat()).isFalse());
      proxy.awaitCut();
      if (cut == Cut.UNTIL_LET_GO) {
        assertThat(proxy.letGo()).containsAnyOf("HF001", "25P03", "57P01");
      }
      assertThat(one.pending(E1, 10)).containsExactlyElementsOf(event.messages());
      assertThat(number("SELECT sum(events) FROM tenants")).isEqualTo(1);
      one.write(batch(deliver(event.messages().getFirst())));
      one.close();
    }
  }

  @Test
  void a_connection_that_was_ended_while_nothing_was_written_costs_nothing() throws Exception {
    PostgresStore one = node();
    one.write(batch(accept(sample.pending(E1))));
    run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE application_name = 'holdfast test' AND datname = current_database()");
    one.write(batch(accept(sample.pending(E1))));
    assertThat(one.pending(E1, 10)).hasSize(2);
  }

  // What everyone knows

  @Test
  void a_node_that_has_not_learned_of_a_subscription_accepts_nothing_of_its_tenant()
      throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription = sample.subscription(endpoint, "a");
    one.write(of(Shards.ALL, 0, new Write.Subscribe(subscription, endpoint)));
    Write accepted = accept(sample.pending(E1));
    assertThatThrownBy(() -> other.write(of(Shards.ALL, 0, accepted)))
        .isInstanceOfSatisfying(
            StoreException.class,
            failure -> {
              assertThat(failure.kind()).isEqualTo(Kind.STALE);
              assertThat(failure.tenants()).containsExactly(TENANT);
            });
    other.write(
        of(Shards.ALL, 0, accept(sample.pending(sample.event("another tenant", null, "1")))));
    Known known = other.changes(0);
    assertThat(known.endpoints()).containsExactly(endpoint);
    assertThat(known.subscriptions()).containsExactly(subscription);
    other.write(of(Shards.ALL, known.version(), accepted));
    assertThat(other.changes(known.version()).subscriptions()).isEmpty();
  }

  @Test
  void a_message_is_given_up_by_what_a_node_has_not_heard_of_only_if_nothing_has_changed_since()
      throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription = sample.subscription(endpoint, "a");
    one.write(of(Shards.ALL, 0, new Write.Subscribe(subscription, endpoint)));
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    long version = one.changes(0).version();
    one.write(of(Shards.ALL, version, accept(event)));
    Write drop = new Write.Drop(message, Message.DropReason.UNSUBSCRIBED, null, Instant.now());
    assertKind(Kind.STALE, () -> other.write(ifAsKnown(0, endpoint.tenant(), drop)));
    assertThat(number("SELECT count(*) FROM open")).isOne();
    other.write(ifAsKnown(version, endpoint.tenant(), drop));
    assertThat(number("SELECT count(*) FROM open")).isZero();
  }

  private static Batch ifAsKnown(long version, String tenant, Write write) {
    return new Batch(List.of(write), List.of(), List.of(), Shards.ALL, Map.of(tenant, version));
  }

  @Test
  void what_was_decided_before_a_change_is_refused_after_it_whoever_has_made_it() throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    long first =
        one.write(
                of(
                    Shards.ALL,
                    0,
                    new Write.Subscribe(sample.subscription(endpoint, "a"), endpoint)))
            .version();
    assertKind(Kind.STALE, () -> one.write(of(Shards.ALL, 0, accept(sample.pending(E1)))));
    one.write(of(Shards.ALL, first, accept(sample.pending(E1))));
    other.write(
        of(Shards.ALL, first, new Write.Subscribe(sample.subscription(endpoint, "b"), null)));
    assertKind(Kind.STALE, () -> one.write(of(Shards.ALL, first, accept(sample.pending(E1)))));
    assertKind(
        Kind.STALE,
        () ->
            one.write(
                of(
                    Shards.ALL,
                    first,
                    new Write.Subscribe(sample.subscription(endpoint, "c"), null))));
    assertThat(one.snapshot().subscriptions()).hasSize(2);
  }

  @Test
  void changes_tell_what_has_ended_and_what_is_forgotten() throws Exception {
    PostgresStore one = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription = sample.subscription(endpoint, "a");
    one.write(batch(new Write.Subscribe(subscription, endpoint)));
    long before = one.changes(0).version();
    one.write(batch(new Write.Unsubscribe(subscription, after(1))));
    Known ended = one.changes(before);
    assertThat(ended.ended()).containsExactly(subscription);
    assertThat(ended.subscriptions()).isEmpty();
    assertThat(ended.endpoints()).isEmpty();
    one.write(batch(new Write.Forget(subscription.id())));
    assertThat(one.changes(ended.version()).forgotten()).containsExactly(subscription.id());
  }

  @Test
  void settings_are_anybodys_to_change_and_health_is_not() throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    one.write(batch(new Write.Subscribe(sample.subscription(endpoint, "a"), endpoint)));
    Shards ofEndpoint = Shards.of(List.of(Shards.of(endpoint.id())));
    Endpoint limited = endpoint.withRateLimit(new RateLimit(3));
    Endpoint seenByOther = limited.with(failing(endpoint));
    other.write(
        new Batch(
            List.of(new Write.Configure(endpoint.id())),
            List.of(seenByOther),
            List.of(
                new Deed(Actor.SERVER, NOW, TENANT, new Deed.Configured(endpoint, seenByOther))),
            Shards.NONE,
            Map.of()));
    assertThat(one.snapshot().endpoints()).containsExactly(limited);
    Endpoint failing = endpoint.with(failing(endpoint));
    one.write(new Batch(List.of(), List.of(failing), List.of(), ofEndpoint, Map.of()));
    assertThat(one.snapshot().endpoints()).containsExactly(failing.withRateLimit(new RateLimit(3)));
    assertThat(one.changes(1).endpoints()).hasSize(1);
  }

  private static Health failing(Endpoint endpoint) {
    return new Health(
        Health.State.DISABLED,
        after(10),
        Health.Reason.FAILURE_RATE,
        endpoint.health().createdAt(),
        3,
        4,
        Health.Bucket.EMPTY,
        Health.Bucket.EMPTY,
        4,
        null,
        null);
  }

  // What is left for others

  @Test
  void what_is_left_for_another_node_arrives_there_once() throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    Shards others = Shards.of(List.of(Shards.of(E1)));
    give(others, other);
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    List<Shards> told = new ArrayList<>();
    one.tell(
        new PostgresStore.Listener() {
          @Override
          public void left(Shards shards) {
            told.add(shards);
          }

          @Override
          public void changed() {}

          @Override
          public void inDoubt(Throwable cause) {}
        });
    one.write(of(Shards.NONE, Long.MAX_VALUE, accept(event)));
    assertThat(told).containsExactly(others);
    assertThat(one.arrivals(others, 10)).isEqualTo(Arrivals.NOTHING);
    assertThat(other.arrivals(others, 10).messages())
        .containsExactly(new Arrived(message.id(), E1, Status.PENDING, message));
    assertThat(other.arrivals(others, 10)).isEqualTo(Arrivals.NOTHING);
    assertThat(number("SELECT count(*) FROM handovers")).isZero();
  }

  @Test
  void what_is_finished_already_arrives_without_its_message() throws Exception {
    PostgresStore other = node();
    Shards others = Shards.of(List.of(Shards.of(E1)));
    give(others, other);
    AcceptedEvent event = sample.pending(E1);
    other.write(of(Shards.NONE, Long.MAX_VALUE, accept(event)));
    other.write(of(others, Long.MAX_VALUE, deliver(event.messages().getFirst())));
    assertThat(other.arrivals(others, 10).messages())
        .containsExactly(new Arrived(event.messages().getFirst().id(), E1, Status.PENDING, null));
  }

  @Test
  void very_much_arrives_in_parts() throws Exception {
    PostgresStore one = node();
    give(Shards.ALL, one);
    for (int i = 0; i < 5; i++) {
      one.write(of(Shards.NONE, Long.MAX_VALUE, accept(sample.pending(E1), sample.pending(E1))));
    }
    Arrivals first = one.arrivals(Shards.ALL, 3);
    assertThat(first.isMore()).isTrue();
    List<Arrived> all = new ArrayList<>(first.messages());
    for (Arrivals next = first; next.isMore(); ) {
      next = one.arrivals(Shards.ALL, 3);
      all.addAll(next.messages());
    }
    assertThat(all).hasSize(10).doesNotHaveDuplicates();
  }

  @Test
  void who_gains_a_shard_is_told_all_of_it_and_what_was_left_does_not_arrive() throws Exception {
    PostgresStore one = node();
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Shards shards = Shards.of(List.of(Shards.of(endpoint.id())));
    Shards rest = Shards.ALL.minus(shards);
    long elsewhere =
        LongStream.iterate(E1, id -> id + 1).filter(rest::has).findFirst().orElseThrow();
    one.write(batch(new Write.Subscribe(sample.subscription(endpoint, "a"), endpoint)));
    one.write(
        of(
            Shards.NONE,
            Long.MAX_VALUE,
            accept(sample.pending(endpoint.id()), sample.pending(elsewhere))));
    give(Shards.ALL, one);
    Holdings holdings = one.holdings(shards);
    assertThat(holdings.endpoints()).containsExactly(endpoint);
    assertThat(holdings.unfinished())
        .containsOnlyKeys(endpoint.id())
        .containsValue(new Unfinished(1, 0, 0, 0));
    assertThat(one.arrivals(shards, 10)).isEqualTo(Arrivals.NOTHING);
    assertThat(one.arrivals(rest, 10).messages()).hasSize(1);
    one.write(of(Shards.NONE, Long.MAX_VALUE, accept(sample.pending(endpoint.id()))));
    assertThat(one.arrivals(shards, 10).messages()).hasSize(1);
  }

  @Test
  void who_has_lost_a_shard_takes_away_nothing_that_was_left_for_its_node() throws Exception {
    PostgresStore one = node();
    PostgresStore other = node();
    one.write(of(Shards.NONE, Long.MAX_VALUE, accept(sample.pending(E1))));
    give(Shards.ALL, one);
    give(Shards.of(List.of(Shards.of(E1))), other);
    assertKind(Kind.FENCED, () -> one.holdings(Shards.ALL));
    give(Shards.ALL, one);
    run("DELETE FROM nodes WHERE id = " + one.nodeId());
    assertKind(Kind.FENCED, () -> one.holdings(Shards.ALL));
    assertThat(number("SELECT count(*) FROM handovers")).isEqualTo(1);
  }

  @Test
  void steps_and_replays_arrive_as_well() throws Exception {
    PostgresStore one = node();
    give(Shards.ALL, one);
    long id = sample.id();
    FanOut step = new FanOut(id, 100, 0, List.of(new FanOut.Target(E1 + 1, E1, null)));
    Event event = new Event(id, TENANT, "a", null, null, Sample.bytes("1"), null, null, null);
    Replay replay =
        Replay.of(
            sample.id(),
            TENANT,
            new Replay.Selection(E1, null, Set.of(Replay.Ending.DROPPED), null, null, false));
    one.write(
        of(
            Shards.NONE,
            Long.MAX_VALUE,
            accept(new AcceptedEvent(event, List.of(), List.of(step))),
            new Write.Progress(null, replay, List.of())));
    Arrivals arrived = one.arrivals(Shards.ALL, 10);
    assertThat(arrived.fanOuts()).containsExactly(step);
    assertThat(arrived.replays()).containsExactly(replay);
    Holdings holdings = one.holdings(Shards.ALL);
    assertThat(holdings.fanOuts()).containsExactly(step);
    assertThat(holdings.replays()).containsExactly(replay);
    Message made = Message.pending(id + Id.STRIDE, id, E1 + 1, E1, 100);
    one.write(of(Shards.ALL, Long.MAX_VALUE, new Write.Spread(step, List.of(made))));
    assertThat(one.pending(E1, 10)).containsExactly(made);
    assertKind(
        Kind.REFUSED,
        () -> one.write(of(Shards.ALL, Long.MAX_VALUE, new Write.Spread(step, List.of(made)))));
  }

  @Test
  void due_messages_are_those_of_the_shards_that_are_asked_for() throws Exception {
    PostgresStore one = node();
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    one.write(batch(accept(event), Sample.retry(message, 1, after(10))));
    Shards its = Shards.of(List.of(Shards.of(E1)));
    assertThat(one.due(its, DueCursor.START, Instant.MAX, 10)).hasSize(1);
    assertThat(one.due(Shards.ALL.minus(its), DueCursor.START, Instant.MAX, 10)).isEmpty();
  }

  // Ids that callers give

  @Test
  void nodes_that_are_given_the_same_ids_at_the_same_time_keep_each_once() throws Exception {
    int ids = 40;
    List<PostgresStore> nodes = List.of(node(), node());
    List<CompletableFuture<List<AcceptResult>>> results = new ArrayList<>();
    for (PostgresStore each : nodes) {
      Sample own = new Sample(Id.floor(after(100 + each.slot())));
      results.add(
          CompletableFuture.supplyAsync(
              () -> {
                List<AcceptResult> all = new ArrayList<>();
                try {
                  for (int i = 0; i < ids; i++) {
                    int other = ids - 1 - i;
                    all.addAll(
                        each.write(
                                batch(
                                    accept(own.pending(own.event(TENANT, "id" + i, "1"), E1)),
                                    accept(own.pending(own.event(TENANT, "id" + other, "1"), E1))))
                            .accepts());
                  }
                } catch (StoreException e) {
                  throw new IllegalStateException(e);
                }
                return all;
              }));
    }
    long fresh = 0;
    for (CompletableFuture<List<AcceptResult>> result : results) {
      fresh +=
          result.get().stream()
              .map(AcceptResult.Kept.class::cast)
              .filter(kept -> !kept.receipts().getFirst().repeat())
              .count();
    }
    assertThat(fresh).isEqualTo(ids);
    assertThat(nodes.getFirst().pending(E1, 1_000)).hasSize(ids);
  }

  // How often the server is asked

  @Test
  void a_batch_takes_one_round_trip_and_with_ids_of_callers_at_most_three() throws Exception {
    PostgresStore one = node();
    List<Message> before = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      List<Write> writes = new ArrayList<>();
      before.forEach(message -> writes.add(deliver(message)));
      before.clear();
      for (int i = 0; i < 100; i++) {
        AcceptedEvent event = sample.pending(E1);
        writes.add(accept(event));
        before.addAll(event.messages());
      }
      long trips = one.trips();
      one.write(of(Shards.NONE, 0, writes.toArray(Write[]::new)));
      assertThat(one.trips() - trips).isEqualTo(1);
    }
    List<Write> repeated = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      repeated.add(accept(sample.pending(sample.event(TENANT, "id" + i / 2, "1"), E1)));
    }
    long trips = one.trips();
    one.write(new Batch(repeated, List.of()));
    assertThat(one.trips() - trips).isEqualTo(2);
    one.write(new Batch(repeated.subList(0, 2), List.of()));
    assertThat(one.trips() - trips).isEqualTo(5);
  }
}
