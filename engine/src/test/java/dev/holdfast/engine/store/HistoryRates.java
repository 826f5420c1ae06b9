package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A store with very many finished messages, made by its own writes, and what its lists and their
 * removal take.
 *
 * <p>Nine of ten messages are of the tenant "default" with 200 endpoints; a thousand tenants with
 * an endpoint each share the others. Endpoint "rare" gets one in a million, one of a thousand is
 * dropped, and one of fifty finishes when 50,000 later ones have.
 */
final class HistoryRates {
  private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
  private static final int BATCH = 5_000;
  private static final int BIG_ENDPOINTS = 200;
  private static final int SMALL_TENANTS = 1_000;
  private static final int LATE_BY = 50_000;
  private static final byte[] DATA = Sample.bytes("{\"text\":\"" + "x".repeat(180) + "\"}");

  private final IdSource ids = new IdSource(0, 0);
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<Endpoint> endpoints = new ArrayList<>();
  private Instant now = BEGINNING;

  private void subscribe() {
    for (int i = 0; i < BIG_ENDPOINTS + SMALL_TENANTS; i++) {
      String tenant = i < BIG_ENDPOINTS ? Sample.TENANT : "tenant-" + (i - BIG_ENDPOINTS);
      endpoints.add(new Endpoint(ids.next(now), tenant, "http://host/" + i, Health.created(now)));
      ids.next(now);
    }
  }

  private Batch subscriptions() {
    List<Write> writes = new ArrayList<>();
    for (Endpoint endpoint : endpoints) {
      writes.add(
          new Write.Subscribe(
              new Subscription(
                  endpoint.id() + Id.STRIDE,
                  endpoint.tenant(),
                  endpoint.id(),
                  List.of(new TypePattern("*")),
                  null,
                  now),
              endpoint));
    }
    return new Batch(writes, List.of());
  }

  private AcceptedEvent event(int number) {
    now = now.plusMillis(random.nextInt(2));
    Endpoint endpoint =
        number % 1_000_000 == 500_000
            ? endpoints.getFirst()
            : random.nextInt(10) > 0
                ? endpoints.get(1 + random.nextInt(BIG_ENDPOINTS - 1))
                : endpoints.get(BIG_ENDPOINTS + random.nextInt(SMALL_TENANTS));
    Event event =
        new Event(
            ids.next(now),
            endpoint.tenant(),
            "order.paid",
            "order-1",
            null,
            DATA,
            null,
            null,
            null);
    return new AcceptedEvent(
        event,
        List.of(
            Message.pending(
                ids.next(now),
                event.id(),
                endpoint.id() + Id.STRIDE,
                endpoint.id(),
                event.size())));
  }

  private void fill(SqliteStore store, int messages) throws Exception {
    store.write(subscriptions());
    Deque<Message> late = new ArrayDeque<>();
    List<Message> before = List.of();
    for (int made = 0; made < messages; made += BATCH) {
      List<Write> writes = new ArrayList<>();
      List<Message> accepted = new ArrayList<>();
      for (Message message : before) {
        if (random.nextInt(50) == 0) {
          late.add(message);
        } else {
          writes.add(finish(message));
        }
      }
      while (late.size() > LATE_BY / 50) {
        writes.add(finish(late.removeFirst()));
      }
      for (int i = 0; i < BATCH; i++) {
        AcceptedEvent event = event(made + i);
        accepted.addAll(event.messages());
        writes.add(new Write.Accept(List.of(event)));
      }
      store.write(new Batch(writes, List.of()));
      for (int i = 0; i < 3; i++) {
        store.upkeep(Retention.FOREVER, now);
      }
      before = accepted;
    }
    System.out.printf(Locale.ROOT, "made %,d messages%n", messages);
  }

  private Write finish(Message message) {
    return random.nextInt(1_000) == 0
        ? new Write.Drop(message, DropReason.EXHAUSTED, Sample.failure(message, 1), now)
        : new Write.Deliver(message, Sample.success(message, 1), now);
  }

  void lists(Path directory, int messages) throws Exception {
    subscribe();
    boolean isNew = !Files.exists(directory.resolve("holdfast.db"));
    try (SqliteStore store = SqliteStore.open(directory)) {
      if (isNew) {
        long began = System.nanoTime();
        fill(store, messages);
        StoreRates.time("made", began);
      }
    }
    System.out.printf(
        Locale.ROOT, "file of %,d MB%n", Files.size(directory.resolve("holdfast.db")) >> 20);
    long opening = System.nanoTime();
    try (SqliteStore store = SqliteStore.open(directory)) {
      StoreRates.time("open", opening);
      // The times of ids run ahead of the clock when there are many.
      History.Page newest = store.messages(query(Sample.TENANT, Set.of(), null, null, null, null));
      Instant end = Id.time(newest.items().getFirst().id());
      Duration all = Duration.between(BEGINNING, end);
      Instant middle = BEGINNING.plus(all.dividedBy(2));
      long rare = endpoints.getFirst().id();
      long busy = endpoints.get(7).id();
      long small = endpoints.get(BIG_ENDPOINTS + 5).id();
      measure(store, "nothing", query(Sample.TENANT, Set.of(), null, null, null, null));
      measure(store, "status=delivered", of(Set.of(Status.DELIVERED)));
      measure(store, "status=dropped", of(Set.of(Status.DROPPED)));
      measure(store, "status=pending,waiting,parked", of(UNFINISHED));
      measure(store, "endpoint (busy)", query(Sample.TENANT, Set.of(), busy, null, null, null));
      measure(store, "endpoint (rare)", query(Sample.TENANT, Set.of(), rare, null, null, null));
      measure(store, "endpoint (none)", query(Sample.TENANT, Set.of(), 1L, null, null, null));
      measure(
          store,
          "endpoint (busy), status=dropped",
          query(Sample.TENANT, Set.of(Status.DROPPED), busy, null, null, null));
      measure(
          store,
          "endpoint (rare), status=dropped",
          query(Sample.TENANT, Set.of(Status.DROPPED), rare, null, null, null));
      measure(
          store,
          "subscription (rare)",
          query(Sample.TENANT, Set.of(), null, rare + Id.STRIDE, null, null));
      measure(
          store,
          "subscription (busy)",
          query(Sample.TENANT, Set.of(), null, busy + Id.STRIDE, null, null));
      measure(store, "tenant (small)", query("tenant-5", Set.of(), null, null, null, null));
      measure(
          store,
          "tenant (small), status=dropped",
          query("tenant-5", Set.of(Status.DROPPED), null, null, null, null));
      measure(store, "tenant (unknown)", query("nobody", Set.of(), null, null, null, null));
      measure(store, "tenant and endpoint", query("tenant-5", Set.of(), small, null, null, null));
      measure(store, "until the middle", query(Sample.TENANT, Set.of(), null, null, null, middle));
      measure(
          store,
          "since the middle, status=dropped",
          query(Sample.TENANT, Set.of(Status.DROPPED), null, null, middle, null));
      measure(
          store,
          "a minute in the middle, endpoint (rare)",
          query(Sample.TENANT, Set.of(), rare, null, middle, middle.plusSeconds(60)));
      Query first = of(Set.of(Status.DROPPED));
      History.Page page = store.messages(first);
      measure(store, "cursor", behind(first, page.next() == null ? 0 : page.next()));
      Query busyFirst = query(Sample.TENANT, Set.of(), busy, null, null, middle);
      measure(
          store, "cursor, endpoint (busy), until the middle", behind(busyFirst, Id.floor(middle)));
      measure(
          store,
          "event",
          new Query(
              Sample.TENANT,
              Set.of(),
              null,
              null,
              new EventKey.Callers("none"),
              null,
              null,
              Long.MAX_VALUE,
              100));
      measure(
          store,
          "status=dropped, 1,000 at once",
          new Query(
              Sample.TENANT,
              Set.of(Status.DROPPED),
              null,
              null,
              null,
              null,
              null,
              Long.MAX_VALUE,
              1_000));
    }
  }

  private static final Set<Status> UNFINISHED =
      Set.of(Status.PENDING, Status.WAITING, Status.PARKED);

  private static Query of(Set<Status> statuses) {
    return query(Sample.TENANT, statuses, null, null, null, null);
  }

  private static Query query(
      String tenant,
      Set<Status> statuses,
      @Nullable Long endpoint,
      @Nullable Long subscription,
      @Nullable Instant since,
      @Nullable Instant until) {
    return new Query(
        tenant, statuses, endpoint, subscription, null, since, until, Long.MAX_VALUE, 100);
  }

  private static Query behind(Query query, long before) {
    return new Query(
        query.tenant(),
        query.statuses(),
        query.endpoint(),
        query.subscription(),
        query.event(),
        query.since(),
        query.until(),
        before,
        query.limit());
  }

  private static void measure(SqliteStore store, String what, Query query) throws Exception {
    long[] nanos = new long[20];
    History.Page page = store.messages(query);
    long first = 0;
    for (int i = 0; i < nanos.length; i++) {
      long began = System.nanoTime();
      page = store.messages(query);
      nanos[i] = System.nanoTime() - began;
      first = i == 0 ? nanos[i] : first;
    }
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "| %s | %d | %s | %.1f ms | %.1f ms |%n",
        what,
        page.items().size(),
        page.next() == null ? "no" : "yes",
        nanos[nanos.length / 2] / 1e6,
        nanos[nanos.length - 1] / 1e6);
  }

  /** Removes everything, and gives the room back, beside a writer that goes on. */
  void removal(Path directory) throws Exception {
    subscribe();
    Path file = directory.resolve("holdfast.db");
    System.out.printf(Locale.ROOT, "file of %,d MB%n", Files.size(file) >> 20);
    try (SqliteStore store = SqliteStore.open(directory)) {
      Instant later = store.latestTime().plus(Duration.ofDays(40));
      Retention retention = new Retention(Duration.ofDays(30), Retention.NO_LIMIT);
      List<Long> steps = new ArrayList<>();
      long began = System.nanoTime();
      Upkept done;
      Upkept.Removed removed = Upkept.Removed.NOTHING;
      do {
        long step = System.nanoTime();
        done = store.upkeep(retention, later);
        steps.add(System.nanoTime() - step);
        removed = removed.plus(done.removed());
      } while (done.isMore());
      StoreRates.time("removed all", began);
      steps.sort(Comparator.naturalOrder());
      System.out.printf(
          Locale.ROOT,
          "%s in %,d steps of %.1f ms (median), %.1f (99 %%), %.1f (slowest)%n",
          removed,
          steps.size(),
          steps.get(steps.size() / 2) / 1e6,
          steps.get(steps.size() * 99 / 100) / 1e6,
          steps.getLast() / 1e6);
    }
    System.out.printf(Locale.ROOT, "file of %,d MB%n", Files.size(file) >> 20);
  }
}
