package dev.holdfast.engine.store;

import dev.holdfast.core.model.Message;
import dev.holdfast.engine.store.HistoryOrder.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finished messages in the order that lists ask for: by tenant, endpoint and subscription.
 *
 * <p>Its tables are written behind the messages: {@link #advance} takes the oldest that are not in
 * them yet, as soon as there are a chunk and some of them. So a message that is delivered at once
 * costs the commit nothing, and a list finds the newest by looking at the end of {@code messages}.
 * A message that finishes when later ones are indexed already is put in by its own write; else no
 * mark could say where the tables end.
 *
 * <p>The tables are cut into parts. With one order over everything, each chunk would write one page
 * for each of its endpoints; within a part there are only so many pages.
 *
 * <p>What finishes is remembered until it is indexed, so that it need not be read again. After a
 * start, and when some of it has been removed meanwhile, it is read from the messages instead.
 *
 * <p>Used by whoever holds the writer; {@link Extent} is also read by lists.
 */
final class HistoryIndex {
  private static final Logger LOG = LoggerFactory.getLogger(HistoryIndex.class);

  private final Limits limits;
  private final PreparedStatement nextBehind;
  private final PreparedStatement countBehind;
  private final PreparedStatement tenantOf;
  private final PreparedStatement begin;
  private final PreparedStatement keepExtent;
  private final PreparedStatement isUsed;
  private final PreparedStatement end;
  private final PreparedStatement widen;
  private final List<HistoryOrder> orders = new ArrayList<>();
  private final RecentTenants recentTenants = new RecentTenants();

  private Extent extent;

  /** The numbers of the parts by the id that each begins with. */
  private final NavigableMap<Long, Long> parts = new TreeMap<>();

  /** Finished messages that are not in the tables, as far as they were counted. */
  private long behind;

  /** Whether there may be more of them, since counting them all would take too long. */
  private boolean isMore;

  /** All of them, unless {@link #mustRead}. */
  private List<Entry> remembered = new ArrayList<>();

  private boolean mustRead = true;

  /** What the transaction under way finishes. */
  private final List<Entry> finishing = new ArrayList<>();

  /** What the transaction under way finishes although later ones are in the tables. */
  private final List<Entry> late = new ArrayList<>();

  /** What the transaction under way takes out of the tables. */
  private final List<Entry> removing = new ArrayList<>();

  private boolean toldOfDamage;

  /**
   * How the tables are written.
   *
   * @param chunk messages that are put in at a time
   * @param part messages after which another part begins
   * @param newest messages that are left out: most of what finishes late finishes among them
   * @param ids how many of them a row has at most, since a row is written as a whole
   */
  record Limits(int chunk, int part, int newest, int ids) {
    /** A part is written at once: each of its pages is written once, and full. */
    static final Limits DEFAULT = new Limits(4_000, 4_000, 1_000, 500);

    private int behind() {
      return chunk + newest;
    }

    /** Enough for what finishes between two steps; when no step comes, it is read again later. */
    private int remembered() {
      return 4 * behind();
    }
  }

  /** Whom people ask for. */
  enum By {
    TENANT("e.tenant", "messages m JOIN events e ON e.id = m.event"),
    ENDPOINT("m.endpoint", "messages m"),
    SUBSCRIPTION("m.subscription", "messages m");

    private final String value;
    private final String from;

    By(String value, String from) {
      this.value = value;
      this.from = from;
    }

    String column() {
      return name().toLowerCase(Locale.ROOT);
    }

    String table() {
      return "finished_by_" + column();
    }

    /** Whose a finished message is, and whether it was dropped. */
    String ownerOf() {
      return "SELECT %s, m.reason IS NOT NULL FROM %s WHERE m.id = ?".formatted(value, from);
    }

    /** All that the table has, in its order. */
    String all() {
      return "SELECT part, %1$s, dropped, first, ids FROM %2$s ORDER BY part, %1$s, dropped, first"
          .formatted(column(), table());
    }

    private Object ownerOf(Entry entry) {
      return switch (this) {
        case TENANT -> entry.tenant();
        case ENDPOINT -> entry.endpoint();
        case SUBSCRIPTION -> entry.subscription();
      };
    }
  }

  /** A finished message. */
  private record Entry(
      long id, String tenant, long endpoint, long subscription, boolean isDropped) {}

  private static final Comparator<Entry> BY_ID = Comparator.comparingLong(Entry::id);

  /**
   * How far the tables are.
   *
   * @param through they have every finished message up to this id and none after it
   * @param part the last part
   * @param rows messages that it was filled with
   */
  record Extent(long through, long part, int rows) {
    static final String SELECT = "SELECT through, part, rows, sum FROM indexed";

    static Extent from(ResultSet row) throws SQLException {
      if (!row.next()) {
        throw new Damaged("it does not say how far history is indexed");
      }
      return Damaged.orIntact(
          "indexed",
          0,
          row.getLong(4),
          () -> new Extent(row.getLong(1), row.getLong(2), row.getInt(3)),
          Extent::sum);
    }

    long sum() {
      return RowSum.of("indexed").add(through).add(part).add(rows).value();
    }
  }

  /** A part as it is kept. */
  record Part(long number, long first) {
    static final String COLUMNS = "number, first, sum";

    static Part from(ResultSet row) throws SQLException {
      return Damaged.orIntact(
          "parts",
          row.getLong(1),
          row.getLong(3),
          () -> new Part(row.getLong(1), row.getLong(2)),
          Part::sum);
    }

    long sum() {
      return RowSum.of("parts").add(number).add(first).value();
    }
  }

  HistoryIndex(Connection connection, Limits limits) throws SQLException {
    this.limits = limits;
    nextBehind =
        connection.prepareStatement(
            "SELECT m.id, e.tenant, m.endpoint, m.subscription, m.reason IS NOT NULL"
                + " FROM messages m LEFT JOIN events e ON e.id = m.event"
                + " WHERE m.id > ? ORDER BY m.id LIMIT ?");
    countBehind =
        connection.prepareStatement(
            "SELECT count(*) FROM (SELECT 1 FROM messages WHERE id > ? LIMIT ?)");
    tenantOf = connection.prepareStatement("SELECT tenant FROM events WHERE id = ?");
    begin = connection.prepareStatement("INSERT INTO parts VALUES (?, ?, ?)");
    for (By by : By.values()) {
      orders.add(new HistoryOrder(connection, by, limits.ids()));
    }
    keepExtent =
        connection.prepareStatement("UPDATE indexed SET through = ?, part = ?, rows = ?, sum = ?");
    isUsed = connection.prepareStatement("SELECT 1 FROM finished_by_tenant WHERE part = ? LIMIT 1");
    end = connection.prepareStatement("DELETE FROM parts WHERE number = ?");
    widen = connection.prepareStatement("UPDATE parts SET first = ?, sum = ? WHERE number = ?");
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery(Extent.SELECT)) {
        extent = Extent.from(row);
      }
      try (ResultSet rows = statement.executeQuery("SELECT " + Part.COLUMNS + " FROM parts")) {
        while (rows.next()) {
          Part part = Part.from(rows);
          parts.put(part.first(), part.number());
        }
      }
    }
    if (!parts.containsKey(0L) || !parts.containsValue(extent.part())) {
      throw new Damaged("parts of the index of history are missing");
    }
    count();
  }

  /** Whether messages up to this one are in the tables as soon as they have finished. */
  private boolean covers(long message) {
    return message <= extent.through();
  }

  /** The part that a message of this id belongs to. */
  private long partOf(long message) {
    return parts.floorEntry(message).getValue();
  }

  /** An event is accepted: its messages may finish soon. */
  void accept(long event, String tenant) {
    recentTenants.put(event, tenant);
  }

  /** A message finishes by the transaction that is open. */
  void finish(Message message, boolean isDropped) throws SQLException {
    String tenant = tenantOf(message.event());
    if (tenant != null) {
      (covers(message.id()) ? late : finishing)
          .add(
              new Entry(
                  message.id(), tenant, message.endpoint(), message.subscription(), isDropped));
    } else if (covers(message.id())) {
      throw new IllegalArgumentException("the event of a message to be finished is missing");
    } else {
      // That is damage, which is met when it is indexed, and keeps nothing from being delivered.
      readAgain();
    }
  }

  private @Nullable String tenantOf(long event) throws SQLException {
    String recent = recentTenants.of(event);
    if (recent != null) {
      return recent;
    }
    tenantOf.setLong(1, event);
    try (ResultSet row = tenantOf.executeQuery()) {
      return row.next() ? row.getString(1) : null;
    }
  }

  /** What was remembered is no longer all that is behind. */
  private void readAgain() {
    mustRead = true;
    remembered.clear();
  }

  /** Writes what {@link #finish} was called for, as far as the transaction has to. */
  void flushFinished() throws SQLException {
    if (!late.isEmpty()) {
      change(late, HistoryOrder::add);
    }
  }

  private interface Change {
    void make(HistoryOrder order, Place place, long[] ids) throws SQLException;
  }

  /**
   * Changes the tables as far as their rows can be read: what is damaged in them is told to whoever
   * lists it and found by a check, and keeps nothing from being delivered or removed.
   */
  private void change(List<Entry> entries, Change change) throws SQLException {
    entries.sort(BY_ID);
    for (HistoryOrder order : orders) {
      for (Map.Entry<Place, long[]> ids : byPlace(order.by(), entries, this::partOf).entrySet()) {
        try {
          change.make(order, ids.getKey(), ids.getValue());
        } catch (Damaged e) {
          tellOfDamage(e);
        }
      }
    }
    entries.clear();
  }

  private void tellOfDamage(Damaged damage) {
    if (!toldOfDamage) {
      toldOfDamage = true;
      LOG.error(
          "history.damaged next=\"deliveries go on; lists that meet it fail until the store is"
              + " restored from a backup\"",
          damage);
    }
  }

  /** What {@link #finish} was called for is on disk. */
  void finished() {
    behind += finishing.size();
    if (remembered.size() + finishing.size() > limits.remembered()) {
      readAgain();
    } else if (!mustRead) {
      remembered.addAll(finishing);
    }
    finishing.clear();
  }

  /** What the transaction was to do is not done. */
  void undone() {
    finishing.clear();
    late.clear();
    removing.clear();
  }

  boolean isBehind() {
    return behind >= limits.behind();
  }

  /** Whether more chunks than the next one are behind, so that soon they have to be read again. */
  boolean isFarBehind() {
    return behind >= limits.behind() + limits.chunk();
  }

  /** What a chunk has changed, to be taken over when it is on disk. */
  record Advance(Extent extent, Part part) {}

  /** Puts the next chunk into the tables, in the transaction that is open, if there is one. */
  Optional<Advance> advance() throws SQLException {
    List<Entry> chunk = nextChunk();
    if (chunk.size() < limits.chunk()) {
      return Optional.empty();
    }
    Part part = new Part(extent.part(), parts.lastKey());
    int rows = extent.rows() + limits.chunk();
    if (extent.rows() > 0 && rows > limits.part()) {
      part = new Part(extent.part() + 1, extent.through() + 1);
      rows = limits.chunk();
      begin.setLong(1, part.number());
      begin.setLong(2, part.first());
      begin.setLong(3, part.sum());
      begin.executeUpdate();
    }
    long number = part.number();
    for (HistoryOrder order : orders) {
      for (Map.Entry<Place, long[]> ids : byPlace(order.by(), chunk, _ -> number).entrySet()) {
        order.append(ids.getKey(), ids.getValue());
      }
    }
    Extent next = new Extent(chunk.getLast().id(), part.number(), rows);
    keepExtent.setLong(1, next.through());
    keepExtent.setLong(2, next.part());
    keepExtent.setInt(3, next.rows());
    keepExtent.setLong(4, next.sum());
    keepExtent.executeUpdate();
    return Optional.of(new Advance(next, part));
  }

  /** The oldest messages that are not in the tables, in the order of their ids. */
  private List<Entry> nextChunk() throws SQLException {
    if (mustRead) {
      read();
    } else {
      remembered.sort(BY_ID);
    }
    return remembered.subList(0, Math.min(limits.chunk(), remembered.size()));
  }

  /** Reads the next chunk, or, when no more than is counted is behind, all of it. */
  private void read() throws SQLException {
    int most = isMore ? limits.chunk() : 2 * limits.behind();
    remembered.clear();
    nextBehind.setLong(1, extent.through());
    nextBehind.setInt(2, most);
    try (ResultSet row = nextBehind.executeQuery()) {
      while (row.next()) {
        String tenant = row.getString(2);
        if (tenant == null) {
          throw new Damaged("the event of message " + row.getLong(1) + " is missing");
        }
        remembered.add(
            new Entry(row.getLong(1), tenant, row.getLong(3), row.getLong(4), row.getBoolean(5)));
      }
    }
    mustRead = remembered.size() == most;
  }

  /**
   * The ids of messages by where they are kept, in the order of the table.
   *
   * @param entries in the order of their ids
   */
  private static SortedMap<Place, long[]> byPlace(
      By by, List<Entry> entries, LongUnaryOperator partOf) {
    Map<Place, LongStream.Builder> gathered = new HashMap<>();
    for (Entry entry : entries) {
      Place place =
          new Place(partOf.applyAsLong(entry.id()), by.ownerOf(entry), entry.isDropped() ? 1 : 0);
      gathered.computeIfAbsent(place, _ -> LongStream.builder()).add(entry.id());
    }
    SortedMap<Place, long[]> ids = new TreeMap<>();
    gathered.forEach((place, builder) -> ids.put(place, builder.build().toArray()));
    return ids;
  }

  /** The chunk, if there was one, is on disk. */
  void advanced(Optional<Advance> advance) throws SQLException {
    if (advance.isPresent()) {
      extent = advance.get().extent();
      parts.put(advance.get().part().first(), advance.get().part().number());
      behind -= limits.chunk();
      remembered = new ArrayList<>(remembered.subList(limits.chunk(), remembered.size()));
    }
    if (advance.isEmpty() || (isMore && !isBehind())) {
      count();
    }
  }

  /** Takes a message out, in the transaction that is open. */
  void remove(Finished message, String tenant) {
    if (covers(message.id())) {
      removing.add(
          new Entry(
              message.id(),
              tenant,
              message.endpoint(),
              message.subscription(),
              message.reason() != null));
    } else {
      behind--;
      readAgain();
    }
  }

  /** Carries out what {@link #remove} was called for. */
  void flushRemoved() throws SQLException {
    change(removing, HistoryOrder::remove);
  }

  /**
   * Gives up the oldest part when nothing is left in it, in the transaction that is open. What is
   * even older and finishes late goes into the one that is the oldest then.
   *
   * @return the part that is the oldest now, or null when nothing was given up
   */
  @Nullable Part giveUpOldest() throws SQLException {
    if (parts.size() < 2) {
      return null;
    }
    long oldest = parts.firstEntry().getValue();
    isUsed.setLong(1, oldest);
    try (ResultSet row = isUsed.executeQuery()) {
      if (row.next()) {
        return null;
      }
    }
    Part next = new Part(parts.higherEntry(parts.firstKey()).getValue(), 0);
    end.setLong(1, oldest);
    end.executeUpdate();
    widen.setLong(1, next.first());
    widen.setLong(2, next.sum());
    widen.setLong(3, next.number());
    widen.executeUpdate();
    return next;
  }

  /** The oldest part has been given up, on disk too. */
  void gaveUpOldest(Part next) {
    parts.pollFirstEntry();
    parts.pollFirstEntry();
    parts.put(next.first(), next.number());
  }

  private void count() throws SQLException {
    countBehind.setLong(1, extent.through());
    countBehind.setInt(2, limits.behind());
    try (ResultSet row = countBehind.executeQuery()) {
      behind = row.next() ? row.getLong(1) : 0;
      isMore = isBehind();
    }
  }
}
