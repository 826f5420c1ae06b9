package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.StoreException;
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
  private static final String OF_EVENT = ", e.tenant, e.type, e.subject, e.caller_id FROM ";
  private static final int EVENT_COLUMN = 13;

  private static final String UNFINISHED =
      "SELECT "
          + prefixed(Rows.MESSAGE_COLUMNS)
          + OF_EVENT
          + "open m CROSS JOIN events e WHERE e.id = m.event AND ";

  /** Padded so that the event's columns stand where they do for unfinished ones. */
  private static final String FINISHED =
      "SELECT m.id, m.event, m.subscription, m.endpoint, m.reason, m.attempts,"
          + " m.attempt_at, NULL, NULL, NULL, NULL, NULL"
          + OF_EVENT
          + "messages m CROSS JOIN events e WHERE e.id = m.event AND ";

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

  private static String prefixed(String columns) {
    return "m." + columns.replace(", ", ", m.");
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
      event = eventId(connection, query.tenant(), query.event());
      if (event == null) {
        return new Page(List.of(), null);
      }
      from = Math.max(from, event + 1);
      below = Math.min(below, lastMessageOf(connection, event) + 1);
    }
    Set<Status> wanted =
        query.statuses().isEmpty() ? EnumSet.allOf(Status.class) : query.statuses();
    List<MessageSummary> items = new ArrayList<>();
    try (Walk unfinished = walk(connection, UNFINISHED, !FINAL.containsAll(wanted), from, below);
        Walk finished =
            walk(connection, FINISHED, wanted.stream().anyMatch(FINAL::contains), from, below)) {
      long last = Long.MAX_VALUE;
      for (int looked = 0;
          looked < limits.historyRows() && items.size() < query.limit();
          looked++) {
        Walk newer = unfinished.id >= finished.id ? unfinished : finished;
        if (newer.isAtEnd()) {
          return new Page(items, null);
        }
        last = newer.id;
        if (newer.matches(query, event)) {
          MessageSummary found =
              newer == unfinished ? unfinished(newer.rows()) : finished(newer.rows());
          if (wanted.contains(found.status())) {
            items.add(found);
          }
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

  private Walk walk(
      Reader.Statements connection, String select, boolean wanted, long from, long below)
      throws SQLException {
    if (!wanted) {
      return new Walk(null);
    }
    PreparedStatement statement = connection.prepare(select + RANGE);
    statement.setLong(1, from);
    statement.setLong(2, below);
    // One more than are looked at, so that reaching the end means that there are no more.
    statement.setInt(3, limits.historyRows() + 1);
    Walk walk = new Walk(statement.executeQuery());
    walk.advance();
    return walk;
  }

  /** A table of messages being walked from the newest down. */
  private static final class Walk implements AutoCloseable {
    private final @Nullable ResultSet rows;

    /** The id of the row where the walk is; below every id when it is at its end. */
    private long id = Long.MIN_VALUE;

    Walk(@Nullable ResultSet rows) {
      this.rows = rows;
    }

    ResultSet rows() {
      if (rows == null) {
        throw new IllegalStateException("nothing to walk");
      }
      return rows;
    }

    void advance() throws SQLException {
      id = rows().next() ? rows().getLong(1) : Long.MIN_VALUE;
    }

    boolean isAtEnd() {
      return id == Long.MIN_VALUE;
    }

    boolean matches(Query query, @Nullable Long event) throws SQLException {
      return (event == null || event == rows().getLong(2))
          && (query.subscription() == null || query.subscription() == rows().getLong(3))
          && (query.endpoint() == null || query.endpoint() == rows().getLong(4))
          && query.tenant().equals(rows().getString(EVENT_COLUMN));
    }

    @Override
    public void close() throws SQLException {
      if (rows != null) {
        rows.close();
      }
    }
  }

  private static MessageSummary unfinished(ResultSet row) throws SQLException {
    Message message = Rows.message(row);
    Status status =
        switch (message.status()) {
          case PENDING -> Status.PENDING;
          case WAITING -> Status.WAITING;
          case PARKED -> Status.PARKED;
        };
    return summary(row, status, null, message.attempts(), message);
  }

  private static MessageSummary finished(ResultSet row) throws SQLException {
    String reason = row.getString(5);
    return summary(
        row,
        reason == null ? Status.DELIVERED : Status.DROPPED,
        reason == null ? null : DropReason.valueOf(reason),
        row.getInt(6),
        null);
  }

  private static MessageSummary summary(
      ResultSet row,
      Status status,
      @Nullable DropReason reason,
      int attempts,
      @Nullable Message unfinished)
      throws SQLException {
    String callerId = row.getString(EVENT_COLUMN + 3);
    return new MessageSummary(
        row.getLong(1),
        callerId != null ? callerId : Id.text(Id.EVENT, row.getLong(2)),
        row.getLong(3),
        row.getLong(4),
        row.getString(EVENT_COLUMN + 1),
        row.getString(EVENT_COLUMN + 2),
        status,
        reason,
        attempts,
        unfinished);
  }

  private Optional<MessageDetail> message(Reader.Statements connection, String tenant, long id)
      throws SQLException {
    PreparedStatement open = connection.prepare(UNFINISHED + "m.id = ?");
    open.setLong(1, id);
    try (ResultSet row = open.executeQuery()) {
      if (row.next()) {
        return tenant.equals(row.getString(EVENT_COLUMN))
            ? Optional.of(new MessageDetail(unfinished(row), attempts(connection, id)))
            : Optional.empty();
      }
    }
    PreparedStatement finished = connection.prepare(FINISHED + "m.id = ?");
    finished.setLong(1, id);
    try (ResultSet row = finished.executeQuery()) {
      if (row.next() && tenant.equals(row.getString(EVENT_COLUMN))) {
        List<Attempt> attempts = attempts(connection, id);
        MessageSummary summary = finished(row);
        lastAttempt(connection, id, summary.attempts()).ifPresent(attempts::add);
        return Optional.of(new MessageDetail(summary, attempts));
      }
    }
    return Optional.empty();
  }

  private List<Attempt> attempts(Reader.Statements connection, long message) throws SQLException {
    PreparedStatement statement =
        connection.prepare(
            "SELECT number, "
                + Rows.ATTEMPT_COLUMNS
                + " FROM attempts WHERE message = ? ORDER BY number LIMIT ?");
    statement.setLong(1, message);
    statement.setInt(2, limits.historyRows());
    List<Attempt> attempts = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        attempts.add(Rows.attempt(rows, 2, message, rows.getInt(1)));
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
                + " FROM messages WHERE id = ? AND attempt_at IS NOT NULL");
    statement.setLong(1, message);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? Optional.of(Rows.attempt(row, 1, message, number)) : Optional.empty();
    }
  }

  private Optional<EventDetail> event(Reader.Statements connection, String tenant, EventKey key)
      throws SQLException {
    Long id = eventId(connection, tenant, key);
    if (id == null) {
      return Optional.empty();
    }
    PreparedStatement statement =
        connection.prepare("SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?");
    statement.setLong(1, id);
    Event event;
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return Optional.empty();
      }
      event = Rows.event(row);
    }
    long last = lastMessageOf(connection, id);
    List<MessageSummary> messages = new ArrayList<>();
    try (Walk open = walk(connection, UNFINISHED, true, id + 1, last + 1)) {
      for (; !open.isAtEnd(); open.advance()) {
        if (open.rows().getLong(2) == id) {
          messages.add(unfinished(open.rows()));
        }
      }
    }
    try (Walk done = walk(connection, FINISHED, true, id + 1, last + 1)) {
      for (; !done.isAtEnd(); done.advance()) {
        if (done.rows().getLong(2) == id) {
          messages.add(finished(done.rows()));
        }
      }
    }
    messages.sort(Comparator.comparingLong(MessageSummary::id));
    return Optional.of(new EventDetail(event, messages));
  }

  /** The event's id, if the tenant has such an event. */
  private static @Nullable Long eventId(Reader.Statements connection, String tenant, EventKey key)
      throws SQLException {
    PreparedStatement statement;
    switch (key) {
      case EventKey.Own own -> {
        statement = connection.prepare("SELECT id FROM events WHERE id = ? AND tenant = ?");
        statement.setLong(1, own.id());
        statement.setString(2, tenant);
      }
      case EventKey.Callers callers -> {
        statement = connection.prepare("SELECT event FROM keys WHERE tenant = ? AND caller_id = ?");
        statement.setString(1, tenant);
        statement.setString(2, callers.id());
      }
    }
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? (Long) row.getLong(1) : null;
    }
  }

  private static long lastMessageOf(Reader.Statements connection, long event) throws SQLException {
    PreparedStatement statement = connection.prepare("SELECT messages FROM events WHERE id = ?");
    statement.setLong(1, event);
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? event + row.getLong(1) * Id.STRIDE : event;
    }
  }

  private static List<Change> changes(Reader.Statements connection, long endpoint, int limit)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare(
            "SELECT at, state, reason FROM endpoint_changes WHERE endpoint = ?"
                + " ORDER BY id DESC LIMIT ?");
    statement.setLong(1, endpoint);
    statement.setInt(2, limit);
    List<Change> changes = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        changes.add(
            new Change(
                Rows.instant(rows.getLong(1)),
                Health.State.valueOf(rows.getString(2)),
                Health.Reason.valueOf(rows.getString(3))));
      }
    }
    return changes;
  }
}
