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
import dev.holdfast.engine.store.postgres.Parts.Drop;
import dev.holdfast.engine.store.postgres.Parts.Part;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
 * finished long enough ago. What is looked at for that is read once, a piece at a time. One that
 * has to stay keeps no other, unless messages of its events are in that.
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

  /** The same where each row is looked up elsewhere. */
  private static final int PAGES_TO_FOLLOW = 128;

  /**
   * How often a part is tried to be dropped in a round, since somebody is nearly always at work.
   */
  private static final int TRIES = 8;

  private static final Duration BETWEEN_TRIES = Duration.ofMillis(200);

  /** After what time it is told that a part could not be dropped. */
  private static final Duration OVERDUE = Duration.ofHours(1);

  /** How many keys one statement removes. */
  private static final int KEYS = 5_000;

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

  /** Of events in a part, or with an id in it; or still to be made, which may get such an id. */
  private static final String IS_UNFINISHED =
      "SELECT EXISTS (SELECT 1 FROM open WHERE event >= ? AND event < ?)"
          + " OR EXISTS (SELECT 1 FROM open WHERE id >= ? AND id < ?)"
          + " OR EXISTS (SELECT 1 FROM fan_outs WHERE event >= ? AND event < ?)";

  /** Messages in a part of events that are in others: of the last before it, or replayed. */
  private static final String IS_OF_OTHERS =
      "SELECT EXISTS (SELECT 1 FROM events WHERE id >= ? AND id < ? AND id + messages * "
          + Id.STRIDE
          + " >= ?) OR EXISTS (SELECT 1 FROM replayed"
          + " WHERE message >= ? AND message < ? AND event < ?)";

  /** Where parts were dropped. */
  private static final String GAPS =
      "SELECT since, until FROM (SELECT coalesce(lag(until) OVER (ORDER BY first), 0) AS since,"
          + " first AS until FROM parts) every WHERE since < until";

  private final Connections connections;
  private final Parts parts;
  private Instant nextRound = Instant.MIN;
  private Instant nextChanges = Instant.MIN;

  /** What was looked through and could not be dropped yet, so that it is not read again. */
  private @Nullable Looked looked;

  /** What runs beside the one who asks, if anything does. Guarded by this. */
  private @Nullable Thread running;

  private Removed collected = Removed.NOTHING;
  private boolean isMore;

  PostgresUpkeep(Connections connections) {
    this(connections, new Parts(connections));
  }

  PostgresUpkeep(Connections connections, Parts parts) {
    this.connections = connections;
    this.parts = parts;
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
    stage("making parts", () -> parts.makeAhead(Parts.width(retention), now));
    List<Removed> removed = new ArrayList<>();
    stage("dropping parts", () -> removeOne(retention, now).ifPresent(removed::add));
    stage("removing keys", this::removeKeys);
    if (!removed.isEmpty()) {
      nextRound = Instant.MIN;
      return new Upkept(true, removed.getFirst());
    }
    stage("removing what is left over", this::removeLeftovers);
    if (!now.isBefore(nextChanges)) {
      nextChanges = now.plus(CHANGES_EVERY);
      stage("removing changes of endpoints", () -> removeChanges(now.minus(retention.age())));
    }
    return new Upkept(false, Removed.NOTHING);
  }

  private interface Stage {
    void run() throws StoreException;
  }

  /** Does one thing; the others are done even if the database did not do this one. */
  private static void stage(String doing, Stage stage) throws StoreException {
    try {
      stage.run();
    } catch (StoreException e) {
      if (e.kind() != StoreException.Kind.REFUSED) {
        throw e;
      }
      LOG.warn(
          "store.upkeep-failed doing=\"{}\" next=\"the rest is done; tried again in a minute\"",
          doing,
          e);
    }
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

  /** Drops the oldest part that may go; empty when none may. */
  private Optional<Removed> removeOne(Retention retention, Instant now) throws StoreException {
    boolean isTooLarge = isTooLarge(retention);
    Instant cutoff = now.minus(retention.age());
    if (due(isTooLarge, cutoff, now).isEmpty()) {
      return Optional.empty();
    }
    try (Connection alone = connections.own()) {
      // One node at a time looks through parts. The session's end gives this up.
      if (!Parts.isTurn(alone)) {
        return Optional.empty();
      }
      for (Part part : due(isTooLarge, cutoff, now)) {
        Optional<Looked> found = look(part, isTooLarge ? Instant.MAX : cutoff, now);
        if (found.isPresent()) {
          Instant due = isTooLarge ? found.get().at() : found.get().end().plus(retention.age());
          switch (drop(found.get())) {
            case GONE -> {
              return Optional.of(found.get().contents().removed());
            }
            case LATER -> {
              if (due.plus(OVERDUE).isBefore(now)) {
                parts.warnOverdue("dropping a part", due, now);
              }
              return Optional.empty();
            }
            case KEPT -> {}
          }
        }
      }
      return Optional.empty();
    } catch (SQLException e) {
      throw SqlStates.failure("looking at parts", e);
    }
  }

  /** Parts whose time may be over, the oldest first. */
  private List<Part> due(boolean isTooLarge, Instant cutoff, Instant now) throws StoreException {
    return parts.all().stream()
        // Ids are still given out in the others.
        .filter(part -> !Id.time(part.until()).plus(SETTLED).isAfter(now))
        .filter(
            part ->
                isTooLarge
                    || (!Id.time(part.until()).isAfter(cutoff)
                        && (part.latest() == null || !part.latest().isAfter(cutoff))))
        .toList();
  }

  /**
   * A part that was looked through.
   *
   * @param at when that was
   */
  private record Looked(Part part, Contents contents, Instant at) {
    /** When the last in it was accepted or has finished. */
    Instant end() {
      Instant until = Id.time(part.until());
      return contents.latest().isAfter(until) ? contents.latest() : until;
    }

    /** The lowest id of what may have been made of it since. */
    long since() {
      return Id.floor(at.minus(LATELY));
    }
  }

  /** Looks through a part; empty if something in it has finished after the cutoff, or is needed. */
  private Optional<Looked> look(Part part, Instant cutoff, Instant now) throws StoreException {
    if (connections.readAlongIndexes("looking what is unfinished", c -> isNeeded(c, part))) {
      return Optional.empty();
    }
    Looked known = looked;
    if (known == null || known.part().first() != part.first()) {
      known = new Looked(part, contents(part), now);
    }
    looked = known;
    if (known.contents().latest().isAfter(cutoff)) {
      parts.note(part, known.contents().latest());
      looked = null;
      return Optional.empty();
    }
    return Optional.of(known);
  }

  private boolean isTooLarge(Retention retention) throws StoreException {
    return retention.maxBytes() != Retention.NO_LIMIT
        && connections.read("looking how large the store is", PostgresExtent::bytes)
            > retention.maxBytes();
  }

  /** Whether something in a part is unfinished, or another's, or about to be read. */
  private static boolean isNeeded(Connection connection, Part part) throws SQLException {
    long first = part.first();
    long until = part.until();
    long before = first == 0 ? 0 : Id.floor(Id.time(first).minus(LONGEST_EVENT));
    return Select.list(
                connection,
                IS_UNFINISHED,
                row -> row.getBoolean(1),
                first,
                until,
                first,
                until,
                before,
                until)
            .getFirst()
        || Select.list(
                connection,
                IS_OF_OTHERS,
                row -> row.getBoolean(1),
                before,
                first,
                first,
                first,
                until,
                first)
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
        PAGES,
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
        PAGES,
        "SELECT count(*), max(finished_at) FROM %s",
        row -> {
          counts[2] += row.getLong(1);
          Instant last = Rows.time(row, 2);
          latest[0] = last != null && last.isAfter(latest[0]) ? last : latest[0];
          return true;
        });
    pieces(
        part.of("replayed"),
        PAGES_TO_FOLLOW,
        "SELECT max(m.finished_at) FROM %s JOIN messages m"
            + " ON m.tenant = piece.tenant AND m.id = piece.message",
        row -> {
          Instant last = Rows.time(row, 1);
          latest[0] = last != null && last.isAfter(latest[0]) ? last : latest[0];
          return true;
        });
    // Messages of the last events may be in the next part.
    connections.readAlongIndexes(
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
  private <T> void pieces(String table, int size, String sql, Select.Reading<T> reading)
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
    for (long page = 0; page < pages; page += size) {
      String piece =
          "(SELECT * FROM %s WHERE ctid >= '(%d,0)' AND ctid < '(%d,0)') piece"
              .formatted(table, page, page + size);
      connections.readAlongIndexes(
          "reading a part", connection -> Select.list(connection, sql.formatted(piece), reading));
    }
  }

  /** Of events that have gone. Until then nobody minds them: they are anybody's to claim. */
  private void removeKeys() throws StoreException {
    List<long[]> gaps =
        connections.read(
            "looking what was dropped",
            connection ->
                Select.list(connection, GAPS, row -> new long[] {row.getLong(1), row.getLong(2)}));
    for (long[] gap : gaps) {
      List<Boolean> gone;
      do {
        gone =
            connections.transact(
                "removing keys",
                connection ->
                    Select.list(
                        connection,
                        "DELETE FROM keys WHERE ctid = ANY (ARRAY (SELECT ctid FROM keys"
                            + " WHERE event >= ? AND event < ? LIMIT ?)) RETURNING true",
                        row -> row.getBoolean(1),
                        gap[0],
                        gap[1],
                        KEYS));
      } while (gone.size() == KEYS);
    }
  }

  /** Drops a part that was looked through: tries it some times, each a moment. */
  private Drop drop(Looked known) throws StoreException {
    Part part = known.part();
    Removed removed = known.contents().removed();
    Parts.Dropping dropping =
        new Parts.Dropping() {
          @Override
          public boolean mayGo(Connection connection) throws SQLException {
            return !isNeeded(connection, part) && !isReplayed(connection, part, known.since());
          }

          @Override
          public void dropped(Connection connection) throws SQLException {
            Parts.removed(connection, removed.ofTenants());
          }
        };
    Drop drop = parts.drop(part, dropping);
    for (int tries = 1; drop == Drop.LATER && tries < TRIES && Pause.of(BETWEEN_TRIES); tries++) {
      drop = parts.drop(part, dropping);
    }
    if (drop != Drop.LATER) {
      looked = null;
    }
    if (drop == Drop.GONE) {
      LOG.info(
          "retention.removed since={} until={} events={} messages={} bytes={}",
          Id.time(part.first()),
          Id.time(part.until()),
          removed.events(),
          removed.messages(),
          removed.bytes());
    }
    return drop;
  }
}
