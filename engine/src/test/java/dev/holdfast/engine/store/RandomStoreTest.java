package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random writes go to the store and to a simple model; whatever is read must be the same.
 *
 * <p>Few tenants, endpoints, times and numbers of attempts, so that equal ones are frequent.
 */
final class RandomStoreTest {
  private static final int BATCHES = 200;
  private static final int READS_PER_BATCH = 4;
  private static final int TIMES = 12;
  private static final Duration KEPT = Duration.ofMillis(40);

  /** Little at a time, so that there are many chunks, parts and steps. */
  private static final Upkeep.Limits UPKEEP =
      new Upkeep.Limits(
          new HistoryIndex.Limits(3, 10, 3, 2),
          new Removal.Limits(2, 20, 100, Duration.ofSeconds(1), Duration.ofMillis(1)),
          new Shrinking.Limits(16, 2, 8));

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final long seed = Long.getLong("holdfast.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final IdSource ids = new IdSource(3, 0);
  private final ModelStore model = new ModelStore();

  /** Unfinished messages as they were written last. */
  private final TreeMap<Long, Message> open = new TreeMap<>();

  private final List<Message> unsure = new ArrayList<>();
  private final List<Message> everyMessage = new ArrayList<>();
  private final List<Event> everyEvent = new ArrayList<>();
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final List<Subscription> ended = new ArrayList<>();
  private long millis = Sample.NOW.toEpochMilli();
  private long upkeptMillis;

  /** Opens the store that holds what was written before in this test. */
  private interface Opening {
    Database open() throws Exception;
  }

  @Test
  void the_store_answers_as_the_model_does() throws Exception {
    compare(() -> SqliteStore.open(directory, StoreLimits.DEFAULT, UPKEEP), true);
    assertThat(StoreCheck.run(directory).problems()).as("seed %d", seed).isEmpty();
  }

  /** What it removes goes by larger parts, so nothing is removed here. */
  @Test
  void the_shared_store_answers_as_the_model_does() throws Exception {
    PostgresOptions options = new PostgresOptions(PostgresServer.freshDatabase());
    compare(
        () -> PostgresStore.open(options, KeyFile.in(directory), InstantSource.system()), false);
  }

  private void compare(Opening opening, boolean isUpkept) throws Exception {
    System.out.println("seed " + seed);
    Database store = opening.open();
    try {
      for (int i = 0; i < BATCHES; i++) {
        Batch batch = batch();
        assertThat(store.write(batch).accepts())
            .as("seed %d", seed)
            .isEqualTo(model.write(batch).accepts());
        if (random.nextInt(50) == 0) {
          store.close();
          store = opening.open();
        }
        refreshOpen();
        if (isUpkept) {
          upkeep(store);
        }
        for (int read = 0; read < READS_PER_BATCH; read++) {
          compareReads(store);
        }
        compareOriginals(store, 1 + random.nextInt(100));
        if (i % 10 == 0) {
          compareSnapshots(store.snapshot(), model.snapshot());
        }
      }
    } finally {
      store.close();
    }
  }

  /** Sometimes everything that there is to do, sometimes nothing. A round begins once at a time. */
  private void upkeep(Database store) throws Exception {
    if (millis > upkeptMillis && random.nextInt(3) > 0) {
      upkeptMillis = millis;
      Instant now = Instant.ofEpochMilli(millis);
      while (store.upkeep(new Retention(KEPT, Retention.NO_LIMIT), now).isMore()) {
        // goes on
      }
      model.remove(now.minus(KEPT));
    }
  }

  // Writes

  private Batch batch() {
    millis += random.nextInt(3);
    List<Write> writes = new ArrayList<>();
    if (endpoints.size() < 4 || random.nextInt(20) == 0) {
      writes.add(subscribe());
    }
    int count = random.nextInt(12);
    List<Message> acceptedNow = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      switch (random.nextInt(10)) {
        case 0, 1, 2, 3 -> writes.add(accept(acceptedNow));
        case 4, 5, 6, 7, 8 -> settle(writes);
        default -> manage(writes);
      }
    }
    everyMessage.addAll(acceptedNow);
    unsure.addAll(acceptedNow);
    List<Endpoint> changed = new ArrayList<>();
    for (Endpoint endpoint : endpoints) {
      if (random.nextInt(4) == 0) {
        changed.add(endpoint.with(health()));
      }
    }
    return new Batch(writes, changed);
  }

  /** Finds out which of the messages last accepted are open: those of requests that were kept. */
  private void refreshOpen() {
    for (Message message : unsure) {
      model.unfinished(message.id()).ifPresent(found -> open.put(found.id(), found));
    }
    unsure.clear();
  }

  private Write subscribe() {
    Endpoint endpoint = new Endpoint(id(), tenant(), "http://host/" + endpoints.size(), health());
    endpoints.add(endpoint);
    Subscription subscription =
        new Subscription(
            id(),
            endpoint.tenant(),
            endpoint.id(),
            new Interest(
                List.of(new TypePattern("a.*"), new TypePattern("b")),
                maybe("subject"),
                Filters.NONE),
            new RandomRecords(random).form(),
            time());
    subscriptions.add(subscription);
    Replay history =
        random.nextBoolean()
            ? null
            : Replay.of(id(), endpoint.tenant(), Selection.history(subscription.id(), time()));
    return new Write.Subscribe(subscription, endpoint, history);
  }

  private Write accept(List<Message> acceptedNow) {
    List<AcceptedEvent> events = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      Event event =
          new Event(
              id(),
              tenant(),
              "type-" + random.nextInt(3),
              maybe("subject"),
              random.nextBoolean() ? time().plusNanos(random.nextInt(1_000)) : null,
              Sample.bytes("data-" + random.nextInt(2)),
              random.nextInt(4) == 0 ? Sample.bytes("previous") : null,
              random.nextInt(3) == 0 ? "key-" + random.nextInt(40) : null,
              maybe("trace"));
      everyEvent.add(event);
      List<Message> messages = new ArrayList<>();
      int wanted = random.nextInt(4);
      for (int m = 0; m < wanted; m++) {
        Message message =
            Message.pending(
                id(),
                event.id(),
                random.nextInt(5),
                endpoint(),
                event.size(),
                random.nextInt(3) > 0 ? null : pick(Version.values()));
        messages.add(random.nextInt(5) == 0 ? changed(message, Status.PARKED, 0) : message);
      }
      acceptedNow.addAll(messages);
      events.add(new AcceptedEvent(event, messages));
    }
    return new Write.Accept(events);
  }

  private void settle(List<Write> writes) {
    if (open.isEmpty()) {
      return;
    }
    Long key =
        open.floorKey(open.firstKey() + random.nextLong(open.lastKey() - open.firstKey() + 1));
    Message message = open.get(key == null ? open.firstKey() : key);
    if (message == null) {
      return;
    }
    int attempts = message.attempts() + 1;
    switch (random.nextInt(6)) {
      case 0 -> {
        open.remove(message.id());
        writes.add(
            new Write.Deliver(
                message,
                attempt(message, attempts, new Outcome.Success(200 + random.nextInt(5), body())),
                finishedAt()));
      }
      case 1 -> {
        open.remove(message.id());
        writes.add(
            new Write.Drop(
                message,
                pick(DropReason.values()),
                random.nextBoolean() ? attempt(message, attempts, failure()) : null,
                finishedAt()));
      }
      case 2, 3 -> {
        Message parked = changed(message, Status.PARKED, message.attempts());
        open.put(parked.id(), parked);
        writes.add(new Write.Park(parked));
      }
      default -> {
        Message waiting = changed(message, Status.WAITING, attempts);
        open.put(waiting.id(), waiting);
        writes.add(new Write.Retry(waiting, attempt(message, attempts, failure())));
      }
    }
  }

  private void manage(List<Write> writes) {
    switch (random.nextInt(5)) {
      case 4 -> {
        if (!subscriptions.isEmpty()) {
          int index = random.nextInt(subscriptions.size());
          Subscription before = subscriptions.get(index);
          Subscription after =
              before.with(before.interest(), new RandomRecords(random).form(), time());
          subscriptions.set(index, after);
          writes.add(new Write.Update(after, null));
        }
      }
      case 0 -> {
        if (!subscriptions.isEmpty()) {
          Subscription gone = subscriptions.remove(random.nextInt(subscriptions.size()));
          ended.add(gone);
          writes.add(new Write.Unsubscribe(gone, time()));
        }
      }
      case 1 -> {
        if (!ended.isEmpty()) {
          writes.add(new Write.Forget(ended.remove(random.nextInt(ended.size())).id()));
        }
      }
      default -> {
        int index = random.nextInt(endpoints.size());
        writes.add(new Write.ChangeState(endpoints.get(index).with(health())));
      }
    }
  }

  private Message changed(Message message, Status status, int attempts) {
    return new Message(
        message.id(),
        message.event(),
        message.subscription(),
        random.nextInt(20) == 0 ? endpoint() : message.endpoint(),
        status,
        attempts,
        Math.min(11, attempts),
        time(),
        time(),
        random.nextInt(4) == 0 ? time() : null,
        attempts == 0 ? null : time(),
        message.size(),
        message.version());
  }

  private Health health() {
    return new Health(
        pick(Health.State.values()),
        time(),
        pick(Health.Reason.values()),
        Sample.NOW,
        random.nextInt(9),
        random.nextInt(9),
        new Bucket(random.nextInt(9), 0),
        new Bucket(random.nextInt(9), 1),
        random.nextInt(9),
        random.nextBoolean() ? time() : null,
        random.nextBoolean() ? time() : null);
  }

  private Attempt attempt(Message message, int number, Outcome outcome) {
    return new Attempt(
        message.id(), number, time(), random.nextInt(5_000), random.nextBoolean(), outcome);
  }

  private Outcome failure() {
    return new Outcome.Failure(
        pick(Outcome.Failure.Kind.values()),
        random.nextBoolean() ? (Integer) random.nextInt(600) : null,
        body(),
        maybe("5"));
  }

  private byte[] body() {
    return new byte[random.nextInt(3)];
  }

  // Reads

  private void compareReads(Database store) throws Exception {
    long endpoint = endpoint();
    Instant now = time();
    Instant other = time();
    int limit = 1 + random.nextInt(8);
    DueCursor due = random.nextBoolean() ? DueCursor.START : new DueCursor(time(), someMessageId());
    assertSame(store.due(due, now, limit), model.due(due, now, limit));
    assertSame(store.pending(endpoint, limit), model.pending(endpoint, limit));
    BacklogCursor backlog =
        random.nextBoolean()
            ? BacklogCursor.START
            : new BacklogCursor(random.nextInt(4), someMessageId());
    assertSame(
        store.backlog(endpoint, other, backlog, now, limit),
        model.backlog(endpoint, other, backlog, now, limit));
    assertSame(store.probe(endpoint, now), model.probe(endpoint, now));
    long subscription = random.nextInt(5);
    Which which = List.of(Which.values()).get(random.nextInt(3));
    assertSame(
        sorted(store.ofSubscription(endpoint, subscription, which, 10_000)),
        model.ofSubscription(endpoint, subscription, which, 10_000));
    assertThat(store.ofSubscription(endpoint, subscription, which, limit))
        .hasSameSizeAs(model.ofSubscription(endpoint, subscription, which, limit));
    long message = someMessageId();
    assertSame(store.unfinished(message), model.unfinished(message));
    List<Long> events = List.of(someEventId(), someEventId(), 5L, someEventId());
    assertSame(store.events(events), model.events(events));
    String tenant = tenant();
    assertSame(store.message(tenant, message), model.message(tenant, message));
    assertSame(store.changes(endpoint, limit), model.changes(endpoint, limit));
    EventKey key = eventKey();
    assertSame(store.event(tenant, key), model.event(tenant, key));
    comparePages(store);
    compareLists(store);
    comparePast(store, subscription, limit);
  }

  /** Read to their end, since a store may stop anywhere before. */
  private void compareOriginals(Database store, int limit) throws Exception {
    Set<Ending> endings =
        random.nextBoolean() ? EnumSet.allOf(Ending.class) : EnumSet.of(pick(Ending.values()));
    Selection selection =
        new Selection(
            random.nextBoolean() ? (Long) endpoint() : null,
            random.nextInt(3) == 0 ? (Long) random.nextLong(5) : null,
            endings,
            random.nextInt(4) == 0 ? created() : null,
            null,
            true);
    Replay replay = Replay.of(id(), tenant(), selection);
    assertSame(originals(store, replay, limit), originals(model, replay, limit));
  }

  private static List<Store.Original> originals(Store store, Replay replay, int limit)
      throws Exception {
    List<Store.Original> found = new ArrayList<>();
    Replay at = replay;
    while (true) {
      Store.Originals part = store.originals(at, limit);
      found.addAll(part.originals());
      if (part.isEnd()) {
        return found;
      }
      at = at.after(0, 0, part.through());
    }
  }

  private void comparePast(Database store, long subscription, int limit) throws Exception {
    Interest interest =
        new Interest(List.of(new TypePattern("type-1"), new TypePattern("*2")), null, Filters.NONE);
    Replay replay =
        Replay.of(id(), tenant(), Selection.history(subscription, created()))
            .bounded(random.nextBoolean() ? Long.MAX_VALUE : someEventId())
            .after(0, 0, random.nextBoolean() ? 0 : someEventId());
    assertSame(
        store.past(replay, interest, limit).originals(),
        model.past(replay, interest, limit).originals());
    assertSame(
        store.latestEvents(replay.tenant(), limit), model.latestEvents(replay.tenant(), limit));
  }

  private void comparePages(Database store) throws Exception {
    Set<History.Status> statuses = EnumSet.noneOf(History.Status.class);
    for (History.Status status : History.Status.values()) {
      if (random.nextInt(3) == 0) {
        statuses.add(status);
      }
    }
    History.Query query =
        new History.Query(
            tenant(),
            statuses,
            random.nextInt(3) == 0 ? (Long) endpoint() : null,
            random.nextInt(3) == 0 ? (Long) random.nextLong(5) : null,
            random.nextInt(5) == 0 ? eventKey() : null,
            random.nextInt(4) == 0 ? created() : null,
            random.nextInt(4) == 0 ? created() : null,
            random.nextBoolean() ? Long.MAX_VALUE : someMessageId(),
            1 + random.nextInt(10),
            about());
    History.Page page = store.messages(query);
    History.Page expected = model.messages(query);
    assertSame(page.items(), expected.items());
    if (expected.next() != null) {
      assertThat(page.next()).as("seed %d", seed).isEqualTo(expected.next());
    }
  }

  private History.About about() {
    return random.nextInt(3) > 0
        ? History.About.ANYTHING
        : new History.About(
            new TypePattern(random.nextBoolean() ? "*" : "order.paid"),
            random.nextBoolean() ? null : "order-1");
  }

  private void compareLists(Database store) throws Exception {
    History.EventQuery events =
        new History.EventQuery(
            tenant(),
            about(),
            random.nextInt(4) == 0 ? created() : null,
            random.nextInt(4) == 0 ? created() : null,
            random.nextBoolean() ? Long.MAX_VALUE : someEventId(),
            1 + random.nextInt(10));
    assertSame(store.events(events).items(), model.events(events).items());
    History.AttemptQuery attempts =
        new History.AttemptQuery(
            tenant(),
            endpoint(),
            random.nextInt(4) == 0 ? created() : null,
            null,
            null,
            random.nextBoolean()
                ? History.AttemptPosition.START
                : new History.AttemptPosition(someMessageId(), 1 + random.nextInt(4)),
            1 + random.nextInt(10));
    assertSame(store.attempts(attempts).items(), model.attempts(attempts).items());
  }

  private void assertSame(Object actual, Object expected) {
    assertThat(actual).as("seed %d", seed).usingRecursiveComparison().isEqualTo(expected);
  }

  private void compareSnapshots(Snapshot actual, Snapshot expected) {
    assertThat(actual.endpoints())
        .as("seed %d", seed)
        .containsExactlyInAnyOrderElementsOf(expected.endpoints());
    assertThat(actual.subscriptions())
        .as("seed %d", seed)
        .containsExactlyInAnyOrderElementsOf(expected.subscriptions());
    assertThat(actual.ended())
        .as("seed %d", seed)
        .containsExactlyInAnyOrderElementsOf(expected.ended());
    assertThat(actual.unfinished()).as("seed %d", seed).isEqualTo(expected.unfinished());
    assertThat(actual.highestId()).as("seed %d", seed).isEqualTo(expected.highestId());
  }

  private static List<Message> sorted(List<Message> messages) {
    return messages.stream().sorted(Comparator.comparingLong(Message::id)).toList();
  }

  // Choices

  private long id() {
    return ids.next(Instant.ofEpochMilli(millis));
  }

  private Instant created() {
    return Instant.ofEpochMilli(
        Sample.NOW.toEpochMilli() + random.nextLong(millis - Sample.NOW.toEpochMilli() + 2));
  }

  private Instant finishedAt() {
    return Instant.ofEpochMilli(millis + random.nextInt(20));
  }

  private Instant time() {
    return Sample.NOW.plusNanos(random.nextInt(TIMES) * 1_000L);
  }

  private String tenant() {
    return random.nextInt(3) == 0 ? "other" : "default";
  }

  private long endpoint() {
    return endpoints.get(random.nextInt(Math.min(4, endpoints.size()))).id();
  }

  private long someMessageId() {
    return everyMessage.isEmpty() ? 0 : everyMessage.get(random.nextInt(everyMessage.size())).id();
  }

  private long someEventId() {
    return everyEvent.isEmpty() ? 0 : everyEvent.get(random.nextInt(everyEvent.size())).id();
  }

  private EventKey eventKey() {
    return random.nextBoolean()
        ? new EventKey.Own(someEventId())
        : new EventKey.Callers("key-" + random.nextInt(40));
  }

  private @Nullable String maybe(String text) {
    return random.nextInt(3) == 0 ? null : text + random.nextInt(2);
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }
}
