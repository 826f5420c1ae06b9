package dev.holdfast.engine.store;

import dev.holdfast.engine.store.HistoryIndex.By;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One of the orders of {@link HistoryIndex}: how its rows, each of which has many ids, are written.
 *
 * <p>Used in the writer's transactions only.
 */
final class HistoryOrder {
  private final By by;
  private final int mostIds;
  private final PreparedStatement put;
  private final PreparedStatement floor;
  private final PreparedStatement delete;

  /**
   * @param mostIds of a row
   */
  HistoryOrder(Connection connection, By by, int mostIds) throws SQLException {
    this.by = by;
    this.mostIds = mostIds;
    put =
        connection.prepareStatement(
            "INSERT OR REPLACE INTO %s (part, %s, dropped, first, ids) VALUES (?, ?, ?, ?, ?)"
                .formatted(by.table(), by.column()));
    String ofOwner = "part = ? AND %s = ? AND dropped = ?".formatted(by.column());
    floor =
        connection.prepareStatement(
            "SELECT first, ids FROM %s WHERE %s AND first <= ? ORDER BY first DESC LIMIT 1"
                .formatted(by.table(), ofOwner));
    delete =
        connection.prepareStatement(
            "DELETE FROM %s WHERE %s AND first = ?".formatted(by.table(), ofOwner));
  }

  By by() {
    return by;
  }

  /**
   * Whose messages are meant.
   *
   * @param owner the tenant's name, or the id of an endpoint or subscription
   * @param dropped 1 for those that were dropped, 0 for those that were delivered
   */
  record Place(long part, Object owner, int dropped) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int order = Long.compare(part, other.part);
      if (order == 0) {
        order =
            owner instanceof String name
                ? name.compareTo((String) other.owner)
                : Long.compare((Long) owner, (Long) other.owner);
      }
      return order == 0 ? Integer.compare(dropped, other.dropped) : order;
    }
  }

  /** A row as it is kept. */
  private record Row(long first, long[] ids) {}

  /**
   * Puts in ids behind all that are there.
   *
   * @param ids in ascending order
   */
  void append(Place place, long[] ids) throws SQLException {
    putRows(place, ids[0], ids);
  }

  /**
   * Puts in ids wherever they belong.
   *
   * @param ids in ascending order
   */
  void add(Place place, long[] ids) throws SQLException {
    int end = ids.length;
    while (end > 0) {
      Row row = floor(place, ids[end - 1]);
      int begin = row == null ? 0 : begin(ids, end, row.first());
      long[] added = Arrays.copyOfRange(ids, begin, end);
      if (row == null) {
        putRows(place, added[0], added);
      } else {
        putRows(place, row.first(), merged(row.ids(), added));
      }
      end = begin;
    }
  }

  /**
   * Takes out ids.
   *
   * @param ids in ascending order
   */
  void remove(Place place, long[] ids) throws SQLException {
    int end = ids.length;
    while (end > 0) {
      Row row = floor(place, ids[end - 1]);
      if (row == null) {
        return;
      }
      int begin = begin(ids, end, row.first());
      long[] removed = Arrays.copyOfRange(ids, begin, end);
      long[] left =
          Arrays.stream(row.ids()).filter(id -> Arrays.binarySearch(removed, id) < 0).toArray();
      if (left.length == 0) {
        set(delete, place, row.first());
        delete.executeUpdate();
      } else {
        putRows(place, row.first(), left);
      }
      end = begin;
    }
  }

  /** From where on ids are in the row that begins with this one. */
  private static int begin(long[] ids, int end, long first) {
    int begin = end;
    while (begin > 0 && ids[begin - 1] >= first) {
      begin--;
    }
    return begin;
  }

  private static long[] merged(long[] some, long[] others) {
    long[] all = Arrays.copyOf(some, some.length + others.length);
    System.arraycopy(others, 0, all, some.length, others.length);
    Arrays.sort(all);
    return all;
  }

  /** Writes as many rows as the ids need, of the same length: each has room for what comes late. */
  private void putRows(Place place, long first, long[] ids) throws SQLException {
    int rows = (ids.length + mostIds - 1) / mostIds;
    int length = (ids.length + rows - 1) / rows;
    for (int from = 0; from < ids.length; from += length) {
      long begins = from == 0 ? first : ids[from];
      set(put, place, begins);
      put.setBytes(5, IdList.encode(begins, ids, from, Math.min(ids.length, from + length)));
      put.executeUpdate();
    }
  }

  private @Nullable Row floor(Place place, long id) throws SQLException {
    set(floor, place, id);
    try (ResultSet row = floor.executeQuery()) {
      return row.next()
          ? new Row(row.getLong(1), IdList.decode(row.getLong(1), row.getBytes(2)))
          : null;
    }
  }

  private static void set(PreparedStatement statement, Place place, long first)
      throws SQLException {
    statement.setLong(1, place.part());
    statement.setObject(2, place.owner());
    statement.setInt(3, place.dropped());
    statement.setLong(4, first);
  }
}
