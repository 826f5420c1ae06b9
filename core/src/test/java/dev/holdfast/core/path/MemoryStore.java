package dev.holdfast.core.path;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.ProbeChoice;
import dev.holdfast.core.rules.Recovery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** A store that is plain maps: slow, obvious, and forgets nothing. */
final class MemoryStore implements Store {
  final Map<Long, Event> events = new TreeMap<>();
  final Map<Long, Message> open = new TreeMap<>();
  final Map<Long, String> finished = new TreeMap<>();
  final Map<Long, List<Attempt>> attempts = new HashMap<>();
  final Map<Long, Endpoint> endpoints = new TreeMap<>();
  final Map<Long, Subscription> subscriptions = new TreeMap<>();
  final Map<Long, Subscription> ended = new TreeMap<>();
  final List<Health> changes = new ArrayList<>();

  /** How many messages one read of a backlog looks at. */
  int backlogRows = 1_000;

  /** What is kept of each tenant's events. */
  final Map<String, Snapshot.Stored> stored = new HashMap<>();

  private long highestId;

  @Override
  public Snapshot snapshot() {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    for (Message message : open.values()) {
      Unfinished before = unfinished.getOrDefault(message.endpoint(), new Unfinished(0, 0, 0));
      unfinished.put(
          message.endpoint(),
          switch (message.status()) {
            case PENDING -> new Unfinished(before.pending() + 1, before.waiting(), before.parked());
            case WAITING -> new Unfinished(before.pending(), before.waiting() + 1, before.parked());
            case PARKED -> new Unfinished(before.pending(), before.waiting(), before.parked() + 1);
          });
    }
    return new Snapshot(
        List.copyOf(endpoints.values()),
        List.copyOf(subscriptions.values()),
        List.copyOf(ended.values()),
        unfinished,
        highestId,
        stored);
  }

  @Override
  public Written write(Batch batch) {
    List<AcceptResult> accepts = new ArrayList<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> accepts.add(accept(accept));
        case Write.Deliver deliver -> finish(deliver.message(), deliver.attempt(), "delivered");
        case Write.Drop drop -> {
          if (drop.attempt() != null) {
            attempt(drop.attempt());
          }
          finish(drop.message(), name(drop.reason()));
        }
        case Write.Retry retry -> {
          attempt(retry.attempt());
          replace(retry.message());
        }
        case Write.Park park -> replace(park.message());
        case Write.Subscribe subscribe -> {
          if (subscribe.newEndpoint() != null) {
            endpoints.put(subscribe.newEndpoint().id(), subscribe.newEndpoint());
          }
          subscriptions.put(subscribe.subscription().id(), subscribe.subscription());
          highestId = Math.max(highestId, subscribe.subscription().id());
        }
        case Write.Unsubscribe unsubscribe -> {
          subscriptions.remove(unsubscribe.subscription().id());
          ended.put(unsubscribe.subscription().id(), unsubscribe.subscription());
        }
        case Write.Forget forget -> ended.remove(forget.subscription());
        case Write.Configure _ -> {}
        case Write.ChangeState change -> changes.add(change.endpoint().health());
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.put(endpoint.id(), endpoint);
    }
    return new Written(accepts);
  }

  private AcceptResult accept(Write.Accept accept) {
    List<Receipt> receipts = new ArrayList<>();
    for (Write.AcceptedEvent accepted : accept.events()) {
      Event event = accepted.event();
      events.put(event.id(), event);
      Snapshot.Stored before = stored.getOrDefault(event.tenant(), Snapshot.Stored.NOTHING);
      stored.put(event.tenant(), before.plus(1, event.size()));
      highestId = Math.max(highestId, event.id());
      for (Message message : accepted.messages()) {
        open.put(message.id(), message);
        highestId = Math.max(highestId, message.id());
      }
      receipts.add(new Receipt(event.id(), event.publicId(), accepted.messages().size(), false));
    }
    return new AcceptResult.Kept(receipts);
  }

  private void finish(Message message, Attempt attempt, String how) {
    attempt(attempt);
    finish(message, how);
  }

  private void finish(Message message, String how) {
    if (open.remove(message.id()) == null) {
      throw new IllegalStateException("finished twice: " + message);
    }
    finished.put(message.id(), how);
  }

  private void attempt(Attempt attempt) {
    List<Attempt> made = attempts.computeIfAbsent(attempt.message(), _ -> new ArrayList<>());
    made.add(attempt);
    if (attempt.number() != made.size()) {
      throw new IllegalStateException("attempt out of order: " + attempt);
    }
  }

  private void replace(Message message) {
    if (open.put(message.id(), message) == null) {
      throw new IllegalStateException("not unfinished: " + message);
    }
  }

  private static String name(DropReason reason) {
    return reason.name().toLowerCase(java.util.Locale.ROOT);
  }

  @Override
  public List<Message> due(DueCursor after, Instant through, int limit) {
    Comparator<Message> order =
        Comparator.comparing((Message message) -> due(message)).thenComparingLong(Message::id);
    return select(
        message ->
            message.due() != null
                && !message.due().isAfter(through)
                && (message.due().isAfter(after.due())
                    || (message.due().equals(after.due()) && message.id() > after.id())),
        order,
        limit);
  }

  private static Instant due(Message message) {
    return message.due() == null ? Instant.MAX : message.due();
  }

  @Override
  public List<Message> pending(long endpoint, int limit) {
    return select(
        message -> message.endpoint() == endpoint && message.status() == Status.PENDING,
        Comparator.comparingLong(Message::id),
        limit);
  }

  @Override
  public Backlog backlog(
      long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit) {
    List<Message> lookedAt =
        select(
            message ->
                message.endpoint() == endpoint
                    && message.status() != Status.PENDING
                    && (message.attempts() > after.attempts()
                        || (message.attempts() == after.attempts() && message.id() > after.id())),
            Recovery.ORDER,
            backlogRows);
    List<Message> found = new ArrayList<>();
    for (Message message : lookedAt) {
      if (isBacklog(message, triedBefore, now)) {
        found.add(message);
      }
      if (found.size() == limit) {
        return new Backlog(found, cursor(message));
      }
    }
    return new Backlog(found, lookedAt.size() < backlogRows ? null : cursor(lookedAt.getLast()));
  }

  private static BacklogCursor cursor(Message message) {
    return new BacklogCursor(message.attempts(), message.id());
  }

  private static boolean isBacklog(Message message, Instant triedBefore, Instant now) {
    if (message.status() != Status.WAITING) {
      return message.status() == Status.PARKED;
    }
    return (message.notBefore() == null || !message.notBefore().isAfter(now))
        && (!due(message).isAfter(now)
            || (message.lastAttemptAt() != null && message.lastAttemptAt().isBefore(triedBefore)));
  }

  @Override
  public Optional<Message> probe(long endpoint, Instant now) {
    return select(
            message -> message.endpoint() == endpoint && ProbeChoice.allows(message, now),
            ProbeChoice.ORDER,
            1)
        .stream()
        .findFirst();
  }

  @Override
  public List<Message> ofSubscription(long endpoint, long subscription, int limit) {
    return select(
        message -> message.endpoint() == endpoint && message.subscription() == subscription,
        Comparator.comparingLong(Message::id),
        limit);
  }

  private List<Message> select(Predicate<Message> which, Comparator<Message> order, int limit) {
    return open.values().stream().filter(which).sorted(order).limit(limit).toList();
  }

  @Override
  public Optional<Message> unfinished(long message) {
    return Optional.ofNullable(open.get(message));
  }

  @Override
  public List<Event> events(List<Long> ids) {
    return ids.stream().map(events::get).filter(event -> event != null).toList();
  }

  @Override
  public void close() {}
}
