package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Summaries;
import dev.holdfast.engine.store.Upkept;
import dev.holdfast.engine.store.Upkept.Removed;
import dev.holdfast.engine.store.postgres.Parts.Part;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is done for the database that nobody waits for: it makes parts ahead, drops those that were
 * kept for long enough, the oldest first, and removes what is left of calls and of nodes that are
 * gone. Every node does it; for parts, one of them at a time.
 *
 * <p>A part goes as a whole, when all messages in it, and all that replays have made of them, have
 * finished long enough ago. What is looked at for that is read once, a piece at a time.
 */
final class PostgresUpkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresUpkeep.class);

  /** From one round to the next. */
  private static final Duration PAUSE = Duration.ofMinutes(1);

  /** How long after its time nothing is written to a part any more that is new. */
  private static final Duration SETTLED = Duration.ofMinutes(10);

  /** How far the ids of an event's messages reach. */
  private static final Duration LONGEST_EVENT = Duration.ofSeconds(1);

  /** How much earlier than now the time of an id may be that is given out now. */
  private static final Duration LATELY = Duration.ofMinutes(1);

  private static final Duration CHANGES_EVERY = Duration.ofHours(1);
  private static final int ROUNDS_PER_RETENTION = 100;

  /** How many pages of a table one statement reads. */
  private static final int PAGES = 4_096;

  /** How many keys one statement removes. */
  private static final int KEYS = 5_000;

  /** In which row of a tenant is counted what was removed; no node has this slot. */
  private static final int SLOT = -1;

  private static final List<String> LEFTOVERS =
      List.of(
          "DELETE FROM calls WHERE asked_at < clock_timestamp() - interval '5 minutes'",
          "DELETE FROM subscriptions WHERE forgotten < clock_timestamp() - interval '1 hour'",
          "DELETE FROM node_reports WHERE at < clock_timestamp() - interval '1 hour'"
              + " AND node NOT IN (SELECT id FROM nodes)");

  /** What endpoints went through long ago, but for the last of each. */
  private static final String CHANGES =
      "DELETE FROM endpoint_changes WHERE (tenant, endpoint, id) IN (SELECT tenant, endpoint, id"
          + " FROM endpoint_changes c WHERE at <= ? AND EXISTS (SELECT 1 FROM endpoint_changes n"
          + " WHERE n.tenant = c.tenant AND n.endpoint = c.endpoint AND n.id > c.id) LIMIT "
          + KEYS
          + ") RETURNING id";

  private static final String IS_UNFINISHED =
      "SELECT EXISTS (SELECT 1 FROM open WHERE event >= ? AND event < ?)"
          + " OR EXISTS (SELECT 1 FROM fan_outs WHERE event >= ? AND event < ?)";

  private final Connections connections;
  private final Parts parts;
  private Instant nextRound = Instant.MIN;
  private Instant nextChanges = Instant.MIN;

  /** What runs beside the one who asks, if anything does. Guarded by this. */
  private @Nullable Thread running;

  private Removed collected = Removed.NOTHING;
  private boolean isMore;

  PostgresUpkeep(Connections connections) {
    this.connections = connections;
    this.parts = new Parts(connections);
  }

  /**
   * Lets a step run on a thread of its own, since it may wait for others, and tells what those
   * before have removed.
   */
  synchronized Upkept stepBeside(Retention retention, Instant now) {
    if (running == null || !running.isAlive()) {
      if (isMore || !now.isBefore(nextRound)) {
        running =
            Thread.ofPlatform()
                .name("holdfast-upkeep")
                .daemon()
                .start(() -> runBeside(retention, now));
      }
    }
    Removed removed = collected;
    collected = Removed.NOTHING;
    return new Upkept(isMore, removed);
  }

  private void runBeside(Retention retention, Instant now) {
    boolean more = false;
    Removed removed = Removed.NOTHING;
    try {
      Upkept done = step(retention, now);
      more = done.isMore();
      removed = done.removed();
    } catch (StoreException e) {
      LOG.warn("store.upkeep-failed next=\"tried again in a minute\"", e);
    }
    synchronized (this) {
      isMore = more;
      collected = collected.plus(removed);
    }
  }

  /** Makes parts for what is older than the store, before it is brought there. */
  boolean makeRoom(Retention retention, Instant oldest, Instant now) throws StoreException {
    return parts.make(Parts.width(retention), oldest, now);
  }

  /** Waits for what runs beside. */
  @Override
  public void close() {
    Thread last;
    synchronized (this) {
      last = running;
    }
    if (last != null) {
      try {
        last.join(Duration.ofSeconds(10));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Does what is due: at most one part is dropped. May take seconds. */
  Upkept step(Retention retention, Instant now) throws StoreException {
    if (now.isBefore(nextRound)) {
      return new Upkept(false, Removed.NOTHING);
    }
    Instant round = now.plus(pause(retention));
    nextRound = round;
    parts.makeAhead(Parts.width(retention), now);
    Optional<Removed> removed = removeOldest(retention, now);
    removeKeys();
    if (removed.isPresent()) {
      nextRound = Instant.MIN;
      return new Upkept(true, removed.get());
    }
    removeLeftovers();
    if (!now.isBefore(nextChanges)) {
      nextChanges = now.plus(CHANGES_EVERY);
      removeChanges(now.minus(retention.age()));
    }
    return new Upkept(false, Removed.NOTHING);
  }

  private static Duration pause(Retention retention) {
    Duration share = retention.age().dividedBy(ROUNDS_PER_RETENTION);
    return share.compareTo(PAUSE) < 0 ? share : PAUSE;
  }

  private void removeLeftovers() throws StoreException {
    for (String sql : LEFTOVERS) {
      connections.transact(
          "removing what is left over",
          connection -> {
            Connections.execute(connection, sql);
            return true;
          });
    }
  }

  private void removeChanges(Instant cutoff) throws StoreException {
    List<Long> gone;
    do {
      gone =
          connections.transact(
              "removing changes of endpoints",
              connection ->
                  Select.list(connection, CHANGES, row -> row.getLong(1), Rows.micros(cutoff)));
    } while (gone.size() == KEYS);
  }

  /** Drops the oldest part, if it may go; empty when it may not. */
  private Optional<Removed> removeOldest(Retention retention, Instant now) throws StoreException {
    Optional<Part> oldest = parts.oldest();
    if (oldest.isEmpty()) {
      return Optional.empty();
    }
    Part part = oldest.get();
    Instant cutoff = now.minus(retention.age());
    if (Id.time(part.until()).plus(SETTLED).isAfter(now)) {
      // Ids are still given out in it.
      return Optional.empty();
    }
    boolean isOld = !Id.time(part.until()).isAfter(cutoff);
    boolean isTooLarge = isTooLarge(retention);
    if (!isOld && !isTooLarge) {
      return Optional.empty();
    }
    if (!isTooLarge && part.latest() != null && part.latest().isAfter(cutoff)) {
      return Optional.empty();
    }
    try (Connection alone = connections.own()) {
      // One node at a time looks through a part. The session's end gives this up.
      if (!Parts.isTurn(alone) || !parts.oldest().equals(oldest)) {
        return Optional.empty();
      }
      return remove(part, isTooLarge ? Instant.MAX : cutoff, now);
    } catch (SQLException e) {
      throw SqlStates.failure("looking at the oldest part", e);
    }
  }

  /** Drops a part in which nothing has finished after the cutoff, or is unfinished. */
  private Optional<Removed> remove(Part part, Instant cutoff, Instant now) throws StoreException {
    if (connections.read("looking what is unfinished", c -> isNeeded(c, part))) {
      return Optional.empty();
    }
    Contents contents = contents(part);
    if (contents.latest().isAfter(cutoff)) {
      parts.note(part, contents.latest());
      return Optional.empty();
    }
    return drop(part, contents, Id.floor(now.minus(LATELY)))
        ? Optional.of(contents.removed())
        : Optional.empty();
  }

  private boolean isTooLarge(Retention retention) throws StoreException {
    return retention.maxBytes() != Retention.NO_LIMIT
        && connections.read("looking how large the store is", PostgresExtent::bytes)
            > retention.maxBytes();
  }

  /** Whether something in a part is unfinished, or somebody is about to read it. */
  private static boolean isNeeded(Connection connection, Part part) throws SQLException {
    return Select.list(
                connection,
                IS_UNFINISHED,
                row -> row.getBoolean(1),
                part.first(),
                part.until(),
                part.first(),
                part.until())
            .getFirst()
        || Select.list(
                connection,
                "SELECT " + ReplayRow.COLUMNS + " FROM replays WHERE state = 'RUNNING'",
                ReplayRow::read)
            .stream()
            .anyMatch(replay -> needs(replay, part));
  }

  /** Whether a replay has made something of a part since an id was given. */
  private static boolean isReplayed(Connection connection, Part part, long since)
      throws SQLException {
    return Select.list(
            connection,
            "SELECT EXISTS (SELECT 1 FROM %s WHERE message >= ?)".formatted(part.of("replayed")),
            row -> row.getBoolean(1),
            since)
        .getFirst();
  }

  private static boolean needs(Replay replay, Part part) {
    // One that is counting begins anew when it has counted.
    long through = replay.total() == null ? 0 : replay.through();
    Instant since = replay.selection().since();
    long next = since == null ? through + 1 : Math.max(through + 1, Summaries.firstIdAt(since));
    return next < part.until() && (replay.below() == null || replay.below() > part.first());
  }

  /**
   * What is in a part.
   *
   * @param latest when the last message in it has finished
   */
  private record Contents(Removed removed, Instant latest) {}

  private Contents contents(Part part) throws StoreException {
    Map<String, Stored> tenants = new HashMap<>();
    long[] counts = new long[3];
    pieces(
        part.of("events"),
        "SELECT tenant, count(*), sum(" + PostgresHistory.BYTES + ") FROM %s GROUP BY tenant",
        row -> {
          long events = row.getLong(2);
          long bytes = row.getLong(3);
          counts[0] += events;
          counts[1] += bytes;
          return tenants.merge(
              row.getString(1),
              new Stored(events, bytes + events * Event.OVERHEAD_BYTES),
              (one, more) -> one.plus(more.events(), more.bytes()));
        });
    Instant[] latest = {Instant.EPOCH};
    pieces(
        part.of("messages"),
        "SELECT count(*), max(finished_at) FROM %s",
        row -> {
          counts[2] += row.getLong(1);
          Instant last = Rows.time(row, 2);
          latest[0] = last != null && last.isAfter(latest[0]) ? last : latest[0];
          return true;
        });
    pieces(
        part.of("replayed"),
        "SELECT max(m.finished_at) FROM %s JOIN messages m"
            + " ON m.tenant = piece.tenant AND m.id = piece.message",
        row -> {
          Instant last = Rows.time(row, 1);
          latest[0] = last != null && last.isAfter(latest[0]) ? last : latest[0];
          return true;
        });
    // Messages of the last events may be in the next part.
    connections.read(
        "reading a part",
        connection ->
            Select.list(
                connection,
                "SELECT max(finished_at) FROM messages"
                    + " WHERE tenant = ANY (?) AND id >= ? AND id < ? AND event < ?",
                row -> {
                  Instant last = Rows.time(row, 1);
                  latest[0] = last != null && last.isAfter(latest[0]) ? last : latest[0];
                  return true;
                },
                tenants.keySet().toArray(new String[0]),
                part.until(),
                Id.floor(Id.time(part.until()).plus(LONGEST_EVENT)),
                part.until()));
    return new Contents(new Removed(counts[0], counts[2], counts[1], tenants), latest[0]);
  }

  /** Asks the same of one piece of a table after the other, each of which is read quickly. */
  private <T> void pieces(String table, String sql, Select.Reading<T> reading)
      throws StoreException {
    long pages =
        connections.read(
            "looking how large a part is",
            connection ->
                Select.list(
                        connection,
                        "SELECT pg_relation_size(?::regclass)"
                            + " / current_setting('block_size')::bigint",
                        row -> row.getLong(1),
                        table)
                    .getFirst());
    for (long page = 0; page < pages; page += PAGES) {
      String piece =
          "(SELECT * FROM %s WHERE ctid >= '(%d,0)' AND ctid < '(%d,0)') piece"
              .formatted(table, page, page + PAGES);
      connections.read(
          "reading a part", connection -> Select.list(connection, sql.formatted(piece), reading));
    }
  }

  /** Of events that have gone. Until then nobody minds them: they are anybody's to claim. */
  private void removeKeys() throws StoreException {
    List<Boolean> gone;
    do {
      gone =
          connections.transact(
              "removing keys",
              connection ->
                  Select.list(
                      connection,
                      "DELETE FROM keys WHERE ctid = ANY (ARRAY (SELECT ctid FROM keys"
                          + " WHERE event < ? LIMIT ?)) RETURNING true",
                      row -> row.getBoolean(1),
                      PostgresHistory.floor(connection),
                      KEYS));
    } while (gone.size() == KEYS);
  }

  /**
   * Drops a part that was looked through.
   *
   * @param since the lowest id of what may have been made of it since it was looked through
   */
  private boolean drop(Part part, Contents contents, long since) throws StoreException {
    boolean isGone =
        parts.drop(
            part,
            new Parts.Dropping() {
              @Override
              public boolean mayGo(Connection connection) throws SQLException {
                return !isNeeded(connection, part) && !isReplayed(connection, part, since);
              }

              @Override
              public void dropped(Connection connection) throws SQLException {
                count(connection, contents.removed().ofTenants());
              }
            });
    if (isGone) {
      LOG.info(
          "retention.removed since={} until={} events={} messages={} bytes={}",
          Id.time(part.first()),
          Id.time(part.until()),
          contents.removed().events(),
          contents.removed().messages(),
          contents.removed().bytes());
    }
    return isGone;
  }

  private static void count(Connection connection, Map<String, Stored> removed)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO tenants (tenant, slot, events, bytes) VALUES (?, ?, ?, ?)"
                + " ON CONFLICT (tenant, slot) DO UPDATE SET"
                + " events = tenants.events + excluded.events,"
                + " bytes = tenants.bytes + excluded.bytes")) {
      for (Map.Entry<String, Stored> each : removed.entrySet()) {
        statement.setString(1, each.getKey());
        statement.setInt(2, SLOT);
        statement.setLong(3, -each.getValue().events());
        statement.setLong(4, -each.getValue().bytes());
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }
}
