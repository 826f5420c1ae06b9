package dev.holdfast.engine.store.postgres;

import java.lang.reflect.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement and the rows that it will be executed with, column by column: each column goes to the
 * server as one array, and the statement makes rows of them again.
 */
final class Gathered {
  private final Form form;
  private final List<List<@Nullable Object>> columns;
  private int rows;

  /** What is in a column. */
  enum Type {
    LONG("int8", Long.class),
    INT("int4", Integer.class),
    TEXT("text", String.class),
    BYTES("bytea", byte[].class);

    private final String sql;
    private final Class<?> element;

    Type(String sql, Class<?> element) {
      this.sql = sql;
      this.element = element;
    }
  }

  /**
   * A statement that is executed with columns.
   *
   * @param counted whether the statement wants to know how many rows there are, after the columns
   */
  record Form(String sql, boolean counted, List<Type> types) {

    /**
     * A statement whose only parameters are its columns.
     *
     * @param sql with {@code %s} where the rows come from
     */
    static Form of(String sql, Type... types) {
      return new Form(sql.formatted(rowsOf(types)), false, List.of(types));
    }

    /**
     * A statement that is refused if it does not touch as many rows as were gathered.
     *
     * @param sql with {@code %s} where the rows come from, and one result for each row that it
     *     touches
     * @param otherwise what is wrong then
     */
    static Form checked(String sql, String otherwise, Type... types) {
      return checked("", sql.formatted(rowsOf(types)), otherwise, List.of(types));
    }

    /**
     * The same, for a statement that takes its rows from another.
     *
     * @param from the other, with {@code %s} where the rows come from
     */
    static Form checkedFrom(String from, String sql, String otherwise, Type... types) {
      return checked(from.formatted(rowsOf(types)) + ", ", sql, otherwise, List.of(types));
    }

    private static Form checked(String before, String sql, String otherwise, List<Type> types) {
      return new Form(
          "WITH "
              + before
              + "touched AS ("
              + sql
              + ") SELECT holdfast_all(count(*), ?, '"
              + otherwise
              + "') FROM touched",
          true,
          types);
    }

    private static String rowsOf(Type... types) {
      return "unnest(" + "?, ".repeat(types.length - 1) + "?)";
    }

    /** The statement without rows yet. */
    Gathered rows() {
      return new Gathered(this);
    }
  }

  private Gathered(Form form) {
    this.form = form;
    this.columns = new ArrayList<>(form.types().size());
    for (int i = 0; i < form.types().size(); i++) {
      columns.add(new ArrayList<>());
    }
  }

  /** Adds a row. */
  void add(@Nullable Object... values) {
    for (int i = 0; i < columns.size(); i++) {
      columns.get(i).add(values[i]);
    }
    rows++;
  }

  boolean isEmpty() {
    return rows == 0;
  }

  String sql() {
    return form.sql();
  }

  /** Sets the parameters, from {@code first} on; returns the number of the next. */
  int set(Connection connection, PreparedStatement statement, int first) throws SQLException {
    int next = first;
    for (int i = 0; i < columns.size(); i++) {
      Type type = form.types().get(i);
      Object[] values = columns.get(i).toArray((Object[]) Array.newInstance(type.element, rows));
      statement.setArray(next++, connection.createArrayOf(type.sql, values));
    }
    if (form.counted()) {
      statement.setLong(next++, rows);
    }
    return next;
  }
}
