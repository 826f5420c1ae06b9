package dev.holdfast.core.path;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
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
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

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
  final List<FanOut> fanOuts = new ArrayList<>();
  final Map<Long, Replay> replays = new TreeMap<>();

  /** What somebody did, in the order in which it was written down. */
  final List<Deed> deeds = new ArrayList<>();

  /** The messages that were made of others, by the others. */
  final Map<Long, List<Long>> remade = new TreeMap<>();

  private final Map<Long, Instant> finishedAt = new HashMap<>();

  /** Every message as it was last. */
  final Map<Long, Message> messages = new TreeMap<>();

  /** How many messages one read of a backlog looks at. */
  int backlogRows = 1_000;

  /** What is kept of each tenant's events. */
  final Map<String, Snapshot.Stored> stored = new HashMap<>();

  private long highestId;

  @Override
  public Snapshot snapshot() {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    for (Message message : open.values()) {
      unfinished.merge(message.endpoint(), Unfinished.of(message.status(), 1), Unfinished::plus);
    }
    return new Snapshot(
        List.copyOf(endpoints.values()),
        List.copyOf(subscriptions.values()),
        List.copyOf(ended.values()),
        unfinished,
        List.copyOf(fanOuts),
        replays.values().stream().filter(replay -> replay.state() == Replay.State.RUNNING).toList(),
        highestId,
        stored);
  }

  @Override
  public Written write(Batch batch) {
    List<AcceptResult> accepts = new ArrayList<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> accepts.add(accept(accept));
        case Write.Deliver deliver -> {
          attempt(deliver.attempt());
          finish(deliver.message(), "delivered", deliver.at());
        }
        case Write.Drop drop -> {
          if (drop.attempt() != null) {
            attempt(drop.attempt());
          }
          finish(drop.message(), name(drop.reason()), drop.at());
          announced(drop.announced());
        }
        case Write.Retry retry -> {
          attempt(retry.attempt());
          replace(retry.message());
        }
        case Write.Park park -> replace(park.message());
        case Write.Move move -> replace(move.message());
        case Write.Spread spread -> {
          if (!fanOuts.remove(spread.step())) {
            throw new IllegalStateException("not to be made: " + spread.step());
          }
          spread.messages().forEach(this::insert);
        }
        case Write.Progress progress -> {
          replays.put(progress.replay().id(), progress.replay());
          highestId = Math.max(highestId, progress.replay().id());
          for (Write.Remade made : progress.made()) {
            insert(made.message());
            remade
                .computeIfAbsent(made.original(), _ -> new ArrayList<>())
                .add(made.message().id());
          }
        }
        case Write.Subscribe subscribe -> subscribe(subscribe);
        case Write.Update update -> update(update);
        case Write.Import all -> {
          all.created().forEach(this::subscribe);
          all.changed().forEach(this::update);
        }
        case Write.Unsubscribe unsubscribe -> {
          subscriptions.remove(unsubscribe.subscription().id());
          ended.put(unsubscribe.subscription().id(), unsubscribe.subscription());
        }
        case Write.Forget forget -> ended.remove(forget.subscription());
        case Write.Configure _ -> {}
        case Write.ChangeState change -> {
          changes.add(change.endpoint().health());
          announced(change.announced());
        }
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.put(endpoint.id(), endpoint);
    }
    deeds.addAll(batch.deeds());
    return new Written(accepts);
  }

  private void subscribe(Write.Subscribe subscribe) {
    if (subscribe.newEndpoint() != null) {
      endpoints.put(subscribe.newEndpoint().id(), subscribe.newEndpoint());
    }
    subscriptions.put(subscribe.subscription().id(), subscribe.subscription());
    highestId = Math.max(highestId, subscribe.subscription().id());
    if (subscribe.history() != null) {
      replays.put(subscribe.history().id(), subscribe.history());
      highestId = Math.max(highestId, subscribe.history().id());
    }
  }

  private void update(Write.Update update) {
    if (update.newEndpoint() != null) {
      endpoints.putIfAbsent(update.newEndpoint().id(), update.newEndpoint());
    }
    if (subscriptions.put(update.subscription().id(), update.subscription()) == null) {
      throw new IllegalStateException("not there: " + update.subscription());
    }
  }

  private AcceptResult accept(Write.Accept accept) {
    List<Receipt> receipts = new ArrayList<>();
    for (Write.AcceptedEvent accepted : accept.events()) {
      receipts.add(keep(accepted));
    }
    return new AcceptResult.Kept(receipts);
  }

  private Receipt keep(Write.AcceptedEvent accepted) {
    Event event = accepted.event();
    events.put(event.id(), event);
    Snapshot.Stored before = stored.getOrDefault(event.tenant(), Snapshot.Stored.NOTHING);
    stored.put(event.tenant(), before.plus(1, event.size()));
    highestId = Math.max(highestId, event.id());
    accepted.messages().forEach(this::insert);
    for (FanOut step : accepted.later()) {
      fanOuts.add(step);
      highestId = Math.max(highestId, step.lastMessage());
    }
    return new Receipt(event.id(), event.publicId(), accepted.total(), false);
  }

  private void announced(Write.@Nullable AcceptedEvent event) {
    if (event != null) {
      keep(event);
    }
  }

  private void insert(Message message) {
    if (open.put(message.id(), message) != null || finished.containsKey(message.id())) {
      throw new IllegalStateException("made twice: " + message);
    }
    messages.put(message.id(), message);
    highestId = Math.max(highestId, message.id());
  }

  private void finish(Message message, String how, Instant at) {
    finishedAt.put(message.id(), at);
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
    messages.put(message.id(), message);
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

  @Override
  public List<Message> due(Shards shards, DueCursor after, Instant through, int limit) {
    return due(after, through, Integer.MAX_VALUE).stream()
        .filter(message -> shards.has(message.endpoint()))
        .limit(limit)
        .toList();
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
                    && message.status() != Status.PAUSED
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
  public List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit) {
    return select(
        message ->
            message.endpoint() == endpoint
                && message.subscription() == subscription
                && (which == Which.ALL
                    || (which == Which.PAUSED) == (message.status() == Status.PAUSED)),
        Comparator.comparingLong(Message::id),
        limit);
  }

  @Override
  public Originals originals(Replay replay, int limit) {
    Replay.Selection selection = replay.selection();
    List<Original> found = new ArrayList<>();
    long through = replay.through();
    for (long id : finished.keySet()) {
      Message message = messages.get(id);
      boolean isDelivered = "delivered".equals(finished.get(id));
      if (id <= replay.through()
          || message == null
          || !finishedAt.getOrDefault(id, Instant.MAX).isBefore(replay.createdAt())) {
        continue;
      }
      if (found.size() == limit) {
        return new Originals(found, through, false);
      }
      through = id;
      if ((selection.endpoint() == null || selection.endpoint() == message.endpoint())
          && (selection.subscription() == null
              || selection.subscription() == message.subscription())
          && selection
              .endings()
              .contains(isDelivered ? Replay.Ending.DELIVERED : Replay.Ending.DROPPED)) {
        found.add(
            new Original(
                id,
                message.event(),
                message.subscription(),
                message.size(),
                remade.containsKey(id),
                message.version()));
      }
    }
    return new Originals(found, through, true);
  }

  @Override
  public Originals past(Replay replay, Interest interest, int limit) {
    long subscription = Objects.requireNonNull(replay.selection().subscription());
    Instant since = Objects.requireNonNull(replay.selection().since());
    List<Original> found = new ArrayList<>();
    long through = replay.through();
    for (Event event : events.values()) {
      if (event.id() <= replay.through()
          || event.id() >= Objects.requireNonNull(replay.below())
          || event.acceptedAt().isBefore(since)) {
        continue;
      }
      if (found.size() == limit) {
        return new Originals(found, through, false);
      }
      through = event.id();
      boolean isThere =
          messages.values().stream()
              .anyMatch(
                  message ->
                      message.event() == event.id() && message.subscription() == subscription);
      boolean isComing =
          fanOuts.stream()
              .filter(step -> step.event() == event.id())
              .flatMap(step -> step.targets().stream())
              .anyMatch(target -> target.subscription() == subscription);
      if (!isThere
          && !isComing
          && event.tenant().equals(replay.tenant())
          && interest.wants(event)) {
        found.add(new Original(0, event.id(), subscription, event.size(), false, null));
      }
    }
    return new Originals(found, through, true);
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
