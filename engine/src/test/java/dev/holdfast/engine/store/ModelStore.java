package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.ProbeChoice;
import dev.holdfast.core.rules.Recovery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A store in memory that is too simple to be wrong: everything is searched from end to end. */
final class ModelStore implements Store, History {
  private record Finished(Message message, @Nullable DropReason reason, int attempts, Instant at) {}

  private record Key(String tenant, String callerId) {}

  private final NavigableMap<Long, AcceptedEvent> events = new TreeMap<>();
  private final Map<Key, AcceptedEvent> keys = new HashMap<>();
  private final NavigableMap<Long, Message> open = new TreeMap<>();
  private final NavigableMap<Long, Finished> finished = new TreeMap<>();
  private final Map<Long, List<Attempt>> attempts = new HashMap<>();
  private final Map<Long, Endpoint> endpoints = new HashMap<>();
  private final Map<Long, Subscription> subscriptions = new HashMap<>();
  private final Map<Long, Subscription> ended = new HashMap<>();
  private final Map<Long, List<Change>> changes = new HashMap<>();
  private final List<FanOut> fanOuts = new ArrayList<>();
  private final NavigableMap<Long, Replay> replays = new TreeMap<>();
  private final Set<Long> replayed = new HashSet<>();

  @Override
  public Snapshot snapshot() {
    Map<Long, Snapshot.Unfinished> unfinished = new HashMap<>();
    for (Message message : open.values()) {
      unfinished.merge(
          message.endpoint(),
          Snapshot.Unfinished.of(message.status(), 1),
          Snapshot.Unfinished::plus);
    }
    return new Snapshot(
        List.copyOf(endpoints.values()),
        List.copyOf(subscriptions.values()),
        List.copyOf(ended.values()),
        unfinished,
        List.copyOf(fanOuts),
        replays.values().stream().filter(replay -> replay.state() == Replay.State.RUNNING).toList(),
        Stream.of(events, open, finished, endpoints, subscriptions, ended, replays)
            .flatMapToLong(table -> table.keySet().stream().mapToLong(Long::longValue))
            .max()
            .orElse(0),
        stored());
  }

  private Map<String, Snapshot.Stored> stored() {
    Map<String, Snapshot.Stored> stored = new HashMap<>();
    for (AcceptedEvent accepted : events.values()) {
      Event event = accepted.event();
      Snapshot.Stored before = stored.getOrDefault(event.tenant(), Snapshot.Stored.NOTHING);
      stored.put(event.tenant(), before.plus(1, event.size()));
    }
    return stored;
  }

  @Override
  public Written write(Batch batch) {
    List<AcceptResult> accepts = new ArrayList<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> accepts.add(accept(accept.events()));
        case Write.Deliver deliver ->
            finish(deliver.message(), null, deliver.attempt(), deliver.at());
        case Write.Retry retry -> {
          open.put(retry.message().id(), retry.message());
          record(retry.attempt());
        }
        case Write.Park park -> open.put(park.message().id(), park.message());
        case Write.Move move -> open.put(move.message().id(), move.message());
        case Write.Drop drop -> {
          finish(drop.message(), drop.reason(), drop.attempt(), drop.at());
          announced(drop.announced());
        }
        case Write.Spread spread -> {
          fanOuts.remove(spread.step());
          spread.messages().forEach(message -> open.put(message.id(), message));
        }
        case Write.Progress progress -> {
          replays.put(progress.replay().id(), progress.replay());
          for (Write.Remade made : progress.made()) {
            open.put(made.message().id(), made.message());
            replayed.add(made.original());
          }
        }
        case Write.Update update -> update(update);
        case Write.Subscribe subscribe -> subscribe(subscribe);
        case Write.Import all -> {
          all.created().forEach(this::subscribe);
          all.changed().forEach(this::update);
        }
        case Write.Unsubscribe unsubscribe -> {
          long id = unsubscribe.subscription().id();
          ended.put(id, Objects.requireNonNull(subscriptions.remove(id)));
        }
        case Write.Forget forget -> ended.remove(forget.subscription());
        case Write.Configure _ -> {}
        case Write.ChangeState change -> {
          Health health = change.endpoint().health();
          endpoints.put(change.endpoint().id(), change.endpoint());
          changes
              .computeIfAbsent(change.endpoint().id(), _ -> new ArrayList<>())
              .addFirst(new Change(health.since(), health.state(), health.reason()));
          announced(change.announced());
        }
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.put(endpoint.id(), endpoint);
    }
    return new Written(accepts);
  }

  private void update(Write.Update update) {
    if (update.newEndpoint() != null) {
      endpoints.putIfAbsent(update.newEndpoint().id(), update.newEndpoint());
    }
    subscriptions.put(update.subscription().id(), update.subscription());
  }

  private void subscribe(Write.Subscribe subscribe) {
    if (subscribe.newEndpoint() != null) {
      endpoints.put(subscribe.newEndpoint().id(), subscribe.newEndpoint());
    }
    subscriptions.put(subscribe.subscription().id(), subscribe.subscription());
    if (subscribe.history() != null) {
      replays.put(subscribe.history().id(), subscribe.history());
    }
  }

  private AcceptResult accept(List<AcceptedEvent> accepted) {
    List<Receipt> receipts = new ArrayList<>();
    Map<Key, AcceptedEvent> known = new HashMap<>(keys);
    for (AcceptedEvent each : accepted) {
      Event event = each.event();
      AcceptedEvent first = each;
      if (event.callerId() != null) {
        AcceptedEvent earlier = known.putIfAbsent(new Key(event.tenant(), event.callerId()), each);
        first = earlier == null ? each : earlier;
        if (!sameContent(first.event(), event)) {
          return new AcceptResult.Conflict(receipts.size());
        }
      }
      receipts.add(
          new Receipt(
              first.event().id(),
              event.publicId(),
              first.total(),
              first.event().id() != event.id()));
    }
    keys.putAll(known);
    for (int i = 0; i < accepted.size(); i++) {
      if (!receipts.get(i).repeat()) {
        keep(accepted.get(i));
      }
    }
    return new AcceptResult.Kept(receipts);
  }

  private void keep(AcceptedEvent accepted) {
    events.put(accepted.event().id(), accepted);
    accepted.messages().forEach(message -> open.put(message.id(), message));
    fanOuts.addAll(accepted.later());
  }

  private void announced(@Nullable AcceptedEvent event) {
    if (event != null) {
      keep(event);
    }
  }

  private static boolean sameContent(Event one, Event other) {
    return one.type().equals(other.type())
        && Objects.equals(one.subject(), other.subject())
        && Objects.equals(one.occurredAt(), other.occurredAt())
        && Arrays.equals(one.data(), other.data())
        && Arrays.equals(one.previous(), other.previous());
  }

  private void finish(
      Message message, @Nullable DropReason reason, @Nullable Attempt attempt, Instant at) {
    open.remove(message.id());
    int count = message.attempts();
    if (attempt != null) {
      record(attempt);
      count = attempt.number();
    }
    finished.put(message.id(), new Finished(message, reason, count, at));
  }

  /** Removes every event, but for the newest, all of whose messages have finished by then. */
  void remove(Instant cutoff) {
    long newest = events.isEmpty() ? 0 : events.lastKey();
    for (AcceptedEvent accepted : List.copyOf(events.values())) {
      long id = accepted.event().id();
      boolean old =
          id < newest
              && Id.time(id).isBefore(cutoff)
              && accepted.messages().stream()
                  .map(message -> finished.get(message.id()))
                  .allMatch(done -> done != null && !done.at().isAfter(cutoff));
      if (old) {
        events.remove(id);
        keys.values().removeIf(kept -> kept.event().id() == id);
        for (Message message : accepted.messages()) {
          finished.remove(message.id());
          attempts.remove(message.id());
        }
      }
    }
    for (List<Change> ofEndpoint : changes.values()) {
      List<Change> old = ofEndpoint.subList(Math.min(1, ofEndpoint.size()), ofEndpoint.size());
      old.removeIf(change -> !change.at().isAfter(cutoff));
    }
  }

  private void record(Attempt attempt) {
    attempts.computeIfAbsent(attempt.message(), _ -> new ArrayList<>()).add(attempt);
  }

  private List<Message> open(Predicate<Message> which, Comparator<Message> order, int limit) {
    return open.values().stream().filter(which).sorted(order).limit(limit).toList();
  }

  @Override
  public List<Message> due(DueCursor after, Instant through, int limit) {
    Comparator<Message> order =
        Comparator.comparing(ModelStore::dueOf).thenComparingLong(Message::id);
    return open(
        message ->
            message.due() != null
                && !message.due().isAfter(through)
                && (message.due().isAfter(after.due())
                    || (message.due().equals(after.due()) && message.id() > after.id())),
        order,
        limit);
  }

  private static Instant dueOf(Message message) {
    return Objects.requireNonNull(message.due());
  }

  @Override
  public List<Message> pending(long endpoint, int limit) {
    return open(
        message -> message.endpoint() == endpoint && message.status() == Message.Status.PENDING,
        Comparator.comparingLong(Message::id),
        limit);
  }

  @Override
  public Backlog backlog(
      long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit) {
    Health enabledThen = Health.created(triedBefore);
    List<Message> found =
        open(
            message ->
                message.endpoint() == endpoint
                    && message.status() != Message.Status.PENDING
                    && Recovery.DRAIN.isDue(message, enabledThen, now)
                    && (message.attempts() > after.attempts()
                        || (message.attempts() == after.attempts() && message.id() > after.id())),
            Recovery.ORDER,
            limit);
    return new Backlog(
        found,
        found.size() < limit
            ? null
            : new BacklogCursor(found.getLast().attempts(), found.getLast().id()));
  }

  @Override
  public Optional<Message> probe(long endpoint, Instant now) {
    return open.values().stream()
        .filter(message -> message.endpoint() == endpoint && ProbeChoice.allows(message, now))
        .min(ProbeChoice.ORDER);
  }

  @Override
  public List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit) {
    return open(
        message ->
            message.endpoint() == endpoint
                && message.subscription() == subscription
                && (which == Which.ALL
                    || (which == Which.PAUSED) == (message.status() == Message.Status.PAUSED)),
        Comparator.comparingLong(Message::id),
        limit);
  }

  @Override
  public Optional<Message> unfinished(long message) {
    return Optional.ofNullable(open.get(message));
  }

  @Override
  public List<Event> events(List<Long> ids) {
    return ids.stream()
        .map(events::get)
        .filter(Objects::nonNull)
        .map(AcceptedEvent::event)
        .toList();
  }

  @Override
  public Originals originals(Replay replay, int limit) {
    Replay.Selection selection = replay.selection();
    List<Original> found = new ArrayList<>();
    long through = replay.through();
    for (Finished done : finished.tailMap(replay.through(), false).values()) {
      Message message = done.message();
      if (found.size() == limit) {
        return new Originals(found, through, false);
      }
      through = message.id();
      if (event(message).tenant().equals(replay.tenant())
          && (selection.endpoint() == null || selection.endpoint() == message.endpoint())
          && (selection.subscription() == null
              || selection.subscription() == message.subscription())
          && (selection.since() == null || !Id.time(message.id()).isBefore(selection.since()))
          && (selection.until() == null || Id.time(message.id()).isBefore(selection.until()))
          && selection
              .endings()
              .contains(done.reason() == null ? Replay.Ending.DELIVERED : Replay.Ending.DROPPED)
          && done.at().isBefore(replay.createdAt())) {
        found.add(
            new Original(
                message.id(),
                message.event(),
                message.subscription(),
                event(message).size(),
                replayed.contains(message.id()),
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
    for (AcceptedEvent accepted : events.tailMap(replay.through(), false).values()) {
      Event event = accepted.event();
      if (found.size() == limit || event.id() >= Objects.requireNonNull(replay.below())) {
        return new Originals(found, through, found.size() < limit);
      }
      through = event.id();
      if (event.tenant().equals(replay.tenant())
          && !event.acceptedAt().isBefore(since)
          && interest.wants(event)
          && Stream.concat(
                  open.values().stream(), finished.values().stream().map(Finished::message))
              .noneMatch(
                  message ->
                      message.subscription() == subscription && message.event() == event.id())) {
        found.add(new Original(0, event.id(), subscription, event.size(), false, null));
      }
    }
    return new Originals(found, through, true);
  }

  @Override
  public List<Event> latestEvents(String tenant, int limit) {
    return events.descendingMap().values().stream()
        .map(AcceptedEvent::event)
        .filter(event -> event.tenant().equals(tenant))
        .limit(limit)
        .toList();
  }

  @Override
  public Optional<Replay> replay(String tenant, long id) {
    return Optional.ofNullable(replays.get(id)).filter(replay -> replay.tenant().equals(tenant));
  }

  @Override
  public List<Replay> replays(String tenant, long before, int limit) {
    return replays.headMap(before, false).descendingMap().values().stream()
        .filter(replay -> replay.tenant().equals(tenant))
        .limit(limit)
        .toList();
  }

  private Stream<MessageSummary> newestFirst() {
    return LongStream.concat(
            open.keySet().stream().mapToLong(Long::longValue),
            finished.keySet().stream().mapToLong(Long::longValue))
        .boxed()
        .sorted(Comparator.reverseOrder())
        .map(this::summary);
  }

  private MessageSummary summary(long id) {
    Message unfinished = open.get(id);
    Finished done = finished.get(id);
    Message message = unfinished != null ? unfinished : Objects.requireNonNull(done).message();
    Event event = event(message);
    Status status =
        unfinished != null
            ? unfinished.status() == Message.Status.PAUSED
                ? Status.PARKED
                : Status.valueOf(unfinished.status().name())
            : Objects.requireNonNull(done).reason() == null ? Status.DELIVERED : Status.DROPPED;
    return new MessageSummary(
        id,
        event.publicId(),
        message.subscription(),
        message.endpoint(),
        event.type(),
        event.subject(),
        status,
        done == null ? null : done.reason(),
        done == null ? message.attempts() : done.attempts(),
        unfinished,
        message.version());
  }

  private Event event(Message message) {
    return Objects.requireNonNull(events.get(message.event())).event();
  }

  private Event eventOf(long messageId) {
    Message unfinished = open.get(messageId);
    return event(
        unfinished != null
            ? unfinished
            : Objects.requireNonNull(finished.get(messageId)).message());
  }

  @Override
  public Page messages(Query query) {
    Endpoint endpoint = query.endpoint() == null ? null : endpoints.get(query.endpoint());
    if (endpoint != null && !endpoint.tenant().equals(query.tenant())) {
      return new Page(List.of(), null);
    }
    Optional<EventDetail> event =
        query.event() == null ? Optional.empty() : event(query.tenant(), query.event());
    if (query.event() != null && event.isEmpty()) {
      return new Page(List.of(), null);
    }
    List<MessageSummary> found =
        newestFirst()
            .filter(summary -> eventOf(summary.id()).tenant().equals(query.tenant()))
            .filter(summary -> summary.id() < query.before())
            .filter(s -> query.statuses().isEmpty() || query.statuses().contains(s.status()))
            .filter(s -> query.endpoint() == null || query.endpoint() == s.endpoint())
            .filter(s -> query.subscription() == null || query.subscription() == s.subscription())
            .filter(s -> event.isEmpty() || eventOf(s.id()).id() == event.get().event().id())
            .filter(s -> query.since() == null || !Id.time(s.id()).isBefore(query.since()))
            .filter(s -> query.until() == null || Id.time(s.id()).isBefore(query.until()))
            .filter(s -> query.about().covers(s.type(), s.subject()))
            .toList();
    return found.size() <= query.limit()
        ? new Page(found, null)
        : new Page(found.subList(0, query.limit()), found.get(query.limit() - 1).id());
  }

  @Override
  public Optional<MessageDetail> message(String tenant, long id) {
    if ((!open.containsKey(id) && !finished.containsKey(id))
        || !eventOf(id).tenant().equals(tenant)) {
      return Optional.empty();
    }
    return Optional.of(
        new MessageDetail(summary(id), List.copyOf(attempts.getOrDefault(id, List.of()))));
  }

  @Override
  public Optional<EventDetail> event(String tenant, EventKey key) {
    AcceptedEvent found =
        switch (key) {
          case EventKey.Own own -> events.get(own.id());
          case EventKey.Callers callers -> keys.get(new Key(tenant, callers.id()));
        };
    if (found == null || !found.event().tenant().equals(tenant)) {
      return Optional.empty();
    }
    return Optional.of(
        new EventDetail(
            found.event(),
            found.messages().stream().map(message -> summary(message.id())).toList()));
  }

  @Override
  public Optional<Event> eventAlone(String tenant, EventKey key) {
    return event(tenant, key).map(EventDetail::event);
  }

  @Override
  public EventPage events(EventQuery query) {
    List<EventSummary> found =
        events.headMap(query.before(), false).descendingMap().values().stream()
            .map(AcceptedEvent::event)
            .filter(event -> event.tenant().equals(query.tenant()))
            .filter(event -> query.about().covers(event.type(), event.subject()))
            .filter(e -> query.since() == null || !e.acceptedAt().isBefore(query.since()))
            .filter(e -> query.until() == null || e.acceptedAt().isBefore(query.until()))
            .limit(query.limit() + 1L)
            .map(this::summary)
            .toList();
    return found.size() <= query.limit()
        ? new EventPage(found, null)
        : new EventPage(found.subList(0, query.limit()), found.get(query.limit() - 1).id());
  }

  private EventSummary summary(Event event) {
    Map<Status, Integer> counts =
        newestFirst()
            .filter(message -> eventOf(message.id()).id() == event.id())
            .collect(Collectors.toMap(MessageSummary::status, _ -> 1, Integer::sum));
    return new EventSummary(
        event.id(),
        event.publicId(),
        event.type(),
        event.subject(),
        event.occurredAt(),
        event.size() - Event.OVERHEAD_BYTES,
        counts);
  }

  @Override
  public AttemptPage attempts(AttemptQuery query) {
    Comparator<Attempt> downwards =
        Comparator.comparingLong(Attempt::message).thenComparingInt(Attempt::number).reversed();
    List<Attempt> found = new ArrayList<>();
    AttemptPosition next = null;
    for (Attempt attempt :
        attemptsOf(query.tenant(), query.endpoint()).sorted(downwards).toList()) {
      boolean isAfter =
          attempt.message() < query.before().message()
              || (attempt.message() == query.before().message()
                  && attempt.number() < query.before().number());
      if (isAfter
          && (query.since() == null || !attempt.at().isBefore(query.since()))
          && (query.until() == null || attempt.at().isBefore(query.until()))) {
        if (found.size() == query.limit()) {
          next = new AttemptPosition(found.getLast().message(), found.getLast().number());
          break;
        }
        found.add(attempt);
      }
    }
    found.sort(Comparator.comparing(Attempt::at).reversed().thenComparing(downwards));
    return new AttemptPage(found, next);
  }

  private Stream<Attempt> attemptsOf(String tenant, long endpoint) {
    Endpoint known = endpoints.get(endpoint);
    if (known != null && !known.tenant().equals(tenant)) {
      return Stream.of();
    }
    return newestFirst()
        .filter(message -> message.endpoint() == endpoint)
        .filter(message -> eventOf(message.id()).tenant().equals(tenant))
        .flatMap(message -> attempts.getOrDefault(message.id(), List.of()).stream());
  }

  @Override
  public Map<Long, List<AttemptMark>> latestAttempts(
      String tenant, List<Long> wanted, Instant since, int each) {
    Map<Long, List<AttemptMark>> latest = new HashMap<>();
    for (Long endpoint : wanted) {
      List<AttemptMark> all =
          attemptsOf(tenant, endpoint)
              .filter(attempt -> !attempt.at().isBefore(since))
              .sorted(Comparator.comparing(Attempt::at))
              .map(
                  attempt ->
                      new AttemptMark(
                          attempt.at(),
                          attempt.durationMillis(),
                          attempt.outcome() instanceof Outcome.Success))
              .toList();
      if (!all.isEmpty()) {
        latest.put(endpoint, all.subList(Math.max(0, all.size() - each), all.size()));
      }
    }
    return latest;
  }

  @Override
  public List<Change> changes(long endpoint, int limit) {
    return changes.getOrDefault(endpoint, List.of()).stream().limit(limit).toList();
  }

  @Override
  public List<EndpointChange> changes(ChangeQuery query) {
    throw new UnsupportedOperationException("the model does not number changes");
  }

  @Override
  public void close() {}
}
