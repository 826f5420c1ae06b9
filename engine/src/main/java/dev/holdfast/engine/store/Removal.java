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
import java.util.HashMap;
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

  /** What was to go this share of the retention time ago, or longer, has to go now. */
  private static final int LATE_SHARE = 4;

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
  private final PreparedStatement messagesBetween;
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
  private boolean isLate;

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
   * @param reading how long a step goes on to the next event; what it found is then removed
   * @param longestPause the time from one round to the next, if retention is long
   */
  record Limits(int messages, int events, long bytes, Duration reading, Duration longestPause) {
    static final Limits DEFAULT =
        new Limits(300, 300, 4L << 20, Duration.ofMillis(1), Duration.ofHours(1));
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
   * @param until what comes after this id may have to go by now, but had not as the round began
   * @param resume where a round begins that is for size only: what is older is unfinished
   * @param hiddenEvent the event that is hidden, and not yet removed altogether
   */
  private record State(
      Stage stage, long after, long until, long resume, @Nullable Long hiddenEvent) {

    State at(Stage next, long nextAfter) {
      return new State(next, nextAfter, until, resume, hiddenEvent);
    }
  }

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
    // Event by event: between two of them there may be very many messages of others, by a replay.
    // The plus keeps SQLite from making an index of all messages for it.
    messagesBetween =
        connection.prepareStatement(
            "SELECT %s FROM events e CROSS JOIN messages m"
                    .formatted(HistoryReads.prefixed("m", Finished.COLUMNS))
                + " ON m.id > e.id AND m.id <= e.id + e.messages * %d AND +m.event = e.id"
                    .formatted(Id.STRIDE)
                + " WHERE e.id >= ? AND e.id <= ? ORDER BY e.id, m.id");
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
      state = new State(Stage.NONE, 0, 0, 0, hidden(row));
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

  /**
   * Whether there is much more than should be: some of what the last step removed should have gone
   * long ago, or takes room that is not there.
   */
  boolean isLate() {
    return isLate;
  }

  /** Goes a little further, in the transaction that is open. */
  Removed step(Retention retention, Instant now) throws SQLException {
    isLate = false;
    Instant cutoff = now.minus(retention.age());
    if (state.hiddenEvent() != null) {
      return goOnWith(state.hiddenEvent(), retention, cutoff);
    }
    return switch (state.stage()) {
      case NONE -> {
        boolean isTime = !now.isBefore(nextRound);
        long after = isTime ? 0 : state.resume();
        next = new State(Stage.EVENTS, after, Id.floor(cutoff), state.resume(), null);
        if (isTime) {
          nextRound = now.plus(pause(retention));
        }
        yield Removed.NOTHING;
      }
      case EVENTS -> events(retention, cutoff, now);
      case CHANGES -> changes(cutoff);
      case PARTS -> {
        Part oldest = index.giveUpOldest();
        next = state.at(oldest == null ? Stage.NONE : Stage.PARTS, 0);
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
    boolean wasTooLarge = isTooLarge(retention);
    boolean isTooLarge = wasTooLarge;
    long excess = wasTooLarge ? usedBytes() - retention.maxBytes() : 0;
    Chunk chunk = nextChunk(Math.min(number(newest), isTooLarge ? Long.MAX_VALUE : state.until()));
    Tally tally = new Tally();
    Long hide = null;
    if (chunk.isOneLarge(limits)) {
      Candidate large = chunk.candidates().getFirst();
      if (mayGo(large, cutoff, isTooLarge)) {
        hide(large.head());
        hide = large.head().id();
      }
    } else {
      Map<Long, List<Finished>> messages = messagesOf(chunk.candidates());
      for (Candidate candidate : chunk.candidates()) {
        List<Finished> found = messages.getOrDefault(candidate.head().id(), List.of());
        if (mayGo(candidate, found, cutoff, isTooLarge)) {
          removeWhole(candidate, found, tally);
          isTooLarge = isTooLarge && tally.bytes < excess;
        }
      }
    }
    flush();
    Removed removed = tally.removed();
    sinceLogged = sinceLogged.plus(removed);
    isLate = !removed.isNothing() && (isTooLarge || tally.oldest.isBefore(late(retention, cutoff)));
    long resume = wasTooLarge ? chunk.through() : state.resume();
    if (chunk.isEnd()) {
      resume = isTooLarge ? 0 : resume;
      if (isTooLarge) {
        nextForSize = now.plus(PAUSE_IF_TOO_LARGE);
      }
      next = new State(Stage.CHANGES, 0, state.until(), resume, null);
    } else {
      next = new State(Stage.EVENTS, chunk.through(), state.until(), resume, hide);
    }
    return removed;
  }

  private static Instant late(Retention retention, Instant cutoff) {
    return cutoff.minus(retention.age().dividedBy(LATE_SHARE));
  }

  /**
   * What one step looks at.
   *
   * @param candidates either one that takes several steps, or some that this step can remove
   * @param through the last event that was looked at
   * @param isEnd whether there was none
   */
  private record Chunk(List<Candidate> candidates, long through, boolean isEnd) {
    boolean isOneLarge(Limits limits) {
      return !candidates.isEmpty() && candidates.getFirst().messages() > limits.messages();
    }
  }

  private Chunk nextChunk(long below) throws SQLException {
    long began = System.nanoTime();
    events.setLong(1, state.after());
    events.setLong(2, below);
    events.setInt(3, limits.events());
    List<Candidate> candidates = new ArrayList<>();
    long through = state.after();
    boolean isEnd = true;
    try (ResultSet rows = events.executeQuery()) {
      long asked = 0;
      long bytes = 0;
      while (rows.next()) {
        boolean isFirst = isEnd;
        isEnd = false;
        Candidate candidate = candidate(rows);
        asked += candidate == null ? 0 : candidate.messages();
        bytes += candidate == null ? 0 : candidate.bytes();
        boolean isAlone = candidate == null || candidate.messages() > limits.messages();
        if (!isFirst && (isAlone || asked > limits.messages() || bytes > limits.bytes())) {
          break;
        }
        through = rows.getLong(1);
        if (candidate != null) {
          candidates.add(candidate);
        }
        if (isAlone || System.nanoTime() - began > limits.reading().toNanos()) {
          break;
        }
      }
    }
    return new Chunk(candidates, through, isEnd);
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
    finished.setLong(1, candidate.head().id());
    finished.setLong(2, candidate.lastMessage());
    finished.setLong(3, candidate.head().id());
    return areFinished(finished, candidate.head().messages(), cutoff, isTooLarge)
        && mayRemadeGo(candidate, cutoff, isTooLarge);
  }

  /**
   * The same for an event whose messages have been read.
   *
   * @param found its own that have finished and are not damaged
   */
  private boolean mayGo(
      Candidate candidate, List<Finished> found, Instant cutoff, boolean isTooLarge)
      throws SQLException {
    if (found.size() != candidate.head().messages()) {
      return false;
    }
    if (!isTooLarge) {
      if (found.isEmpty() && Id.time(candidate.head().id()).isAfter(cutoff)) {
        return false;
      }
      for (Finished message : found) {
        if (message.at().isAfter(cutoff)) {
          return false;
        }
      }
    }
    return mayRemadeGo(candidate, cutoff, isTooLarge);
  }

  private boolean mayRemadeGo(Candidate candidate, Instant cutoff, boolean isTooLarge)
      throws SQLException {
    if (candidate.remade() == 0) {
      return true;
    }
    finishedRemade.setLong(1, candidate.head().id());
    return areFinished(finishedRemade, candidate.remade(), cutoff, isTooLarge);
  }

  private static boolean areFinished(
      PreparedStatement statement, int messages, Instant cutoff, boolean isTooLarge)
      throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next()
          && row.getInt(1) == messages
          && (isTooLarge || row.getLong(2) <= Rows.micros(cutoff));
    }
  }

  /** The messages of events, those of replays apart, as far as they are not damaged. */
  private Map<Long, List<Finished>> messagesOf(List<Candidate> candidates) throws SQLException {
    Map<Long, List<Finished>> found = new HashMap<>();
    if (!candidates.isEmpty()) {
      messagesBetween.setLong(1, candidates.getFirst().head().id());
      messagesBetween.setLong(2, candidates.getLast().head().id());
      try (ResultSet rows = messagesBetween.executeQuery()) {
        while (rows.next()) {
          try {
            Finished message = Finished.from(rows);
            found.computeIfAbsent(message.event(), _ -> new ArrayList<>()).add(message);
          } catch (Damaged e) {
            tellOfDamage(e);
          }
        }
      }
    }
    return found;
  }

  /** Messages of an event, all of which have finished. */
  private List<Finished> messagesOf(Candidate candidate) throws SQLException {
    messages.setLong(1, candidate.head().id());
    messages.setLong(2, candidate.lastMessage());
    messages.setLong(3, candidate.head().id());
    messages.setInt(4, limits.messages());
    List<Finished> found = new ArrayList<>();
    read(messages, found);
    readRemade(candidate, limits.messages() - found.size(), found);
    return found;
  }

  private void readRemade(Candidate candidate, int most, List<Finished> into) throws SQLException {
    if (candidate.remade() > 0 && most > 0) {
      remade.setLong(1, candidate.head().id());
      remade.setInt(2, most);
      read(remade, into);
    }
  }

  private static void read(PreparedStatement statement, List<Finished> into) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        into.add(Finished.from(rows));
      }
    }
  }

  private void removeWhole(Candidate candidate, List<Finished> own, Tally tally)
      throws SQLException {
    List<Finished> all = own;
    if (candidate.remade() > 0) {
      all = new ArrayList<>(own);
      try {
        readRemade(candidate, candidate.remade(), all);
      } catch (Damaged e) {
        tellOfDamage(e);
        return;
      }
    }
    remove(all, candidate.head().tenant());
    deleteKey(candidate.head());
    remove(candidate, all, tally);
  }

  /**
   * Removes the event itself, after everything that belongs to it; it counts for its tenant no
   * longer.
   */
  private void remove(Candidate candidate, List<Finished> withMessages, Tally tally)
      throws SQLException {
    deleteEvent.setLong(1, candidate.head().id());
    deleteEvent.addBatch();
    if (candidate.remade() > 0) {
      deleteRemakings.setLong(1, candidate.head().id());
      deleteRemakings.addBatch();
    }
    String tenant = candidate.head().tenant();
    long size = Event.sizeOf((int) candidate.bytes());
    counting.removes(tenant, 1, size);
    tally.add(tenant, size, candidate.bytes(), withMessages.size());
    tally.finished(latest(candidate, withMessages));
  }

  /** When an event had all that it was kept for. */
  private static Instant latest(Candidate candidate, List<Finished> messages) {
    Instant latest = Id.time(candidate.head().id());
    for (Finished message : messages) {
      latest = message.at().isAfter(latest) ? message.at() : latest;
    }
    return latest;
  }

  /** What a step has removed so far. */
  private static final class Tally {
    private long events;
    private long messages;
    private long bytes;
    private final Map<String, Snapshot.Stored> ofTenants = new HashMap<>();

    /** When that was finished which has been finished for longest. */
    private Instant oldest = Instant.MAX;

    void finished(Instant at) {
      oldest = at.isBefore(oldest) ? at : oldest;
    }

    void add(String tenant, long size, long dataBytes, int withMessages) {
      events++;
      messages += withMessages;
      bytes += dataBytes;
      ofTenants.merge(
          tenant, new Snapshot.Stored(1, size), (before, more) -> before.plus(1, more.bytes()));
    }

    Removed removed() {
      return new Removed(events, messages, bytes, ofTenants);
    }
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

  private Removed goOnWith(long hiddenEvent, Retention retention, Instant cutoff)
      throws SQLException {
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
    isLate = isTooLarge(retention) || latest(candidate, found).isBefore(late(retention, cutoff));
    Removed removed = new Removed(0, found.size(), 0, Map.of());
    if (found.size() < limits.messages()) {
      unhide.setLong(1, hiddenEvent);
      unhide.executeUpdate();
      Tally last = new Tally();
      remove(candidate, found, last);
      removed = last.removed();
      next = new State(state.stage(), state.after(), state.until(), state.resume(), null);
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
    next = isEnd ? state.at(Stage.PARTS, 0) : state.at(Stage.CHANGES, after);
    return Removed.NOTHING;
  }
}
