package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What replays read: the messages that they are of, and how far they are. */
final class ReplayReads {
  private static final String FINISHED =
      "SELECT " + Finished.COLUMNS + " FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?";

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

  private Originals originals(Reader.Statements connection, Replay replay, int limit)
      throws SQLException {
    Selection selection = replay.selection();
    long after = Math.max(replay.through(), firstId(selection.since()) - 1);
    long below =
        Math.min(
            replay.id(), selection.until() == null ? Long.MAX_VALUE : firstId(selection.until()));
    Long hidden = HistoryReads.hidden(connection);
    PreparedStatement statement = connection.prepare(FINISHED);
    statement.setLong(1, after);
    statement.setLong(2, below);
    statement.setInt(3, mostRows);
    List<Original> found = new ArrayList<>();
    long through = after;
    int looked = 0;
    try (ResultSet rows = statement.executeQuery()) {
      while (found.size() < limit && rows.next()) {
        Finished message = Finished.from(rows);
        looked++;
        through = message.id();
        if (fits(message, replay) && !Objects.equals(hidden, message.event())) {
          add(connection, message, replay.tenant(), found);
        }
      }
    }
    return new Originals(found, through, looked < mostRows && found.size() < limit);
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
      Reader.Statements connection, Finished message, String tenant, List<Original> found)
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
              row.next()));
    }
  }

  private static long firstId(@Nullable Instant time) {
    return time == null ? 1 : Id.floor(time);
  }

  static Optional<Replay> replay(Reader.Statements connection, String tenant, long id)
      throws SQLException {
    PreparedStatement statement = connection.prepare(SELECT + "id = ? AND tenant = ?");
    statement.setLong(1, id);
    statement.setString(2, tenant);
    return replays(statement).stream().findFirst();
  }

  static List<Replay> replays(Reader.Statements connection, String tenant, long before, int limit)
      throws SQLException {
    PreparedStatement statement =
        connection.prepare(SELECT + "tenant = ? AND id < ? ORDER BY id DESC LIMIT ?");
    statement.setString(1, tenant);
    statement.setLong(2, before);
    statement.setInt(3, limit);
    return replays(statement);
  }

  /** Those that are not at their end. */
  static List<Replay> running(Reader.Statements connection) throws SQLException {
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
