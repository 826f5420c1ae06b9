package dev.holdfast.engine.store;

import dev.holdfast.engine.store.HistoryIndex.By;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The ids of somebody's finished messages as {@link HistoryIndex} has them, one after the other:
 * one part is looked into after the other, and only as far as ids are asked for.
 */
final class IndexedIds implements AutoCloseable {
  /** There are no more. No message has this id. */
  static final long NONE = -1;

  private final ResultSet rows;
  private final Direction direction;
  private final long from;
  private final long below;
  private long[] ids = {};
  private int next;

  /** In which order ids come. */
  enum Direction {
    NEWEST_FIRST("DESC"),
    OLDEST_FIRST("ASC");

    private final String order;

    Direction(String order) {
      this.order = order;
    }
  }

  private IndexedIds(ResultSet rows, Direction direction, long from, long below) {
    this.rows = rows;
    this.direction = direction;
    this.from = from;
    this.below = below;
  }

  /**
   * Those of an owner in a range of ids. What is open at the same time must differ in whom it is
   * for, whether dropped ones are meant, or the direction.
   *
   * @param owner the tenant's name, or the id of an endpoint or subscription
   */
  static IndexedIds of(
      Transactions.Statements connection,
      By by,
      Object owner,
      boolean isDropped,
      Direction direction,
      long from,
      long below)
      throws SQLException {
    PreparedStatement statement = connection.prepare(sql(by, isDropped, direction));
    statement.setObject(1, owner);
    statement.setLong(2, from);
    statement.setLong(3, below);
    return new IndexedIds(statement.executeQuery(), direction, from, below);
  }

  static String sql(By by, boolean isDropped, Direction direction) {
    return "SELECT f.first, f.ids FROM parts p CROSS JOIN %s f".formatted(by.table())
        + " WHERE p.number >= (SELECT max(number) FROM parts WHERE first <= ?2)"
        + " AND p.number <= (SELECT max(number) FROM parts WHERE first <= ?3)"
        + " AND f.part = p.number AND f.%s = ?1".formatted(by.column())
        + " AND f.dropped = %d AND f.first < ?3".formatted(isDropped ? 1 : 0)
        + " ORDER BY p.number %1$s, f.first %1$s".formatted(direction.order);
  }

  /** The next id, or {@link #NONE}. */
  long next() throws SQLException {
    while (true) {
      while (next < ids.length) {
        long id = ids[direction == Direction.OLDEST_FIRST ? next : ids.length - 1 - next];
        next++;
        if (id >= from && id < below) {
          return id;
        }
      }
      if (!rows.next()) {
        return NONE;
      }
      ids = IdList.decode(rows.getLong(1), rows.getBytes(2));
      next = 0;
    }
  }

  @Override
  public void close() throws SQLException {
    rows.close();
  }
}
