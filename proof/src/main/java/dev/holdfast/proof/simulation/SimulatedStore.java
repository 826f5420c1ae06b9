package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.proof.model.Violation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is on the simulated disk. It keeps what the port promises, in sorted maps, and forgets what
 * is finished. The faults are the simulation's.
 */
final class SimulatedStore implements Store {
  private static final Comparator<Message> BY_DUE =
      Comparator.comparing((Message message) -> Objects.requireNonNull(message.due()))
          .thenComparingLong(Message::id);
  private static final Comparator<Message> BY_ATTEMPTS =
      Comparator.comparingInt(Message::attempts).thenComparingLong(Message::id);

  private final int backlogRows;
  private final TreeMap<Long, Kept> events = new TreeMap<>();
  private final Map<String, Known> callerIds = new HashMap<>();
  private final Map<Long, Message> open = new HashMap<>();
  private final TreeSet<Message> due = new TreeSet<>(BY_DUE);
  private final Map<Long, Shelf> shelves = new HashMap<>();
  private final Map<Long, TreeMap<Long, Message>> bySubscription = new HashMap<>();
  private final Map<Long, Endpoint> endpoints = new TreeMap<>();
  private final Map<Long, Subscription> subscriptions = new TreeMap<>();
  private final Map<Long, Subscription> ended = new TreeMap<>();
  private final TreeMap<Long, FanOut> fanOuts = new TreeMap<>();
  private final Map<Long, Replay> replays = new TreeMap<>();
  private final TreeMap<Long, Finished> finished = new TreeMap<>();
  private final Set<Long> replayed = new HashSet<>();

  /** Which subscriptions have a message of an event. */
  private final Map<Long, Set<Long>> given = new HashMap<>();

  private long highestId;

  /** What was written down of what somebody did is right. */
  final Deeds deeds = new Deeds(subscriptions, endpoints);

  /** Whether what is finished is kept, to be replayed. */
  boolean remembers;

  private record Finished(Message message, Ending ending, Instant at) {}

  /**
   * An empty store.
   *
   * @param backlogRows how many messages one read of a backlog, or for a replay, looks at
   */
  SimulatedStore(int backlogRows) {
    this.backlogRows = backlogRows;
  }

  /** An event and how many of its messages are unfinished. */
  private static final class Kept {
    final Event event;
    int unfinished;

    Kept(Event event, int unfinished) {
      this.event = event;
      this.unfinished = unfinished;
    }
  }

  private record Known(Event event, Receipt receipt) {}

  /** The unfinished messages of an endpoint. */
  private static final class Shelf {
    final TreeMap<Long, Message> pending = new TreeMap<>();
    final TreeSet<Message> waiting = new TreeSet<>(BY_ATTEMPTS);
    final TreeSet<Message> parked = new TreeSet<>(BY_ATTEMPTS);
    final TreeMap<Long, Message> paused = new TreeMap<>();
  }

  private Shelf shelf(long endpoint) {
    return shelves.computeIfAbsent(endpoint, _ -> new Shelf());
  }

  @Override
  public Snapshot snapshot() {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    shelves.forEach(
        (endpoint, shelf) ->
            unfinished.put(
                endpoint,
                new Unfinished(
                    shelf.pending.size(),
                    shelf.waiting.size(),
                    shelf.parked.size(),
                    shelf.paused.size())));
    unfinished.values().removeIf(Unfinished.NOTHING::equals);
    return new Snapshot(
        List.copyOf(endpoints.values()),
        List.copyOf(subscriptions.values()),
        List.copyOf(ended.values()),
        unfinished,
        List.copyOf(fanOuts.values()),
        replays.values().stream().filter(replay -> replay.state() == Replay.State.RUNNING).toList(),
        highestId,
        Map.of());
  }

  @Override
  public Written write(Batch batch) {
    List<AcceptResult> accepts = new ArrayList<>();
    deeds.check(batch, () -> write(batch, accepts));
    return new Written(accepts);
  }

  private void write(Batch batch, List<AcceptResult> accepts) {
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> accepts.add(accept(accept));
        case Write.Deliver deliver -> finish(deliver.message(), Ending.DELIVERED, deliver.at());
        case Write.Drop drop -> {
          finish(drop.message(), Ending.DROPPED, drop.at());
          announced(drop.announced());
        }
        case Write.Retry retry -> replace(retry.message());
        case Write.Park park -> replace(park.message());
        case Write.Move move -> replace(move.message());
        case Write.Spread spread -> spread(spread);
        case Write.Progress progress -> progress(progress);
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
        case Write.ChangeState change -> announced(change.announced());
        case Write.Configure _ -> {}
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.replace(endpoint.id(), endpoint);
    }
  }

  private AcceptResult accept(Write.Accept accept) {
    List<Receipt> receipts = new ArrayList<>();
    for (int i = 0; i < accept.events().size(); i++) {
      Event event = accept.events().get(i).event();
      Known known = event.callerId() == null ? null : callerIds.get(event.callerId());
      if (known != null && !hasSameContent(known.event(), event)) {
        return new AcceptResult.Conflict(i);
      }
    }
    for (Write.AcceptedEvent accepted : accept.events()) {
      receipts.add(keep(accepted));
    }
    return new AcceptResult.Kept(receipts);
  }

  private Receipt keep(Write.AcceptedEvent accepted) {
    Event event = accepted.event();
    Known known = event.callerId() == null ? null : callerIds.get(event.callerId());
    if (known != null) {
      Receipt first = known.receipt();
      return new Receipt(first.event(), first.publicId(), first.messages(), true);
    }
    Receipt receipt = new Receipt(event.id(), event.publicId(), accepted.total(), false);
    if (event.callerId() != null) {
      callerIds.put(event.callerId(), new Known(event, receipt));
    }
    highestId = Math.max(highestId, event.id());
    if (accepted.total() > 0 || remembers) {
      events.put(event.id(), new Kept(event, accepted.total()));
    }
    for (Message message : accepted.messages()) {
      highestId = Math.max(highestId, message.id());
      add(message);
    }
    for (FanOut step : accepted.later()) {
      fanOuts.put(step.message(0), step);
      highestId = Math.max(highestId, step.lastMessage());
    }
    return receipt;
  }

  private void announced(Write.@Nullable AcceptedEvent event) {
    if (event != null) {
      keep(event);
    }
  }

  private void spread(Write.Spread spread) {
    if (fanOuts.remove(spread.step().message(0)) == null) {
      throw new Violation("a message is made once", spread.toString());
    }
    spread.messages().forEach(this::add);
  }

  private void progress(Write.Progress progress) {
    replays.put(progress.replay().id(), progress.replay());
    highestId = Math.max(highestId, progress.replay().id());
    for (Write.Remade made : progress.made()) {
      Message message = made.message();
      highestId = Math.max(highestId, message.id());
      add(message);
      Kept kept = Objects.requireNonNull(events.get(message.event()));
      kept.unfinished++;
      replayed.add(made.original());
    }
  }

  private static boolean hasSameContent(Event one, Event other) {
    return one.type().equals(other.type())
        && Objects.equals(one.subject(), other.subject())
        && Arrays.equals(one.data(), other.data());
  }

  private void add(Message message) {
    if (remembers) {
      given.computeIfAbsent(message.event(), _ -> new HashSet<>()).add(message.subscription());
    }
    open.put(message.id(), message);
    bySubscription
        .computeIfAbsent(message.subscription(), _ -> new TreeMap<>())
        .put(message.id(), message);
    if (message.due() != null) {
      due.add(message);
    }
    switch (message.status()) {
      case PENDING -> shelf(message.endpoint()).pending.put(message.id(), message);
      case WAITING -> shelf(message.endpoint()).waiting.add(message);
      case PARKED -> shelf(message.endpoint()).parked.add(message);
      case PAUSED -> shelf(message.endpoint()).paused.put(message.id(), message);
    }
  }

  private Message remove(long id) {
    Message message = open.remove(id);
    if (message == null) {
      throw new Violation("only what is unfinished is written about", "message " + id);
    }
    Map<Long, Message> ofSubscription = bySubscription.get(message.subscription());
    if (ofSubscription != null) {
      ofSubscription.remove(id);
    }
    if (message.due() != null) {
      due.remove(message);
    }
    switch (message.status()) {
      case PENDING -> shelf(message.endpoint()).pending.remove(id);
      case WAITING -> shelf(message.endpoint()).waiting.remove(message);
      case PARKED -> shelf(message.endpoint()).parked.remove(message);
      case PAUSED -> shelf(message.endpoint()).paused.remove(id);
    }
    return message;
  }

  private void replace(Message message) {
    remove(message.id());
    add(message);
  }

  private void finish(Message message, Ending ending, Instant at) {
    Message removed = remove(message.id());
    Kept kept = Objects.requireNonNull(events.get(removed.event()));
    kept.unfinished--;
    if (remembers) {
      finished.put(removed.id(), new Finished(removed, ending, at));
    } else if (kept.unfinished == 0) {
      events.remove(removed.event());
    }
  }

  @Override
  public List<Message> due(DueCursor after, Instant through, int limit) {
    Message from = at(after.due(), after.id());
    return due.tailSet(from, false).stream()
        .takeWhile(message -> !Objects.requireNonNull(message.due()).isAfter(through))
        .limit(limit)
        .toList();
  }

  private static Message at(Instant due, long id) {
    return new Message(id, 0, 0, 0, Status.PARKED, 0, 0, due, due, null, null, 0, null);
  }

  @Override
  public List<Message> pending(long endpoint, int limit) {
    return shelf(endpoint).pending.values().stream().limit(limit).toList();
  }

  @Override
  public Backlog backlog(
      long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit) {
    Message from =
        new Message(
            after.id(),
            0,
            0,
            0,
            Status.PARKED,
            after.attempts(),
            0,
            Instant.EPOCH,
            Instant.EPOCH,
            null,
            null,
            0,
            null);
    TreeSet<Message> merged = new TreeSet<>(BY_ATTEMPTS);
    Shelf shelf = shelf(endpoint);
    shelf.waiting.tailSet(from, false).stream().limit(backlogRows).forEach(merged::add);
    shelf.parked.tailSet(from, false).stream().limit(backlogRows).forEach(merged::add);
    List<Message> found = new ArrayList<>();
    int lookedAt = 0;
    for (Message message : merged) {
      if (isBacklog(message, triedBefore, now)) {
        found.add(message);
      }
      lookedAt++;
      if (found.size() == limit || lookedAt == backlogRows) {
        return new Backlog(found, new BacklogCursor(message.attempts(), message.id()));
      }
    }
    return new Backlog(found, null);
  }

  private static boolean isBacklog(Message message, Instant triedBefore, Instant now) {
    if (message.status() == Status.PARKED) {
      return true;
    }
    boolean slotHasCome = !Objects.requireNonNull(message.due()).isAfter(now);
    boolean isRecovering =
        message.lastAttemptAt() != null && message.lastAttemptAt().isBefore(triedBefore);
    return isAllowed(message, now) && (slotHasCome || isRecovering);
  }

  private static boolean isAllowed(Message message, Instant now) {
    return message.notBefore() == null || !message.notBefore().isAfter(now);
  }

  @Override
  public Optional<Message> probe(long endpoint, Instant now) {
    Predicate<Message> allowed = message -> isAllowed(message, now);
    Optional<Message> parked = shelf(endpoint).parked.stream().filter(allowed).findFirst();
    return parked.isPresent()
        ? parked
        : shelf(endpoint).waiting.stream().filter(allowed).findFirst();
  }

  @Override
  public List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit) {
    return bySubscription.getOrDefault(subscription, new TreeMap<>()).values().stream()
        .filter(
            message ->
                message.endpoint() == endpoint
                    && (which == Which.ALL
                        || (which == Which.PAUSED) == (message.status() == Status.PAUSED)))
        .limit(limit)
        .toList();
  }

  @Override
  public Originals originals(Replay replay, int limit) {
    Replay.Selection selection = replay.selection();
    List<Original> found = new ArrayList<>();
    long through = replay.through();
    int lookedAt = 0;
    for (Finished done : finished.tailMap(replay.through(), false).values()) {
      if (found.size() == limit || lookedAt == backlogRows) {
        return new Originals(found, through, false);
      }
      lookedAt++;
      Message message = done.message();
      through = message.id();
      if ((selection.endpoint() == null || selection.endpoint() == message.endpoint())
          && (selection.subscription() == null
              || selection.subscription() == message.subscription())
          && selection.endings().contains(done.ending())
          && (selection.since() == null || !message.createdAt().isBefore(selection.since()))
          && (selection.until() == null || message.createdAt().isBefore(selection.until()))
          && done.at().isBefore(replay.createdAt())) {
        found.add(
            new Original(
                message.id(),
                message.event(),
                message.subscription(),
                message.size(),
                replayed.contains(message.id()),
                message.version()));
      }
    }
    return new Originals(found, through, true);
  }

  @Override
  public Originals past(Replay replay, Interest interest, int limit) {
    long subscription = Objects.requireNonNull(replay.selection().subscription());
    long below = Objects.requireNonNull(replay.below());
    Instant since = Objects.requireNonNull(replay.selection().since());
    List<Original> found = new ArrayList<>();
    long through = replay.through();
    int lookedAt = 0;
    for (Kept kept : events.subMap(replay.through(), false, below, false).values()) {
      Event event = kept.event;
      if (found.size() == limit || lookedAt == backlogRows) {
        return new Originals(found, through, false);
      }
      lookedAt++;
      through = event.id();
      if (!event.acceptedAt().isBefore(since)
          && interest.wants(event)
          && !hasMessage(event, subscription)) {
        found.add(new Original(0, event.id(), subscription, event.size(), false, null));
      }
    }
    return new Originals(found, through, true);
  }

  /** Whether a subscription was there already when the event was accepted. */
  private boolean hasMessage(Event event, long subscription) {
    return given.getOrDefault(event.id(), Set.of()).contains(subscription);
  }

  private void subscribe(Write.Subscribe subscribe) {
    made(subscribe.newEndpoint());
    subscriptions.put(subscribe.subscription().id(), subscribe.subscription());
    highestId = Math.max(highestId, subscribe.subscription().id());
    if (subscribe.history() != null) {
      replays.put(subscribe.history().id(), subscribe.history());
      highestId = Math.max(highestId, subscribe.history().id());
    }
  }

  private void update(Write.Update update) {
    made(update.newEndpoint());
    subscriptions.put(update.subscription().id(), update.subscription());
  }

  private void made(@Nullable Endpoint endpoint) {
    if (endpoint != null) {
      endpoints.putIfAbsent(endpoint.id(), endpoint);
      highestId = Math.max(highestId, endpoint.id());
    }
  }

  @Override
  public Optional<Message> unfinished(long message) {
    return Optional.ofNullable(open.get(message));
  }

  @Override
  public List<Event> events(List<Long> ids) {
    List<Event> found = new ArrayList<>();
    for (long id : ids) {
      Kept kept = events.get(id);
      if (kept != null) {
        found.add(kept.event);
      }
    }
    return found;
  }

  int endpoints() {
    return endpoints.size();
  }

  /** Which endpoint stands at a place in the order of creation; absent when there is none. */
  @Nullable Endpoint endpointAt(int place) {
    return endpoints.isEmpty()
        ? null
        : List.copyOf(endpoints.values()).get(Math.floorMod(place, endpoints.size()));
  }

  @Nullable Subscription subscriptionAt(int place) {
    return subscriptions.isEmpty()
        ? null
        : List.copyOf(subscriptions.values()).get(Math.floorMod(place, subscriptions.size()));
  }

  @Nullable Replay replayAt(int place) {
    return replays.isEmpty()
        ? null
        : List.copyOf(replays.values()).get(Math.floorMod(place, replays.size()));
  }

  @Override
  public void close() {}
}
