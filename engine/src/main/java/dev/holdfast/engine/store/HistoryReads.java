package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.HistoryIndex.By;
import dev.holdfast.engine.store.HistoryIndex.Extent;
import dev.holdfast.engine.store.Rows.EventHead;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What people ask about messages.
 *
 * <p>A tenant is checked on the event's row, which every answer needs anyway. Unfinished messages,
 * finished ones and those that {@link HistoryIndex} has are walked from the newest id down, side by
 * side.
 */
final class HistoryReads implements History {
  /** A message without its event shows that the store is damaged, so it is not left out. */
  private static final String OF_EVENT =
      ", "
          + prefixed("e", Rows.EVENT_HEAD_COLUMNS)
          + " FROM %s m LEFT JOIN events e"
          + " ON e.id = m.event WHERE ";

  private static final int UNFINISHED_EVENT_COLUMN = 15;

  private static final String UNFINISHED =
      "SELECT " + prefixed("m", Rows.MESSAGE_COLUMNS) + OF_EVENT.formatted("open");

  private static final int FINISHED_EVENT_COLUMN = 10;

  private static final String FINISHED =
      "SELECT " + prefixed("m", Finished.COLUMNS) + OF_EVENT.formatted("messages");

  /** The next number of attempts that unfinished messages of an endpoint have. */
  private static final String NEXT_GROUP =
      "SELECT attempts FROM open WHERE endpoint = ? AND status = ? AND attempts > ?"
          + " ORDER BY attempts LIMIT 1";

  private static final String OF_GROUP =
      "m.endpoint = ? AND m.status = ? AND m.attempts = ? AND m.id >= ? AND m.id < ?"
          + " ORDER BY m.id DESC LIMIT ?";

  private static final String COUNT_FINISHED =
      "SELECT count(*) FROM (SELECT 1 FROM messages WHERE id >= ? AND id < ? LIMIT ?)";

  private static final String RANGE = "m.id >= ? AND m.id < ? ORDER BY m.id DESC LIMIT ?";

  private final BlockingQueue<Reader> idle;
  private final StoreLimits limits;

  HistoryReads(List<Reader> readers, StoreLimits limits) {
    this.idle = new ArrayBlockingQueue<>(readers.size(), false, readers);
    this.limits = limits;
  }

  static String prefixed(String table, String columns) {
    return table + "." + columns.replace(", ", ", " + table + ".");
  }

  @Override
  public Page messages(Query query) throws StoreException {
    return read("listing messages", connection -> messages(connection, query));
  }

  @Override
  public Optional<MessageDetail> message(String tenant, long id) throws StoreException {
    return read("reading a message", connection -> message(connection, tenant, id));
  }

  @Override
  public Optional<EventDetail> event(String tenant, EventKey key) throws StoreException {
    return read("reading an event", connection -> event(connection, tenant, key));
  }

  @Override
  public Optional<Event> eventAlone(String tenant, EventKey key) throws StoreException {
    return read("reading an event", connection -> eventAlone(connection, tenant, key));
  }

  @Override
  public EventPage events(EventQuery query) throws StoreException {
    return read(
        "listing events", connection -> EventReads.events(connection, query, limits.historyRows()));
  }

  @Override
  public AttemptPage attempts(AttemptQuery query) throws StoreException {
    return read(
        "listing attempts",
        connection ->
            isOfAnother(connection, "endpoints", query.endpoint(), query.tenant())
                ? new AttemptPage(List.of(), null)
                : AttemptPages.page(
                    new AttemptReads(
                        connection, query.tenant(), Set.of(query.endpoint()), limits.historyRows()),
                    query,
                    limits.historyRows()));
  }

  @Override
  public Map<Long, List<AttemptMark>> latestAttempts(
      String tenant, List<Long> endpoints, Instant since, int each) throws StoreException {
    return read(
        "reading the latest attempts",
        connection -> {
          List<Long> own = new ArrayList<>();
          for (Long endpoint : endpoints) {
            if (!isOfAnother(connection, "endpoints", endpoint, tenant)) {
              own.add(endpoint);
            }
          }
          LatestReads reads = new LatestReads(connection, tenant, limits.historyRows());
          return LatestAttempts.of(reads, own, since, each, limits.historyRows());
        });
  }

  @Override
  public List<Change> changes(long endpoint, int limit) throws StoreException {
    return read("reading the changes of an endpoint", c -> changes(c, endpoint, limit));
  }

  @Override
  public List<EndpointChange> changes(ChangeQuery query) throws StoreException {
    return read("reading the changes of endpoints", c -> ChangeRows.read(c, query));
  }

  @Override
  public Optional<Replay> replay(String tenant, long id) throws StoreException {
    return read("reading a replay", connection -> ReplayReads.replay(connection, tenant, id));
  }

  @Override
  public List<Replay> replays(String tenant, long before, int limit) throws StoreException {
    return read("listing replays", c -> ReplayReads.replays(c, tenant, before, limit));
  }

  @Override
  public List<Event> latestEvents(String tenant, int limit) throws StoreException {
    return read("reading the latest events", c -> PastReads.latest(c, tenant, limit, limits));
  }

  <T> T read(String doing, Transactions.Read<T> read) throws StoreException {
    Reader reader;
    try {
      reader = idle.poll(limits.historyRead().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(StoreException.Kind.REFUSED, doing + ": interrupted", e);
    }
    if (reader == null) {
      throw new StoreException(
          StoreException.Kind.REFUSED,
          doing + ": others kept all readers busy for " + limits.historyRead().toMillis() + " ms",
          new TimeoutException());
    }
    try {
      return reader.readAtOnce(doing, read);
    } finally {
      idle.add(reader);
    }
  }

  private Page messages(Transactions.Statements connection, Query query) throws SQLException {
    if (isOfAnother(connection, "endpoints", query.endpoint(), query.tenant())
        || isOfAnother(connection, "subscriptions", query.subscription(), query.tenant())) {
      return new Page(List.of(), null);
    }
    long from = query.since() == null ? 0 : Summaries.firstIdAt(query.since());
    long below = query.before();
    if (query.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(query.until()));
    }
    Long event = null;
    List<MessageSummary> items = new ArrayList<>();
    if (query.event() != null) {
      EventHead head = eventHead(connection, query.tenant(), query.event());
      if (head == null) {
        return new Page(List.of(), null);
      }
      event = head.id();
      for (Found made : remade(connection, event)) {
        long id = made.summary().id();
        if (id >= from && id < below && isWanted(made, query, event)) {
          items.add(made.summary());
        }
        if (items.size() == query.limit()) {
          return new Page(items, id);
        }
      }
      from = Math.max(from, event + 1);
      below = Math.min(below, Summaries.lastMessageOf(head) + 1);
    }
    Set<Status> wanted =
        query.statuses().isEmpty() ? EnumSet.allOf(Status.class) : query.statuses();
    Long hidden = hidden(connection);
    if (hidden != null && hidden.equals(event)) {
      return new Page(List.of(), null);
    }
    try (Walks walks = new Walks(connection, limits.historyRows())) {
      if (event == null) {
        walks.addAll(query, wanted, from, below);
      } else {
        for (Table table : Table.values()) {
          walks.add(table, from, below);
        }
      }
      long last = Long.MAX_VALUE;
      for (int looked = 0;
          looked < limits.historyRows() && items.size() < query.limit();
          looked++) {
        Found found = walks.newest();
        if (found == null) {
          return new Page(items, walks.cut());
        }
        last = found.summary().id();
        if (found.matches(query, event)
            && wanted.contains(found.summary().status())
            && !Objects.equals(hidden, found.event().id())) {
          items.add(withOrigin(connection, found).summary());
        }
        walks.advance();
      }
      return new Page(items, walks.newest() == null ? walks.cut() : (Long) last);
    }
  }

  private static boolean isWanted(Found found, Query query, @Nullable Long event) {
    return found.matches(query, event)
        && (query.statuses().isEmpty() || query.statuses().contains(found.summary().status()));
  }

  /** The messages that replays have made of an event's, newest first. */
  private List<Found> remade(Transactions.Statements connection, long event) throws SQLException {
    List<Remaking> made = new ArrayList<>();
    PreparedStatement statement = connection.prepare(Remaking.OF_EVENT);
    statement.setLong(1, event);
    statement.setInt(2, limits.historyRows());
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        made.add(Remaking.from(rows));
      }
    }
    List<Found> messages = new ArrayList<>(made.size());
    for (Remaking each : made) {
      Found found = find(connection, each.message());
      if (found == null) {
        throw new Damaged("message " + each.message() + " is missing");
      }
      messages.add(new Found(found.summary().madeOf(each.original()), found.event()));
    }
    messages.sort(Comparator.comparingLong((Found found) -> found.summary().id()).reversed());
    return messages;
  }

  /**
   * The message with what it was made of, if a replay has made it: its id is not by its event's.
   */
  private static Found withOrigin(Transactions.Statements connection, Found found)
      throws SQLException {
    if (found.summary().id() <= Summaries.lastMessageOf(found.event())) {
      return found;
    }
    PreparedStatement statement = connection.prepare(Remaking.OF_MESSAGE);
    statement.setLong(1, found.event().id());
    statement.setLong(2, found.summary().id());
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("what message " + found.summary().id() + " was made of is missing");
      }
      return new Found(found.summary().madeOf(Remaking.from(row).original()), found.event());
    }
  }

  /** Up to which id the index has all finished messages. */
  static long indexedThrough(Transactions.Statements connection) throws SQLException {
    try (ResultSet row = connection.prepare(Extent.SELECT).executeQuery()) {
      return Extent.from(row).through();
    }
  }

  /**
   * Whether it is another tenant's. Its messages would not be shown, but where a page ends could
   * tell how many there are.
   */
  private static boolean isOfAnother(
      Transactions.Statements connection, String table, @Nullable Long id, String tenant)
      throws SQLException {
    if (id == null) {
      return false;
    }
    PreparedStatement statement =
        connection.prepare("SELECT 1 FROM " + table + " WHERE id = ? AND tenant <> ?");
    statement.setLong(1, id);
    statement.setString(2, tenant);
    try (ResultSet row = statement.executeQuery()) {
      return row.next();
    }
  }

  /** The event that is being removed, which nobody sees any more. */
  static @Nullable Long hidden(Transactions.Statements connection) throws SQLException {
    try (ResultSet row = connection.prepare(Removal.HIDDEN).executeQuery()) {
      return Removal.hidden(row);
    }
  }

  /** A table of messages. */
  private enum Table {
    UNFINISHED("open", HistoryReads.UNFINISHED, "m.status") {
      @Override
      Found read(ResultSet row) throws SQLException {
        return unfinished(row);
      }
    },
    FINISHED("messages", HistoryReads.FINISHED, "(m.reason IS NOT NULL)") {
      @Override
      Found read(ResultSet row) throws SQLException {
        return finished(row);
      }
    };

    private final String select;
    private final String scan;
    private final String cut;

    Table(String table, String select, String status) {
      this.select = select;
      this.scan =
          "m.id >= ?1 AND m.id < ?2 AND (?3 IS NULL OR m.endpoint = ?3)"
              + " AND (?4 IS NULL OR m.subscription = ?4) AND (?6 >> "
              + status
              + ") & 1 AND (e.id IS NULL OR e.tenant = ?5) ORDER BY m.id DESC LIMIT ?7";
      this.cut =
          "SELECT id FROM " + table + " WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?";
    }

    abstract Found read(ResultSet row) throws SQLException;
  }

  /** A message that a walk has come to. */
  private record Found(MessageSummary summary, EventHead event) {

    boolean matches(Query query, @Nullable Long wantedEvent) {
      return (wantedEvent == null || wantedEvent == event.id())
          && (query.subscription() == null || query.subscription() == summary.subscription())
          && (query.endpoint() == null || query.endpoint() == summary.endpoint())
          && query.tenant().equals(event.tenant())
          && query.about().covers(event.type(), event.subject());
    }
  }

  /** What is walked side by side, always on at the newest message that any of them has come to. */
  private static final class Walks implements AutoCloseable {
    /** With more numbers of attempts than this, all unfinished messages are walked instead. */
    private static final int MOST_GROUPS = 100;

    private final Transactions.Statements connection;
    private final int mostRows;
    private final List<Walk> walks = new ArrayList<>();
    private @Nullable Long cut;

    Walks(Transactions.Statements connection, int mostRows) {
      this.connection = connection;
      this.mostRows = mostRows;
    }

    /** All messages of a table. */
    void add(Table table, long from, long below) throws SQLException {
      PreparedStatement statement = connection.prepare(table.select + RANGE);
      statement.setLong(1, from);
      statement.setLong(2, below);
      add(statement, 3, table::read);
    }

    /** All that may be asked for. */
    void addAll(Query query, Set<Status> wanted, long from, long below) throws SQLException {
      List<Message.Status> unfinished =
          Arrays.stream(Message.Status.values())
              .filter(status -> wanted.contains(Summaries.shown(status)))
              .toList();
      List<Group> groups = groups(query.endpoint(), unfinished);
      boolean scansUnfinished = !unfinished.isEmpty() && groups == null;
      boolean delivered = wanted.contains(Status.DELIVERED);
      boolean dropped = wanted.contains(Status.DROPPED);
      boolean finished = delivered || dropped;
      long through = finished ? indexedThrough(connection) : 0;
      long down = from;
      int rows = mostRows;
      if (finished) {
        long tail = Math.max(from, through + 1);
        int half = Math.max(1, mostRows / 2);
        down = Math.max(down, cut(Table.FINISHED, tail, below, half));
        rows -= scansUnfinished ? count(tail, below, half) : 0;
      }
      if (scansUnfinished) {
        down = Math.max(down, cut(Table.UNFINISHED, from, below, rows));
      }
      cut = down > from ? (Long) down : null;
      if (scansUnfinished) {
        int statuses = unfinished.stream().mapToInt(status -> 1 << Rows.code(status)).sum();
        scan(Table.UNFINISHED, query, statuses, down, below);
      } else if (groups != null) {
        addGroups(groups, down, below);
      }
      if (finished) {
        int kinds = (delivered ? 1 : 0) + (dropped ? 2 : 0);
        scan(Table.FINISHED, query, kinds, Math.max(down, through + 1), below);
      }
      if (delivered) {
        addIndexed(Owner.of(query), false, down, below);
      }
      if (dropped) {
        addIndexed(Owner.of(query), true, down, below);
      }
    }

    /** Where it was stopped to look further down, if it was; it goes on there. */
    @Nullable Long cut() {
      return cut;
    }

    /** How far down a table can be looked through, if not to its end. */
    private long cut(Table table, long from, long below, int rows) throws SQLException {
      PreparedStatement statement = connection.prepare(table.cut);
      statement.setLong(1, from);
      statement.setLong(2, below);
      statement.setInt(3, rows);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getLong(1) + 1 : 0;
      }
    }

    /** How many finished messages there are, up to a number. */
    private int count(long from, long below, int most) throws SQLException {
      PreparedStatement statement = connection.prepare(COUNT_FINISHED);
      statement.setLong(1, from);
      statement.setLong(2, below);
      statement.setInt(3, most);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getInt(1) : 0;
      }
    }

    /** Looks through a table for what is asked for. */
    private void scan(Table table, Query query, int statuses, long from, long below)
        throws SQLException {
      PreparedStatement statement = connection.prepare(table.select + table.scan);
      statement.setLong(1, from);
      statement.setLong(2, below);
      statement.setObject(3, query.endpoint());
      statement.setObject(4, query.subscription());
      statement.setString(5, query.tenant());
      statement.setInt(6, statuses);
      add(statement, 7, table::read);
    }

    private void addGroups(List<Group> groups, long from, long below) throws SQLException {
      for (int i = 0; i < groups.size(); i++) {
        // A statement can be walked once at a time, so each walk has one that reads differently.
        PreparedStatement statement =
            connection.prepare(Table.UNFINISHED.select + OF_GROUP + " /* " + i + " */");
        statement.setLong(1, groups.get(i).endpoint());
        statement.setInt(2, Rows.code(groups.get(i).status()));
        statement.setInt(3, groups.get(i).attempts());
        statement.setLong(4, from);
        statement.setLong(5, below);
        add(statement, 6, Table.UNFINISHED::read);
      }
    }

    /**
     * Unfinished messages of one endpoint are found by the index that the path has. It sorts them
     * by status and number of attempts before the id, so each of these groups is walked. Absent
     * when that is not possible.
     */
    private @Nullable List<Group> groups(@Nullable Long endpoint, List<Message.Status> statuses)
        throws SQLException {
      if (endpoint == null) {
        return null;
      }
      List<Group> groups = new ArrayList<>();
      for (Message.Status status : statuses) {
        if (!addGroups(groups, endpoint, status)) {
          return null;
        }
      }
      return groups;
    }

    /** Finds how many attempts messages have; false if there are too many different numbers. */
    private boolean addGroups(List<Group> groups, long endpoint, Message.Status status)
        throws SQLException {
      PreparedStatement statement = connection.prepare(NEXT_GROUP);
      statement.setLong(1, endpoint);
      statement.setInt(2, Rows.code(status));
      int attempts = -1;
      while (groups.size() <= MOST_GROUPS) {
        statement.setInt(3, attempts);
        try (ResultSet row = statement.executeQuery()) {
          if (!row.next()) {
            return true;
          }
          attempts = row.getInt(1);
        }
        groups.add(new Group(endpoint, status, attempts));
      }
      return false;
    }

    private void addIndexed(Owner owner, boolean isDropped, long from, long below)
        throws SQLException {
      IndexedIds ids =
          IndexedIds.of(
              connection,
              owner.by(),
              owner.key(),
              isDropped,
              IndexedIds.Direction.NEWEST_FIRST,
              from,
              below);
      add(new Walk(new Indexed(connection, ids, owner, isDropped)));
    }

    /** Walks a statement whose last parameter is the most rows that it may give. */
    private void add(PreparedStatement statement, int limit, Reading reading) throws SQLException {
      // One more than are looked at, so that reaching the end means that there are no more.
      statement.setInt(limit, mostRows + 1);
      add(new Walk(new Selected(statement.executeQuery(), reading)));
    }

    private void add(Walk walk) throws SQLException {
      walks.add(walk);
      walk.advance();
    }

    /** The newest message that has not been passed. */
    @Nullable Found newest() {
      Walk newest = newestWalk();
      return newest == null ? null : newest.found;
    }

    void advance() throws SQLException {
      Walk newest = newestWalk();
      if (newest != null) {
        newest.advance();
      }
    }

    private @Nullable Walk newestWalk() {
      Walk newest = null;
      for (Walk walk : walks) {
        if (walk.found != null && (newest == null || walk.id() > newest.id())) {
          newest = walk;
        }
      }
      return newest;
    }

    @Override
    public void close() throws SQLException {
      for (Walk walk : walks) {
        walk.steps.close();
      }
    }
  }

  /**
   * The narrowest that a list can be found by.
   *
   * @param id the id of the endpoint or subscription
   */
  private record Owner(By by, String tenant, long id) {
    static Owner of(Query query) {
      Long subscription = query.subscription();
      if (subscription != null) {
        return new Owner(By.SUBSCRIPTION, query.tenant(), subscription);
      }
      Long endpoint = query.endpoint();
      if (endpoint != null) {
        return new Owner(By.ENDPOINT, query.tenant(), endpoint);
      }
      return new Owner(By.TENANT, query.tenant(), 0);
    }

    /** What the index has its messages by. */
    Object key() {
      return by == By.TENANT ? tenant : (Object) id;
    }

    boolean has(Found found) {
      return switch (by) {
        case TENANT -> tenant.equals(found.event().tenant());
        case ENDPOINT -> id == found.summary().endpoint();
        case SUBSCRIPTION -> id == found.summary().subscription();
      };
    }
  }

  /** Unfinished messages of an endpoint that have the same status and number of attempts. */
  private record Group(long endpoint, Message.Status status, int attempts) {}

  private interface Reading {
    Found read(ResultSet row) throws SQLException;
  }

  /** What a walk comes by. */
  private interface Steps extends AutoCloseable {
    /** The next message; absent at the end. */
    @Nullable Found next() throws SQLException;

    @Override
    void close() throws SQLException;
  }

  /** The rows of a statement. */
  private record Selected(ResultSet rows, Reading reading) implements Steps {
    @Override
    public @Nullable Found next() throws SQLException {
      return rows.next() ? reading.read(rows) : null;
    }

    @Override
    public void close() throws SQLException {
      rows.close();
    }
  }

  /** Somebody's finished messages as the index of history has them. */
  private record Indexed(
      Transactions.Statements connection, IndexedIds ids, Owner owner, boolean isDropped)
      implements Steps {
    @Override
    public @Nullable Found next() throws SQLException {
      long id = ids.next();
      if (id == IndexedIds.NONE) {
        return null;
      }
      Found found = find(connection, Table.FINISHED, id);
      if (found == null
          || !owner.has(found)
          || (found.summary().status() == Status.DROPPED) != isDropped) {
        throw disagreement(id);
      }
      return found;
    }

    @Override
    public void close() throws SQLException {
      ids.close();
    }
  }

  /** Messages being walked from the newest down. */
  private static final class Walk {
    private final Steps steps;

    /** Where the walk is; absent when it is at its end. */
    private @Nullable Found found;

    Walk(Steps steps) {
      this.steps = steps;
    }

    void advance() throws SQLException {
      found = steps.next();
    }

    /** The id of the message where the walk is; below every id when it is at its end. */
    long id() {
      return found == null ? Long.MIN_VALUE : found.summary().id();
    }
  }

  static Damaged disagreement(long message) {
    return new Damaged("the index of history does not agree with message " + message);
  }

  private static Found unfinished(ResultSet row) throws SQLException {
    Message message = Rows.message(row);
    EventHead event = eventOf(message.event(), row, UNFINISHED_EVENT_COLUMN);
    return new Found(Summaries.of(message, event), event);
  }

  private static Found finished(ResultSet row) throws SQLException {
    Finished message = Finished.from(row);
    EventHead event = eventOf(message.event(), row, FINISHED_EVENT_COLUMN);
    return new Found(Summaries.of(message, event), event);
  }

  private static EventHead eventOf(long event, ResultSet row, int column) throws SQLException {
    if (row.getLong(column) != event) {
      throw new Damaged("event " + event + " is missing");
    }
    return Rows.eventHead(row, column);
  }

  private Optional<MessageDetail> message(
      Transactions.Statements connection, String tenant, long id) throws SQLException {
    for (Table table : Table.values()) {
      Found found = find(connection, table, id);
      if (found != null) {
        return tenant.equals(found.event().tenant())
                && !Objects.equals(hidden(connection), found.event().id())
            ? Optional.of(detail(connection, table, withOrigin(connection, found).summary()))
            : Optional.empty();
      }
    }
    return Optional.empty();
  }

  private static @Nullable Found find(Transactions.Statements connection, long id)
      throws SQLException {
    Found unfinished = find(connection, Table.UNFINISHED, id);
    return unfinished != null ? unfinished : find(connection, Table.FINISHED, id);
  }

  private static @Nullable Found find(Transactions.Statements connection, Table table, long id)
      throws SQLException {
    PreparedStatement statement = connection.prepare(table.select + "m.id = ?");
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? table.read(row) : null;
    }
  }

  private MessageDetail detail(
      Transactions.Statements connection, Table table, MessageSummary summary) throws SQLException {
    List<Attempt> attempts = attempts(connection, summary.id());
    if (table == Table.FINISHED) {
      lastAttempt(connection, summary.id(), summary.attempts()).ifPresent(attempts::add);
    }
    if (attempts.size() < Math.min(summary.attempts(), limits.historyRows())) {
      throw new Damaged("attempts of message " + summary.id() + " are missing");
    }
    return new MessageDetail(summary, attempts);
  }

  private List<Attempt> attempts(Transactions.Statements connection, long message)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare(
            "SELECT number, "
                + Rows.ATTEMPT_COLUMNS
                + ", sum FROM attempts WHERE message = ? ORDER BY number LIMIT ?");
    statement.setLong(1, message);
    statement.setInt(2, limits.historyRows());
    List<Attempt> attempts = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        attempts.add(Rows.attempt(rows, 2, 9, message, rows.getInt(1)));
      }
    }
    return attempts;
  }

  private static Optional<Attempt> lastAttempt(
      Transactions.Statements connection, long message, int number) throws SQLException {
    PreparedStatement statement =
        connection.prepare(
            "SELECT "
                + Rows.ATTEMPT_COLUMNS
                + ", attempt_sum FROM messages WHERE id = ? AND attempt_sum IS NOT NULL");
    statement.setLong(1, message);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Optional.of(Rows.attempt(row, 1, 8, message, number)) : Optional.empty();
    }
  }

  private Optional<EventDetail> event(
      Transactions.Statements connection, String tenant, EventKey key) throws SQLException {
    EventHead head = eventHead(connection, tenant, key);
    if (head == null || Objects.equals(hidden(connection), head.id())) {
      return Optional.empty();
    }
    Event event = event(connection, head);
    List<MessageSummary> messages = new ArrayList<>();
    for (Table table : Table.values()) {
      try (Walks walks = new Walks(connection, limits.historyRows())) {
        walks.add(table, head.id() + 1, Summaries.lastMessageOf(head) + 1);
        for (Found found = walks.newest(); found != null; found = walks.newest()) {
          if (found.event().id() == head.id()) {
            messages.add(found.summary());
          }
          walks.advance();
        }
      }
    }
    int made = head.messages() - toBeMade(connection, head.id());
    if (messages.size() < Math.min(made, limits.historyRows())) {
      throw new Damaged("messages of event " + head.id() + " are missing");
    }
    for (Found remade : remade(connection, head.id())) {
      messages.add(remade.summary());
    }
    messages.sort(Comparator.comparingLong(MessageSummary::id));
    return Optional.of(new EventDetail(event, messages));
  }

  private static Optional<Event> eventAlone(
      Transactions.Statements connection, String tenant, EventKey key) throws SQLException {
    EventHead head = eventHead(connection, tenant, key);
    return head == null || Objects.equals(hidden(connection), head.id())
        ? Optional.empty()
        : Optional.of(event(connection, head));
  }

  private static Event event(Transactions.Statements connection, EventHead head)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare("SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?");
    statement.setLong(1, head.id());
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Rows.event(row) : missing(head.id());
    }
  }

  /** How many messages of an event are still to be made. */
  private static int toBeMade(Transactions.Statements connection, long event) throws SQLException {
    PreparedStatement statement = connection.prepare(FanOutRow.COUNT_OF_EVENT);
    statement.setLong(1, event);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getInt(1) : 0;
    }
  }

  private static Event missing(long event) throws Damaged {
    throw new Damaged("event " + event + " is missing");
  }

  /** The event beside its payload, if the tenant has such an event. */
  private static @Nullable EventHead eventHead(
      Transactions.Statements connection, String tenant, EventKey key) throws SQLException {
    return switch (key) {
      case EventKey.Own own -> {
        EventHead head = eventHead(connection, own.id());
        yield head != null && head.tenant().equals(tenant) ? head : null;
      }
      case EventKey.Callers callers -> {
        PreparedStatement statement =
            connection.prepare(
                "SELECT " + Key.COLUMNS + " FROM keys WHERE tenant = ? AND caller_id = ?");
        statement.setString(1, tenant);
        statement.setString(2, callers.id());
        Key known;
        try (ResultSet row = statement.executeQuery()) {
          known = row.next() ? Key.from(row) : null;
        }
        yield known == null ? null : eventHead(connection, known.event());
      }
    };
  }

  private static @Nullable EventHead eventHead(Transactions.Statements connection, long id)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare("SELECT " + Rows.EVENT_HEAD_COLUMNS + " FROM events WHERE id = ?");
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Rows.eventHead(row, 1) : null;
    }
  }

  private static List<Change> changes(Transactions.Statements connection, long endpoint, int limit)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare(
            "SELECT "
                + Rows.CHANGE_COLUMNS
                + " FROM endpoint_changes WHERE endpoint = ? ORDER BY id DESC LIMIT ?");
    statement.setLong(1, endpoint);
    statement.setInt(2, limit);
    List<Change> changes = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        changes.add(Rows.change(rows));
      }
    }
    return changes;
  }
}
