package dev.holdfast.engine.store;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Measures the store by hand; not a test.
 *
 * <p>{@code cycles DIR SECONDS [keys] [upkeep]} writes full lives of messages, {@code million DIR}
 * reads a store with a million unfinished ones, {@code history DIR MESSAGES} makes a store with so
 * many finished ones and reads lists of them, {@code removal DIR} then removes them all. {@code
 * sealed DIR SUBSCRIPTIONS} makes so many with secrets and opens them.
 */
final class StoreRates {
  private static final int BATCH = 1_000;
  private static final int ENDPOINTS = 100;
  private static final int PAYLOAD_BYTES = 1_024;

  private final IdSource ids = new IdSource(1, 0);
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final byte[] payload = new byte[PAYLOAD_BYTES];

  private StoreRates() {
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) ('a' + random.nextInt(26));
    }
  }

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[1]);
    switch (args[0]) {
      case "cycles" ->
          new StoreRates()
              .cycles(
                  directory,
                  Integer.parseInt(args[2]),
                  Arrays.asList(args).contains("keys"),
                  Arrays.asList(args).contains("upkeep"));
      case "million" -> new StoreRates().million(directory);
      case "history" -> new HistoryRates().lists(directory, Integer.parseInt(args[2]));
      case "sealed" -> new StoreRates().sealed(directory, Integer.parseInt(args[2]));
      case "removal" -> new HistoryRates().removal(directory);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /** Each with a secret, a token and an endpoint of its own. */
  private void sealed(Path directory, int count) throws Exception {
    Instant now = Instant.now();
    Form form =
        new Form(
            Form.Format.HOLDFAST,
            false,
            "token",
            new TreeMap<>(),
            List.of(new Secret("whsec_" + "x".repeat(32), now, null)));
    try (SqliteStore store = SqliteStore.open(directory)) {
      long start = System.nanoTime();
      for (int done = 0; done < count; done += BATCH) {
        List<Write> writes = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
          Endpoint endpoint =
              new Endpoint(
                  ids.next(now), "default", "http://host/" + (done + i), Health.created(now));
          writes.add(
              new Write.Subscribe(
                  new Subscription(
                      ids.next(now),
                      "default",
                      endpoint.id(),
                      null,
                      new Interest(List.of(new TypePattern("*")), null, Filters.NONE),
                      form,
                      now,
                      now,
                      false,
                      Set.of()),
                  endpoint));
        }
        store.write(new Batch(writes, List.of()));
      }
      System.out.printf("written in %d ms%n", (System.nanoTime() - start) / 1_000_000);
    }
    for (int i = 0; i < 3; i++) {
      long start = ownCpuNanos();
      try (SqliteStore store = SqliteStore.open(directory)) {
        int read = store.snapshot().subscriptions().size();
        System.out.printf(
            "%d read in %d ms of processor time%n", read, (ownCpuNanos() - start) / 1_000_000);
      }
    }
  }

  private void subscribe(SqliteStore store) throws Exception {
    List<Write> writes = new ArrayList<>();
    Instant now = Instant.now();
    for (int i = 0; i < ENDPOINTS; i++) {
      Endpoint endpoint =
          new Endpoint(ids.next(now), "default", "http://host/" + i, Health.created(now));
      endpoints.add(endpoint);
      writes.add(
          new Write.Subscribe(
              new Subscription(
                  ids.next(now),
                  "default",
                  endpoint.id(),
                  List.of(new TypePattern("*")),
                  null,
                  now),
              endpoint));
    }
    store.write(new Batch(writes, List.of()));
  }

  private AcceptedEvent event(Instant now, boolean keyed) {
    long id = ids.next(now);
    Event event =
        new Event(
            id,
            "default",
            "order.paid",
            "order-1234567",
            null,
            payload,
            null,
            keyed ? Long.toHexString(random.nextLong()) + Long.toHexString(id) : null,
            null);
    long endpoint = endpoints.get(random.nextInt(endpoints.size())).id();
    return new AcceptedEvent(
        event, List.of(Message.pending(ids.next(now), id, endpoint + 1, endpoint, event.size())));
  }

  private void cycles(Path directory, int seconds, boolean keyed, boolean upkeep) throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      subscribe(store);
      run(store, directory, Math.min(5, seconds), keyed, upkeep, false);
      run(store, directory, seconds, keyed, upkeep, true);
    }
  }

  private void run(
      SqliteStore store, Path directory, int seconds, boolean keyed, boolean upkeep, boolean print)
      throws Exception {
    long began = System.nanoTime();
    long cpuBegan = cpuNanos();
    long ownBegan = ownCpuNanos();
    long messages = 0;
    List<Long> batches = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    long longestLog = 0;
    List<Message> before = List.of();
    while (System.nanoTime() - began < seconds * 1_000_000_000L) {
      Instant now = Instant.now();
      List<Write> writes = new ArrayList<>(2 * BATCH);
      List<Message> accepted = new ArrayList<>(BATCH);
      for (int i = 0; i < BATCH; i++) {
        AcceptedEvent event = event(now, keyed);
        accepted.add(event.messages().getFirst());
        writes.add(new Write.Accept(List.of(event)));
        if (i < before.size()) {
          Message message = before.get(i);
          writes.add(
              new Write.Deliver(
                  message,
                  Sample.attempt(message, 1, new Outcome.Success(200, Outcome.NO_RESPONSE)),
                  now));
        }
      }
      long writing = System.nanoTime();
      store.write(new Batch(writes, endpoints));
      batches.add(System.nanoTime() - writing);
      longestLog = Math.max(longestLog, Files.size(directory.resolve("holdfast.db-wal")));
      messages += before.size();
      before = accepted;
      if (upkeep) {
        long upkept = System.nanoTime();
        store.upkeep(Retention.FOREVER, now);
        steps.add(System.nanoTime() - upkept);
      }
    }
    if (print && upkeep) {
      steps.sort(Comparator.naturalOrder());
      System.out.printf(
          Locale.ROOT,
          "steps of %.1f ms (median), %.1f (99 %%), %.1f (slowest)%n",
          steps.get(steps.size() / 2) / 1e6,
          steps.get(steps.size() * 99 / 100) / 1e6,
          steps.getLast() / 1e6);
    }
    if (print) {
      batches.sort(Comparator.naturalOrder());
      double elapsed = (System.nanoTime() - began) / 1e9;
      System.out.printf(
          Locale.ROOT,
          "%,.0f messages/s, %.1f us CPU each (%.1f of them the writer's), batches of %.1f ms"
              + " (median), %.1f (99 %%), %.1f (slowest), longest log %.1f MB, %d messages%n",
          messages / elapsed,
          (cpuNanos() - cpuBegan) / 1e3 / messages,
          (ownCpuNanos() - ownBegan) / 1e3 / messages,
          batches.get(batches.size() / 2) / 1e6,
          batches.get(batches.size() * 99 / 100) / 1e6,
          batches.getLast() / 1e6,
          longestLog / 1e6,
          messages);
    }
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static long ownCpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private void million(Path directory) throws Exception {
    Instant now = Instant.now();
    if (!Files.exists(directory.resolve("holdfast.db"))) {
      try (SqliteStore store = SqliteStore.open(directory)) {
        subscribe(store);
        for (int batch = 0; batch < 1_000; batch++) {
          List<Write> writes = new ArrayList<>();
          List<Write> later = new ArrayList<>();
          for (int i = 0; i < BATCH; i++) {
            AcceptedEvent event = event(now, false);
            writes.add(new Write.Accept(List.of(event)));
            Message message = event.messages().getFirst();
            int attempts = 1 + random.nextInt(8);
            later.add(
                Sample.retry(message, attempts, now.plusSeconds(3_600 + random.nextInt(100_000))));
          }
          store.write(new Batch(writes, List.of()));
          store.write(new Batch(later, List.of()));
        }
      }
    }
    for (int i = 0; i < 3; i++) {
      long opening = System.nanoTime();
      try (SqliteStore store = SqliteStore.open(directory)) {
        time("open", opening);
        long began = System.nanoTime();
        long endpoint = store.snapshot().endpoints().getFirst().id();
        time("snapshot", began);
        began = System.nanoTime();
        store.due(DueCursor.START, now.plusSeconds(1_000_000), 1_000);
        time("due, 1,000", began);
        began = System.nanoTime();
        store.backlog(endpoint, now, BacklogCursor.START, now, 500);
        time("backlog, 500", began);
        began = System.nanoTime();
        store.backlog(endpoint, Instant.EPOCH, BacklogCursor.START, now, 500);
        time("backlog of an endpoint with 10,000 of which none may be tried", began);
        began = System.nanoTime();
        store.probe(endpoint, now);
        time("probe", began);
        began = System.nanoTime();
        store.ofSubscription(endpoint, 5, Which.ALL, 500);
        time("ofSubscription, none among 10,000", began);
      }
    }
  }

  static void time(String what, long began) {
    System.out.printf(Locale.ROOT, "%s: %.1f ms%n", what, (System.nanoTime() - began) / 1e6);
  }
}
