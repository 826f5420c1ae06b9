package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.postgres.Gathered.Type.BYTES;
import static dev.holdfast.engine.store.postgres.Gathered.Type.INT;
import static dev.holdfast.engine.store.postgres.Gathered.Type.LONG;
import static dev.holdfast.engine.store.postgres.Gathered.Type.TEXT;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History.Change;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.engine.store.Finished;
import dev.holdfast.engine.store.Remaking;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.postgres.Gathered.Form;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows that a batch becomes, and in which order they are written: a message is inserted before
 * it is changed, and changed before it is finished, whichever writes of the batch said so.
 */
final class Rowset {
  private static final int OF_MESSAGE = 0;
  private static final int OF_FAN_OUT = 1;
  private static final int OF_REPLAY = 2;

  private static final Form EVENTS =
      Form.of(
          "INSERT INTO events (id, tenant, type, subject, occurred_at, caller_id, traceparent,"
              + " messages, sum, body_sum, data, previous) SELECT * FROM %s",
          LONG, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, INT, LONG, LONG, BYTES, BYTES);

  private static final Form SPREAD =
      Form.checked(
          "DELETE FROM fan_outs f USING %s AS s(event, first)"
              + " WHERE f.event = s.event AND f.first = s.first RETURNING 1",
          "messages to be made are made already", LONG, LONG);

  private static final String OPEN_COLUMNS =
      "shard, event, subscription, endpoint, status, attempts, slot, base, due, not_before,"
          + " last_attempt_at, size, sum, version";

  private static final Form OPEN =
      Form.of(
          "INSERT INTO open (id, tenant, " + OPEN_COLUMNS + ") SELECT * FROM %s",
          LONG,
          TEXT,
          INT,
          LONG,
          LONG,
          LONG,
          INT,
          INT,
          INT,
          LONG,
          LONG,
          LONG,
          LONG,
          LONG,
          LONG,
          INT);

  /** A step does not say whose its event is. */
  private static final Form MADE =
      Form.checked(
          "INSERT INTO open (id, tenant, "
              + OPEN_COLUMNS
              + ") SELECT m.id, e.tenant, m.shard, m.event, m.subscription, m.endpoint, m.status,"
              + " m.attempts, m.slot, m.base, m.due, m.not_before, m.last_attempt_at, m.size,"
              + " m.sum, m.version FROM %s AS m(id, "
              + OPEN_COLUMNS
              + ") JOIN events e ON e.id = m.event RETURNING 1",
          "the event of messages to be made is missing",
          LONG,
          INT,
          LONG,
          LONG,
          LONG,
          INT,
          INT,
          INT,
          LONG,
          LONG,
          LONG,
          LONG,
          LONG,
          LONG,
          INT);

  /** What a replay makes is made of what is still there. */
  private static final Form REPLAYED_EVENTS =
      Form.checked(
          "SELECT 1 FROM %s AS w(event) JOIN events e ON e.id = w.event",
          "an event that is to be replayed is kept no longer", LONG);

  private static final Form REPLAYED =
      Form.of(
          "INSERT INTO replayed (tenant, event, original, message, sum) SELECT * FROM %s",
          TEXT, LONG, LONG, LONG, LONG);

  private static final Form CHANGED =
      Form.checked(
          "UPDATE open o SET shard = c.shard, endpoint = c.endpoint, status = c.status,"
              + " attempts = c.attempts, slot = c.slot, base = c.base, due = c.due,"
              + " not_before = c.not_before, last_attempt_at = c.last_attempt_at, sum = c.sum"
              + " FROM %s AS c(id, shard, endpoint, status, attempts, slot, base, due, not_before,"
              + " last_attempt_at, sum) WHERE o.id = c.id RETURNING 1",
          "a message to be changed is not unfinished",
          LONG,
          INT,
          LONG,
          INT,
          INT,
          INT,
          LONG,
          LONG,
          LONG,
          LONG,
          LONG);

  private static final Form ATTEMPTS =
      Form.checked(
          "INSERT INTO attempts (tenant, message, number, "
              + Rows.ATTEMPT_COLUMNS
              + ", sum) SELECT o.tenant, a.* FROM %s AS a(message, number, "
              + Rows.ATTEMPT_COLUMNS
              + ", sum) JOIN open o ON o.id = a.message RETURNING 1",
          "a message that was attempted is not unfinished",
          LONG,
          INT,
          LONG,
          LONG,
          INT,
          INT,
          TEXT,
          TEXT,
          BYTES,
          LONG);

  private static final String FINISHED_COLUMNS =
      "id, event, subscription, endpoint, reason, finished_at, attempts, "
          + Rows.ATTEMPT_COLUMNS
          + ", sum, attempt_sum, version";

  private static final Form FINISHED =
      Form.checkedFrom(
          "gone AS (DELETE FROM open o USING %s AS f("
              + FINISHED_COLUMNS
              + ") WHERE o.id = f.id RETURNING o.tenant, f.*)",
          "INSERT INTO messages (tenant, " + FINISHED_COLUMNS + ") SELECT * FROM gone RETURNING 1",
          "a message to be finished is not unfinished",
          LONG,
          LONG,
          LONG,
          LONG,
          TEXT,
          LONG,
          INT,
          LONG,
          LONG,
          INT,
          INT,
          TEXT,
          TEXT,
          BYTES,
          LONG,
          LONG,
          INT);

  private static final Form ENDPOINT_CHANGES =
      Form.of(
          "INSERT INTO endpoint_changes (tenant, endpoint, at, state, reason, sum)"
              + " SELECT * FROM %s",
          TEXT, LONG, LONG, TEXT, TEXT, LONG);

  private static final List<String> HEALTH =
      List.of(
          "state",
          "since",
          "reason",
          "successes",
          "failures",
          "previous_attempts",
          "previous_failures",
          "current_attempts",
          "current_failures",
          "consecutive_failures",
          "last_success_at",
          "next_probe_at",
          "sum",
          "gone_at");

  private static final Form HEALTHS =
      Form.of(
          "UPDATE endpoints e SET "
              + String.join(", ", HEALTH.stream().map(name -> name + " = h." + name).toList())
              + " FROM %s AS h(tenant, id, "
              + String.join(", ", HEALTH)
              + ") WHERE e.tenant = h.tenant AND e.id = h.id",
          TEXT,
          LONG,
          TEXT,
          LONG,
          TEXT,
          LONG,
          LONG,
          INT,
          INT,
          INT,
          INT,
          INT,
          LONG,
          LONG,
          LONG,
          LONG);

  private static final Form TENANTS =
      Form.of(
          "INSERT INTO tenants (tenant, slot, events, bytes) SELECT * FROM %s"
              + " ON CONFLICT (tenant, slot) DO UPDATE SET"
              + " events = tenants.events + excluded.events, bytes = tenants.bytes + excluded.bytes",
          TEXT, INT, LONG, LONG);

  private static final Form HANDOVERS =
      Form.of(
          "INSERT INTO handovers (shard, kind, ids, endpoints, statuses)"
              + " SELECT shard, kind, array_agg(id ORDER BY n), array_agg(endpoint ORDER BY n),"
              + " array_agg(status::smallint ORDER BY n) FROM %s WITH ORDINALITY"
              + " AS l(shard, kind, id, endpoint, status, n) GROUP BY shard, kind",
          INT, INT, LONG, LONG, INT);

  private final Gathered events = EVENTS.rows();
  private final Gathered replayedEvents = REPLAYED_EVENTS.rows();
  private final Gathered replayed = REPLAYED.rows();
  private final Gathered spread = SPREAD.rows();
  private final Gathered open = OPEN.rows();
  private final Gathered made = MADE.rows();
  private final Gathered changed = CHANGED.rows();
  private final Gathered attempts = ATTEMPTS.rows();
  private final Gathered finished = FINISHED.rows();
  private final Gathered endpointChanges = ENDPOINT_CHANGES.rows();
  private final Gathered health = HEALTHS.rows();
  private final Gathered tenants = TENANTS.rows();
  private final Gathered handovers = HANDOVERS.rows();

  private final List<Gathered> inOrder =
      List.of(
          events,
          replayedEvents,
          replayed,
          spread,
          made,
          open,
          changed,
          attempts,
          finished,
          endpointChanges,
          health,
          tenants,
          handovers);

  private final Shards ours;
  private final int slot;

  private final Map<Long, Message> changes = new LinkedHashMap<>();
  private final Map<Long, Endpoint> endpoints = new LinkedHashMap<>();
  private final Map<String, Stored> stored = new LinkedHashMap<>();
  private final Set<Integer> leftFor = new HashSet<>();
  private final List<Step> fanOuts = new ArrayList<>();
  private final List<Replay> replays = new ArrayList<>();
  private long highest;

  /** A step and whose its event is. */
  record Step(String tenant, FanOut step) {}

  /**
   * Makes rows of a batch.
   *
   * @param results what becomes of its requests
   * @param slot where the node counts what it keeps
   */
  Rowset(Batch batch, List<AcceptResult> results, int slot) {
    this.ours = batch.ours();
    this.slot = slot;
    int request = 0;
    for (Write write : batch.writes()) {
      if (write instanceof Write.Accept accept) {
        accept(accept.events(), results.get(request++));
      } else {
        gather(write);
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.put(endpoint.id(), endpoint);
    }
    changes.values().forEach(this::change);
    endpoints.values().forEach(this::keepHealth);
    stored.forEach((tenant, kept) -> tenants.add(tenant, this.slot, kept.events(), kept.bytes()));
  }

  /** The statements that have rows, in their order. */
  List<Gathered> statements() {
    return inOrder.stream().filter(rows -> !rows.isEmpty()).toList();
  }

  List<Step> fanOuts() {
    return fanOuts;
  }

  List<Replay> replays() {
    return replays;
  }

  /** For whose nodes something is left. */
  Shards leftFor() {
    return Shards.of(leftFor);
  }

  long highest() {
    return highest;
  }

  private void accept(List<AcceptedEvent> accepted, AcceptResult result) {
    if (result instanceof AcceptResult.Kept kept) {
      for (int i = 0; i < accepted.size(); i++) {
        if (!kept.receipts().get(i).repeat()) {
          insert(accepted.get(i));
        }
      }
    }
  }

  private void gather(Write write) {
    switch (write) {
      case Write.Accept accept -> throw new IllegalStateException("gathered already: " + accept);
      case Write.Deliver deliver -> {
        if (!(deliver.attempt().outcome() instanceof Outcome.Success)) {
          throw new IllegalArgumentException(
              "message " + deliver.message().id() + " is delivered without a success");
        }
        finish(deliver.message(), null, deliver.attempt(), deliver.at());
      }
      case Write.Retry retry -> {
        changes.put(retry.message().id(), retry.message());
        attempt(retry.attempt());
      }
      case Write.Park park -> changes.put(park.message().id(), park.message());
      case Write.Move move -> changes.put(move.message().id(), move.message());
      case Write.Drop drop -> {
        finish(drop.message(), drop.reason(), drop.attempt(), drop.at());
        announced(drop.announced());
      }
      case Write.Spread done -> {
        spread.add(done.step().event(), (long) done.step().first());
        for (Message message : done.messages()) {
          insertMade(message);
        }
      }
      case Write.Progress progress -> progress(progress);
      case Write.Subscribe subscribe -> subscribe(subscribe);
      case Write.Update update -> update(update);
      case Write.Import all -> {
        all.created().forEach(this::subscribe);
        all.changed().forEach(this::update);
      }
      case Write.Unsubscribe _, Write.Forget _, Write.Configure _ -> {}
      case Write.ChangeState change -> {
        changeState(change.endpoint());
        announced(change.announced());
      }
    }
  }

  /** The rows of subscriptions are written by whoever writes what everyone knows. */
  private void subscribe(Write.Subscribe subscribe) {
    used(subscribe.subscription().id());
    if (subscribe.newEndpoint() != null) {
      used(subscribe.newEndpoint().id());
    }
    if (subscribe.history() != null) {
      begin(subscribe.history());
    }
  }

  private void update(Write.Update update) {
    if (update.newEndpoint() != null) {
      used(update.newEndpoint().id());
    }
  }

  private void begin(Replay replay) {
    used(replay.id());
    replays.add(replay);
    if (!ours.has(replay.id())) {
      leave(Shards.of(replay.id()), OF_REPLAY, replay.id(), null, null);
    }
  }

  private void progress(Write.Progress progress) {
    Replay replay = progress.replay();
    if (progress.before() == null) {
      begin(replay);
    } else {
      replays.add(replay);
    }
    for (Write.Remade each : progress.made()) {
      insert(replay.tenant(), each.message());
      long event = each.message().event();
      replayedEvents.add(event);
      replayed.add(
          replay.tenant(),
          event,
          each.original(),
          each.message().id(),
          Remaking.sum(event, each.original(), each.message().id()));
    }
  }

  /** An event of our own is kept like any other. */
  private void announced(@Nullable AcceptedEvent event) {
    if (event != null) {
      insert(event);
    }
  }

  private void insert(AcceptedEvent accepted) {
    Event event = accepted.event();
    used(event.id());
    stored.merge(
        event.tenant(),
        new Stored(1, event.size()),
        (one, other) -> one.plus(other.events(), other.bytes()));
    int total = accepted.total();
    events.add(
        event.id(),
        event.tenant(),
        event.type(),
        event.subject(),
        event.occurredAt() == null ? null : event.occurredAt().toString(),
        event.callerId(),
        event.traceparent(),
        total,
        Rows.EventHead.of(event, total).sum(),
        Rows.bodySum(event),
        event.data(),
        event.previous());
    for (FanOut step : accepted.later()) {
      used(step.lastMessage());
      fanOuts.add(new Step(event.tenant(), step));
    }
    if (!accepted.later().isEmpty() && !ours.has(event.id())) {
      leave(Shards.of(event.id()), OF_FAN_OUT, event.id(), null, null);
    }
    long expected = event.id();
    for (Message message : accepted.messages()) {
      expected += Id.STRIDE;
      if (message.id() != expected || message.event() != event.id()) {
        throw new IllegalArgumentException(
            "message " + message.id() + " does not follow its event " + event.id());
      }
      insert(event.tenant(), message);
    }
  }

  private void insert(String tenant, Message message) {
    arrives(message);
    open.add(
        message.id(),
        tenant,
        Shards.of(message.endpoint()),
        message.event(),
        message.subscription(),
        message.endpoint(),
        Rows.code(message.status()),
        message.attempts(),
        message.slot(),
        micros(message.base()),
        micros(message.due()),
        micros(message.notBefore()),
        micros(message.lastAttemptAt()),
        (long) message.size(),
        Rows.sum(message),
        message.version() == null ? null : Rows.code(message.version()));
  }

  private void insertMade(Message message) {
    arrives(message);
    made.add(
        message.id(),
        Shards.of(message.endpoint()),
        message.event(),
        message.subscription(),
        message.endpoint(),
        Rows.code(message.status()),
        message.attempts(),
        message.slot(),
        micros(message.base()),
        micros(message.due()),
        micros(message.notBefore()),
        micros(message.lastAttemptAt()),
        (long) message.size(),
        Rows.sum(message),
        message.version() == null ? null : Rows.code(message.version()));
  }

  /** A message that this node does not decide for is left for the one that does. */
  private void arrives(Message message) {
    used(message.id());
    if (!ours.has(message.endpoint())) {
      leave(
          Shards.of(message.endpoint()),
          OF_MESSAGE,
          message.id(),
          message.endpoint(),
          Rows.code(message.status()));
    }
  }

  private void leave(
      int shard, int kind, long id, @Nullable Long endpoint, @Nullable Integer status) {
    leftFor.add(shard);
    handovers.add(shard, kind, id, endpoint, status);
  }

  private void change(Message message) {
    arrives(message);
    changed.add(
        message.id(),
        Shards.of(message.endpoint()),
        message.endpoint(),
        Rows.code(message.status()),
        message.attempts(),
        message.slot(),
        micros(message.base()),
        micros(message.due()),
        micros(message.notBefore()),
        micros(message.lastAttemptAt()),
        Rows.sum(message));
  }

  private void attempt(Attempt attempt) {
    Outcome outcome = attempt.outcome();
    attempts.add(
        attempt.message(),
        attempt.number(),
        Rows.micros(attempt.at()),
        attempt.durationMillis(),
        attempt.scheduled() ? 1 : 0,
        status(outcome),
        error(outcome),
        retryAfter(outcome),
        outcome.response(),
        Rows.sum(attempt));
  }

  private void finish(
      Message message, @Nullable DropReason reason, @Nullable Attempt attempt, Instant at) {
    int number = attempt == null ? message.attempts() : attempt.number();
    Outcome outcome = attempt == null ? null : attempt.outcome();
    finished.add(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        reason == null ? null : reason.name(),
        Rows.micros(at),
        number,
        attempt == null ? null : Rows.micros(attempt.at()),
        attempt == null ? null : attempt.durationMillis(),
        attempt == null ? null : Integer.valueOf(attempt.scheduled() ? 1 : 0),
        outcome == null ? null : status(outcome),
        outcome == null ? null : error(outcome),
        outcome == null ? null : retryAfter(outcome),
        outcome == null ? null : outcome.response(),
        Finished.of(message, reason, at, number).sum(),
        attempt == null ? null : Rows.sum(attempt),
        message.version() == null ? null : Rows.code(message.version()));
  }

  private static @Nullable Integer status(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Success success -> success.status();
      case Outcome.Failure failure -> failure.status();
    };
  }

  private static @Nullable String error(Outcome outcome) {
    return outcome instanceof Outcome.Failure failure ? failure.kind().name() : null;
  }

  private static @Nullable String retryAfter(Outcome outcome) {
    return outcome instanceof Outcome.Failure failure ? failure.retryAfter() : null;
  }

  private void changeState(Endpoint endpoint) {
    Health now = endpoint.health();
    Change kept = new Change(now.since(), now.state(), now.reason());
    endpointChanges.add(
        endpoint.tenant(),
        endpoint.id(),
        Rows.micros(kept.at()),
        kept.state().name(),
        kept.reason().name(),
        Rows.sum(endpoint.id(), kept));
    endpoints.put(endpoint.id(), endpoint);
  }

  /** Only the node that decides for an endpoint knows how it is. */
  private void keepHealth(Endpoint endpoint) {
    if (!ours.has(endpoint.id())) {
      return;
    }
    Health now = endpoint.health();
    health.add(
        endpoint.tenant(),
        endpoint.id(),
        now.state().name(),
        Rows.micros(now.since()),
        now.reason().name(),
        now.successes(),
        now.failures(),
        now.previous().attempts(),
        now.previous().failures(),
        now.current().attempts(),
        now.current().failures(),
        now.consecutiveFailures(),
        micros(now.lastSuccessAt()),
        micros(now.nextProbeAt()),
        EndpointRow.sum(endpoint),
        micros(endpoint.goneAt()));
  }

  private void used(long id) {
    highest = Math.max(highest, id);
  }

  private static @Nullable Long micros(@Nullable Instant time) {
    return time == null ? null : Long.valueOf(Rows.micros(time));
  }
}
