package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Rows.EventHead;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
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
 * <p>A tenant is checked on the event's row, which every answer needs anyway. Unfinished and
 * finished messages are two tables; both are walked from the newest id down, side by side.
 */
final class HistoryReads implements History {
  /** A message without its event shows that the store is damaged, so it is not left out. */
  private static final String OF_EVENT =
      ", "
          + prefixed("e", Rows.EVENT_HEAD_COLUMNS)
          + " FROM %s m LEFT JOIN events e"
          + " ON e.id = m.event WHERE ";

  private static final int UNFINISHED_EVENT_COLUMN = 14;

  private static final String UNFINISHED =
      "SELECT " + prefixed("m", Rows.MESSAGE_COLUMNS) + OF_EVENT.formatted("open");

  private static final int FINISHED_EVENT_COLUMN = 9;

  private static final String FINISHED =
      "SELECT " + prefixed("m", Finished.COLUMNS) + OF_EVENT.formatted("messages");

  private static final String RANGE = "m.id >= ? AND m.id < ? ORDER BY m.id DESC LIMIT ?";

  /** The last time that an id can tell. */
  private static final Instant LAST_TIME = Id.time(Long.MAX_VALUE);

  private static final Set<Status> FINAL = EnumSet.of(Status.DELIVERED, Status.DROPPED);

  private final BlockingQueue<Reader> idle;
  private final StoreLimits limits;

  HistoryReads(List<Reader> readers, StoreLimits limits) {
    this.idle = new ArrayBlockingQueue<>(readers.size(), false, readers);
    this.limits = limits;
  }

  private static String prefixed(String table, String columns) {
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
  public List<Change> changes(long endpoint, int limit) throws StoreException {
    return read("reading the changes of an endpoint", c -> changes(c, endpoint, limit));
  }

  @Override
  public Optional<Replay> replay(String tenant, long id) throws StoreException {
    return read("reading a replay", connection -> ReplayReads.replay(connection, tenant, id));
  }

  @Override
  public List<Replay> replays(String tenant, long before, int limit) throws StoreException {
    return read("listing replays", c -> ReplayReads.replays(c, tenant, before, limit));
  }

  <T> T read(String doing, Reader.Read<T> read) throws StoreException {
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

  private Page messages(Reader.Statements connection, Query query) throws SQLException {
    long from = query.since() == null ? 0 : firstIdAt(query.since());
    long below = query.before();
    if (query.until() != null) {
      below = Math.min(below, firstIdAt(query.until()));
    }
    Long event = null;
    if (query.event() != null) {
      EventHead head = eventHead(connection, query.tenant(), query.event());
      if (head == null) {
        return new Page(List.of(), null);
      }
      event = head.id();
      from = Math.max(from, event + 1);
      below = Math.min(below, lastMessageOf(head) + 1);
    }
    Set<Status> wanted =
        query.statuses().isEmpty() ? EnumSet.allOf(Status.class) : query.statuses();
    List<MessageSummary> items = new ArrayList<>();
    try (Walk unfinished =
            walk(connection, Table.UNFINISHED, !FINAL.containsAll(wanted), from, below);
        Walk finished =
            walk(
                connection,
                Table.FINISHED,
                wanted.stream().anyMatch(FINAL::contains),
                from,
                below)) {
      long last = Long.MAX_VALUE;
      for (int looked = 0;
          looked < limits.historyRows() && items.size() < query.limit();
          looked++) {
        Walk newer = unfinished.id() >= finished.id() ? unfinished : finished;
        Found found = newer.found;
        if (found == null) {
          return new Page(items, null);
        }
        last = newer.id();
        if (found.matches(query, event) && wanted.contains(found.summary().status())) {
          items.add(found.summary());
        }
        newer.advance();
      }
      return new Page(items, unfinished.isAtEnd() && finished.isAtEnd() ? null : last);
    }
  }

  /** The lowest id of what was created at {@code time} or later, to the millisecond. */
  private static long firstIdAt(Instant time) {
    if (time.isAfter(LAST_TIME)) {
      return Long.MAX_VALUE;
    }
    Instant millis = time.truncatedTo(ChronoUnit.MILLIS);
    return Id.floor(millis.equals(time) ? millis : millis.plusMillis(1));
  }

  /** A table of messages. */
  private enum Table {
    UNFINISHED(HistoryReads.UNFINISHED) {
      @Override
      Found read(ResultSet row) throws SQLException {
        return unfinished(row);
      }
    },
    FINISHED(HistoryReads.FINISHED) {
      @Override
      Found read(ResultSet row) throws SQLException {
        return finished(row);
      }
    };

    private final String select;

    Table(String select) {
      this.select = select;
    }

    abstract Found read(ResultSet row) throws SQLException;
  }

  /** A message that a walk has come to. */
  private record Found(MessageSummary summary, EventHead event) {

    boolean matches(Query query, @Nullable Long wantedEvent) {
      return (wantedEvent == null || wantedEvent == event.id())
          && (query.subscription() == null || query.subscription() == summary.subscription())
          && (query.endpoint() == null || query.endpoint() == summary.endpoint())
          && query.tenant().equals(event.tenant());
    }
  }

  private Walk walk(
      Reader.Statements connection, Table table, boolean wanted, long from, long below)
      throws SQLException {
    if (!wanted) {
      return new Walk(table, null);
    }
    PreparedStatement statement = connection.prepare(table.select + RANGE);
    statement.setLong(1, from);
    statement.setLong(2, below);
    // One more than are looked at, so that reaching the end means that there are no more.
    statement.setInt(3, limits.historyRows() + 1);
    Walk walk = new Walk(table, statement.executeQuery());
    walk.advance();
    return walk;
  }

  /** A table of messages being walked from the newest down. */
  private static final class Walk implements AutoCloseable {
    private final Table table;
    private final @Nullable ResultSet rows;

    /** Where the walk is; absent when it is at its end. */
    private @Nullable Found found;

    Walk(Table table, @Nullable ResultSet rows) {
      this.table = table;
      this.rows = rows;
    }

    void advance() throws SQLException {
      found = rows != null && rows.next() ? table.read(rows) : null;
    }

    /** The id of the message where the walk is; below every id when it is at its end. */
    long id() {
      return found == null ? Long.MIN_VALUE : found.summary().id();
    }

    boolean isAtEnd() {
      return found == null;
    }

    @Override
    public void close() throws SQLException {
      if (rows != null) {
        rows.close();
      }
    }
  }

  private static Found unfinished(ResultSet row) throws SQLException {
    Message message = Rows.message(row);
    Status status =
        switch (message.status()) {
          case PENDING -> Status.PENDING;
          case WAITING -> Status.WAITING;
          case PARKED, PAUSED -> Status.PARKED;
        };
    EventHead event = eventOf(message.event(), row, UNFINISHED_EVENT_COLUMN);
    return new Found(
        new MessageSummary(
            message.id(),
            publicId(event),
            message.subscription(),
            message.endpoint(),
            event.type(),
            event.subject(),
            status,
            null,
            message.attempts(),
            message),
        event);
  }

  private static Found finished(ResultSet row) throws SQLException {
    Finished message = Finished.from(row);
    EventHead event = eventOf(message.event(), row, FINISHED_EVENT_COLUMN);
    return new Found(
        new MessageSummary(
            message.id(),
            publicId(event),
            message.subscription(),
            message.endpoint(),
            event.type(),
            event.subject(),
            message.reason() == null ? Status.DELIVERED : Status.DROPPED,
            message.reason(),
            message.attempts(),
            null),
        event);
  }

  private static EventHead eventOf(long event, ResultSet row, int column) throws SQLException {
    if (row.getLong(column) != event) {
      throw new Damaged("event " + event + " is missing");
    }
    return Rows.eventHead(row, column);
  }

  private static String publicId(EventHead event) {
    return event.callerId() != null ? event.callerId() : Id.text(Id.EVENT, event.id());
  }

  private Optional<MessageDetail> message(Reader.Statements connection, String tenant, long id)
      throws SQLException {
    for (Table table : Table.values()) {
      Found found = find(connection, table, id);
      if (found != null) {
        return tenant.equals(found.event().tenant())
            ? Optional.of(detail(connection, table, found.summary()))
            : Optional.empty();
      }
    }
    return Optional.empty();
  }

  private static @Nullable Found find(Reader.Statements connection, Table table, long id)
      throws SQLException {
    PreparedStatement statement = connection.prepare(table.select + "m.id = ?");
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? table.read(row) : null;
    }
  }

  private MessageDetail detail(Reader.Statements connection, Table table, MessageSummary summary)
      throws SQLException {
    List<Attempt> attempts = attempts(connection, summary.id());
    if (table == Table.FINISHED) {
      lastAttempt(connection, summary.id(), summary.attempts()).ifPresent(attempts::add);
    }
    if (attempts.size() < Math.min(summary.attempts(), limits.historyRows())) {
      throw new Damaged("attempts of message " + summary.id() + " are missing");
    }
    return new MessageDetail(summary, attempts);
  }

  private List<Attempt> attempts(Reader.Statements connection, long message) throws SQLException {
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
      Reader.Statements connection, long message, int number) throws SQLException {
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

  private Optional<EventDetail> event(Reader.Statements connection, String tenant, EventKey key)
      throws SQLException {
    EventHead head = eventHead(connection, tenant, key);
    if (head == null) {
      return Optional.empty();
    }
    PreparedStatement statement =
        connection.prepare("SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?");
    statement.setLong(1, head.id());
    Event event;
    try (ResultSet row = statement.executeQuery()) {
      event = row.next() ? Rows.event(row) : missing(head.id());
    }
    List<MessageSummary> messages = new ArrayList<>();
    for (Table table : Table.values()) {
      try (Walk walk = walk(connection, table, true, head.id() + 1, lastMessageOf(head) + 1)) {
        for (Found found = walk.found; found != null; found = walk.found) {
          if (found.event().id() == head.id()) {
            messages.add(found.summary());
          }
          walk.advance();
        }
      }
    }
    if (messages.size() < Math.min(head.messages(), limits.historyRows())) {
      throw new Damaged("messages of event " + head.id() + " are missing");
    }
    messages.sort(Comparator.comparingLong(MessageSummary::id));
    return Optional.of(new EventDetail(event, messages));
  }

  private static Event missing(long event) throws Damaged {
    throw new Damaged("event " + event + " is missing");
  }

  /** The event beside its payload, if the tenant has such an event. */
  private static @Nullable EventHead eventHead(
      Reader.Statements connection, String tenant, EventKey key) throws SQLException {
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

  private static @Nullable EventHead eventHead(Reader.Statements connection, long id)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare("SELECT " + Rows.EVENT_HEAD_COLUMNS + " FROM events WHERE id = ?");
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Rows.eventHead(row, 1) : null;
    }
  }

  private static long lastMessageOf(EventHead event) {
    return event.id() + event.messages() * Id.STRIDE;
  }

  private static List<Change> changes(Reader.Statements connection, long endpoint, int limit)
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
