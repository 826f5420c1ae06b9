package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Page;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.EndpointReads.EndpointNow;
import dev.holdfast.engine.store.EndpointReads.EndpointPage;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What people read of a store that is cut into parts. */
final class PostgresHistoryTest {
  private static final Retention DAY = new Retention(Duration.ofDays(1), Retention.NO_LIMIT);

  /** Reads look at 10 rows here. */
  private static final StoreLimits LIMITS =
      new StoreLimits(20, Duration.ofSeconds(5), 1, 10, Duration.ofMillis(5), 1 << 20, 1 << 30);

  private final String url = PostgresServer.freshDatabase();
  private final IdSource ids = new IdSource(7, 0);
  private final IdSource othersIds = new IdSource(9, 0);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private PostgresStore store;

  @BeforeEach
  void open() throws Exception {
    store = PostgresTools.open(url, directory, LIMITS);
    PostgresTools.upkeep(url, DAY, NOW);
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** A message as a list should show it. */
  private record Expected(
      long id, String tenant, long endpoint, long subscription, Status status) {}

  private AcceptedEvent event(
      IdSource source, String tenant, Instant at, @Nullable String callerId, long... endpoints) {
    Event event =
        new Event(
            source.next(at), tenant, "t", null, null, Sample.bytes("{}"), null, callerId, null);
    List<Message> messages = new ArrayList<>();
    for (long endpoint : endpoints) {
      messages.add(
          Message.pending(source.next(at), event.id(), endpoint + 1, endpoint, event.size()));
    }
    return new AcceptedEvent(event, messages);
  }

  private List<Long> all(Query query) throws Exception {
    List<Long> found = new ArrayList<>();
    Long before = Long.MAX_VALUE;
    for (int pages = 0; before != null; pages++) {
      assertThat(pages).isLessThan(1_000);
      Page page =
          store.messages(
              new Query(
                  query.tenant(),
                  query.statuses(),
                  query.endpoint(),
                  query.subscription(),
                  query.event(),
                  query.since(),
                  query.until(),
                  before,
                  query.limit()));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(query.limit());
      page.items().forEach(item -> found.add(item.id()));
      before = page.next();
    }
    return found;
  }

  @Test
  void pages_have_each_message_that_fits_once_whatever_is_asked_for() throws Exception {
    SplittableRandom random = new SplittableRandom(42);
    List<Expected> all = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      Instant at = NOW.plus(Duration.ofMinutes(i));
      String tenant = random.nextInt(4) == 0 ? "other" : "mine";
      long endpoint = (tenant.equals("mine") ? 1_000 : 2_000) + 10L * random.nextInt(3);
      AcceptedEvent event =
          event(random.nextBoolean() ? ids : othersIds, tenant, at, null, endpoint);
      Message message = event.messages().getFirst();
      store.write(batch(accept(event)));
      Status status = Status.PENDING;
      switch (random.nextInt(6)) {
        case 0 -> {}
        case 1 -> {
          int attempts = 1 + random.nextInt(3);
          for (int number = 1; number <= attempts; number++) {
            store.write(batch(Sample.retry(message, number, at)));
          }
          status = Status.WAITING;
        }
        case 2 -> {
          store.write(batch(new Write.Park(Sample.parked(message, 0, at))));
          status = Status.PARKED;
        }
        case 3 -> {
          store.write(batch(new Write.Drop(message, DropReason.EXPIRED, null, at)));
          status = Status.DROPPED;
        }
        default -> {
          store.write(batch(new Write.Deliver(message, Sample.success(message, 1), at)));
          status = Status.DELIVERED;
        }
      }
      all.add(new Expected(message.id(), tenant, endpoint, endpoint + 1, status));
    }
    all.sort(Comparator.comparingLong(Expected::id).reversed());
    for (int i = 0; i < 120; i++) {
      Set<Status> statuses = EnumSet.noneOf(Status.class);
      for (Status status : Status.values()) {
        if (random.nextInt(3) == 0) {
          statuses.add(status);
        }
      }
      Long endpoint = random.nextInt(3) == 0 ? (Long) (1_000L + 10L * random.nextInt(3)) : null;
      Long subscription = random.nextInt(4) == 0 ? (Long) (1_001L + 10L * random.nextInt(3)) : null;
      Instant since = random.nextInt(3) == 0 ? NOW.plusSeconds(60L * random.nextInt(150)) : null;
      Instant until = random.nextInt(3) == 0 ? NOW.plusSeconds(60L * random.nextInt(150)) : null;
      Query query =
          new Query(
              "mine",
              statuses,
              endpoint,
              subscription,
              null,
              since,
              until,
              Long.MAX_VALUE,
              1 + random.nextInt(12));
      assertThat(all(query))
          .as("%s", query)
          .isEqualTo(
              all.stream()
                  .filter(one -> one.tenant().equals("mine"))
                  .filter(one -> statuses.isEmpty() || statuses.contains(one.status()))
                  .filter(one -> endpoint == null || endpoint == one.endpoint())
                  .filter(one -> subscription == null || subscription == one.subscription())
                  .filter(one -> since == null || !timeOf(one).isBefore(since))
                  .filter(one -> until == null || timeOf(one).isBefore(until))
                  .map(Expected::id)
                  .toList());
    }
  }

  private static Instant timeOf(Expected message) {
    return Id.time(message.id());
  }

  @Test
  void an_event_has_its_own_messages_though_other_nodes_ids_are_between() throws Exception {
    AcceptedEvent mine = event(ids, "mine", NOW, "id-1", 1_000, 1_010, 1_020);
    AcceptedEvent others = event(othersIds, "mine", NOW, "id-2", 1_000, 1_010, 1_020);
    store.write(batch(accept(mine), accept(others)));
    Message done = mine.messages().get(1);
    store.write(batch(new Write.Deliver(done, Sample.success(done, 1), NOW)));
    for (AcceptedEvent event : List.of(mine, others)) {
      List<Long> expected = event.messages().stream().map(Message::id).toList();
      EventKey key = new EventKey.Own(event.event().id());
      assertThat(store.event("mine", key).orElseThrow().messages())
          .extracting(MessageSummary::id)
          .isEqualTo(expected);
      Query ofEvent = new Query("mine", Set.of(), null, null, key, null, null, Long.MAX_VALUE, 2);
      assertThat(all(ofEvent)).isEqualTo(expected.reversed());
    }
  }

  @Test
  void endpoints_are_shown_as_they_are_with_what_is_unfinished() throws Exception {
    Sample sample = new Sample();
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      Endpoint endpoint = sample.endpoint("http://one.example/" + i);
      store.write(batch(new Write.Subscribe(sample.subscription(endpoint, "order.*"), endpoint)));
      endpoints.addFirst(endpoint);
    }
    Endpoint newest = endpoints.getFirst();
    AcceptedEvent event = sample.pending(newest.id(), newest.id(), newest.id());
    store.write(batch(accept(event)));
    store.write(batch(Sample.retry(event.messages().getFirst(), 1, NOW)));
    assertThat(store.endpoint(Sample.TENANT, newest.id()))
        .contains(new EndpointNow(newest, new Unfinished(2, 1, 0, 0)));
    assertThat(store.endpoint("other", newest.id())).isEmpty();
    List<Endpoint> found = new ArrayList<>();
    Long before = Long.MAX_VALUE;
    while (before != null) {
      EndpointPage page = store.endpoints(Sample.TENANT, null, before, 4);
      page.endpoints().forEach(each -> found.add(each.endpoint()));
      before = page.next();
    }
    assertThat(found).isEqualTo(endpoints);
    Endpoint oldest = endpoints.getLast();
    Endpoint gone = disabled(oldest);
    store.write(new Batch(List.of(), List.of(gone)));
    found.clear();
    before = Long.MAX_VALUE;
    while (before != null) {
      EndpointPage page = store.endpoints(Sample.TENANT, Health.State.DISABLED, before, 4);
      page.endpoints().forEach(each -> found.add(each.endpoint()));
      before = page.next();
    }
    assertThat(found).containsExactly(gone);
  }

  @Test
  void a_list_of_endpoints_counts_few_messages_in_all() throws Exception {
    Sample sample = new Sample();
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Endpoint endpoint = sample.endpoint("http://one.example/" + i);
      store.write(batch(new Write.Subscribe(sample.subscription(endpoint, "order.*"), endpoint)));
      endpoints.addFirst(endpoint);
    }
    long busy = endpoints.get(1).id();
    for (int i = 0; i < 20; i++) {
      store.write(batch(accept(sample.pending(busy))));
    }
    long other = endpoints.get(2).id();
    store.write(batch(accept(sample.pending(other))));
    // Of 10 rows there is one for each status first, then half of them for those that have one.
    assertThat(store.endpoints(Sample.TENANT, null, Long.MAX_VALUE, 4).endpoints())
        .extracting(EndpointNow::unfinished)
        .containsExactly(
            Unfinished.NOTHING,
            new Unfinished(2, 0, 0, 0),
            new Unfinished(1, 0, 0, 0),
            Unfinished.NOTHING);
    assertThat(store.endpoint(Sample.TENANT, busy).orElseThrow().unfinished().pending())
        .isEqualTo(20);
  }

  @Test
  void a_replay_does_not_wait_for_those_who_look_at_history() throws Exception {
    AcceptedEvent event = event(ids, "mine", NOW, null, 1_000);
    Message done = event.messages().getFirst();
    store.write(batch(accept(event)));
    store.write(batch(new Write.Deliver(done, Sample.success(done, 1), NOW)));
    Replay replay =
        Replay.of(
            ids.next(NOW.plusSeconds(1)),
            "mine",
            new Selection(1_000L, null, Set.of(Ending.DELIVERED), null, null, false));
    try (Connections connections = new Connections(new PostgresOptions(url));
        Connection locking = connections.own();
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      locking.setAutoCommit(false);
      Connections.execute(locking, "LOCK TABLE endpoints IN ACCESS EXCLUSIVE MODE");
      Future<EndpointPage> list =
          threads.submit(() -> store.endpoints("mine", null, Long.MAX_VALUE, 4));
      PostgresTools.awaitSomebodyWaiting(connections);
      assertThat(store.originals(replay, 10).originals()).hasSize(1);
      assertThat(list).isNotDone();
      locking.rollback();
      assertThat(list.get().endpoints()).isEmpty();
    }
  }

  private static Endpoint disabled(Endpoint endpoint) {
    Health health = endpoint.health();
    return new Endpoint(
        endpoint.id(),
        endpoint.tenant(),
        endpoint.url(),
        new Health(
            Health.State.DISABLED,
            NOW,
            health.reason(),
            health.createdAt(),
            health.successes(),
            health.failures(),
            health.previous(),
            health.current(),
            health.consecutiveFailures(),
            health.lastSuccessAt(),
            NOW),
        endpoint.rateLimit(),
        endpoint.tls(),
        endpoint.goneAt());
  }

  @Test
  void what_is_not_as_it_was_written_is_found_and_never_shown() throws Exception {
    AcceptedEvent event = event(ids, "mine", NOW, "id-1", 1_000, 1_010);
    store.write(batch(accept(event)));
    Message done = event.messages().getFirst();
    store.write(batch(new Write.Deliver(done, Sample.success(done, 1), NOW)));
    assertThat(store.event("mine", new EventKey.Callers("id\0"))).isEmpty();
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
    for (String flip :
        List.of(
            "UPDATE messages SET endpoint = endpoint + 1",
            "UPDATE messages SET duration_millis = duration_millis + 1",
            "UPDATE open SET attempts = attempts + 1",
            "UPDATE open SET shard = (shard + 1) % 256",
            "UPDATE events SET data = '\\x7b7b'",
            "UPDATE keys SET content = '\\x00'",
            "DELETE FROM events",
            "UPDATE tenants SET events = events + 1",
            "UPDATE data_keys SET master = 'other'",
            "DELETE FROM messages")) {
      try (Connections connections = new Connections(new PostgresOptions(url))) {
        List<String> problems =
            connections.read(
                flip,
                connection -> {
                  connection.setAutoCommit(false);
                  try {
                    Connections.execute(connection, flip);
                    return PostgresCheck.problems(connection);
                  } finally {
                    connection.rollback();
                    connection.setAutoCommit(true);
                  }
                });
        assertThat(problems).as(flip).isNotEmpty();
      }
    }
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      connections.read(
          "flipping",
          connection -> {
            Connections.execute(connection, "UPDATE messages SET endpoint = endpoint + 1");
            return true;
          });
    }
    assertThatThrownBy(() -> store.message("mine", done.id()))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.BROKEN));
  }
}
