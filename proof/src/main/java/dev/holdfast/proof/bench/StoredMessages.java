package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Writes messages straight into a store that no server has open: what would take days of failing
 * endpoints, or of traffic.
 *
 * <p>The endpoints and their subscriptions are there already. What is scheduled is so by the
 * schedule that a server has by default.
 */
final class StoredMessages {
  private static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);
  private static final int EVENTS_IN_A_BATCH = 5_000;
  private static final int NODE = 0;

  private final Store store;
  private final List<Subscription> subscriptions;
  private final IdSource ids;
  private final byte[] data;

  /** What became of a message, as it is written right after its acceptance. */
  interface Fate {
    Write of(Message message, Instant accepted, int number);
  }

  /** What is done after each batch. */
  interface AfterBatch {
    void written(int messages) throws StoreException;
  }

  private StoredMessages(Store store, List<Subscription> subscriptions, IdSource ids, byte[] data) {
    this.store = store;
    this.subscriptions = subscriptions;
    this.ids = ids;
    this.data = data;
  }

  /**
   * Prepares to write messages that are accepted now.
   *
   * @param group messages go to the endpoints of this group of the receiver
   * @param dataBytes how large the data of each event is
   */
  static StoredMessages ofNow(Store store, char group, int dataBytes) throws StoreException {
    Snapshot snapshot = store.snapshot();
    IdSource ids = new IdSource(NODE, snapshot.highestId());
    return of(store, snapshot, ids, group, dataBytes);
  }

  /** The same for messages that were accepted before all that the store has. */
  static StoredMessages ofThePast(Store store, char group, int dataBytes) throws StoreException {
    return of(store, store.snapshot(), new IdSource(NODE, 0), group, dataBytes);
  }

  private static StoredMessages of(
      Store store, Snapshot snapshot, IdSource ids, char group, int dataBytes) {
    Set<Long> endpoints =
        snapshot.endpoints().stream()
            .filter(endpoint -> endpoint.url().contains("/" + group + "/"))
            .map(Endpoint::id)
            .collect(Collectors.toSet());
    List<Subscription> subscriptions =
        snapshot.subscriptions().stream()
            .filter(subscription -> endpoints.contains(subscription.endpoint()))
            .toList();
    if (subscriptions.isEmpty()) {
      throw new IllegalStateException("no subscription for group " + group);
    }
    return new StoredMessages(store, subscriptions, ids, Mark.data(dataBytes).getBytes(US_ASCII));
  }

  /**
   * Writes {@code count} messages.
   *
   * @param accepted when each was accepted: never before the one before it
   */
  void write(int count, IntFunction<Instant> accepted, Fate fate, AfterBatch afterBatch)
      throws StoreException {
    for (int first = 0; first < count; first += EVENTS_IN_A_BATCH) {
      int last = Math.min(count, first + EVENTS_IN_A_BATCH);
      List<AcceptedEvent> events = new ArrayList<>();
      List<Write> writes = new ArrayList<>();
      for (int i = first; i < last; i++) {
        Subscription subscription = subscriptions.get(i % subscriptions.size());
        Instant now = accepted.apply(i);
        Event event = event(subscription, i, now);
        Message message =
            Message.pending(
                ids.next(now),
                event.id(),
                subscription.id(),
                subscription.endpoint(),
                event.size());
        events.add(new AcceptedEvent(event, List.of(message)));
        writes.add(fate.of(message, now, i));
      }
      writes.addFirst(new Write.Accept(events));
      store.write(new Batch(writes, List.of()));
      afterBatch.written(last);
    }
  }

  private Event event(Subscription subscription, int number, Instant now) {
    byte[] marked = data.clone();
    Mark.write(marked, Mark.offset(), Mark.UNTIMED, number);
    String type = subscription.types().getFirst().text();
    return new Event(
        ids.next(now), subscription.tenant(), type, null, null, marked, null, null, null);
  }

  /** An attempt has failed so long ago that the next slot is when {@code due} says. */
  static Fate waiting(IntFunction<Instant> due) {
    return (message, accepted, number) -> failed(message, accepted, due.apply(number));
  }

  private static Write failed(Message message, Instant now, Instant due) {
    int slot = 1;
    while (SCHEDULE.slot(now, slot).isBefore(due)) {
      slot++;
    }
    Instant base = due.minus(Duration.between(now, SCHEDULE.slot(now, slot)));
    Message waiting =
        new Message(
            message.id(),
            message.event(),
            message.subscription(),
            message.endpoint(),
            Status.WAITING,
            slot,
            slot,
            base,
            due,
            null,
            base,
            message.size(),
            null);
    Outcome outcome = Outcome.Failure.of(Outcome.Failure.Kind.CONNECT);
    return new Write.Retry(waiting, new Attempt(message.id(), slot, base, 1, true, outcome));
  }

  /** Its endpoint took nothing when it was accepted: it is parked until its deadline. */
  static Fate parked() {
    return (message, accepted, _) ->
        new Write.Park(message.as(Status.PARKED, accepted, SCHEDULE.deadline(accepted)));
  }

  /** The first attempt has succeeded. */
  static Fate delivered() {
    Outcome outcome = new Outcome.Success(200, Outcome.NO_RESPONSE);
    return (message, accepted, _) ->
        new Write.Deliver(
            message,
            new Attempt(message.id(), 1, accepted, 1, true, outcome),
            accepted.plusMillis(1));
  }
}
