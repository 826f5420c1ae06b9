package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Store.Backlog;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.ApiKey.Role;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteLimits;

/** The embedded store keeps the contract, and what is its own to keep. */
final class SqliteStoreTest extends StoreContract {
  private static final long E1 = 1_000_001;

  /** Never ends by itself. */
  private static final String ENDLESS =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path ownDirectory;

  private final Sample sample = new Sample();

  @Override
  Opened open() throws Exception {
    SqliteStore store = SqliteStore.open(directory);
    return new Opened(store, store);
  }

  private SqliteStore openOwn(StoreLimits limits) throws Exception {
    return SqliteStore.open(ownDirectory, limits);
  }

  private SqliteStore openOwn() throws Exception {
    return openOwn(StoreLimits.DEFAULT);
  }

  private static StoreLimits limits(
      Duration historyRead, int historyRows, long longLogBytes, long tooLongLogBytes) {
    return new StoreLimits(
        20, historyRead, 1, historyRows, Duration.ofMillis(5), longLogBytes, tooLongLogBytes);
  }

  // How it reads

  @Test
  void path_reads_walk_along_their_index_and_sort_nothing() throws Exception {
    try (SqliteStore store = openOwn()) {
      assertThat(plan(store, PathReads.DUE)).allMatch(step -> step.contains("open_by_due"));
      assertThat(plan(store, PathReads.PENDING))
          .singleElement()
          .asString()
          .contains("open_by_endpoint (endpoint=? AND status=?)");
      assertThat(plan(store, PathReads.PARKED_BACKLOG))
          .hasSize(2)
          .allMatch(step -> step.contains("(endpoint=? AND status=? AND attempts"));
      assertThat(plan(store, PathReads.WAITING_BACKLOG))
          .filteredOn(step -> !step.startsWith("SCAN (subquery"))
          .hasSize(2)
          .allMatch(step -> step.contains("(endpoint=? AND status=? AND attempts"));
      assertThat(plan(store, PathReads.PROBE))
          .filteredOn(step -> !step.startsWith("SCAN (subquery"))
          .hasSize(2)
          .allMatch(step -> step.contains("open_by_endpoint (endpoint=? AND status=?)"));
      assertThat(plan(store, PathReads.OF_SUBSCRIPTION))
          .hasSize(3)
          .allMatch(step -> step.contains("open_by_endpoint (endpoint=? AND status"));
      assertThat(plan(store, PathReads.UNFINISHED))
          .singleElement()
          .asString()
          .contains("INTEGER PRIMARY KEY (rowid=?)");
    }
  }

  @Test
  void the_snapshot_counts_from_the_index_alone() throws Exception {
    try (SqliteStore store = openOwn()) {
      assertThat(plan(store, SqliteStore.COUNT_UNFINISHED))
          .singleElement()
          .asString()
          .contains("COVERING INDEX open_by_endpoint");
    }
  }

  @Test
  void an_extent_tells_sizes_and_what_is_oldest_and_due_first_without_a_scan() throws Exception {
    try (SqliteStore store = openOwn()) {
      assertThat(plan(store, SqliteStore.OLDEST_UNFINISHED)).allMatch(s -> s.startsWith("SEARCH"));
      assertThat(plan(store, SqliteStore.EARLIEST_DUE))
          .allMatch(step -> step.contains("COVERING INDEX open_by_due"));
      assertThat(store.extent().oldestUnfinished()).isNull();
      assertThat(store.extent().earliestDue()).isNull();

      AcceptedEvent event = sample.pending(sample.event(), endpoints(2));
      store.write(batch(accept(event)));
      Message first = event.messages().getFirst();
      store.write(batch(new Write.Park(Sample.waiting(first, 1, Sample.after(60)))));

      Database.Extent extent = store.extent();
      assertThat(extent.oldestUnfinished()).isEqualTo(first.createdAt());
      assertThat(extent.earliestDue()).isEqualTo(Sample.after(60));
      assertThat(extent.databaseBytes()).isPositive();
      assertThat(extent.logBytes()).isPositive();
      assertThat(extent.freeBytes()).isPositive();
    }
  }

  @Test
  void a_backlog_and_a_probe_look_at_a_limited_number_of_waiting_messages() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofSeconds(5), 10, 1 << 20, 1 << 30))) {
      AcceptedEvent event = sample.pending(sample.event(), endpoints(31));
      store.write(batch(accept(event)));
      List<Message> messages = event.messages();
      Instant ahead = Sample.after(60);
      for (int i = 0; i < 29; i++) {
        Message waiting = Sample.with(messages.get(i), Status.WAITING, 1, ahead, ahead);
        store.write(batch(new Write.Park(waiting)));
      }
      Message eligible = Sample.waiting(messages.get(29), 1, NOW);
      Message parked = Sample.parked(messages.get(30), 2, ahead);
      store.write(batch(new Write.Park(eligible), new Write.Park(parked)));
      List<Message> found = new ArrayList<>();
      BacklogCursor cursor = BacklogCursor.START;
      int parts = 0;
      while (cursor != null) {
        Backlog part = store.backlog(E1, Instant.EPOCH, cursor, NOW, 5);
        found.addAll(part.messages());
        cursor = part.next();
        parts++;
      }
      assertThat(found).containsExactly(eligible, parked);
      assertThat(parts).isGreaterThan(1);
      assertThat(store.probe(E1, NOW)).contains(parked);
      store.write(batch(Sample.deliver(parked)));
      assertThat(store.probe(E1, NOW)).isEmpty();
    }
  }

  @Test
  void all_messages_of_a_subscription_are_found_while_they_are_dropped() throws Exception {
    try (SqliteStore store = openOwn()) {
      AcceptedEvent event = sample.pending(sample.event(), endpoints(40));
      store.write(batch(accept(event)));
      for (int i = 0; i < 40; i += 3) {
        Message message = event.messages().get(i);
        store.write(batch(new Write.Park(Sample.parked(message, i % 4, NOW))));
      }
      int dropped = 0;
      List<Message> found = store.ofSubscription(E1, E1 + 1, Which.ALL, 7);
      while (!found.isEmpty()) {
        dropped += found.size();
        for (Message message : found) {
          store.write(batch(new Write.Drop(message, DropReason.UNSUBSCRIBED, null, NOW)));
        }
        found = store.ofSubscription(E1, E1 + 1, Which.ALL, 7);
      }
      assertThat(dropped).isEqualTo(40);
    }
  }

  private static long[] endpoints(int count) {
    return LongStream.generate(() -> E1).limit(count).toArray();
  }

  /** The steps of a query that touch a table, or that sort. */
  private static List<String> plan(SqliteStore store, String sql) throws Exception {
    return store
        .writer()
        .between(
            connection -> {
              List<String> steps = new ArrayList<>();
              try (Statement statement = connection.createStatement();
                  ResultSet rows = statement.executeQuery("EXPLAIN QUERY PLAN " + sql)) {
                while (rows.next()) {
                  String step = rows.getString("detail");
                  if (step.startsWith("SCAN")
                      || step.startsWith("SEARCH")
                      || step.contains("B-TREE")) {
                    steps.add(step);
                  }
                }
              }
              return steps;
            });
  }

  @Test
  void a_list_is_found_by_its_index_part_by_part_without_sorting() throws Exception {
    try (SqliteStore store = openOwn()) {
      for (HistoryIndex.By by : HistoryIndex.By.values()) {
        List<String> plan =
            plan(store, IndexedIds.sql(by, true, IndexedIds.Direction.NEWEST_FIRST));
        assertThat(plan).noneMatch(step -> step.contains("B-TREE"));
        assertThat(plan)
            .anyMatch(
                step -> step.startsWith("SEARCH f") && step.contains("dropped=? AND first<?"));
      }
    }
  }

  @Test
  void a_list_looks_at_a_limited_number_of_rows_and_says_where_it_stopped() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofSeconds(5), 10, 1 << 20, 1 << 30))) {
      AcceptedEvent own = sample.pending(sample.event("one", null, "{}"), E1);
      AcceptedEvent others = sample.pending(sample.event("two", null, "{}"), new long[25]);
      store.write(batch(accept(own, others)));
      Long before = Long.MAX_VALUE;
      List<Integer> found = new ArrayList<>();
      while (before != null) {
        History.Page page =
            store.messages(
                new History.Query("one", Set.of(), null, null, null, null, null, before, 100));
        found.add(page.items().size());
        before = page.next();
      }
      assertThat(found).containsExactly(0, 0, 1);
    }
  }

  @Test
  void a_list_by_what_is_another_tenants_does_not_tell_how_much_there_is() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofSeconds(5), 10, 1 << 20, 1 << 30))) {
      Endpoint endpoint = sample.endpoint("https://one.example/");
      Subscription subscription = sample.subscription(endpoint, "a");
      store.write(batch(new Write.Subscribe(subscription, endpoint)));
      long[] all = new long[25];
      Arrays.fill(all, endpoint.id());
      store.write(batch(accept(sample.pending(sample.event(), all))));
      assertThat(listedBy(store, TENANT, endpoint.id(), null).items()).hasSize(5);
      for (History.Page page :
          List.of(
              listedBy(store, "other", endpoint.id(), null),
              listedBy(store, "other", null, subscription.id()))) {
        assertThat(page.items()).isEmpty();
        assertThat(page.next()).isNull();
      }
    }
  }

  private static History.Page listedBy(
      SqliteStore store, String tenant, @Nullable Long endpoint, @Nullable Long subscription)
      throws StoreException {
    return store.messages(
        new History.Query(
            tenant, Set.of(), endpoint, subscription, null, null, null, Long.MAX_VALUE, 5));
  }

  @Test
  @Timeout(60)
  void a_read_of_history_that_takes_too_long_is_ended() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofMillis(50), 10, 1 << 20, 1 << 30))) {
      assertThatThrownBy(() -> readEndlessly(store))
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.kind()).isEqualTo(Kind.REFUSED))
          .hasMessageContaining("longer than 50 ms");
      assertThat(store.message(TENANT, 5)).isEmpty();
    }
  }

  @Test
  @Timeout(60)
  void a_read_of_history_is_ended_when_the_log_gets_too_long() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofMinutes(5), 10, 1 << 16, 1 << 18))) {
      Thread writing =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < 20_000 && !Thread.interrupted(); i++) {
                        store.write(batch(accept(large())));
                      }
                    } catch (StoreException e) {
                      throw new IllegalStateException(e);
                    }
                  });
      assertThatThrownBy(() -> readEndlessly(store))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("log");
      writing.interrupt();
      writing.join();
    }
  }

  private static int readEndlessly(SqliteStore store) throws StoreException {
    return store
        .history()
        .read(
            "counting",
            connection -> {
              try (ResultSet rows = connection.prepare(ENDLESS).executeQuery()) {
                return rows.getInt(1);
              }
            });
  }

  private synchronized AcceptedEvent large() {
    return sample.pending(sample.event(TENANT, null, "x".repeat(50_000)), E1);
  }

  // The log

  @Test
  @Timeout(120)
  void the_log_is_begun_anew_while_the_writer_goes_on_writing() throws Exception {
    try (SqliteStore store = openOwn(limits(Duration.ofSeconds(5), 10, 1 << 20, 1 << 30))) {
      store.write(batch(accept(large())));
      int began = timesBegun();
      while (timesBegun() < began + 3) {
        store.write(batch(accept(large())));
      }
    }
    assertThat(log()).doesNotExist();
  }

  @Test
  @Timeout(120)
  void a_log_that_a_reader_made_long_gets_short_again() throws Exception {
    long longLog = 1 << 18;
    try (SqliteStore store = openOwn(limits(Duration.ofSeconds(60), 10, longLog, 1 << 30))) {
      store.write(batch(accept(large())));
      store
          .history()
          .read(
              "holding the log",
              connection -> {
                connection.prepare("SELECT count(*) FROM events").executeQuery().close();
                while (logBytes() < 8 * longLog) {
                  try {
                    store.write(batch(accept(large())));
                  } catch (StoreException e) {
                    throw new IllegalStateException(e);
                  }
                }
                return 0;
              });
      while (logBytes() > 2 * longLog) {
        store.write(batch(accept(large())));
      }
    }
  }

  private Path log() {
    return ownDirectory.resolve("holdfast.db-wal");
  }

  private long logBytes() {
    return log().toFile().length();
  }

  /** How often the log was begun: a number in its header. */
  private int timesBegun() throws Exception {
    ByteBuffer header = ByteBuffer.allocate(32);
    try (FileChannel channel = FileChannel.open(log(), StandardOpenOption.READ)) {
      channel.read(header, 0);
    }
    return header.getInt(12);
  }

  // When things go wrong

  @Test
  void without_room_a_batch_is_refused_whole_and_works_later() throws Exception {
    try (SqliteStore store = openOwn()) {
      AcceptedEvent before = sample.pending(E1);
      store.write(batch(accept(before)));
      int pages = pragma(store, "PRAGMA page_count");
      pragma(store, "PRAGMA max_page_count = " + (pages + 3));
      AcceptedEvent small = sample.pending(E1);
      AcceptedEvent large = large();
      assertThatThrownBy(() -> store.write(batch(accept(small), accept(large))))
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.kind()).isEqualTo(Kind.FULL));
      assertThat(store.pending(E1, 10)).isEqualTo(before.messages());
      store.write(batch(Sample.deliver(before.messages().getFirst())));
      pragma(store, "PRAGMA max_page_count = 1000000");
      store.write(batch(accept(small), accept(large)));
      assertThat(store.pending(E1, 10)).hasSize(2);
    }
  }

  private static int pragma(SqliteStore store, String sql) throws Exception {
    return store.writer().between(connection -> Sqlite.number(connection, sql));
  }

  @Test
  void something_too_large_is_refused() throws Exception {
    try (SqliteStore store = openOwn()) {
      store
          .writer()
          .between(
              connection ->
                  connection
                      .unwrap(SQLiteConnection.class)
                      .getDatabase()
                      .limit(SQLiteLimits.SQLITE_LIMIT_LENGTH.getId(), 20_000));
      AcceptedEvent large = large();
      assertThatThrownBy(() -> store.write(batch(accept(large))))
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.kind()).isEqualTo(Kind.REFUSED));
      store.write(batch(accept(sample.pending(E1))));
    }
  }

  @Test
  void a_store_found_to_be_damaged_takes_nothing_more() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    try (SqliteStore store = openOwn()) {
      store.write(batch(accept(event)));
    }
    damageTable("events");
    try (SqliteStore store = openOwn()) {
      assertBroken(() -> store.events(List.of(event.event().id())));
      AcceptedEvent next = new Sample(event.messages().getFirst().id()).pending(E1);
      assertBroken(() -> store.write(batch(accept(next))));
      assertBroken(() -> store.write(batch()));
    }
  }

  private static void assertBroken(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(Kind.BROKEN));
  }

  private void damageTable(String table) throws Exception {
    Path file = ownDirectory.resolve("holdfast.db");
    int page;
    try (Connection connection = Sqlite.frozenReader(file)) {
      page =
          Sqlite.number(
              connection, "SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'");
    }
    byte[] noise = new byte[Sqlite.PAGE_BYTES];
    Arrays.fill(noise, (byte) 0x5a);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(noise), (long) (page - 1) * Sqlite.PAGE_BYTES);
    }
  }

  @Test
  void the_latest_time_that_it_tells_of_is_known_after_a_restart() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    try (SqliteStore store = openOwn()) {
      assertThat(store.latestTime()).isEqualTo(Instant.EPOCH);
      store.write(batch(accept(event)));
      store.write(batch(new Write.Drop(message, DropReason.EXPIRED, null, NOW)));
      assertThat(store.latestTime()).isEqualTo(NOW);
      store.write(batch(new Write.Forget(message.subscription())));
    }
    Endpoint endpoint = sample.endpoint("http://one.example/");
    Subscription created = sample.subscription(endpoint, "a");
    Subscription changed = created.with(created.interest(), created.form(), after(5));
    Subscription imported = created.with(created.interest(), created.form(), after(6));
    try (SqliteStore store = openOwn()) {
      assertThat(store.latestTime()).isEqualTo(NOW);
      store.write(batch(new Write.Subscribe(created, endpoint)));
      store.write(batch(new Write.Update(changed, null)));
      assertThat(store.latestTime()).isEqualTo(after(5));
      Write.Update update = new Write.Update(imported, null);
      store.write(batch(new Write.Import(List.of(), List.of(update))));
      assertThat(store.latestTime()).isEqualTo(after(6));
    }
  }

  @Test
  void a_closed_store_says_so_and_can_be_closed_again() throws Exception {
    SqliteStore store = openOwn();
    store.close();
    store.close();
    assertThatThrownBy(() -> store.write(batch())).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> store.pending(E1, 1)).isInstanceOf(StoreException.class);
  }

  @Test
  void a_directory_may_have_any_name() throws Exception {
    Path odd = ownDirectory.resolve("a b?c=d&e#f%20ü;g");
    Event event = sample.event();
    try (SqliteStore store = SqliteStore.open(odd)) {
      store.write(batch(accept(new AcceptedEvent(event, List.of()))));
    }
    assertThat(odd.resolve("holdfast.db")).exists();
    try (SqliteStore store = SqliteStore.open(odd)) {
      assertThat(store.events(List.of(event.id()))).hasSize(1);
    }
  }

  // Keys of the API

  @Test
  void api_keys_are_found_by_their_hash() throws Exception {
    byte[] hash = new byte[32];
    hash[5] = 9;
    try (SqliteStore store = openOwn()) {
      assertThat(store.apiKeys().isEmpty()).isTrue();
      store.apiKeys().put("first", Role.ADMIN, null, hash, NOW);
      store.apiKeys().put("second", Role.VIEWER, "acme", new byte[32], NOW);
    }
    try (SqliteStore store = openOwn()) {
      assertThat(store.apiKeys().isEmpty()).isFalse();
      assertThat(store.apiKeys().find(hash))
          .contains(new ApiKey(Id.floor(NOW), "first", Role.ADMIN, null, NOW, null, null));
      assertThat(store.apiKeys().find(new byte[32]).orElseThrow().tenant()).isEqualTo("acme");
      hash[5] = 8;
      assertThat(store.apiKeys().find(hash)).isEmpty();
      assertThatThrownBy(() -> store.apiKeys().put("x", Role.ADMIN, null, new byte[32], NOW))
          .isInstanceOf(StoreException.class);
    }
  }

  @Test
  void a_key_that_was_deleted_is_gone_and_its_number_with_it() throws Exception {
    byte[] hash = new byte[32];
    try (SqliteStore store = openOwn()) {
      ApiKey first = store.apiKeys().put("first", Role.ADMIN, null, hash, NOW);
      store.apiKeys().delete(first.id(), Actor.PROGRAM, NOW);
      store.apiKeys().delete(first.id(), Actor.PROGRAM, NOW);
      assertThat(store.apiKeys().isEmpty()).isTrue();
      ApiKey second = store.apiKeys().put("second", Role.ADMIN, null, hash, NOW.plusMillis(1));
      assertThat(second.id()).isGreaterThan(first.id());
      ApiKey third = store.apiKeys().put("third", Role.ADMIN, null, hashOf(1), NOW);
      assertThat(third.id()).isGreaterThan(second.id());
    }
  }

  @Test
  void a_key_has_an_end_and_a_last_use_that_never_goes_back() throws Exception {
    Instant end = NOW.plusSeconds(60);
    long id;
    try (SqliteStore store = openOwn()) {
      ApiKey put =
          store.apiKeys().put("ends", Role.PUBLISHER, "acme", hashOf(1), NOW, end, Actor.PROGRAM);
      id = put.id();
      assertThat(put.expiresAt()).isEqualTo(end);
      assertThat(put.lastUsedAt()).isNull();
      ApiKey other = store.apiKeys().put("other", Role.VIEWER, "acme", hashOf(2), NOW);
      store.apiKeys().used(Map.of(id, NOW.plusSeconds(5), other.id(), NOW, other.id() + 9, NOW));
      store.apiKeys().used(Map.of(id, NOW.plusSeconds(4)));
      store.apiKeys().used(Map.of());
    }
    try (SqliteStore store = openOwn()) {
      assertThat(store.apiKeys().all()).hasSize(2);
      assertThat(store.apiKeys().find(hashOf(1)))
          .contains(new ApiKey(id, "ends", Role.PUBLISHER, "acme", NOW, end, NOW.plusSeconds(5)));
      assertThat(store.apiKeys().find(hashOf(2)).orElseThrow().lastUsedAt()).isEqualTo(NOW);
    }
  }

  private static byte[] hashOf(int number) {
    byte[] hash = new byte[32];
    hash[0] = (byte) number;
    return hash;
  }

  @Test
  void nothing_is_left_beside_the_file_after_closing() throws Exception {
    try (SqliteStore store = openOwn()) {
      store.write(batch(accept(sample.pending(E1))));
    }
    try (var files = Files.list(ownDirectory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("holdfast.db", "holdfast.lock", "master.key");
    }
  }

  /** Found by fuzzing: {@link StoredFuzzTest}, seed 1. */
  @Test
  void a_row_that_makes_no_sense_is_told_as_damage() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    try (SqliteStore store = openOwn()) {
      store.write(batch(accept(event)));
      store.write(batch(Sample.retry(message, 1, NOW)));
    }
    try (Connection connection = Sqlite.writer(ownDirectory.resolve("holdfast.db"), 0)) {
      Sqlite.execute(
          connection, "UPDATE open SET status = 0", "UPDATE attempts SET error = 'BAD LUCK'");
    }
    try (SqliteStore store = openOwn()) {
      assertDamaged(() -> store.unfinished(message.id()));
      assertDamaged(() -> store.message(TENANT, message.id()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "open SET version = 2",
        "open SET version = NULL",
        "open SET version = 0",
        "open SET version = 3",
        "messages SET version = 2",
        "messages SET version = NULL",
        "messages SET version = 0",
        "messages SET version = 3",
      })
  void a_changed_version_of_a_message_is_told_as_damage(String change) throws Exception {
    AcceptedEvent event = sample.versions(E1, Version.V1, Version.V1);
    Message delivered = event.messages().getFirst();
    Message open = event.messages().getLast();
    try (SqliteStore store = openOwn()) {
      store.write(batch(accept(event), Sample.deliver(delivered)));
    }
    changeTables("UPDATE " + change);
    Message damaged = change.startsWith("open") ? open : delivered;
    try (SqliteStore store = openOwn()) {
      assertDamaged(() -> store.message(TENANT, damaged.id()));
    }
    assertThat(StoreCheck.run(ownDirectory).problems())
        .singleElement()
        .asString()
        .contains("row " + damaged.id());
  }

  @Test
  void a_version_where_there_was_none_is_told_as_damage() throws Exception {
    AcceptedEvent event = sample.pending(E1, E1);
    Message delivered = event.messages().getFirst();
    Message open = event.messages().getLast();
    try (SqliteStore store = openOwn()) {
      store.write(batch(accept(event), Sample.deliver(delivered)));
    }
    changeTables("UPDATE open SET version = 1", "UPDATE messages SET version = 1");
    try (SqliteStore store = openOwn()) {
      assertDamaged(() -> store.unfinished(open.id()));
      assertDamaged(() -> store.message(TENANT, delivered.id()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fan_outs SET versions = NULL",
        "fan_outs SET versions = x'0201'",
        "fan_outs SET versions = x'01'",
        "fan_outs SET versions = x'010000'",
        "fan_outs SET versions = x'0103'",
        "subscriptions SET version = 'V2'",
        "subscriptions SET version = 'V3'",
        "subscriptions SET version_changed_at = NULL",
        "subscriptions SET sealed = NULL",
        "subscriptions SET sealed = zeroblob(50)",
        "subscriptions SET written_url = 'http://other.example'",
        "subscriptions SET version_changed_at = version_changed_at + 1",
        "subscriptions SET changed_at = NULL",
        "subscriptions SET changed_at = changed_at + 1",
      })
  void a_changed_version_of_a_subscription_or_a_step_is_told_as_damage(String change)
      throws Exception {
    Endpoint endpoint = sample.endpoint("http://one.example/");
    Subscription created = sample.subscription(endpoint, "TASK.UPDATE");
    Form form =
        new Form(
            Form.Format.WORKFRONT,
            new Form.Edition(Version.V1, after(1)),
            false,
            null,
            new TreeMap<>(),
            List.of());
    Subscription subscription =
        new Subscription(
            created.id(),
            created.tenant(),
            created.endpoint(),
            "http://ONE.example",
            created.interest(),
            form,
            created.createdAt(),
            after(2),
            false,
            Set.of());
    AcceptedEvent event = sample.pending();
    FanOut step =
        new FanOut(
            event.event().id(),
            event.event().size(),
            0,
            List.of(
                new FanOut.Target(subscription.id(), endpoint.id(), Version.V1),
                new FanOut.Target(subscription.id(), endpoint.id(), null)));
    try (SqliteStore store = openOwn()) {
      store.write(
          batch(
              new Write.Subscribe(subscription, endpoint),
              accept(new AcceptedEvent(event.event(), List.of(), List.of(step)))));
      assertThat(store.snapshot().fanOuts()).containsExactly(step);
    }
    changeTables("UPDATE " + change);
    try (SqliteStore store = openOwn()) {
      assertThatThrownBy(store::snapshot).hasMessageContaining("damaged");
    }
    assertThat(StoreCheck.run(ownDirectory).problems()).hasSize(1);
  }

  private void changeTables(String... statements) throws Exception {
    try (Connection connection = Sqlite.writer(ownDirectory.resolve("holdfast.db"), 0)) {
      Sqlite.execute(connection, statements);
    }
  }

  private static void assertDamaged(ThrowingCallable read) {
    assertThatThrownBy(read)
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(Kind.BROKEN))
        .hasMessageContaining("reading a message");
  }
}
