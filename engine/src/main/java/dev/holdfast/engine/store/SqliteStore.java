package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKeySource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The embedded store.
 *
 * <p>Its calls do input and output through native code: call them from platform threads. Reads of
 * the path wait for each other; a few reads of history run at once, each with a time limit.
 */
public final class SqliteStore implements Database {
  private static final Logger LOG = LoggerFactory.getLogger(SqliteStore.class);

  /** Answered from the index alone. */
  static final String COUNT_UNFINISHED =
      "SELECT endpoint, status, count(*) FROM open GROUP BY endpoint, status";

  /** Answered by one look at the table's first row. */
  static final String OLDEST_UNFINISHED = "SELECT min(id) FROM open";

  /** Answered by one look at the index's first entry. */
  static final String EARLIEST_DUE = "SELECT min(due) FROM open WHERE due IS NOT NULL";

  private final StoreFile file;
  private final Seals seals;
  private final @Nullable StoreVault vault;
  private final Writer writer;
  private final Upkeep upkeep;
  private final Checkpointer checkpointer;
  private final PathReads path;
  private final HistoryReads history;
  private final ReplayReads replays;
  private final PastReads past;
  private final ApiKeys apiKeys;
  private final Sessions sessions;
  private final Audit audit;
  private final ActivityRows activity;
  private final Reader extents;

  /** What is to be closed, in this order: the writer after everybody else, so that it tidies up. */
  private final List<AutoCloseable> parts;

  private boolean closed;

  /**
   * Opens the store in a directory, which is made when absent, with the key file that is in there;
   * that is made with a new store.
   */
  public static SqliteStore open(Path directory) throws StoreRefused {
    return open(directory, StoreLimits.DEFAULT);
  }

  /**
   * Opens the store in a directory, which is made when absent.
   *
   * @param keys where the master key comes from, without which a store that has secrets is refused
   */
  public static SqliteStore open(Path directory, MasterKeySource keys, InstantSource clock)
      throws StoreRefused {
    return open(directory, keys, clock, StoreLimits.DEFAULT, Upkeep.Limits.DEFAULT);
  }

  /**
   * Opens the store in a directory without a master key: for the keys of the API and nothing else.
   * What is sealed stays so; nothing that has secrets can be read or written.
   */
  public static SqliteStore openSealed(Path directory) throws StoreRefused {
    return open(
        directory, null, InstantSource.system(), StoreLimits.DEFAULT, Upkeep.Limits.DEFAULT);
  }

  static SqliteStore open(Path directory, StoreLimits limits) throws StoreRefused {
    return open(directory, limits, Upkeep.Limits.DEFAULT);
  }

  static SqliteStore open(Path directory, StoreLimits limits, Upkeep.Limits upkeepLimits)
      throws StoreRefused {
    return open(directory, KeyFile.in(directory), InstantSource.system(), limits, upkeepLimits);
  }

  private static SqliteStore open(
      Path directory,
      @Nullable MasterKeySource keys,
      InstantSource clock,
      StoreLimits limits,
      Upkeep.Limits upkeepLimits)
      throws StoreRefused {
    StoreFile file;
    if (keys == null) {
      file = StoreFile.open(directory);
    } else {
      StoreVault.check(keys);
      file = StoreFile.open(directory, StoreVault.look(directory, keys));
    }
    List<AutoCloseable> opened = new ArrayList<>();
    try {
      return new SqliteStore(file, opened, keys, clock.instant(), limits, upkeepLimits);
    } catch (StoreRefused e) {
      close(file, opened);
      throw e;
    } catch (SQLException | StoreException | RuntimeException e) {
      close(file, opened);
      throw new StoreRefused(
          file.path()
              + " cannot be opened: "
              + e.getMessage()
              + ". If its disk is full, make room; if it is damaged, restore it from a backup.",
          e);
    }
  }

  private static void close(StoreFile file, List<AutoCloseable> opened) {
    for (AutoCloseable part : opened.reversed()) {
      close(part);
    }
    file.close();
  }

  private SqliteStore(
      StoreFile file,
      List<AutoCloseable> opened,
      @Nullable MasterKeySource keys,
      Instant now,
      StoreLimits limits,
      Upkeep.Limits upkeepLimits)
      throws SQLException, StoreException, StoreRefused {
    this.file = file;
    var connection = Sqlite.writer(file.path(), limits.longLogBytes());
    opened.add(connection);
    if (keys != null) {
      StoreVault.prepare(connection, keys);
    }
    Migrations.apply(connection);
    Migrations.makeShrinkable(connection);
    HistoryIndex index = new HistoryIndex(connection, upkeepLimits.index());
    seals = Seals.closed();
    writer = new Writer(connection, file.mark(), index, seals);
    Transactions ofKeys = transactions(opened);
    if (keys == null) {
      vault = null;
    } else {
      vault = StoreVault.open(connection, ofKeys, seals, keys, file.path(), now);
      new Sealing(connection, writer, seals).run();
    }
    upkeep = new Upkeep(connection, writer, index, upkeepLimits);
    List<Reader> longReaders = new ArrayList<>();
    for (int i = 0; i < limits.historyReaders(); i++) {
      longReaders.add(opened(opened, new Reader(file.path())));
    }
    history = new HistoryReads(longReaders, limits);
    replays = new ReplayReads(history, limits);
    past = new PastReads(history, limits);
    path = new PathReads(opened(opened, new Reader(file.path())), limits);
    apiKeys = new ApiKeys(ofKeys);
    sessions = new Sessions(ofKeys);
    audit = new Audit(transactions(opened), limits.historyRows());
    activity = new ActivityRows(transactions(opened), () -> 0);
    extents = opened(opened, new Reader(file.path()));
    checkpointer =
        opened(
            opened,
            new Checkpointer(
                opened(opened, Sqlite.writer(file.path(), limits.longLogBytes())),
                writer,
                longReaders,
                limits));
    if (Inspection.hasMoreThan(connection, StoreLimits.INSPECTED_AT_START)) {
      Reader reader = opened(opened, new Reader(file.path()));
      opened(opened, new LateInspection(reader, writer)).start();
    }
    parts = List.copyOf(opened.reversed());
    checkpointer.start();
  }

  private Transactions transactions(List<AutoCloseable> opened) throws SQLException {
    return new EmbeddedTransactions(writer, opened(opened, new Reader(file.path())));
  }

  private static <T extends AutoCloseable> T opened(List<AutoCloseable> opened, T part) {
    opened.add(part);
    return part;
  }

  /** For tests that need the writer's own connection. */
  Writer writer() {
    return writer;
  }

  /** For tests that need a read of their own. */
  HistoryReads history() {
    return history;
  }

  /** What it means that something is not there which unfinished messages need. */
  public static StoreException missing(String what, Collection<Long> ids) {
    return Sqlite.failure("reading what messages need", new Damaged(what + " are missing: " + ids));
  }

  @Override
  public Instant latestTime() {
    return writer.latestTime();
  }

  @Override
  public StoreVault vault() {
    return Objects.requireNonNull(vault, "the store was opened without a master key");
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
  public Snapshot snapshot() throws StoreException {
    try {
      seals.vault();
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          StoreException.Kind.REFUSED, "reading where things stand: " + e.getMessage(), e);
    }
    try (Reader reader = new Reader(file.path())) {
      return reader.readAtOnce("reading where things stand", this::snapshot);
    } catch (SQLException e) {
      throw Sqlite.failure("opening a reader", e);
    }
  }

  private Snapshot snapshot(Transactions.Statements connection) throws SQLException {
    List<Endpoint> endpoints = new ArrayList<>();
    try (ResultSet rows =
        connection.prepare("SELECT " + Rows.ENDPOINT_COLUMNS + " FROM endpoints").executeQuery()) {
      while (rows.next()) {
        endpoints.add(Rows.endpoint(rows, seals));
      }
    }
    return new Snapshot(
        endpoints,
        subscriptions(connection, "ended_at IS NULL"),
        subscriptions(connection, "ended_at IS NOT NULL"),
        unfinished(connection),
        fanOuts(connection),
        ReplayReads.running(connection),
        highestId(connection),
        stored(connection));
  }

  private static Map<String, Snapshot.Stored> stored(Transactions.Statements connection)
      throws SQLException {
    try (ResultSet rows =
        connection.prepare("SELECT " + Tenants.COLUMNS + " FROM tenants").executeQuery()) {
      return Tenants.read(rows);
    }
  }

  private static List<FanOut> fanOuts(Transactions.Statements connection) throws SQLException {
    List<FanOut> steps = new ArrayList<>();
    String sql = "SELECT " + FanOutRow.COLUMNS + " FROM fan_outs ORDER BY event, first";
    try (ResultSet rows = connection.prepare(sql).executeQuery()) {
      while (rows.next()) {
        steps.add(FanOutRow.read(rows));
      }
    }
    return steps;
  }

  private List<Subscription> subscriptions(Transactions.Statements connection, String which)
      throws SQLException {
    List<Subscription> subscriptions = new ArrayList<>();
    String sql = "SELECT " + SubscriptionRow.COLUMNS + " FROM subscriptions WHERE " + which;
    try (ResultSet rows = connection.prepare(sql).executeQuery()) {
      while (rows.next()) {
        subscriptions.add(SubscriptionRow.read(rows, seals));
      }
    }
    return subscriptions;
  }

  private static Map<Long, Unfinished> unfinished(Transactions.Statements connection)
      throws SQLException {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    try (ResultSet rows = connection.prepare(COUNT_UNFINISHED).executeQuery()) {
      while (rows.next()) {
        int count = rows.getInt(3);
        unfinished.merge(
            rows.getLong(1), Unfinished.of(Rows.status(rows.getInt(2)), count), Unfinished::plus);
      }
    }
    return unfinished;
  }

  static long highestId(Transactions.Statements connection) throws SQLException {
    long highest = 0;
    for (FanOut step : fanOuts(connection)) {
      highest = Math.max(highest, step.lastMessage());
    }
    for (String table :
        List.of("events", "open", "messages", "endpoints", "subscriptions", "replays")) {
      try (ResultSet row = connection.prepare("SELECT max(id) FROM " + table).executeQuery()) {
        if (row.next()) {
          highest = Math.max(highest, row.getLong(1));
        }
      }
    }
    return highest;
  }

  @Override
  public Extent extent() throws StoreException {
    Path database = file.path();
    try {
      Path log = database.resolveSibling(database.getFileName() + "-wal");
      long databaseBytes = Files.size(database);
      long logBytes = Files.exists(log) ? Files.size(log) : 0;
      long freeBytes = Files.getFileStore(database).getUsableSpace();
      return extents.read(
          "looking how much there is",
          connection ->
              new Extent(
                  databaseBytes,
                  logBytes,
                  freeBytes,
                  oldestUnfinished(connection),
                  earliestDue(connection)));
    } catch (IOException e) {
      throw new StoreException(
          StoreException.Kind.REFUSED, "looking how large the store is: " + e, e);
    }
  }

  private static @Nullable Instant oldestUnfinished(Transactions.Statements connection)
      throws SQLException {
    try (ResultSet row = connection.prepare(OLDEST_UNFINISHED).executeQuery()) {
      return row.next() && row.getObject(1) != null ? Id.time(row.getLong(1)) : null;
    }
  }

  private static @Nullable Instant earliestDue(Transactions.Statements connection)
      throws SQLException {
    try (ResultSet row = connection.prepare(EARLIEST_DUE).executeQuery()) {
      return row.next() ? Rows.time(row, 1) : null;
    }
  }

  @Override
  public Written write(Batch batch) throws StoreException {
    Written written = writer.write(batch);
    checkpointer.betweenCommits();
    return written;
  }

  @Override
  public Upkept upkeep(Retention retention, Instant now) throws StoreException {
    Upkept done = upkeep.step(retention, now);
    checkpointer.betweenCommits();
    return done;
  }

  @Override
  public List<Message> due(DueCursor after, Instant through, int limit) throws StoreException {
    return path.due(after, through, limit);
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
  public Originals originals(Replay replay, int limit) throws StoreException {
    return replays.originals(replay, limit);
  }

  @Override
  public Originals past(Replay replay, Interest interest, int limit) throws StoreException {
    return past.past(replay, interest, limit);
  }

  @Override
  public List<Event> latestEvents(String tenant, int limit) throws StoreException {
    return history.latestEvents(tenant, limit);
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
  public Optional<Message> unfinished(long message) throws StoreException {
    return path.unfinished(message);
  }

  @Override
  public List<Event> events(List<Long> ids) throws StoreException {
    return path.events(ids);
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
  public synchronized void close() {
    if (!closed) {
      closed = true;
      parts.forEach(SqliteStore::close);
      file.close();
    }
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      LOG.warn(
          "store.close-failed next=\"what was written is safe; the log is moved at the next start\"",
          e);
    }
  }
}
