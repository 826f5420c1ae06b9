package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.HistoryIndex.By;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What replays read: the messages that they are of, and how far they are. */
final class ReplayReads {
  private static final String FINISHED =
      "SELECT " + Finished.COLUMNS + " FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?";

  private static final String ONE_FINISHED =
      "SELECT " + Finished.COLUMNS + " FROM messages WHERE id = ?";

  private static final String TENANT_AND_SIZE =
      "SELECT tenant, length(data) + coalesce(length(previous), 0) FROM events WHERE id = ?";

  private static final String IS_REPLAYED =
      "SELECT 1 FROM replayed WHERE event = ? AND original = ? LIMIT 1";

  private static final String SELECT = "SELECT " + ReplayRow.COLUMNS + " FROM replays WHERE ";

  private final HistoryReads history;
  private final int mostRows;

  ReplayReads(HistoryReads history, StoreLimits limits) {
    this.history = history;
    this.mostRows = limits.historyRows();
  }

  Originals originals(Replay replay, int limit) throws StoreException {
    return history.read(
        "reading what is to be replayed", connection -> originals(connection, replay, limit));
  }

  private Originals originals(Transactions.Statements connection, Replay replay, int limit)
      throws SQLException {
    Selection selection = replay.selection();
    long after = replay.through();
    if (selection.since() != null) {
      after = Math.max(after, Summaries.firstIdAt(selection.since()) - 1);
    }
    long below = Objects.requireNonNull(replay.below());
    if (selection.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(selection.until()));
    }
    long indexed = HistoryReads.indexedThrough(connection);
    Candidates candidates =
        after < indexed
            ? indexed(connection, replay, after, Math.min(below, indexed + 1))
            : tail(connection, after, below);
    Long hidden = HistoryReads.hidden(connection);
    List<Original> found = new ArrayList<>();
    for (Finished message : candidates.messages()) {
      if (fits(message, replay) && !Objects.equals(hidden, message.event())) {
        add(connection, message, replay.tenant(), found);
      }
      if (found.size() == limit) {
        return new Originals(found, message.id(), false);
      }
    }
    long through = candidates.through();
    return new Originals(found, through, through + 1 >= below);
  }

  /**
   * Finished messages in the order of their ids.
   *
   * @param through up to where they are all that there are
   */
  private record Candidates(List<Finished> messages, long through) {}

  /** Messages that the index of history has, without looking at others'. */
  private Candidates indexed(
      Transactions.Statements connection, Replay replay, long after, long below)
      throws SQLException {
    List<Finished> found = new ArrayList<>();
    long through = below - 1;
    for (Ending ending : replay.selection().endings()) {
      List<Finished> ofEnding = new ArrayList<>();
      try (IndexedIds ids =
          IndexedIds.of(
              connection,
              by(replay),
              owner(replay),
              ending == Ending.DROPPED,
              IndexedIds.Direction.OLDEST_FIRST,
              after + 1,
              below)) {
        for (long id = ids.next();
            id != IndexedIds.NONE && ofEnding.size() < mostRows;
            id = ids.next()) {
          ofEnding.add(finished(connection, id));
        }
      }
      if (ofEnding.size() == mostRows) {
        through = Math.min(through, ofEnding.getLast().id());
      }
      found.addAll(ofEnding);
    }
    long end = through;
    found.removeIf(message -> message.id() > end);
    found.sort(Comparator.comparingLong(Finished::id));
    return new Candidates(found, end);
  }

  private static By by(Replay replay) {
    if (replay.selection().subscription() != null) {
      return By.SUBSCRIPTION;
    }
    return replay.selection().endpoint() != null ? By.ENDPOINT : By.TENANT;
  }

  private static Object owner(Replay replay) {
    Long subscription = replay.selection().subscription();
    if (subscription != null) {
      return subscription;
    }
    Long endpoint = replay.selection().endpoint();
    return endpoint != null ? endpoint : replay.tenant();
  }

  private static Finished finished(Transactions.Statements connection, long id)
      throws SQLException {
    PreparedStatement statement = connection.prepare(ONE_FINISHED);
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw HistoryReads.disagreement(id);
      }
      return Finished.from(row);
    }
  }

  /** Messages that the index does not have yet. */
  private Candidates tail(Transactions.Statements connection, long after, long below)
      throws SQLException {
    PreparedStatement statement = connection.prepare(FINISHED);
    statement.setLong(1, after);
    statement.setLong(2, below);
    statement.setInt(3, mostRows);
    List<Finished> found = read(statement);
    return new Candidates(found, found.size() < mostRows ? below - 1 : found.getLast().id());
  }

  private static List<Finished> read(PreparedStatement statement) throws SQLException {
    List<Finished> found = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        found.add(Finished.from(rows));
      }
    }
    return found;
  }

  private static boolean fits(Finished message, Replay replay) {
    Selection selection = replay.selection();
    return (selection.endpoint() == null || selection.endpoint() == message.endpoint())
        && (selection.subscription() == null || selection.subscription() == message.subscription())
        && selection
            .endings()
            .contains(message.reason() == null ? Ending.DELIVERED : Ending.DROPPED)
        && message.at().isBefore(replay.createdAt());
  }

  private static void add(
      Transactions.Statements connection, Finished message, String tenant, List<Original> found)
      throws SQLException {
    PreparedStatement event = connection.prepare(TENANT_AND_SIZE);
    event.setLong(1, message.event());
    int size;
    try (ResultSet row = event.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("event " + message.event() + " is missing");
      }
      if (!tenant.equals(row.getString(1))) {
        return;
      }
      size = row.getInt(2);
    }
    PreparedStatement replayed = connection.prepare(IS_REPLAYED);
    replayed.setLong(1, message.event());
    replayed.setLong(2, message.id());
    try (ResultSet row = replayed.executeQuery()) {
      found.add(
          new Original(
              message.id(),
              message.event(),
              message.subscription(),
              Event.sizeOf(size),
              row.next(),
              message.version()));
    }
  }

  static Optional<Replay> replay(Transactions.Statements connection, String tenant, long id)
      throws SQLException {
    PreparedStatement statement = connection.prepare(SELECT + "id = ? AND tenant = ?");
    statement.setLong(1, id);
    statement.setString(2, tenant);
    return replays(statement).stream().findFirst();
  }

  static List<Replay> replays(
      Transactions.Statements connection, String tenant, long before, int limit)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare(SELECT + "tenant = ? AND id < ? ORDER BY id DESC LIMIT ?");
    statement.setString(1, tenant);
    statement.setLong(2, before);
    statement.setInt(3, limit);
    return replays(statement);
  }

  /** Those that are not at their end. */
  static List<Replay> running(Transactions.Statements connection) throws SQLException {
    return replays(connection.prepare(SELECT + "state = 'RUNNING' ORDER BY id"));
  }

  private static List<Replay> replays(PreparedStatement statement) throws SQLException {
    List<Replay> replays = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        replays.add(ReplayRow.read(rows));
      }
    }
    return replays;
  }
}
