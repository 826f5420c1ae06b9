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
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Writes waiting messages straight into a store: what would take two days of failing endpoints.
 *
 * <p>The endpoints and their subscriptions are there already. A message is due at a slot of the
 * schedule that a server has by default.
 */
final class Backlog {
  private static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);
  private static final int EVENTS_IN_A_BATCH = 5_000;
  private static final int NODE = 0;

  private final Store store;
  private final List<Subscription> subscriptions;
  private final IdSource ids;
  private final byte[] data;

  /**
   * Prepares to write.
   *
   * @param group messages go to the endpoints of this group of the receiver
   * @param dataBytes how large the data of each event is
   */
  Backlog(Store store, char group, int dataBytes) throws StoreException {
    this.store = store;
    this.data = Mark.data(dataBytes).getBytes(US_ASCII);
    Snapshot snapshot = store.snapshot();
    Set<Long> endpoints =
        snapshot.endpoints().stream()
            .filter(endpoint -> endpoint.url().contains("/" + group + "/"))
            .map(Endpoint::id)
            .collect(Collectors.toSet());
    this.subscriptions =
        snapshot.subscriptions().stream()
            .filter(subscription -> endpoints.contains(subscription.endpoint()))
            .toList();
    if (subscriptions.isEmpty()) {
      throw new IllegalStateException("no subscription for group " + group);
    }
    this.ids = new IdSource(NODE, snapshot.highestId());
  }

  /** Writes {@code count} messages that are due when {@code due} says. */
  void write(int count, Instant now, IntFunction<Instant> due, IntConsumer progress)
      throws StoreException {
    for (int first = 0; first < count; first += EVENTS_IN_A_BATCH) {
      int last = Math.min(count, first + EVENTS_IN_A_BATCH);
      List<AcceptedEvent> events = new ArrayList<>();
      List<Write> writes = new ArrayList<>();
      for (int i = first; i < last; i++) {
        Subscription subscription = subscriptions.get(i % subscriptions.size());
        Event event = event(subscription, i, now);
        Message message =
            Message.pending(
                ids.next(now),
                event.id(),
                subscription.id(),
                subscription.endpoint(),
                event.size());
        events.add(new AcceptedEvent(event, List.of(message)));
        writes.add(failed(message, now, due.apply(i)));
      }
      writes.addFirst(new Write.Accept(events));
      store.write(new Batch(writes, List.of()));
      progress.accept(last);
    }
  }

  private Event event(Subscription subscription, int number, Instant now) {
    byte[] marked = data.clone();
    Mark.write(marked, Mark.offset(), Mark.UNTIMED, number);
    String type = subscription.types().getFirst().text();
    return new Event(
        ids.next(now), subscription.tenant(), type, null, null, marked, null, null, null);
  }

  /** The message after an attempt that failed so long ago that its next slot is {@code due}. */
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
}
