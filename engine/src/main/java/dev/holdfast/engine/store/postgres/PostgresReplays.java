package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Damaged;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.Finished;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Rows.EventHead;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.Summaries;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What replays read: the messages, or events, that they are of. They are part of the path, and wait
 * for nobody who looks at history.
 */
final class PostgresReplays {
  private static final String FINISHED =
      "SELECT " + Finished.COLUMNS + " FROM messages WHERE tenant = ? AND id > ? AND id < ?";

  private static final String IN_ORDER = " ORDER BY id LIMIT ?";

  private static final String HEADS =
      "SELECT "
          + Rows.EVENT_HEAD_COLUMNS
          + ", "
          + PostgresHistory.BYTES
          + " FROM events WHERE tenant = ? AND id > ? AND id < ?"
          + IN_ORDER;

  private static final int SIZE_COLUMN = 10;

  private static final String HAS_MESSAGE =
      "SELECT 1 FROM open WHERE tenant = ? AND id > ? AND id <= ? AND event = ?"
          + " AND subscription = ? UNION ALL SELECT 1 FROM messages WHERE tenant = ? AND id > ?"
          + " AND id <= ? AND event = ? AND subscription = ? LIMIT 1";

  private static final String STEPS =
      "SELECT " + FanOutRow.COLUMNS + " FROM fan_outs WHERE event = ? AND tenant = ?";

  private final Connections connections;
  private final Duration longest;
  private final int mostRows;

  /** Reads over these connections, within the limits of a read of history. */
  PostgresReplays(Connections connections, StoreLimits limits) {
    this.connections = connections;
    this.longest = limits.historyRead();
    this.mostRows = limits.historyRows();
  }

  private <T> T read(String doing, Connections.Work<T> work) throws StoreException {
    return PostgresHistory.readAtOnce(connections, doing, longest, work);
  }

  Originals originals(Replay replay, int limit) throws StoreException {
    return read(
        "reading what is to be replayed", connection -> originals(connection, replay, limit));
  }

  private Originals originals(Connection connection, Replay replay, int limit) throws SQLException {
    Selection selection = replay.selection();
    long after = after(replay, PostgresHistory.floor(connection));
    long below = Objects.requireNonNull(replay.below());
    if (selection.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(selection.until()));
    }
    List<Finished> candidates =
        candidates(connection, replay, after, Math.min(below, PostgresHistory.newest(connection)));
    Set<Long> kept =
        PostgresHistory.kept(
            connection, candidates.stream().map(Finished::event).collect(Collectors.toSet()));
    List<Finished> fitting = new ArrayList<>();
    boolean isCut = candidates.size() == mostRows;
    long through = isCut ? candidates.getLast().id() : Math.max(after, below - 1);
    for (Finished message : candidates) {
      if (fits(message, replay) && kept.contains(message.event())) {
        fitting.add(message);
      }
      if (fitting.size() == limit) {
        return new Originals(whole(connection, replay.tenant(), fitting), message.id(), false);
      }
    }
    return new Originals(
        whole(connection, replay.tenant(), fitting), through, through + 1 >= below);
  }

  private static long after(Replay replay, long floor) {
    long after = Math.max(replay.through(), floor - 1);
    return replay.selection().since() == null
        ? after
        : Math.max(after, Summaries.firstIdAt(replay.selection().since()) - 1);
  }

  /** Finished messages by the narrowest index that there is for them, the oldest first. */
  private List<Finished> candidates(Connection connection, Replay replay, long after, long below)
      throws SQLException {
    Selection selection = replay.selection();
    if (!selection.endings().contains(Ending.DELIVERED)) {
      return candidates(connection, " AND reason IS NOT NULL", replay, after, below, null);
    }
    if (selection.subscription() != null) {
      return candidates(
          connection, " AND subscription = ?", replay, after, below, selection.subscription());
    }
    return selection.endpoint() == null
        ? candidates(connection, "", replay, after, below, null)
        : candidates(connection, " AND endpoint = ?", replay, after, below, selection.endpoint());
  }

  private List<Finished> candidates(
      Connection connection, String owner, Replay replay, long after, long below, @Nullable Long id)
      throws SQLException {
    String sql = FINISHED + owner + IN_ORDER;
    int most = mostRows;
    return id == null
        ? Select.list(connection, sql, Finished::from, replay.tenant(), after, below, most)
        : Select.list(connection, sql, Finished::from, replay.tenant(), after, below, id, most);
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

  /** The same messages with what a replay has to know of their events. */
  private static List<Original> whole(Connection connection, String tenant, List<Finished> messages)
      throws SQLException {
    if (messages.isEmpty()) {
      return List.of();
    }
    Long[] events = messages.stream().map(Finished::event).distinct().toArray(Long[]::new);
    Map<Long, Integer> sizes = new HashMap<>();
    Select.list(
        connection,
        "SELECT id, " + PostgresHistory.BYTES + " FROM events WHERE tenant = ? AND id = ANY (?)",
        row -> sizes.put(row.getLong(1), row.getInt(2)),
        tenant,
        events);
    Set<Long> replayed =
        new HashSet<>(
            Select.list(
                connection,
                "SELECT DISTINCT original FROM replayed WHERE tenant = ? AND event = ANY (?)",
                row -> row.getLong(1),
                tenant,
                events));
    List<Original> found = new ArrayList<>();
    for (Finished message : messages) {
      Integer size = sizes.get(message.event());
      if (size == null) {
        throw new Damaged("event " + message.event() + " is missing");
      }
      found.add(
          new Original(
              message.id(),
              message.event(),
              message.subscription(),
              Event.sizeOf(size),
              replayed.contains(message.id()),
              message.version()));
    }
    return found;
  }

  Originals past(Replay replay, Interest interest, int limit) throws StoreException {
    return read(
        "reading what was before a subscription",
        connection -> past(connection, replay, interest, limit));
  }

  private record Head(EventHead event, int size) {}

  private Originals past(Connection connection, Replay replay, Interest interest, int limit)
      throws SQLException {
    long subscription = Objects.requireNonNull(replay.selection().subscription());
    long below = Objects.requireNonNull(replay.below());
    long after = after(replay, PostgresHistory.floor(connection));
    List<Head> heads =
        Select.list(
            connection,
            HEADS,
            row -> new Head(Rows.eventHead(row, 1), row.getInt(SIZE_COLUMN)),
            replay.tenant(),
            after,
            Math.min(below, PostgresHistory.newest(connection)),
            mostRows);
    List<Original> found = new ArrayList<>();
    long bytes = 0;
    long looked = 0;
    for (Head head : heads) {
      if (found.size() == limit || bytes > StoreLimits.PAST_BYTES || looked > mostRows) {
        return new Originals(found, after, false);
      }
      after = head.event().id();
      if (!interest.covers(head.event().type(), head.event().subject())) {
        continue;
      }
      if (!interest.filters().isEmpty()) {
        bytes += head.size();
        if (!interest.wants(event(connection, replay.tenant(), after))) {
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
    boolean isEnd = heads.size() < mostRows;
    return new Originals(found, isEnd ? Math.max(after, below - 1) : after, isEnd);
  }

  private static Event event(Connection connection, String tenant, long id) throws SQLException {
    return Select.list(
            connection,
            "SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE tenant = ? AND id = ?",
            Rows::event,
            tenant,
            id)
        .getFirst();
  }

  /** Whether a step that is still to be made brings a subscription a message of an event. */
  private static boolean isToBeMade(Connection connection, EventHead event, long subscription)
      throws SQLException {
    List<FanOut> steps =
        Select.list(connection, STEPS, FanOutRow::read, event.id(), event.tenant());
    return steps.stream()
        .flatMap(step -> step.targets().stream())
        .anyMatch(target -> target.subscription() == subscription);
  }

  /** Whether a subscription was there already when the event was accepted. */
  private static boolean hasMessage(Connection connection, EventHead event, long subscription)
      throws SQLException {
    long last = Summaries.lastMessageOf(event);
    return !Select.list(
            connection,
            HAS_MESSAGE,
            row -> true,
            event.tenant(),
            event.id(),
            last,
            event.id(),
            subscription,
            event.tenant(),
            event.id(),
            last,
            event.id(),
            subscription)
        .isEmpty();
  }
}
