package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Rows.EventHead;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Reads events in the order in which they were accepted, for those who were not there then.
 *
 * <p>What an event is about is read first; its payload only when that is of interest.
 */
final class PastReads {
  private static final String HEADS =
      "SELECT "
          + Rows.EVENT_HEAD_COLUMNS
          + ", length(data) + coalesce(length(previous), 0) FROM events WHERE id > ? AND id < ?"
          + " ORDER BY id %s LIMIT ?";

  private static final int SIZE_COLUMN = 10;

  private static final String EVENT = "SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE id = ?";

  private static final String STEPS =
      "SELECT " + FanOutRow.COLUMNS + " FROM fan_outs WHERE event = ?";

  private static final String HAS_MESSAGE =
      "SELECT 1 FROM open WHERE id > ?1 AND id <= ?2 AND subscription = ?3"
          + " UNION ALL SELECT 1 FROM messages WHERE id > ?1 AND id <= ?2 AND subscription = ?3"
          + " LIMIT 1";

  private final HistoryReads history;
  private final StoreLimits limits;

  PastReads(HistoryReads history, StoreLimits limits) {
    this.history = history;
    this.limits = limits;
  }

  Originals past(Replay replay, Interest interest, int limit) throws StoreException {
    return history.read(
        "reading what was before a subscription",
        connection -> past(connection, replay, interest, limit));
  }

  private Originals past(
      Transactions.Statements connection, Replay replay, Interest interest, int limit)
      throws SQLException {
    long subscription = Objects.requireNonNull(replay.selection().subscription());
    long below = Objects.requireNonNull(replay.below());
    long after = replay.through();
    if (replay.selection().since() != null) {
      after = Math.max(after, Summaries.firstIdAt(replay.selection().since()) - 1);
    }
    Long hidden = HistoryReads.hidden(connection);
    List<Original> found = new ArrayList<>();
    List<Head> heads = heads(connection, after, below, "", limits.historyRows());
    long bytes = 0;
    long looked = 0;
    for (Head head : heads) {
      if (found.size() == limit
          || bytes > StoreLimits.PAST_BYTES
          || looked > limits.historyRows()) {
        return new Originals(found, after, false);
      }
      after = head.event().id();
      if (!head.event().tenant().equals(replay.tenant())
          || Objects.equals(hidden, after)
          || !interest.covers(head.event().type(), head.event().subject())) {
        continue;
      }
      if (!interest.filters().isEmpty()) {
        bytes += head.size();
        if (!interest.wants(event(connection, after))) {
          continue;
        }
      }
      // What is older than the subscription cannot have come to it by itself.
      boolean mayHaveCome = after > subscription;
      looked += mayHaveCome ? head.event().messages() : 0;
      // In this order: a step that is made between the two looks has left its message.
      if (!mayHaveCome
          || (!isToBeMade(connection, head.event(), subscription)
              && !hasMessage(connection, head.event(), subscription))) {
        found.add(new Original(0, after, subscription, Event.sizeOf(head.size()), false, null));
      }
    }
    boolean isEnd = heads.size() < limits.historyRows();
    return new Originals(found, isEnd ? Math.max(after, below - 1) : after, isEnd);
  }

  static List<Event> latest(
      Transactions.Statements connection, String tenant, int limit, StoreLimits limits)
      throws SQLException {
    Long hidden = HistoryReads.hidden(connection);
    List<Event> found = new ArrayList<>();
    long bytes = 0;
    for (Head head : heads(connection, 0, Long.MAX_VALUE, "DESC", limits.historyRows())) {
      if (found.size() == limit || bytes > StoreLimits.PAST_BYTES) {
        break;
      }
      if (head.event().tenant().equals(tenant) && !Objects.equals(hidden, head.event().id())) {
        bytes += head.size();
        found.add(event(connection, head.event().id()));
      }
    }
    return found;
  }

  /**
   * What an event is about.
   *
   * @param size the bytes of its payload
   */
  private record Head(EventHead event, int size) {}

  private static List<Head> heads(
      Transactions.Statements connection, long after, long below, String order, int limit)
      throws SQLException {
    PreparedStatement statement = connection.prepare(HEADS.formatted(order));
    statement.setLong(1, after);
    statement.setLong(2, below);
    statement.setInt(3, limit);
    List<Head> heads = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        heads.add(new Head(Rows.eventHead(rows, 1), rows.getInt(SIZE_COLUMN)));
      }
    }
    return heads;
  }

  private static Event event(Transactions.Statements connection, long id) throws SQLException {
    PreparedStatement statement = connection.prepare(EVENT);
    statement.setLong(1, id);
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("event " + id + " is missing");
      }
      return Rows.event(row);
    }
  }

  /** Whether a step that is still to be made brings a subscription a message of an event. */
  private static boolean isToBeMade(
      Transactions.Statements connection, EventHead event, long subscription) throws SQLException {
    PreparedStatement statement = connection.prepare(STEPS);
    statement.setLong(1, event.id());
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        for (FanOut.Target target : FanOutRow.read(row).targets()) {
          if (target.subscription() == subscription) {
            return true;
          }
        }
      }
      return false;
    }
  }

  /** Whether a subscription was there already when the event was accepted. */
  private static boolean hasMessage(
      Transactions.Statements connection, EventHead event, long subscription) throws SQLException {
    PreparedStatement statement = connection.prepare(HAS_MESSAGE);
    statement.setLong(1, event.id());
    statement.setLong(2, event.id() + event.messages() * Id.STRIDE);
    statement.setLong(3, subscription);
    try (ResultSet row = statement.executeQuery()) {
      return row.next();
    }
  }
}
