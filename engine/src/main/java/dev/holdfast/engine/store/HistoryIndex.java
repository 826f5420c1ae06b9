package dev.holdfast.engine.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
 * <p>Used by the writer's thread only; {@link Extent} is also read by lists.
 */
final class HistoryIndex {
  private final Limits limits;
  private final PreparedStatement endOfChunk;
  private final PreparedStatement countBehind;
  private final PreparedStatement begin;
  private final PreparedStatement[] fill = new PreparedStatement[By.values().length];
  private final PreparedStatement[] remove = new PreparedStatement[By.values().length];
  private final PreparedStatement keepExtent;
  private final PreparedStatement isUsed;
  private final PreparedStatement end;
  private final PreparedStatement widen;

  private Extent extent;

  /** The numbers of the parts by the id that each begins with. */
  private final NavigableMap<Long, Long> parts = new TreeMap<>();

  /** Finished messages that are not in the tables, as far as they were counted. */
  private long behind;

  /** Whether there may be more of them, since counting them all would take too long. */
  private boolean isMore;

  /**
   * How the tables are written.
   *
   * @param chunk messages that are put in at a time
   * @param part messages after which another part begins
   * @param newest messages that are left out: most of what finishes late finishes among them
   */
  record Limits(int chunk, int part, int newest) {
    /** A part is written at once: each of its pages is written once, and full. */
    static final Limits DEFAULT = new Limits(4_000, 4_000, 1_000);

    private int behind() {
      return chunk + newest;
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

    /** Counts the rows of a part that belong there and say what their message says. */
    String countRight() {
      return "SELECT count(*) FROM %s f JOIN messages m ON m.id = f.id JOIN events e ON e.id = m.event"
              .formatted(table())
          + " WHERE f.part = ? AND f.id >= ? AND f.id < ? AND f.%s = %s".formatted(column(), value)
          + " AND f.dropped = (m.reason IS NOT NULL)";
    }

    /** Puts in messages of a range, given the part, in the order of the table. */
    private String fill() {
      return "INSERT INTO %s SELECT ?1, %s, m.reason IS NOT NULL, m.id FROM %s"
              .formatted(table(), value, from)
          + " WHERE m.id > ?2 AND m.id <= ?3 ORDER BY 2, 3, 4";
    }
  }

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
    endOfChunk =
        connection.prepareStatement(
            "SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?");
    countBehind =
        connection.prepareStatement(
            "SELECT count(*) FROM (SELECT 1 FROM messages WHERE id > ? LIMIT ?)");
    begin = connection.prepareStatement("INSERT INTO parts VALUES (?, ?, ?)");
    for (By by : By.values()) {
      fill[place(by)] = connection.prepareStatement(by.fill());
      remove[place(by)] =
          connection.prepareStatement(
              "DELETE FROM %s WHERE part = ? AND %s = ? AND dropped = ? AND id = ?"
                  .formatted(by.table(), by.column()));
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

  private static int place(By by) {
    return switch (by) {
      case TENANT -> 0;
      case ENDPOINT -> 1;
      case SUBSCRIPTION -> 2;
    };
  }

  /** Whether a message that finishes now has to be put in by its own write. */
  boolean covers(long message) {
    return message <= extent.through();
  }

  /** The part that a message of this id belongs to. */
  long partOf(long message) {
    return parts.floorEntry(message).getValue();
  }

  /** So many messages have finished that are not covered. */
  void finished(int messages) {
    behind += messages;
  }

  boolean isBehind() {
    return behind >= limits.behind();
  }

  /** What a chunk has changed, to be taken over when it is on disk. */
  record Advance(Extent extent, Part part) {}

  /** Puts the next chunk into the tables, in the transaction that is open, if there is one. */
  Optional<Advance> advance() throws SQLException {
    endOfChunk.setLong(1, extent.through());
    endOfChunk.setInt(2, limits.chunk() - 1);
    long through;
    try (ResultSet row = endOfChunk.executeQuery()) {
      if (!row.next()) {
        return Optional.empty();
      }
      through = row.getLong(1);
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
    for (PreparedStatement statement : fill) {
      statement.setLong(1, part.number());
      statement.setLong(2, extent.through());
      statement.setLong(3, through);
      if (statement.executeUpdate() != limits.chunk()) {
        throw new Damaged("events of messages up to " + through + " are missing");
      }
    }
    Extent next = new Extent(through, part.number(), rows);
    keepExtent.setLong(1, next.through());
    keepExtent.setLong(2, next.part());
    keepExtent.setInt(3, next.rows());
    keepExtent.setLong(4, next.sum());
    keepExtent.executeUpdate();
    return Optional.of(new Advance(next, part));
  }

  /** The chunk, if there was one, is on disk. */
  void advanced(Optional<Advance> advance) throws SQLException {
    if (advance.isPresent()) {
      extent = advance.get().extent();
      parts.put(advance.get().part().first(), advance.get().part().number());
      behind -= limits.chunk();
    }
    if (advance.isEmpty() || (isMore && !isBehind())) {
      count();
    }
  }

  /** Takes a message out, in the transaction that is open. */
  void remove(Finished message, String tenant) throws SQLException {
    if (!covers(message.id())) {
      behind--;
      return;
    }
    for (By by : By.values()) {
      PreparedStatement row = remove[place(by)];
      row.setLong(1, partOf(message.id()));
      switch (by) {
        case TENANT -> row.setString(2, tenant);
        case ENDPOINT -> row.setLong(2, message.endpoint());
        case SUBSCRIPTION -> row.setLong(2, message.subscription());
      }
      row.setInt(3, message.reason() == null ? 0 : 1);
      row.setLong(4, message.id());
      row.addBatch();
    }
  }

  /** Carries out what {@link #remove} was called for. */
  void flushRemoved() throws SQLException {
    for (PreparedStatement statement : remove) {
      statement.executeBatch();
    }
  }

  /** Forgets what {@link #remove} was called for. */
  void clearRemoved() throws SQLException {
    for (PreparedStatement statement : remove) {
      statement.clearBatch();
    }
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
