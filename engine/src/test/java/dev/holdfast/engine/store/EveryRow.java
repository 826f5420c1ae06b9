package dev.holdfast.engine.store;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Embedded stores that have rows of every kind, from all over what the model allows. */
public final class EveryRow {
  private final SplittableRandom random;
  private final RandomRecords records;
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();

  private EveryRow(SplittableRandom random) {
    this.random = random;
    this.records = new RandomRecords(random);
  }

  /** Makes such a store in a directory, with its key file, and closes it. */
  public static void fill(Path directory, SplittableRandom random, int events) throws Exception {
    new EveryRow(random).fill(directory, events);
  }

  private void fill(Path directory, int events) throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.write(new Batch(List.copyOf(subscribe()), List.of(), deeds()));
      for (int i = 0; i < events; i++) {
        accept(store);
      }
      Event wide = records.event();
      store.write(
          Sample.batch(
              new Write.Accept(
                  List.of(
                      new AcceptedEvent(wide, List.of(), records.later(wide, subscriptions))))));
      Subscription ended = subscriptions.getFirst();
      store.write(Sample.batch(new Write.Unsubscribe(ended, records.time())));
      byte[] hash = records.bytes(0);
      for (int i = 0; i < 3; i++) {
        hash = new byte[32];
        random.nextBytes(hash);
        store
            .apiKeys()
            .put(
                records.text(20),
                ApiKey.Role.PUBLISHER,
                i == 0 ? null : records.tenant(),
                hash,
                records.time(),
                records.maybe(records::time),
                Actor.PROGRAM);
      }
      for (int i = 0; i < 3; i++) {
        byte[] cookie = new byte[32];
        random.nextBytes(cookie);
        Instant end = Sample.NOW.plusSeconds(i + 1);
        store
            .sessions()
            .put(
                i == 0
                    ? Session.ofFixed(cookie, hash, Sample.NOW, end)
                    : Session.of(cookie, hash, Sample.NOW, end),
                10,
                10);
      }
      store
          .activity()
          .add(
              List.of(
                  ActivityContract.row(records.tenant(), records.time(), 7, 3, 5, 700),
                  ActivityContract.row(records.tenant(), records.time(), 0)),
              Instant.EPOCH);
      store.apiKeys().used(Map.of(store.apiKeys().find(hash).orElseThrow().id(), records.time()));
    }
  }

  private List<Write> subscribe() {
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Endpoint endpoint = records.endpoint();
      Subscription subscription = records.subscription(endpoint);
      endpoints.add(endpoint);
      subscriptions.add(subscription);
      Replay history =
          Replay.of(
              records.id(),
              endpoint.tenant(),
              Selection.history(subscription.id(), records.time()));
      writes.add(new Write.Subscribe(subscription, endpoint, i == 0 ? null : history));
      writes.add(new Write.ChangeState(endpoint));
    }
    return writes;
  }

  private List<Deed> deeds() {
    List<Deed> deeds = new ArrayList<>();
    for (Subscription made : subscriptions) {
      Endpoint endpoint = endpoints.get(deeds.size());
      deeds.add(
          new Deed(
              Actor.PROGRAM,
              records.time(),
              made.tenant(),
              new Deed.Subscribed(made, endpoint, null)));
    }
    return deeds;
  }

  /** An event with a message in each state, and one that a replay has made. */
  private void accept(SqliteStore store) throws Exception {
    Event event = records.event();
    List<Message> messages = new ArrayList<>();
    for (Subscription subscription : subscriptions) {
      messages.add(records.pending(event, subscription.id(), subscription.endpoint()));
    }
    store.write(Sample.batch(new Write.Accept(List.of(new AcceptedEvent(event, messages)))));
    Message waiting = messages.get(0);
    Message parked = messages.get(1);
    Message delivered = messages.get(2);
    Message dropped = messages.get(3);
    Replay replay =
        Replay.of(
            records.id(),
            event.tenant(),
            new Selection(
                delivered.endpoint(), null, EnumSet.allOf(Replay.Ending.class), null, null, true));
    Message remade = records.pending(event, delivered.subscription(), delivered.endpoint());
    store.write(
        Sample.batch(
            new Write.Retry(
                changed(waiting, Status.WAITING, 1),
                records.attempt(waiting, 1, records.failure())),
            new Write.Park(
                changed(parked, random.nextBoolean() ? Status.PARKED : Status.PAUSED, 0)),
            new Write.Retry(
                changed(delivered, Status.WAITING, 1),
                records.attempt(delivered, 1, records.failure())),
            new Write.Drop(
                dropped,
                records.pick(DropReason.values()),
                records.maybe(() -> failed(dropped)),
                records.time()),
            new Write.Progress(
                null,
                replay.after(1, 0, delivered.id()),
                List.of(new Write.Remade(remade, delivered.id())))));
    store.write(
        Sample.batch(
            new Write.Deliver(
                changed(delivered, Status.WAITING, 1),
                records.attempt(delivered, 2, records.success()),
                records.time())));
  }

  private Message changed(Message message, Status status, int attempts) {
    return Sample.with(message, status, attempts, records.time(), records.maybe(records::time));
  }

  private Attempt failed(Message message) {
    return records.attempt(message, 1, records.failure());
  }
}
