package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the tables that grow with history are cut: all in the same places, so that an event is
 * dropped with its messages.
 *
 * <p>One part follows on the other from the lowest id on to some time ahead, with gaps where some
 * were dropped. An id that is above all of them goes to the rest, which is found empty when the
 * next part is made; if it is not, since nobody could make parts in time, it becomes one. All of
 * this is done by one node at a time, and gives way at once to whoever is at work with the tables.
 *
 * <p>What the rest has is looked through before it becomes a part, while others go on: a constraint
 * says within which ids it is, and the database proves that beside everybody. Then making a part of
 * it is a matter of names, for which all others wait a moment.
 */
final class Parts {
  private static final Logger LOG = LoggerFactory.getLogger(Parts.class);

  /** In the order in which a batch comes to them, and in which they are locked. */
  static final List<String> TABLES = List.of("events", "replayed", "attempts", "messages");

  /** What each of them is cut by. */
  private static final Map<String, String> KEYS =
      Map.of("events", "id", "replayed", "event", "attempts", "message", "messages", "id");

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuuMMddHH").withZone(ZoneOffset.UTC);

  private static final int ID_BITS = Id.COUNTER_BITS + Id.NODE_BITS;

  /** How far ahead parts are made: whoever reads all tables, for a copy, keeps us from it. */
  static final Duration AHEAD = Duration.ofHours(48);

  /** How many are there at least beside the one that is written to. */
  private static final int LEAST_AHEAD = 3;

  /** How many there should be at most: many statements lock all of them. */
  private static final int MOST = 100;

  private static final List<Duration> WIDTHS =
      List.of(
          Duration.ofHours(1),
          Duration.ofHours(6),
          Duration.ofDays(1),
          Duration.ofDays(7),
          Duration.ofDays(28));

  /** What is too large goes by parts, so they are smaller then, at the price of more of them. */
  private static final List<Duration> NARROW_WIDTHS =
      List.of(
          Duration.ofHours(1),
          Duration.ofHours(3),
          Duration.ofHours(6),
          Duration.ofHours(12),
          Duration.ofDays(1),
          Duration.ofDays(7),
          Duration.ofDays(28));

  /** How long anybody may have to wait for us to get a table for ourselves. */
  private static final String GIVE_WAY = "SET LOCAL lock_timeout = '150ms'";

  /** How long anybody may have to wait until we have all of them. */
  private static final Duration GATHERING = Duration.ofMillis(400);

  /** How long anybody may have to wait once we have them. */
  private static final Duration SHORTLY = Duration.ofSeconds(2);

  /** How long it may take to look through the rest, which nobody waits for. */
  private static final Duration LEISURELY = Duration.ofHours(1);

  private static final Duration BETWEEN_WARNINGS = Duration.ofHours(1);

  /** "Part" in ASCII: the lock of the node that makes and drops them. */
  private static final long LOCK = 0x50617274;

  /** "Turn" in ASCII: the lock of the node that looks through the oldest. */
  private static final long TURN = 0x5475726e;

  /** What PostgreSQL answers when a lock was not to be had in time. */
  private static final String NOT_AVAILABLE = "55P03";

  /** A row is in the rest that a new part would have. */
  private static final String IN_REST = "23514";

  /** What it answers when a statement took too long. */
  private static final String TOO_LONG = "57014";

  /** The name of the constraint that says within which ids the rest is, before the upper one. */
  private static final String BOUND = "rest_until_";

  /** In which row of a tenant is counted what was removed; no node has this slot. */
  private static final int SLOT = -1;

  private static final String COLUMNS = "first, until, latest_finish";

  /** What is read in a part of a second. */
  private static final long SMALL = 32 << 20;

  private final Connections connections;
  private final long small;
  private Instant nextWarning = Instant.MIN;

  Parts(Connections connections) {
    this(connections, SMALL);
  }

  /**
   * Parts of a store.
   *
   * @param small how many bytes the rest may have for the database to look through it at once
   */
  Parts(Connections connections, long small) {
    this.connections = connections;
    this.small = small;
  }

  /**
   * A part of each of the tables.
   *
   * @param first the lowest id that is in it
   * @param until the lowest id that is not in it
   * @param latest the latest time at which a message in it has finished, as far as was looked up
   */
  record Part(long first, long until, @Nullable Instant latest) {
    /** The name of a table's part. */
    String of(String table) {
      return table + "_" + NAME.format(Id.time(first));
    }
  }

  /** How much time a part is for: long enough that there are not too many of them. */
  static Duration width(Retention retention) {
    List<Duration> widths = retention.maxBytes() == Retention.NO_LIMIT ? WIDTHS : NARROW_WIDTHS;
    Duration all = retention.age().plus(AHEAD);
    return widths.stream()
        .filter(width -> all.dividedBy(width) <= MOST)
        .findFirst()
        .orElse(widths.getLast());
  }

  private static Instant ahead(Duration width, Instant now) {
    Duration least = width.multipliedBy(LEAST_AHEAD);
    return now.plus(least.compareTo(AHEAD) < 0 ? AHEAD : least);
  }

  /** All of them, the oldest first. */
  List<Part> all() throws StoreException {
    return connections.read("looking which parts there are", Parts::all);
  }

  private static List<Part> all(Connection connection) throws SQLException {
    return Select.list(connection, "SELECT " + COLUMNS + " FROM parts ORDER BY first", Parts::part);
  }

  private static Part part(ResultSet row) throws SQLException {
    long micros = row.getLong(3);
    return new Part(row.getLong(1), row.getLong(2), row.wasNull() ? null : Rows.instant(micros));
  }

  /**
   * Makes what is missing up to some time ahead. Whatever is older than all parts has one, too.
   *
   * @return whether all that is needed is there
   */
  boolean makeAhead(Duration width, Instant now) throws StoreException {
    return make(width, now, now);
  }

  /**
   * The same for a store that gets what is older than it: parts of the same width from then on.
   *
   * @param oldest the time of the oldest event that will be there
   */
  boolean make(Duration width, Instant oldest, Instant now) throws StoreException {
    Instant earliest = now.minus(width.multipliedBy(MOST));
    Instant from = oldest.isBefore(earliest) ? earliest : oldest;
    Wanted wanted = new Wanted(width, from, Id.floor(ahead(width, now)));
    while (true) {
      Made made = orLater("making a part", c -> makeNext(c, wanted));
      if (made == Made.REST_FIRST) {
        made = takeRest(wanted, now);
      }
      if (made == Made.LATER) {
        warnWhenShort(now);
      }
      if (made != Made.ONE) {
        if (made == Made.ENOUGH) {
          orLater("clearing the rest", c -> clearRest(c, now));
        }
        return made == Made.ENOUGH;
      }
    }
  }

  /** Removes what has come to the rest although it is below the parts. */
  private Made clearRest(Connection connection, Instant now) throws SQLException {
    Long last = last(connection);
    if (last == null || !isAboveInRest(connection, 0L) || !isOurs(connection)) {
      return Made.ENOUGH;
    }
    leisurely(connection);
    removeStrays(connection, last, now);
    return Made.ENOUGH;
  }

  /**
   * What parts there should be.
   *
   * @param oldest the time that the first of them should begin with, if there are none
   * @param ahead the id up to which there should be some
   */
  private record Wanted(Duration width, Instant oldest, long ahead) {
    long wide() {
      return width.toMillis() << ID_BITS;
    }

    /** Where the part ends that begins with an id. */
    long until(long begin) {
      // What is older than that, or was never written, is not worth many parts.
      long cut = Id.floor(oldest);
      return Math.max(up(begin), cut - cut % wide());
    }

    /** The next cut above an id. */
    long up(long id) {
      return id - id % wide() + wide();
    }
  }

  private enum Made {
    ONE,
    ENOUGH,
    /** The rest has something that has to be in a part before there can be others. */
    REST_FIRST,
    /** Another node is about it. */
    BY_ANOTHER,
    LATER
  }

  private Made makeNext(Connection connection, Wanted wanted) throws SQLException {
    Long end = last(connection);
    if (isAboveInRest(connection, end)) {
      return Made.REST_FIRST;
    }
    if (end != null && end >= wanted.ahead()) {
      return Made.ENOUGH;
    }
    if (!isOurs(connection)) {
      return Made.BY_ANOTHER;
    }
    Long last = last(connection);
    if (last != null && last >= wanted.ahead()) {
      return Made.ENOUGH;
    }
    long begin = last == null ? 0 : last;
    Part part = new Part(begin, wanted.until(begin), null);
    Connections.execute(connection, GIVE_WAY);
    for (String table : TABLES) {
      Connections.execute(
          connection, "CREATE TABLE %s (LIKE %s INCLUDING ALL)".formatted(part.of(table), table));
    }
    Moment moment = new Moment(connection, SHORTLY);
    for (String table : TABLES) {
      moment.execute(attach(table, part));
    }
    insert(connection, part);
    return Made.ONE;
  }

  /** Makes a part of the rest, which has some rows: first what nobody has to wait for. */
  private Made takeRest(Wanted wanted, Instant now) throws StoreException {
    if (connections.read("looking how large the rest is", this::isSmall)) {
      return orLater("making a part of the rest", c -> takeSmall(c, wanted, now));
    }
    Made ready = orLater("looking through the rest", c -> bound(c, wanted, now));
    for (String table : TABLES) {
      if (ready == Made.ONE) {
        ready = orLater("looking through the rest", c -> prove(c, table));
      }
    }
    return ready != Made.ONE ? ready : orLater("making a part of the rest", this::takeProven);
  }

  private boolean isSmall(Connection connection) throws SQLException {
    return bound(connection) == null
        && Select.list(
                    connection,
                    "SELECT sum(pg_relation_size(name::regclass)) FROM unnest(?) AS rest(name)",
                    row -> row.getLong(1),
                    (Object) TABLES.stream().map(table -> table + "_rest").toArray(String[]::new))
                .getFirst()
            <= small;
  }

  /** Makes a part of a rest that is looked through while all others wait. */
  private Made takeSmall(Connection connection, Wanted wanted, Instant now) throws SQLException {
    if (!isOurs(connection)) {
      return Made.BY_ANOTHER;
    }
    Long last = last(connection);
    long begin = last == null ? 0 : last;
    if (last != null && removeStrays(connection, begin, now)) {
      return Made.LATER;
    }
    Moment moment = aloneWithRest(connection);
    long highest = highest(connection);
    if (highest > Long.MAX_VALUE - 4 * wanted.wide()) {
      return Made.LATER;
    }
    long until = Math.max(wanted.until(begin), wanted.up(highest));
    swapRest(connection, moment, new Part(begin, until, null), null);
    return Made.ONE;
  }

  /** Sees to it that all four say within which ids they are. */
  private Made bound(Connection connection, Wanted wanted, Instant now) throws SQLException {
    if (!isOurs(connection)) {
      return Made.BY_ANOTHER;
    }
    if (bound(connection) != null) {
      return Made.ONE;
    }
    Long last = last(connection);
    long begin = last == null ? 0 : last;
    leisurely(connection);
    if (last != null && removeStrays(connection, begin, now)) {
      return Made.LATER;
    }
    long highest = highest(connection);
    if (highest > Long.MAX_VALUE - 4 * wanted.wide()) {
      return Made.LATER;
    }
    // Nothing comes to be above it until the rest is a part, unless that fails for days.
    long until = wanted.up(Math.max(wanted.until(begin), Math.max(wanted.ahead(), highest)));
    Connections.execute(connection, GIVE_WAY);
    Moment moment = new Moment(connection, SHORTLY);
    for (String table : TABLES) {
      moment.execute(
          "ALTER TABLE %1$s_rest ADD CONSTRAINT %2$s%4$d CHECK (%3$s >= %5$d AND %3$s < %4$d) NOT VALID"
              .formatted(table, BOUND, KEYS.get(table), until, begin));
    }
    return Made.ONE;
  }

  /** The id below which all of the rest is said to be, if that is said. */
  private static @Nullable Long bound(Connection connection) throws SQLException {
    List<Long> until =
        Select.list(
            connection,
            "SELECT substr(conname, length('%1$s') + 1)::bigint FROM pg_constraint".formatted(BOUND)
                + " WHERE conrelid = 'events_rest'::regclass AND contype = 'c'"
                + " AND starts_with(conname, '%s')".formatted(BOUND),
            row -> row.getLong(1));
    return until.isEmpty() ? null : until.getFirst();
  }

  /** Lets the database look whether a table is within what it says. Nobody waits for that. */
  private Made prove(Connection connection, String table) throws SQLException {
    if (!isOurs(connection)) {
      return Made.BY_ANOTHER;
    }
    Long until = bound(connection);
    if (until == null) {
      return Made.LATER;
    }
    leisurely(connection);
    Savepoint before = connection.setSavepoint();
    try {
      Connections.execute(
          connection,
          "ALTER TABLE %s_rest VALIDATE CONSTRAINT %s%d".formatted(table, BOUND, until));
      return Made.ONE;
    } catch (SQLException e) {
      if (!IN_REST.equals(e.getSQLState())) {
        throw e;
      }
      // Something has come to be below it meanwhile: it begins anew.
      connection.rollback(before);
      Connections.execute(connection, GIVE_WAY);
      for (String each : TABLES) {
        Connections.execute(
            connection, "ALTER TABLE %s_rest DROP CONSTRAINT %s%d".formatted(each, BOUND, until));
      }
      return Made.LATER;
    }
  }

  /** Makes a part of the rest, which is proven to be within its ids: all others wait. */
  private Made takeProven(Connection connection) throws SQLException {
    if (!isOurs(connection)) {
      return Made.BY_ANOTHER;
    }
    Long until = bound(connection);
    if (until == null) {
      return Made.LATER;
    }
    Long last = last(connection);
    Part part = new Part(last == null ? 0 : last, until, null);
    swapRest(connection, aloneWithRest(connection), part, until);
    return Made.ONE;
  }

  private static Moment aloneWithRest(Connection connection) throws SQLException {
    return alone(connection, TABLES.stream().map(table -> table + "_rest").toList());
  }

  /**
   * Puts an empty rest in the place of the one that becomes a part.
   *
   * @param bound what the constraint is named by that has proven it, if one has
   */
  private static void swapRest(
      Connection connection, Moment moment, Part part, @Nullable Long bound) throws SQLException {
    for (String table : TABLES) {
      moment.execute("ALTER TABLE %1$s DETACH PARTITION %1$s_rest".formatted(table));
      moment.execute("ALTER TABLE %s_rest RENAME TO %s".formatted(table, part.of(table)));
      moment.execute("CREATE TABLE %1$s_rest (LIKE %1$s INCLUDING ALL)".formatted(table));
      moment.execute(attach(table, part));
      if (bound != null) {
        moment.execute(
            "ALTER TABLE %s DROP CONSTRAINT %s%d".formatted(part.of(table), BOUND, bound));
      }
      moment.execute("ALTER TABLE %1$s ATTACH PARTITION %1$s_rest DEFAULT".formatted(table));
    }
    insert(connection, part);
    LOG.info("store.part-taken-in first={} until={}", Id.time(part.first()), Id.time(part.until()));
  }

  /**
   * Removes from the rest what is below the last part: it is of events that were removed. What
   * belongs to an unfinished message stays.
   *
   * @return whether something has to stay
   */
  private boolean removeStrays(Connection connection, long begin, Instant now) throws SQLException {
    Map<String, Stored> tenants = new HashMap<>();
    long kept = 0;
    for (String table : TABLES) {
      String key = KEYS.get(table);
      String strays = "FROM %s_rest r WHERE %s < %d".formatted(table, key, begin);
      String unneeded = " AND NOT EXISTS (SELECT 1 FROM open o WHERE " + owner(table) + ")";
      String sql = "DELETE " + strays + unneeded;
      if (table.equals("events")) {
        Select.list(
            connection,
            "WITH gone AS ("
                + sql
                + " RETURNING *) SELECT tenant, count(*), sum("
                + PostgresHistory.BYTES
                + ") FROM gone GROUP BY tenant",
            row ->
                tenants.put(
                    row.getString(1),
                    new Stored(
                        row.getLong(2), row.getLong(3) + row.getLong(2) * Event.OVERHEAD_BYTES)));
      } else {
        Connections.execute(connection, sql);
      }
      kept +=
          Select.list(connection, "SELECT count(*) " + strays, row -> row.getLong(1)).getFirst();
    }
    removed(connection, tenants);
    if (kept > 0 && isTimeToWarn(now)) {
      LOG.warn(
          "store.strays-kept rows={} below={} next=\"the rest of the tables becomes a part when the"
              + " unfinished messages that these belong to have finished\"",
          kept,
          Id.time(begin));
    }
    return kept > 0;
  }

  /** How an unfinished message is found that a row in the rest belongs to. */
  private static String owner(String table) {
    return switch (table) {
      case "events" -> "o.event = r.id";
      case "replayed" -> "o.event = r.event";
      case "messages" -> "o.event = r.event";
      default -> "o.id = r.message AND o.tenant = r.tenant";
    };
  }

  /** Takes what was removed from what is counted of tenants. */
  static void removed(Connection connection, Map<String, Stored> removed) throws SQLException {
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

  private static void leisurely(Connection connection) throws SQLException {
    Connections.execute(connection, "SET LOCAL statement_timeout = " + LEISURELY.toMillis());
    connection.setNetworkTimeout(Runnable::run, (int) LEISURELY.multipliedBy(2).toMillis());
  }

  /** The highest id that any batch has brought: nothing is looked through for it. */
  private static long highest(Connection connection) throws SQLException {
    return Select.list(
            connection, "SELECT coalesce(max(highest), 0) FROM batches", row -> row.getLong(1))
        .getFirst();
  }

  private static String attach(String table, Part part) {
    return "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)"
        .formatted(table, part.of(table), part.first(), part.until());
  }

  private static void insert(Connection connection, Part part) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO parts (first, until) VALUES (?, ?)")) {
      insert.setLong(1, part.first());
      insert.setLong(2, part.until());
      insert.executeUpdate();
    }
  }

  private static @Nullable Long last(Connection connection) throws SQLException {
    List<Long> last =
        Select.list(
            connection,
            "SELECT until FROM parts ORDER BY first DESC LIMIT 1",
            row -> row.getLong(1));
    return last.isEmpty() ? null : last.getFirst();
  }

  /** Whether the rest has something that is above all parts. */
  private static boolean isAboveInRest(Connection connection, @Nullable Long last)
      throws SQLException {
    String any =
        TABLES.stream()
            .map(
                table ->
                    "EXISTS (SELECT 1 FROM %s_rest WHERE %s >= %d)"
                        .formatted(table, KEYS.get(table), last == null ? 0 : last))
            .collect(Collectors.joining(" OR "));
    return Select.list(connection, "SELECT " + any, row -> row.getBoolean(1)).getFirst();
  }

  /** Whether this node is the one that may change the parts, until the transaction ends. */
  static boolean isOurs(Connection connection) throws SQLException {
    return Select.list(
            connection, "SELECT pg_try_advisory_xact_lock(?)", row -> row.getBoolean(1), LOCK)
        .getFirst();
  }

  /** Whether this node is the one that may look through a part, until the session ends. */
  static boolean isTurn(Connection connection) throws SQLException {
    return Select.list(connection, "SELECT pg_try_advisory_lock(?)", row -> row.getBoolean(1), TURN)
        .getFirst();
  }

  /** A time in which all that is done has to be done, however many statements it takes. */
  private static final class Moment {
    private final Connection connection;
    private final long end;

    Moment(Connection connection, Duration time) {
      this.connection = connection;
      this.end = System.nanoTime() + time.toNanos();
    }

    /** Lets the next statement take what is left. */
    void hurry() throws SQLException {
      long left = Duration.ofNanos(end - System.nanoTime()).toMillis();
      if (left <= 0) {
        throw new SQLException("it takes too long", TOO_LONG);
      }
      Connections.execute(connection, "SET LOCAL statement_timeout = " + left);
    }

    void execute(String sql) throws SQLException {
      hurry();
      Connections.execute(connection, sql);
    }
  }

  /**
   * Keeps all others from the tables, until the transaction ends: they come by way of the whole
   * table, so of its parts only those are locked that are about to change. From here on everybody
   * waits.
   */
  private static Moment alone(Connection connection, List<String> changing) throws SQLException {
    String all = TABLES.stream().map(table -> "ONLY " + table).collect(Collectors.joining(", "));
    Connections.execute(connection, GIVE_WAY);
    new Moment(connection, GATHERING)
        .execute(
            "LOCK TABLE %s, %s IN ACCESS EXCLUSIVE MODE"
                .formatted(all, String.join(", ", changing)));
    return new Moment(connection, SHORTLY);
  }

  /** Notes when the last message of a part has finished. */
  void note(Part part, Instant latest) throws StoreException {
    connections.transact(
        "noting how long a part is kept",
        connection -> {
          try (PreparedStatement update =
              connection.prepareStatement("UPDATE parts SET latest_finish = ? WHERE first = ?")) {
            update.setLong(1, Rows.micros(latest));
            update.setLong(2, part.first());
            return update.executeUpdate();
          }
        });
  }

  /** What is done in the transaction that drops a part. */
  interface Dropping {
    /** Looks once more whether it may go, now that nobody can write to it. */
    boolean mayGo(Connection connection) throws SQLException;

    /** Writes down that it has gone. */
    void dropped(Connection connection) throws SQLException;
  }

  /** What became of a part that was to be dropped. */
  enum Drop {
    GONE,
    /** It is needed, or was dropped by another. */
    KEPT,
    /** Somebody was at work with the tables. */
    LATER
  }

  /** Drops a part. */
  Drop drop(Part part, Dropping dropping) throws StoreException {
    return orLater(
        "dropping a part",
        Drop.LATER,
        connection -> {
          if (!isOurs(connection)) {
            return Drop.LATER;
          }
          Connections.execute(connection, Connections.ALONG_INDEXES_FOR_NOW);
          Moment moment =
              alone(
                  connection,
                  TABLES.stream()
                      .flatMap(table -> Stream.of(part.of(table), table + "_rest"))
                      .toList());
          moment.hurry();
          if (!isThere(connection, part) || !dropping.mayGo(connection)) {
            return Drop.KEPT;
          }
          for (String table : TABLES) {
            moment.execute("DROP TABLE " + part.of(table));
          }
          moment.hurry();
          Select.list(
              connection,
              "DELETE FROM parts WHERE first = ? RETURNING first",
              row -> row.getLong(1),
              part.first());
          dropping.dropped(connection);
          return Drop.GONE;
        });
  }

  private static boolean isThere(Connection connection, Part part) throws SQLException {
    return !Select.list(
            connection, "SELECT 1 FROM parts WHERE first = ?", row -> true, part.first())
        .isEmpty();
  }

  /** Says what to do when it is not long until no part is there for what comes. */
  private void warnWhenShort(Instant now) throws StoreException {
    List<Part> parts = all();
    Instant end = parts.isEmpty() ? now : Id.time(parts.getLast().until());
    if (end.isBefore(now.plus(AHEAD.dividedBy(2)))) {
      warnOverdue("making parts", end, now);
    }
  }

  /** Says, not too often, that tables are in use for too long, and what to do. */
  void warnOverdue(String doing, Instant since, Instant now) {
    if (isTimeToWarn(now)) {
      LOG.warn(
          "store.parts-overdue doing=\"{}\" since={} next=\"tried again every minute; end whatever"
              + " holds the tables for long: SELECT pid, xact_start, application_name, query FROM"
              + " pg_stat_activity ORDER BY xact_start\"",
          doing,
          since);
    }
  }

  private boolean isTimeToWarn(Instant now) {
    if (now.isBefore(nextWarning)) {
      return false;
    }
    nextWarning = now.plus(BETWEEN_WARNINGS);
    return true;
  }

  private Made orLater(String doing, Connections.Work<Made> work) throws StoreException {
    return orLater(doing, Made.LATER, work);
  }

  private <T> T orLater(String doing, T later, Connections.Work<T> work) throws StoreException {
    try {
      return connections.transact(doing, within(work));
    } catch (StoreException e) {
      String state = e.getCause() instanceof SQLException cause ? cause.getSQLState() : null;
      // What came to the rest since it was looked into is taken in the next time.
      if (NOT_AVAILABLE.equals(state) || IN_REST.equals(state) || TOO_LONG.equals(state)) {
        LOG.debug("store.parts-later doing=\"{}\" reason=\"{}\"", doing, e.getMessage());
        return later;
      }
      throw e;
    }
  }

  /** However long an answer was waited for, the connection is as it was. */
  private static <T> Connections.Work<T> within(Connections.Work<T> work) {
    return connection -> {
      int patience = connection.getNetworkTimeout();
      try {
        return work.run(connection);
      } finally {
        if (!connection.isClosed()) {
          connection.setNetworkTimeout(Runnable::run, patience);
        }
      }
    };
  }
}
