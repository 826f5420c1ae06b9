package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * No read goes through a whole table, and each opens only the parts of history that it needs: as
 * the database itself counts it.
 */
final class IndexUseTest {
  private static final Retention DAY = new Retention(Duration.ofDays(1), Retention.NO_LIMIT);
  private static final int HOURS = 6;
  private static final int EVENTS = 1_200;
  private static final int ENDPOINTS = 50;
  private static final long E1 = 1_000_001;

  /** To find that there is none they have to look into every part. */
  private static final Set<String> EVERYWHERE = Set.of("dropped", "upkeep");

  private final String url = PostgresServer.freshDatabase();
  private final IdSource ids = new IdSource(7, 0);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private @Nullable AcceptedEvent old;

  /** Of the first hour: what was delivered to the tenant, and what was not to anybody. */
  private final List<AcceptedEvent> delivered = new ArrayList<>();

  private final List<AcceptedEvent> unfinished = new ArrayList<>();

  private interface Reads {
    void run(PostgresStore store) throws Exception;
  }

  private PostgresStore open() throws Exception {
    return PostgresTools.open(url, directory, StoreLimits.DEFAULT);
  }

  private static Instant hour(int number) {
    return NOW.plus(Duration.ofHours(number));
  }

  private void fill(PostgresStore store) throws Exception {
    for (int i = 0; i < ENDPOINTS; i++) {
      Endpoint endpoint =
          new Endpoint(E1 + 10L * i, TENANT, "http://e" + i + ".example/", Health.created(NOW));
      Subscription subscription =
          new Subscription(
              endpoint.id() + 1, TENANT, endpoint.id(), List.of(new TypePattern("t")), null, NOW);
      store.write(new Batch(List.of(new Write.Subscribe(subscription, endpoint)), List.of()));
    }
    for (int hour = 0; hour < HOURS; hour++) {
      PostgresTools.upkeep(url, DAY, hour(hour));
      for (int i = 0; i < EVENTS; i += 200) {
        List<AcceptedEvent> events = new ArrayList<>();
        List<Write> endings = new ArrayList<>();
        for (int j = 0; j < 200; j++) {
          Instant at = hour(hour).plusSeconds(i + j);
          long endpoint = E1 + 10L * (j % ENDPOINTS);
          Event event =
              new Event(
                  ids.next(at),
                  j % 4 == 0 ? "other" : TENANT,
                  "t",
                  null,
                  null,
                  Sample.bytes("{}"),
                  null,
                  "c-" + hour + "-" + i + "-" + j,
                  null);
          Message message =
              Message.pending(ids.next(at), event.id(), endpoint + 1, endpoint, event.size());
          AcceptedEvent accepted = new AcceptedEvent(event, List.of(message));
          events.add(accepted);
          if (j % 5 != 0) {
            endings.add(new Write.Deliver(message, Sample.success(message, 1), at));
            old = old == null && j % 4 != 0 ? accepted : old;
          }
          if (hour == 0 && j % 5 == 0) {
            unfinished.add(accepted);
          } else if (hour == 0 && j % 4 != 0) {
            delivered.add(accepted);
          }
        }
        store.write(new Batch(List.of(new Write.Accept(events)), List.of()));
        store.write(new Batch(endings, List.of()));
      }
    }
  }

  private <T> List<T> list(String sql, Select.Reading<T> reading) throws Exception {
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      return connections.read("asking", connection -> Select.list(connection, sql, reading));
    }
  }

  private record Use(long whole, long byIndex) {}

  /** How often each table that has many rows was read, by index or as a whole. */
  private Map<String, Use> uses(Reads reads) throws Exception {
    list("SELECT pg_stat_reset()", row -> true);
    try (PostgresStore store = open()) {
      for (int i = 0; i < 7; i++) {
        reads.run(store);
      }
    }
    Map<String, Use> uses = new HashMap<>();
    // Each session tells of itself when it ends, which the server does not wait for.
    for (long end = System.nanoTime() + 5_000_000_000L; System.nanoTime() < end; ) {
      long sessions =
          list(
                  "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                      + " AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
                  row -> row.getLong(1))
              .getFirst();
      if (sessions == 0) {
        break;
      }
      Thread.onSpinWait();
    }
    list(
        "SELECT s.relname, s.seq_scan, s.idx_scan FROM pg_stat_user_tables s"
            + " JOIN pg_class c ON c.oid = s.relid WHERE c.reltuples >= 500",
        row -> uses.put(row.getString(1), new Use(row.getLong(2), row.getLong(3))));
    return uses;
  }

  private static List<String> opened(Map<String, Use> uses, String table) {
    return uses.entrySet().stream()
        .filter(use -> use.getKey().startsWith(table + "_"))
        .filter(use -> use.getValue().byIndex() > 0)
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  @Test
  void reads_go_by_indexes_and_open_only_the_parts_that_they_need() throws Exception {
    try (PostgresStore store = open()) {
      fill(store);
    }
    execute("ANALYZE");
    AcceptedEvent event = Objects.requireNonNull(old);
    Replay replay =
        Replay.of(
            Id.floor(hour(HOURS + 1)),
            TENANT,
            new Selection(E1 + 10, null, Set.of(Ending.DELIVERED), hour(HOURS - 1), null, false));
    Map<String, Reads> narrow = new HashMap<>();
    narrow.put(
        "a message",
        store -> assertThat(store.message(TENANT, event.messages().getFirst().id())).isPresent());
    narrow.put(
        "an event",
        store -> assertThat(store.event(TENANT, new EventKey.Own(event.event().id()))).isPresent());
    narrow.put(
        "an event by the caller's id",
        store ->
            assertThat(
                    store.event(
                        TENANT, new EventKey.Callers(String.valueOf(event.event().callerId()))))
                .isPresent());
    narrow.put("all messages", store -> store.messages(query(null, Set.of(), 50)));
    narrow.put("of an endpoint", store -> store.messages(query(E1 + 10, Set.of(), 10)));
    narrow.put("delivered", store -> store.messages(query(null, Set.of(Status.DELIVERED), 50)));
    narrow.put("dropped", store -> store.messages(query(null, Set.of(Status.DROPPED), 50)));
    narrow.put(
        "unfinished",
        store ->
            assertThat(store.messages(query(null, Set.of(Status.PENDING), 50)).items())
                .hasSize(50));
    narrow.put(
        "of a subscription",
        store ->
            store.messages(
                new Query(TENANT, Set.of(), null, E1 + 11, null, null, null, Long.MAX_VALUE, 10)));
    narrow.put(
        "an endpoint",
        store ->
            assertThat(store.endpoint(TENANT, E1).orElseThrow().unfinished().pending())
                .isPositive());
    narrow.put(
        "endpoints",
        store ->
            assertThat(store.endpoints(TENANT, null, Long.MAX_VALUE, 100).endpoints())
                .hasSize(ENDPOINTS));
    narrow.put(
        "what was before a subscription",
        store ->
            store.past(
                Replay.of(
                        Id.floor(hour(HOURS + 1)),
                        TENANT,
                        Selection.history(E1 + 11, hour(HOURS - 1)))
                    .bounded(Id.floor(hour(HOURS + 1))),
                new Interest(List.of(new TypePattern("t")), null, Filters.NONE),
                10));
    History.About paid = new History.About(new TypePattern("t*"), null);
    narrow.put("events", store -> store.events(events(History.About.ANYTHING)));
    narrow.put("events of a type", store -> store.events(events(paid)));
    narrow.put(
        "messages of a type",
        store ->
            store.messages(
                new Query(
                    TENANT, Set.of(), null, null, null, null, null, Long.MAX_VALUE, 10, paid)));
    narrow.put(
        "attempts of an endpoint",
        store ->
            assertThat(
                    store
                        .attempts(
                            new History.AttemptQuery(
                                TENANT,
                                E1 + 10,
                                null,
                                null,
                                null,
                                History.AttemptPosition.START,
                                10))
                        .items())
                .isNotEmpty());
    narrow.put(
        "the latest attempts",
        store -> store.latestAttempts(TENANT, List.of(E1 + 10, E1 + 20), hour(HOURS - 1), 10));
    narrow.put(
        "what endpoints are sorted by",
        store -> assertThat(store.outlines(TENANT, 1_000)).hasSize(ENDPOINTS));
    narrow.put(
        "some endpoints",
        store -> assertThat(store.endpoints(TENANT, List.of(E1, E1 + 10))).hasSize(2));
    narrow.put("upkeep", _ -> PostgresTools.upkeep(url, DAY, hour(HOURS + 30)));
    narrow.put("what is to be replayed", store -> store.originals(replay, 10));
    narrow.put("the latest events", store -> store.latestEvents(TENANT, 10));
    narrow.put(
        "the path",
        store -> {
          store.due(DueCursor.START, Instant.MAX, 100);
          store.due(Shards.of(List.of(1, 2, 3)), DueCursor.START, Instant.MAX, 100);
          store.pending(E1, 100);
          store.backlog(E1, NOW, BacklogCursor.START, NOW, 100);
          store.probe(E1, NOW);
          store.unfinished(event.messages().getFirst().id());
          store.events(List.of(event.event().id()));
          store.extent();
        });
    for (Map.Entry<String, Reads> each : narrow.entrySet()) {
      Map<String, Use> uses = uses(each.getValue());
      assertThat(uses).hasSizeGreaterThan(2 * HOURS);
      assertThat(uses.entrySet().stream().filter(use -> use.getValue().whole() > 0))
          .as(each.getKey() + " read as a whole")
          .isEmpty();
      if (EVERYWHERE.contains(each.getKey())) {
        continue;
      }
      assertThat(opened(uses, "messages")).as(each.getKey()).hasSizeLessThanOrEqualTo(2);
      // To plan a read of many events the database looks at both ends of an index, in each part.
      if (!each.getKey().startsWith("the latest events") && !each.getKey().startsWith("events")) {
        assertThat(opened(uses, "events")).as(each.getKey()).hasSizeLessThanOrEqualTo(2);
      }
    }
  }

  /** How many rows of unfinished messages an index has led to. */
  private long fetched() throws Exception {
    return list(
            "SELECT idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'open'",
            row -> row.getLong(1))
        .getFirst();
  }

  @Test
  void what_is_due_is_found_however_much_is_due_in_shards_of_others() throws Exception {
    Sample sample = new Sample();
    List<Message> mine = new ArrayList<>();
    Shards shards = Shards.of(List.of(Shards.of(E1), Shards.of(E1 + 10), Shards.of(E1 + 20)));
    try (PostgresStore store = open()) {
      for (int i = 0; i < 30; i++) {
        AcceptedEvent event = sample.pending(E1 + 10L * (i % 3));
        Message message = event.messages().getFirst();
        store.write(Sample.batch(Sample.accept(event)));
        store.write(Sample.batch(Sample.retry(message, 1, Sample.after(i))));
        mine.add(Sample.waiting(message, 1, Sample.after(i)));
      }
    }
    String others =
        "INSERT INTO open (id, tenant, shard, event, subscription, endpoint, status, attempts, slot,"
            + " due, size, sum) SELECT n, 'x', s, 1, 1, 1, 1, 1, 1, n, 1, 1"
            + " FROM generate_series(1, 20000) n, LATERAL (SELECT n % 256) AS m(s)"
            + " WHERE s <> ALL ('{"
            + shards.numbers().stream().map(String::valueOf).collect(joining(","))
            + "}') RETURNING 1";
    assertThat(list(others, row -> true)).hasSizeGreaterThan(15_000);
    // With what was known of the table when it was nearly empty, and with what is known then.
    for (String first : List.of("SELECT 1", "ANALYZE open")) {
      execute(first);
      assertThat(
              uses(
                  store -> {
                    assertThat(store.due(shards, DueCursor.START, NOW.plusSeconds(60), 20))
                        .isEqualTo(mine.subList(0, 20));
                    Message last = mine.get(19);
                    assertThat(
                            store.due(
                                shards,
                                new DueCursor(Objects.requireNonNull(last.due()), last.id()),
                                NOW.plusSeconds(60),
                                20))
                        .isEqualTo(mine.subList(20, 30));
                  }))
          .allSatisfy((_, use) -> assertThat(use.whole()).isZero());
      assertThat(fetched()).isBetween(7L * 30, 7L * (30 + 10));
    }
  }

  private void execute(String sql) throws Exception {
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      connections.read(
          sql,
          connection -> {
            Connections.execute(connection, sql);
            return true;
          });
    }
  }

  @Test
  void upkeep_looks_up_by_an_index_what_was_made_of_an_old_part() throws Exception {
    try (PostgresStore store = open()) {
      fill(store);
      replayTheOldest(store);
    }
    execute("ANALYZE");
    Map<String, Use> uses = uses(_ -> PostgresTools.upkeep(url, DAY, hour(HOURS + 20)));
    assertThat(list("SELECT count(latest_finish) FROM parts", row -> row.getLong(1)))
        .as("parts that were looked through")
        .containsExactly(1L);
    assertThat(opened(uses, "messages")).as("what was made").isNotEmpty();
    assertThat(uses.entrySet().stream().filter(use -> use.getValue().whole() > 0))
        .as("read as a whole")
        .isEmpty();
  }

  /** Makes messages anew of all that is oldest, which finish so late that they keep it. */
  private void replayTheOldest(PostgresStore store) throws Exception {
    List<Write> endings = new ArrayList<>();
    for (AcceptedEvent event : unfinished) {
      Message message = event.messages().getFirst();
      endings.add(new Write.Deliver(message, Sample.success(message, 1), hour(1)));
    }
    List<Write.Remade> all = new ArrayList<>();
    for (AcceptedEvent event : delivered) {
      Message original = event.messages().getFirst();
      Message made =
          Message.pending(
              ids.next(hour(HOURS - 1).plusSeconds(EVENTS)),
              original.event(),
              original.subscription(),
              original.endpoint(),
              original.size());
      all.add(new Write.Remade(made, original.id()));
      endings.add(new Write.Deliver(made, Sample.success(made, 1), hour(HOURS + 19)));
    }
    Replay replay =
        Replay.of(
                ids.next(hour(HOURS)),
                TENANT,
                new Selection(E1, null, Set.of(Ending.DELIVERED), null, null, false))
            .counted(all.size())
            .as(Replay.State.DONE);
    store.write(new Batch(List.of(new Write.Progress(null, replay, all)), List.of()));
    store.write(new Batch(endings, List.of()));
  }

  private static History.EventQuery events(History.About about) {
    return new History.EventQuery(TENANT, about, null, null, Long.MAX_VALUE, 10);
  }

  private static Query query(@Nullable Long endpoint, Set<Status> statuses, int limit) {
    return new Query(TENANT, statuses, endpoint, null, null, null, null, Long.MAX_VALUE, limit);
  }
}
