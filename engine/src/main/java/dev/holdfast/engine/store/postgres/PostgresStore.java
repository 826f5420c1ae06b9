package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.SharedStore;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written;
import dev.holdfast.engine.store.ActivityRows;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.Database;
import dev.holdfast.engine.store.EndpointReads;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.Sessions;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.store.Upkept;
import dev.holdfast.engine.store.postgres.PostgresWriter.Node;
import dev.holdfast.engine.vault.MasterKeySource;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store that several nodes share: each has one of these on the same database, and takes part as
 * long as it is open.
 */
public final class PostgresStore implements Database, SharedStore, EndpointReads {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresStore.class);

  /** Hears of what other nodes should know soon. Called by the thread that writes. */
  public interface Listener {

    /** Something was left for the nodes of some shards. */
    void left(Shards shards);

    /** Something of what everyone knows has changed. */
    void changed();

    /** Whether something was written is not known, and is being found out. */
    void inDoubt(Throwable cause);
  }

  private static final Listener NOBODY =
      new Listener() {
        @Override
        public void left(Shards shards) {}

        @Override
        public void changed() {}

        @Override
        public void inDoubt(Throwable cause) {}
      };

  private final Connections connections;
  private final Connections alongIndexes;
  private final Seals seals;
  private final StoreVault vault;
  private final PostgresPath path;
  private final Standing standing;
  private final PostgresHistory history;
  private final PostgresReplays replays;
  private final ApiKeys apiKeys;
  private final Sessions sessions;
  private final Audit audit;
  private final ActivityRows activity;
  private final PostgresExtent extent;
  private final PostgresUpkeep upkeep;
  private volatile Listener listener = NOBODY;
  private volatile Part part;

  /** What is there for as long as a process takes part under one id. */
  private record Part(Node node, long askedNanos, PostgresWriter writer, Handovers handovers) {}

  private boolean closed;

  /**
   * Opens the store, makes its tables if there are none, and begins to take part.
   *
   * @param keys where the master key comes from, which all nodes need
   */
  public static PostgresStore open(
      PostgresOptions options, MasterKeySource keys, InstantSource clock) throws StoreRefused {
    return open(options, keys, clock, StoreLimits.DEFAULT);
  }

  static PostgresStore open(
      PostgresOptions options, MasterKeySource keys, InstantSource clock, StoreLimits limits)
      throws StoreRefused {
    options.check();
    Connections connections = new Connections(options);
    Connections alongIndexes = Connections.alongIndexes(options);
    try {
      Schema.apply(connections);
      Seals seals = Seals.closed();
      StoreVault vault =
          StoreVault.share(
              new PostgresTransactions(connections), seals, keys, options.place(), clock.instant());
      return new PostgresStore(connections, alongIndexes, seals, vault, limits);
    } catch (StoreException e) {
      close(connections, alongIndexes);
      throw new StoreRefused(
          options.place() + " cannot be opened: " + e.getMessage() + SqlStates.remedyOfRights(e),
          e);
    } catch (StoreRefused | RuntimeException e) {
      close(connections, alongIndexes);
      throw e;
    }
  }

  private static void close(Connections... all) {
    for (Connections each : all) {
      each.close();
    }
  }

  private PostgresStore(
      Connections connections,
      Connections alongIndexes,
      Seals seals,
      StoreVault vault,
      StoreLimits limits)
      throws StoreException, StoreRefused {
    this.connections = connections;
    this.alongIndexes = alongIndexes;
    this.vault = vault;
    PostgresTransactions transactions = new PostgresTransactions(connections);
    this.seals = seals;
    long asked = System.nanoTime();
    Node node = Nodes.join(connections);
    Instant latest =
        connections.read(
            "reading the latest time",
            connection ->
                Rows.instant(Standing.number(connection, "SELECT max(latest) FROM batches")));
    part = part(node, asked, latest);
    path = new PostgresPath(alongIndexes, limits.backlogRows());
    standing = new Standing(connections, seals);
    history = new PostgresHistory(connections, limits, seals);
    replays = new PostgresReplays(alongIndexes, limits);
    apiKeys = new ApiKeys(transactions);
    sessions = new Sessions(transactions);
    audit = new Audit(transactions, limits.historyRows());
    activity = new ActivityRows(transactions, this::slot);
    extent = new PostgresExtent(alongIndexes);
    upkeep = new PostgresUpkeep(connections);
  }

  private Part part(Node node, long askedNanos, Instant latest) {
    return new Part(
        node,
        askedNanos,
        new PostgresWriter(
            connections,
            new PostgresTransactions(connections),
            node,
            seals,
            latest,
            cause -> listener.inDoubt(cause)),
        new Handovers(alongIndexes, node.id()));
  }

  /**
   * Takes part anew, under another id, since others have taken over from the old one. Nothing of
   * the old one may be under way.
   */
  public void rejoin() throws StoreException {
    Part before = part;
    before.writer().close();
    try {
      long asked = System.nanoTime();
      part = part(Nodes.join(connections), asked, before.writer().latestTime());
    } catch (StoreRefused e) {
      throw new StoreException(StoreException.Kind.AWAY, String.valueOf(e.getMessage()), e);
    }
  }

  /** The node's own id: that of its row, and the epoch of all its leases. */
  public long nodeId() {
    return part.node().id();
  }

  /** When the node asked to take part, by the monotonic clock: its lease runs from then on. */
  public long askedNanos() {
    return part.askedNanos();
  }

  /** The node's number in the ids that it gives out. */
  public int slot() {
    return part.node().slot();
  }

  /** Connections to the database, for whoever else needs some. Closed with the store. */
  public Connections connections() {
    return connections;
  }

  /** Who hears of it from now on when something was written that other nodes wait for. */
  public void tell(Listener next) {
    listener = next;
  }

  /** How often a write asked the server and waited for its answer. */
  public long trips() {
    return part.writer().trips();
  }

  /** What a node begins with that decides for nothing yet. */
  public Snapshot beginning() throws StoreException {
    return standing.beginning();
  }

  @Override
  public Snapshot snapshot() throws StoreException {
    return standing.snapshot();
  }

  @Override
  public Known changes(long since) throws StoreException {
    Known known = standing.changes(since);
    return known;
  }

  @Override
  public Holdings holdings(Shards shards) throws StoreException {
    Part now = part;
    Holdings holdings = standing.holdings(now.node().id(), shards);
    now.handovers().forget(shards);
    return holdings;
  }

  @Override
  public Arrivals arrivals(Shards ours, int limit) throws StoreException {
    return part.handovers().take(ours, limit);
  }

  @Override
  public Map<String, Stored> stored() throws StoreException {
    return standing.stored();
  }

  @Override
  public Written write(Batch batch) throws StoreException {
    PostgresWriter.Done done = part.writer().write(batch);
    if (!done.leftFor().isEmpty()) {
      listener.left(done.leftFor());
    }
    if (done.isKnownChanged()) {
      listener.changed();
    }
    return done.written();
  }

  @Override
  public Instant latestTime() {
    return part.writer().latestTime();
  }

  @Override
  public StoreVault vault() {
    return vault;
  }

  @Override
  public ApiKeys apiKeys() {
    return apiKeys;
  }

  @Override
  public Sessions sessions() {
    return sessions;
  }

  @Override
  public Audit audit() {
    return audit;
  }

  @Override
  public ActivityRows activity() {
    return activity;
  }

  @Override
  public Extent extent() throws StoreException {
    return extent.extent();
  }

  @Override
  public Upkept upkeep(Retention retention, Instant now) throws StoreException {
    return upkeep.stepBeside(retention, now);
  }

  @Override
  public List<Message> due(DueCursor after, Instant through, int limit) throws StoreException {
    return path.due(Shards.ALL, after, through, limit);
  }

  @Override
  public List<Message> due(Shards shards, DueCursor after, Instant through, int limit)
      throws StoreException {
    return path.due(shards, after, through, limit);
  }

  @Override
  public List<Message> pending(long endpoint, int limit) throws StoreException {
    return path.pending(endpoint, limit);
  }

  @Override
  public Backlog backlog(
      long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      throws StoreException {
    return path.backlog(endpoint, triedBefore, after, now, limit);
  }

  @Override
  public Optional<Message> probe(long endpoint, Instant now) throws StoreException {
    return path.probe(endpoint, now);
  }

  @Override
  public List<Message> ofSubscription(long endpoint, long subscription, Which which, int limit)
      throws StoreException {
    return path.ofSubscription(endpoint, subscription, which, limit);
  }

  @Override
  public Optional<Message> unfinished(long message) throws StoreException {
    return path.unfinished(message);
  }

  @Override
  public List<Event> events(List<Long> ids) throws StoreException {
    return path.events(ids);
  }

  @Override
  public Originals originals(Replay replay, int limit) throws StoreException {
    return replays.originals(replay, limit);
  }

  @Override
  public Originals past(Replay replay, Interest interest, int limit) throws StoreException {
    return replays.past(replay, interest, limit);
  }

  @Override
  public Page messages(Query query) throws StoreException {
    return history.messages(query);
  }

  @Override
  public Optional<MessageDetail> message(String tenant, long id) throws StoreException {
    return history.message(tenant, id);
  }

  @Override
  public Optional<EventDetail> event(String tenant, EventKey key) throws StoreException {
    return history.event(tenant, key);
  }

  @Override
  public Optional<Event> eventAlone(String tenant, EventKey key) throws StoreException {
    return history.eventAlone(tenant, key);
  }

  @Override
  public EventPage events(EventQuery query) throws StoreException {
    return history.events(query);
  }

  @Override
  public AttemptPage attempts(AttemptQuery query) throws StoreException {
    return history.attempts(query);
  }

  @Override
  public Map<Long, List<AttemptMark>> latestAttempts(
      String tenant, List<Long> endpoints, Instant since, int each) throws StoreException {
    return history.latestAttempts(tenant, endpoints, since, each);
  }

  @Override
  public List<Change> changes(long endpoint, int limit) throws StoreException {
    return history.changes(endpoint, limit);
  }

  @Override
  public List<EndpointChange> changes(ChangeQuery query) throws StoreException {
    return history.changes(query);
  }

  @Override
  public Optional<Replay> replay(String tenant, long id) throws StoreException {
    return history.replay(tenant, id);
  }

  @Override
  public List<Replay> replays(String tenant, long before, int limit) throws StoreException {
    return history.replays(tenant, before, limit);
  }

  @Override
  public List<Event> latestEvents(String tenant, int limit) throws StoreException {
    return history.latestEvents(tenant, limit);
  }

  /**
   * Makes parts for what is older than the store, so that it can be removed in time: to be called
   * before it is brought there, while nothing else is.
   *
   * @param oldest when the oldest of it was accepted
   * @return whether all of them are there; not if others were at work, who may be waited for
   */
  public boolean makeRoom(Retention retention, Instant oldest, Instant now) throws StoreException {
    return upkeep.makeRoom(retention, oldest, now);
  }

  @Override
  public Optional<EndpointNow> endpoint(String tenant, long id) throws StoreException {
    return history.endpoint(tenant, id);
  }

  @Override
  public EndpointPage endpoints(String tenant, Health.@Nullable State state, long before, int limit)
      throws StoreException {
    return history.endpoints(tenant, state, before, limit);
  }

  @Override
  public List<Outline> outlines(String tenant, int most) throws StoreException {
    return history.outlines(tenant, most);
  }

  @Override
  public List<EndpointNow> endpoints(String tenant, List<Long> ids) throws StoreException {
    return history.endpoints(tenant, ids);
  }

  /** The node takes part no longer; what it decided for is anybody's. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    upkeep.close();
    part.writer().close();
    try {
      Nodes.leave(connections, part.node());
    } catch (StoreException e) {
      LOG.warn("store.left-without-word next=\"others take over when the lease is over\"", e);
    }
    alongIndexes.close();
    connections.close();
  }
}
