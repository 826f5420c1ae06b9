package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures the store on PostgreSQL by hand, with a server of its own that waits for its disk; not a
 * test.
 *
 * <p>{@code SECONDS BATCH [keys]} writes full lives of messages: each batch accepts so many and
 * delivers those of the batch before.
 */
final class PostgresRates {
  private static final int ENDPOINTS = 100;
  private static final String TENANT = "default";

  private final IdSource ids = new IdSource(1, 0);
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final byte[] payload = "x".repeat(1_024).getBytes(StandardCharsets.UTF_8);
  private List<Message> open = new ArrayList<>();
  private long keys;

  private PostgresRates() {}

  public static void main(String[] args) throws Exception {
    try (EmbeddedPostgres server = PostgresServer.durable();
        PostgresStore store =
            PostgresStore.open(
                new PostgresOptions(PostgresServer.freshDatabase(server)),
                KeyFile.in(Files.createTempDirectory("rates")),
                InstantSource.system())) {
      PostgresRates rates = new PostgresRates();
      rates.subscribe(store);
      int batch = Integer.parseInt(args[1]);
      boolean isKeyed = args.length > 2;
      rates.run(store, 5, batch, isKeyed);
      rates.run(store, Integer.parseInt(args[0]), batch, isKeyed);
    }
  }

  private void subscribe(PostgresStore store) throws Exception {
    Instant now = Instant.now();
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < ENDPOINTS; i++) {
      Endpoint endpoint =
          new Endpoint(ids.next(now), TENANT, "http://host/" + i, Health.created(now));
      endpoints.add(endpoint);
      writes.add(
          new Write.Subscribe(
              new Subscription(
                  ids.next(now), TENANT, endpoint.id(), List.of(new TypePattern("*")), null, now),
              endpoint));
    }
    store.write(new Batch(writes, List.of()));
  }

  private void run(PostgresStore store, int seconds, int size, boolean isKeyed) throws Exception {
    long start = System.nanoTime();
    long trips = store.trips();
    long batches = 0;
    long delivered = 0;
    long basis = store.changes(0).version();
    while (System.nanoTime() - start < seconds * 1_000_000_000L) {
      Instant now = Instant.now();
      List<Write> writes = new ArrayList<>();
      List<Message> next = new ArrayList<>();
      for (Message message : open) {
        writes.add(
            new Write.Deliver(
                message,
                new Attempt(message.id(), 1, now, 3, true, new Outcome.Success(200, new byte[2])),
                now));
      }
      delivered += open.size();
      for (int i = 0; i < size; i++) {
        Event event =
            new Event(
                ids.next(now),
                TENANT,
                "order.paid",
                "order-1",
                null,
                payload,
                null,
                isKeyed ? "key-" + keys++ : null,
                null);
        Endpoint endpoint = endpoints.get((int) (event.id() >>> 10) % ENDPOINTS & 0x3f);
        Message message =
            Message.pending(
                ids.next(now), event.id(), endpoint.id() + 1, endpoint.id(), event.size());
        writes.add(new Write.Accept(List.of(new AcceptedEvent(event, List.of(message)))));
        next.add(message);
      }
      open = next;
      store.write(new Batch(writes, endpoints, List.of(), Shards.ALL, Map.of("default", basis)));
      batches++;
    }
    double took = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        Locale.ROOT,
        "%d batches of %d: %.0f messages/s, %.1f us each, %.2f ms and %.2f round trips a batch%n",
        batches,
        size,
        delivered / took,
        took * 1e6 / delivered,
        took * 1e3 / batches,
        (store.trips() - trips) / (double) batches);
  }
}
