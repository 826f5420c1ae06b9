package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.engine.store.HistoryIndex.Part;
import dev.holdfast.engine.store.Rows.EventHead;
import dev.holdfast.engine.store.Upkept.Removed;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what was kept for long enough: an event with its messages, their attempts and the
 * caller's id, all at once.
 *
 * <p>It goes round: from the oldest event to the youngest that may have to go. What it passes and
 * leaves, because a message of it is unfinished or finished late, is looked at in the next round.
 * So no table has to say when an event may go, and a round costs what it removes and what it
 * leaves, not what is younger. The newest event always stays, since ids go on above it after a
 * restart.
 *
 * <p>An event with very many messages is hidden first and removed in several steps.
 */
final class Removal {
  private static final Logger LOG = LoggerFactory.getLogger(Removal.class);

  /** A round begins at the latest when this share of the retention time has passed. */
  private static final int ROUNDS_PER_RETENTION = 100;

  /** After a round that could not remove enough. */
  private static final Duration PAUSE_IF_TOO_LARGE = Duration.ofSeconds(10);

  private static final Duration LOG_EVERY = Duration.ofMinutes(1);

  /** The event that is being removed, if one is. */
  static final String HIDDEN = "SELECT event, sum FROM removing";

  private final HistoryIndex index;
  private final Limits limits;
  private final PreparedStatement events;
  private final PreparedStatement newest;
  private final PreparedStatement event;
  private final PreparedStatement finished;
  private final PreparedStatement messages;
  private final PreparedStatement pages;
  private final PreparedStatement freePages;
  private final PreparedStatement hide;
  private final PreparedStatement unhide;
  private final PreparedStatement deleteMessage;
  private final PreparedStatement deleteAttempts;
  private final PreparedStatement deleteEvent;
  private final PreparedStatement deleteKey;
  private final PreparedStatement changes;
  private final PreparedStatement deleteChange;
  private final PreparedStatement finishedRemade;
  private final PreparedStatement remade;
  private final PreparedStatement deleteRemakings;
  private final Counting counting;
  private final List<PreparedStatement> batched;

  /** As of the last step that is on disk. */
  private State state;

  private @Nullable State next;
  private @Nullable Part gaveUp;

  /** When the next round begins; at once when the store has just been opened. */
  private Instant nextRound = Instant.MIN;

  /** When the next round may begin because too much is stored. */
  private Instant nextForSize = Instant.MIN;

  private Removed sinceLogged = Removed.NOTHING;
  private Instant logged = Instant.MIN;

  /** Events that cannot be removed, since they are damaged; told of once. */
  private boolean toldOfDamage;

  /**
   * How much is done at a time.
   *
   * @param messages messages that one step removes
   * @param events events that one step looks at
   * @param bytes data of events that one step removes
   * @param time how long a step goes on to the next event
   * @param longestPause the time from one round to the next, if retention is long
   */
  record Limits(int messages, int events, long bytes, Duration time, Duration longestPause) {
    static final Limits DEFAULT =
        new Limits(500, 500, 4L << 20, Duration.ofMillis(3), Duration.ofHours(1));
  }

  /** What a round goes over, one after the other. */
  private enum Stage {
    NONE,
    EVENTS,
    CHANGES,
    PARTS
  }

  /**
   * Where it is.
   *
   * @param after what comes after this id is looked at next
   * @param resume where a round begins that is for size only: what is older is unfinished
   * @param hiddenEvent the event that is hidden, and not yet removed altogether
   */
  private record State(Stage stage, long after, long resume, @Nullable Long hiddenEvent) {}

  /**
   * An event that may be removed.
   *
   * @param remade how many messages replays have made of its own
   */
  private record Candidate(EventHead head, long bytes, int remade) {
    int messages() {
      return head.messages() + remade;
    }

    long lastMessage() {
      return head.id() + head.messages() * Id.STRIDE;
    }
  }

  /** Is told what is kept of a tenant's events no longer. */
  interface Counting {
    void removes(String tenant, long events, long bytes);
  }

  Removal(Connection connection, HistoryIndex index, Counting counting, Limits limits)
      throws SQLException {
    this.index = index;
    this.counting = counting;
    this.limits = limits;
    String selectEvents =
        "SELECT "
            + Rows.EVENT_HEAD_COLUMNS
            + ", length(data) + coalesce(length(previous), 0),"
            + " (SELECT count(*) FROM replayed WHERE event = events.id) FROM events WHERE ";
    events = connection.prepareStatement(selectEvents + "id > ? AND id < ? ORDER BY id LIMIT ?");
    event = connection.prepareStatement(selectEvents + "id = ?");
    newest = connection.prepareStatement("SELECT max(id) FROM events");
    finished =
        connection.prepareStatement(
            "SELECT count(*), max(finished_at) FROM messages"
                + " WHERE id > ? AND id <= ? AND event = ?");
    messages =
        connection.prepareStatement(
            "SELECT "
                + Finished.COLUMNS
                + " FROM messages WHERE id > ? AND id <= ? AND event = ? ORDER BY id LIMIT ?");
    pages = connection.prepareStatement("PRAGMA page_count");
    freePages = connection.prepareStatement("PRAGMA freelist_count");
    hide = connection.prepareStatement("INSERT INTO removing (event, sum) VALUES (?, ?)");
    unhide = connection.prepareStatement("DELETE FROM removing WHERE event = ?");
    deleteMessage = connection.prepareStatement("DELETE FROM messages WHERE id = ?");
    deleteAttempts = connection.prepareStatement("DELETE FROM attempts WHERE message = ?");
    deleteEvent = connection.prepareStatement("DELETE FROM events WHERE id = ?");
    deleteKey =
        connection.prepareStatement(
            "DELETE FROM keys WHERE tenant = ? AND caller_id = ? AND event = ?");
    changes =
        connection.prepareStatement(
            "SELECT id, endpoint, at FROM endpoint_changes WHERE id > ? ORDER BY id LIMIT ?");
    deleteChange =
        connection.prepareStatement(
            "DELETE FROM endpoint_changes WHERE id = ?1 AND EXISTS"
                + " (SELECT 1 FROM endpoint_changes n WHERE n.endpoint = ?2 AND n.id > ?1)");
    finishedRemade =
        connection.prepareStatement(
            "SELECT count(*), max(finished_at) FROM messages"
                + " WHERE id IN (SELECT message FROM replayed WHERE event = ?)");
    remade =
        connection.prepareStatement(
            "SELECT "
                + Finished.COLUMNS
                + " FROM messages WHERE id IN (SELECT message FROM replayed WHERE event = ?)"
                + " ORDER BY id LIMIT ?");
    deleteRemakings = connection.prepareStatement("DELETE FROM replayed WHERE event = ?");
    batched =
        List.of(
            deleteAttempts, deleteMessage, deleteRemakings, deleteKey, deleteEvent, deleteChange);
    try (PreparedStatement hidden = connection.prepareStatement(HIDDEN);
        ResultSet row = hidden.executeQuery()) {
      state = new State(Stage.NONE, 0, 0, hidden(row));
    }
  }

  /** Reads what {@link #HIDDEN} found. */
  static @Nullable Long hidden(ResultSet row) throws SQLException {
    if (!row.next()) {
      return null;
    }
    return Damaged.orIntact(
        "removing", row.getLong(1), row.getLong(2), () -> row.getLong(1), Removal::sum);
  }

  private static long sum(long event) {
    return RowSum.of("removing").add(event).value();
  }

  /** Whether there is something to do now. */
  boolean isDue(Retention retention, Instant now) throws SQLException {
    return state.hiddenEvent() != null
        || state.stage() != Stage.NONE
        || !now.isBefore(nextRound)
        || (isTooLarge(retention) && !now.isBefore(nextForSize));
  }

  private boolean isTooLarge(Retention retention) throws SQLException {
    return retention.maxBytes() != Retention.NO_LIMIT && usedBytes() > retention.maxBytes();
  }

  private long usedBytes() throws SQLException {
    return (number(pages) - number(freePages)) * Sqlite.PAGE_BYTES;
  }

  private static long number(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  /** Goes a little further, in the transaction that is open. */
  Removed step(Retention retention, Instant now) throws SQLException {
    if (state.hiddenEvent() != null) {
      return goOnWith(state.hiddenEvent());
    }
    Instant cutoff = now.minus(retention.age());
    return switch (state.stage()) {
      case NONE -> {
        boolean isTime = !now.isBefore(nextRound);
        next = new State(Stage.EVENTS, isTime ? 0 : state.resume(), state.resume(), null);
        if (isTime) {
          nextRound = now.plus(pause(retention));
        }
        yield Removed.NOTHING;
      }
      case EVENTS -> events(retention, cutoff, now);
      case CHANGES -> changes(cutoff);
      case PARTS -> {
        Part oldest = index.giveUpOldest();
        next = new State(oldest == null ? Stage.NONE : Stage.PARTS, 0, state.resume(), null);
        gaveUp = oldest;
        if (oldest == null) {
          tell(now);
        }
        yield Removed.NOTHING;
      }
    };
  }

  /** What the last step did is on disk. */
  void stepped() {
    if (gaveUp != null) {
      index.gaveUpOldest(gaveUp);
    }
    if (next != null) {
      state = next;
    }
    next = null;
    gaveUp = null;
  }

  /** What the last step did is not on disk. */
  void undone() throws SQLException {
    next = null;
    gaveUp = null;
    for (PreparedStatement statement : batched) {
      statement.clearBatch();
    }
  }

  private Duration pause(Retention retention) {
    Duration share = retention.age().dividedBy(ROUNDS_PER_RETENTION);
    return share.compareTo(limits.longestPause()) < 0 ? share : limits.longestPause();
  }

  private void tell(Instant now) {
    if (!sinceLogged.isNothing() && !now.isBefore(logged.plus(LOG_EVERY))) {
      LOG.info(
          "retention.removed events={} messages={} bytes={}",
          sinceLogged.events(),
          sinceLogged.messages(),
          sinceLogged.bytes());
      sinceLogged = Removed.NOTHING;
      logged = now;
    }
  }

  private Removed events(Retention retention, Instant cutoff, Instant now) throws SQLException {
    long began = System.nanoTime();
    boolean wasTooLarge = isTooLarge(retention);
    boolean isTooLarge = wasTooLarge;
    long excess = wasTooLarge ? usedBytes() - retention.maxBytes() : 0;
    long below = Math.min(number(newest), isTooLarge ? Long.MAX_VALUE : Id.floor(cutoff));
    events.setLong(1, state.after());
    events.setLong(2, below);
    events.setInt(3, limits.events());
    List<Candidate> candidates = new ArrayList<>();
    long after = state.after();
    boolean isEnd = true;
    try (ResultSet rows = events.executeQuery()) {
      int looked = 0;
      long asked = 0;
      long bytes = 0;
      while (rows.next()) {
        isEnd = false;
        long id = rows.getLong(1);
        Candidate candidate = candidate(rows);
        if (candidate != null && candidate.messages() > limits.messages()) {
          // On its own, since it takes a step or more.
          if (looked == 0) {
            candidates.add(candidate);
            after = id;
          }
          break;
        }
        if (candidate != null) {
          asked += candidate.messages();
          bytes += candidate.bytes();
          if (looked > 0 && (asked > limits.messages() || bytes > limits.bytes())) {
            break;
          }
          candidates.add(candidate);
        }
        after = id;
        looked++;
      }
    }
    Removed removed = Removed.NOTHING;
    Long hide = null;
    for (Candidate candidate : candidates) {
      if (mayGo(candidate, cutoff, isTooLarge)) {
        if (candidate.messages() > limits.messages()) {
          hide(candidate.head());
          hide = candidate.head().id();
        } else {
          removed = removed.plus(removeWhole(candidate));
          isTooLarge = isTooLarge && removed.bytes() < excess;
        }
      }
      if (System.nanoTime() - began > limits.time().toNanos()) {
        after = candidate.head().id();
        break;
      }
    }
    flush();
    sinceLogged = sinceLogged.plus(removed);
    long resume = wasTooLarge ? after : state.resume();
    if (isEnd) {
      resume = isTooLarge ? 0 : resume;
      if (isTooLarge) {
        nextForSize = now.plus(PAUSE_IF_TOO_LARGE);
      }
      next = new State(Stage.CHANGES, 0, resume, null);
    } else {
      next = new State(Stage.EVENTS, after, resume, hide);
    }
    return removed;
  }

  /** An event that is damaged cannot be judged, and stays. */
  private @Nullable Candidate candidate(ResultSet row) throws SQLException {
    try {
      return new Candidate(Rows.eventHead(row, 1), row.getLong(10), row.getInt(11));
    } catch (Damaged e) {
      tellOfDamage(e);
      return null;
    }
  }

  private void tellOfDamage(Damaged damage) {
    if (!toldOfDamage) {
      toldOfDamage = true;
      LOG.error("retention.damaged next=\"what is damaged stays, the rest is removed\"", damage);
    }
  }

  /** Whether all messages have finished, and long enough ago unless there is no room for them. */
  private boolean mayGo(Candidate candidate, Instant cutoff, boolean isTooLarge)
      throws SQLException {
    EventHead head = candidate.head();
    if (head.messages() == 0) {
      return isTooLarge || !Id.time(head.id()).isAfter(cutoff);
    }
    finished.setLong(1, head.id());
    finished.setLong(2, candidate.lastMessage());
    finished.setLong(3, head.id());
    try (ResultSet row = finished.executeQuery()) {
      if (!row.next()
          || row.getInt(1) != head.messages()
          || !(isTooLarge || row.getLong(2) <= Rows.micros(cutoff))) {
        return false;
      }
    }
    if (candidate.remade() == 0) {
      return true;
    }
    finishedRemade.setLong(1, head.id());
    try (ResultSet row = finishedRemade.executeQuery()) {
      return row.next()
          && row.getInt(1) == candidate.remade()
          && (isTooLarge || row.getLong(2) <= Rows.micros(cutoff));
    }
  }

  /** Messages of an event, all of which have finished. */
  private List<Finished> messagesOf(Candidate candidate) throws SQLException {
    messages.setLong(1, candidate.head().id());
    messages.setLong(2, candidate.lastMessage());
    messages.setLong(3, candidate.head().id());
    messages.setInt(4, limits.messages());
    List<Finished> found = new ArrayList<>();
    read(messages, found);
    if (candidate.remade() > 0 && found.size() < limits.messages()) {
      remade.setLong(1, candidate.head().id());
      remade.setInt(2, limits.messages() - found.size());
      read(remade, found);
    }
    return found;
  }

  private static void read(PreparedStatement statement, List<Finished> into) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        into.add(Finished.from(rows));
      }
    }
  }

  private Removed removeWhole(Candidate candidate) throws SQLException {
    List<Finished> found;
    try {
      found = messagesOf(candidate);
    } catch (Damaged e) {
      tellOfDamage(e);
      return Removed.NOTHING;
    }
    remove(found, candidate.head().tenant());
    deleteKey(candidate.head());
    return remove(candidate, found.size());
  }

  /**
   * Removes the event itself, after everything that belongs to it; it counts for its tenant no
   * longer.
   */
  private Removed remove(Candidate candidate, int withMessages) throws SQLException {
    deleteEvent.setLong(1, candidate.head().id());
    deleteEvent.addBatch();
    if (candidate.remade() > 0) {
      deleteRemakings.setLong(1, candidate.head().id());
      deleteRemakings.addBatch();
    }
    String tenant = candidate.head().tenant();
    long size = Event.sizeOf((int) candidate.bytes());
    counting.removes(tenant, 1, size);
    return new Removed(
        1, withMessages, candidate.bytes(), Map.of(tenant, new Snapshot.Stored(1, size)));
  }

  private void remove(List<Finished> finishedMessages, String tenant) throws SQLException {
    for (Finished message : finishedMessages) {
      index.remove(message, tenant);
      deleteMessage.setLong(1, message.id());
      deleteMessage.addBatch();
      if (message.attempts() > 1 || message.reason() != null) {
        deleteAttempts.setLong(1, message.id());
        deleteAttempts.addBatch();
      }
    }
  }

  private void deleteKey(EventHead head) throws SQLException {
    if (head.callerId() != null) {
      deleteKey.setString(1, head.tenant());
      deleteKey.setString(2, head.callerId());
      deleteKey.setLong(3, head.id());
      deleteKey.addBatch();
    }
  }

  private void flush() throws SQLException {
    index.flushRemoved();
    for (PreparedStatement statement : batched) {
      statement.executeBatch();
    }
  }

  private void hide(EventHead head) throws SQLException {
    hide.setLong(1, head.id());
    hide.setLong(2, sum(head.id()));
    hide.executeUpdate();
    deleteKey(head);
  }

  private Removed goOnWith(long hiddenEvent) throws SQLException {
    event.setLong(1, hiddenEvent);
    Candidate candidate;
    try (ResultSet row = event.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("event " + hiddenEvent + " is missing");
      }
      candidate = new Candidate(Rows.eventHead(row, 1), row.getLong(10), row.getInt(11));
    }
    List<Finished> found = messagesOf(candidate);
    remove(found, candidate.head().tenant());
    Removed removed = new Removed(0, found.size(), 0, Map.of());
    if (found.size() < limits.messages()) {
      unhide.setLong(1, hiddenEvent);
      unhide.executeUpdate();
      removed = remove(candidate, found.size());
      next = new State(state.stage(), state.after(), state.resume(), null);
    }
    flush();
    sinceLogged = sinceLogged.plus(removed);
    return removed;
  }

  /** What endpoints went through before the cutoff, but for the last of each. */
  private Removed changes(Instant cutoff) throws SQLException {
    changes.setLong(1, state.after());
    changes.setInt(2, limits.events());
    long after = state.after();
    boolean isEnd = true;
    try (ResultSet rows = changes.executeQuery()) {
      while (rows.next()) {
        if (rows.getLong(3) > Rows.micros(cutoff)) {
          isEnd = true;
          break;
        }
        isEnd = false;
        after = rows.getLong(1);
        deleteChange.setLong(1, after);
        deleteChange.setLong(2, rows.getLong(2));
        deleteChange.addBatch();
      }
    }
    flush();
    next = new State(isEnd ? Stage.PARTS : Stage.CHANGES, isEnd ? 0 : after, state.resume(), null);
    return Removed.NOTHING;
  }
}
