package dev.holdfast.engine.store.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A statement that answers with rows. */
final class Select {
  private Select() {}

  /** Makes a value of a row. */
  interface Reading<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** All rows of the answer. */
  static <T> List<T> list(
      Connection connection, String sql, Reading<T> reading, @Nullable Object... values)
      throws SQLException {
    List<T> found = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        if (values[i] instanceof Long[] ids) {
          statement.setArray(i + 1, connection.createArrayOf("bigint", ids));
        } else if (values[i] instanceof String[] texts) {
          statement.setArray(i + 1, connection.createArrayOf("text", texts));
        } else if (values[i] instanceof Short[] numbers) {
          statement.setArray(i + 1, connection.createArrayOf("smallint", numbers));
        } else {
          statement.setObject(i + 1, values[i]);
        }
      }
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(reading.read(rows));
        }
      }
    }
    return found;
  }
}
