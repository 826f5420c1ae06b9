package dev.holdfast.core.path;

import static java.util.Objects.requireNonNull;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Arrivals.Arrived;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The model of a store that several nodes share: plain maps, and every rule that nodes rely on.
 * Whatever a node may not do is an error here, even where a real store would not see it.
 */
final class SharedMemory {
  final MemoryStore rows = new MemoryStore();

  /** Which node decides for each shard. */
  final Map<Integer, Integer> owners = new HashMap<>();

  /** Nodes that have lost their lease. */
  final Set<Integer> fenced = new HashSet<>();

  /** Whether a node is not told whose changes make it decide anew. */
  boolean isSilent;

  private final Map<Long, String> tenantOfSubscription = new HashMap<>();
  private long version;
  private final List<Change> changes = new ArrayList<>();
  private final Map<Long, Long> changed = new HashMap<>();
  private final Map<Long, Long> forgotten = new TreeMap<>();
  private final List<Left> left = new ArrayList<>();

  private record Change(long version, String tenant) {}

  /** Something that was left for the node of a shard. */
  private record Left(
      int shard, @Nullable Arrived message, @Nullable FanOut step, @Nullable Replay replay) {}

  Snapshot snapshot() {
    Snapshot all = rows.snapshot();
    return new Snapshot(
        all.endpoints(),
        all.subscriptions(),
        all.ended(),
        all.unfinished(),
        all.fanOuts(),
        all.replays(),
        all.highestId(),
        all.stored(),
        version);
  }

  /** Shards for whose nodes a batch has left something. */
  record Outcome(Written written, Set<Integer> left) {}

  Outcome write(int node, Batch batch) throws StoreException {
    if (fenced.contains(node)) {
      throw failure(StoreException.Kind.FENCED);
    }
    for (int shard : batch.ours().numbers()) {
      check(Objects.equals(owners.get(shard), node), "not its shard: " + shard);
    }
    Map<String, Long> basis = batch.basis();
    check(basis.keySet().containsAll(tenants(batch)), "no basis for all of " + tenants(batch));
    Set<String> stale = new HashSet<>();
    for (Change change : changes) {
      if (change.version() > basis.getOrDefault(change.tenant(), Long.MAX_VALUE)) {
        stale.add(change.tenant());
      }
    }
    if (!stale.isEmpty()) {
      throw StoreException.stale(
          "as the rules say", new IllegalStateException(), isSilent ? Set.of() : stale);
    }
    batch.writes().forEach(write -> checkOwner(write, batch.ours()));
    Set<Long> configured = configured(batch);
    List<Endpoint> endpoints = new ArrayList<>();
    for (Endpoint endpoint : batch.endpoints()) {
      endpoints.add(merged(endpoint, batch, configured.contains(endpoint.id())));
    }
    Written written = rows.write(new Batch(batch.writes(), endpoints, batch.deeds()));
    long before = version;
    batch.writes().forEach(write -> note(write));
    configured.forEach(id -> changed(id, tenantOf(id)));
    int count = left.size();
    batch.writes().forEach(write -> leave(write, batch.ours()));
    Set<Integer> shards = new HashSet<>();
    left.subList(count, left.size()).forEach(one -> shards.add(one.shard()));
    return new Outcome(new Written(written.accepts(), version == before ? 0 : version), shards);
  }

  private static StoreException failure(StoreException.Kind kind) {
    return new StoreException(kind, "as the rules say", new IllegalStateException());
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalStateException(message);
    }
  }

  /** A message is changed by the node of its endpoint only, a step and a replay by theirs. */
  private void checkOwner(Write write, Shards ours) {
    Long id =
        switch (write) {
          case Write.Deliver one -> endpointOf(one.message());
          case Write.Retry one -> endpointOf(one.message());
          case Write.Park one -> endpointOf(one.message());
          case Write.Move one -> endpointOf(one.message());
          case Write.Drop one -> endpointOf(one.message());
          case Write.ChangeState one -> one.endpoint().id();
          case Write.Spread one -> one.step().event();
          case Write.Progress one -> one.before() == null ? null : one.replay().id();
          default -> null;
        };
    check(id == null || ours.has(id), "not its to write: " + write);
    if (write instanceof Write.Progress progress && progress.before() != null) {
      Replay before = rows.replays.get(progress.replay().id());
      check(
          before != null
              && before.state() == Replay.State.RUNNING
              && isSameProgress(before, progress),
          "written by two: " + progress + " after " + before);
    }
  }

  private static boolean isSameProgress(Replay before, Write.Progress progress) {
    Replay known = requireNonNull(progress.before());
    return known.done() == before.done() && known.skipped() == before.skipped();
  }

  private @Nullable Long endpointOf(Message message) {
    Message stored = rows.open.get(message.id());
    return stored == null ? null : (Long) stored.endpoint();
  }

  private Set<String> tenants(Batch batch) {
    Set<String> tenants = new HashSet<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept ->
            accept.events().forEach(event -> tenants.add(event.event().tenant()));
        case Write.Subscribe one -> tenants.add(one.subscription().tenant());
        case Write.Update one -> tenants.add(one.subscription().tenant());
        case Write.Unsubscribe one -> tenants.add(one.subscription().tenant());
        case Write.Import all -> {
          all.created().forEach(one -> tenants.add(one.subscription().tenant()));
          all.changed().forEach(one -> tenants.add(one.subscription().tenant()));
        }
        case Write.Configure one -> tenants.add(tenantOf(one.endpoint()));
        case Write.Forget one -> {
          Subscription ended = rows.ended.get(one.subscription());
          if (ended != null) {
            tenants.add(ended.tenant());
          }
        }
        default -> {}
      }
    }
    for (Deed deed : batch.deeds()) {
      if (deed.what() instanceof Deed.Configured) {
        tenants.add(deed.tenant());
      }
    }
    return tenants;
  }

  private String tenantOf(long endpoint) {
    return requireNonNull(rows.endpoints.get(endpoint)).tenant();
  }

  private static Set<Long> configured(Batch batch) {
    Set<Long> configured = new HashSet<>();
    for (Deed deed : batch.deeds()) {
      if (deed.what() instanceof Deed.Configured what) {
        configured.add(what.after().id());
      }
    }
    return configured;
  }

  /** Health as its node says, settings as the last one says who has set any. */
  private Endpoint merged(Endpoint endpoint, Batch batch, boolean isConfigured) {
    Endpoint stored = rows.endpoints.get(endpoint.id());
    if (stored == null) {
      return endpoint;
    }
    Endpoint merged = isConfigured ? endpoint : stored;
    Endpoint healthy = batch.ours().has(endpoint.id()) ? endpoint : stored;
    return merged.with(healthy.health()).withGoneAt(healthy.goneAt());
  }

  private void changed(long id, String tenant) {
    version++;
    changes.add(new Change(version, tenant));
    changed.put(id, version);
  }

  private void note(Write write) {
    switch (write) {
      case Write.Subscribe one -> {
        tenantOfSubscription.put(one.subscription().id(), one.subscription().tenant());
        if (one.newEndpoint() != null) {
          changed(one.newEndpoint().id(), one.subscription().tenant());
        }
        changed(one.subscription().id(), one.subscription().tenant());
      }
      case Write.Update one -> {
        if (one.newEndpoint() != null) {
          changed(one.newEndpoint().id(), one.subscription().tenant());
        }
        changed(one.subscription().id(), one.subscription().tenant());
      }
      case Write.Unsubscribe one -> changed(one.subscription().id(), one.subscription().tenant());
      case Write.Import all -> {
        all.created().forEach(one -> note(one));
        all.changed().forEach(one -> note(one));
      }
      case Write.Forget one -> {
        String tenant = requireNonNull(tenantOfSubscription.get(one.subscription()));
        changed(one.subscription(), tenant);
        forgotten.put(one.subscription(), version);
      }
      default -> {}
    }
  }

  private void leave(Write write, Shards ours) {
    switch (write) {
      case Write.Accept accept -> accept.events().forEach(event -> leave(event, ours));
      case Write.Spread spread -> spread.messages().forEach(message -> leave(message, ours));
      case Write.Move move -> leave(move.message(), ours);
      case Write.Drop drop -> leave(drop.announced(), ours);
      case Write.ChangeState change -> leave(change.announced(), ours);
      case Write.Progress progress -> {
        if (progress.before() == null) {
          leave(progress.replay(), ours);
        }
        progress.made().forEach(made -> leave(made.message(), ours));
      }
      case Write.Subscribe subscribe -> {
        if (subscribe.history() != null) {
          leave(subscribe.history(), ours);
        }
      }
      default -> {}
    }
  }

  private void leave(Write.@Nullable AcceptedEvent event, Shards ours) {
    if (event == null) {
      return;
    }
    event.messages().forEach(message -> leave(message, ours));
    for (FanOut step : event.later()) {
      if (!ours.has(step.event())) {
        left.add(new Left(Shards.of(step.event()), null, step, null));
      }
    }
  }

  private void leave(Message message, Shards ours) {
    if (!ours.has(message.endpoint())) {
      Arrived arrived = new Arrived(message.id(), message.endpoint(), message.status(), null);
      left.add(new Left(Shards.of(message.endpoint()), arrived, null, null));
    }
  }

  private void leave(Replay replay, Shards ours) {
    if (!ours.has(replay.id())) {
      left.add(new Left(Shards.of(replay.id()), null, null, replay));
    }
  }

  Arrivals arrivals(int node, Shards ours, int limit) {
    for (int shard : ours.numbers()) {
      check(Objects.equals(owners.get(shard), node), "asks for what is not its: " + shard);
    }
    List<Arrived> messages = new ArrayList<>();
    List<FanOut> steps = new ArrayList<>();
    List<Replay> replays = new ArrayList<>();
    int count = 0;
    for (Iterator<Left> all = left.iterator(); all.hasNext() && count < limit; ) {
      Left one = all.next();
      if (!ours.contains(one.shard())) {
        continue;
      }
      all.remove();
      count++;
      if (one.message() != null) {
        Arrived message = one.message();
        messages.add(
            new Arrived(
                message.id(), message.endpoint(), message.status(), rows.open.get(message.id())));
      } else if (one.step() != null) {
        steps.add(one.step());
      } else {
        replays.add(requireNonNull(one.replay()));
      }
    }
    return new Arrivals(messages, steps, replays, count == limit);
  }

  boolean isAnythingLeft() {
    return !left.isEmpty();
  }

  Known changes(long since) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (Endpoint endpoint : rows.endpoints.values()) {
      if (changed.getOrDefault(endpoint.id(), 0L) > since) {
        endpoints.add(endpoint);
      }
    }
    return new Known(
        version,
        endpoints,
        changedOf(rows.subscriptions, since),
        changedOf(rows.ended, since),
        forgotten.keySet().stream().filter(id -> forgotten.getOrDefault(id, 0L) > since).toList());
  }

  private List<Subscription> changedOf(Map<Long, Subscription> subscriptions, long since) {
    return subscriptions.values().stream()
        .filter(one -> changed.getOrDefault(one.id(), 0L) > since)
        .toList();
  }

  /** Gives a node shards that nobody decides for. */
  Holdings claim(int node, Shards shards) {
    for (int shard : shards.numbers()) {
      check(owners.put(shard, node) == null, "somebody has it: " + shard);
    }
    left.removeIf(one -> shards.contains(one.shard()));
    Map<Long, Unfinished> unfinished = new HashMap<>();
    for (Message message : rows.open.values()) {
      if (shards.has(message.endpoint())) {
        unfinished.merge(message.endpoint(), Unfinished.of(message.status(), 1), Unfinished::plus);
      }
    }
    return new Holdings(
        rows.endpoints.values().stream().filter(one -> shards.has(one.id())).toList(),
        unfinished,
        rows.fanOuts.stream().filter(step -> shards.has(step.event())).toList(),
        rows.replays.values().stream()
            .filter(one -> one.state() == Replay.State.RUNNING && shards.has(one.id()))
            .toList());
  }

  void letGo(int node, Shards shards) {
    for (int shard : shards.numbers()) {
      check(owners.remove(shard, node), "not its to let go: " + shard);
    }
  }

  Shards of(int node) {
    return Shards.of(
        owners.entrySet().stream()
            .filter(owned -> owned.getValue() == node)
            .map(Map.Entry::getKey)
            .toList());
  }

  /** Nobody's. */
  Shards free() {
    Shards free = Shards.ALL;
    return free.minus(Shards.of(owners.keySet()));
  }
}
