package dev.holdfast.engine.store.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/** Rows on their way into a table, in the binary form of COPY. */
final class CopiedRows {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };
  private static final int HEADER_BYTES = SIGNATURE.length + 2 * Integer.BYTES;
  private static final int ABSENT = -1;
  private static final short END = -1;

  private final MovedTable table;
  private ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
  private int rows;

  CopiedRows(MovedTable table) {
    this.table = table;
    clear();
  }

  private void clear() {
    bytes.clear().put(SIGNATURE).putInt(0).putInt(0);
    rows = 0;
  }

  int rows() {
    return rows;
  }

  int size() {
    return bytes.position() - HEADER_BYTES;
  }

  void add(@Nullable Object[] values) throws SQLException {
    room(Short.BYTES);
    bytes.putShort((short) values.length);
    for (int i = 0; i < values.length; i++) {
      add(table.columns().get(i), values[i]);
    }
    rows++;
  }

  private void add(MovedTable.Column column, @Nullable Object value) throws SQLException {
    switch (value) {
      case null -> {
        room(Integer.BYTES);
        bytes.putInt(ABSENT);
      }
      case Long number -> addNumber(column, number);
      case Double number -> {
        room(Integer.BYTES + Double.BYTES);
        bytes.putInt(Double.BYTES).putDouble(number);
      }
      case String text -> {
        if (text.indexOf('\0') >= 0) {
          throw new SQLException(
              "a text in the column %s of the table %s has the character U+0000, which PostgreSQL does not keep"
                  .formatted(column.name(), table.name()));
        }
        add(text.getBytes(StandardCharsets.UTF_8));
      }
      case byte[] own -> add(own);
      default -> throw new IllegalArgumentException("no value of a row: " + value.getClass());
    }
  }

  private void addNumber(MovedTable.Column column, long number) throws SQLException {
    room(Integer.BYTES + Long.BYTES);
    switch (column.kind()) {
      case LONG, ENDPOINT_SUM -> bytes.putInt(Long.BYTES).putLong(number);
      case INT -> bytes.putInt(Integer.BYTES).putInt(fitting(column, number, (int) number));
      case SMALL, SHARD ->
          bytes.putInt(Short.BYTES).putShort((short) fitting(column, number, (short) number));
      case REAL, TEXT, BYTES -> throw new IllegalArgumentException(column.name() + ": " + number);
    }
  }

  private int fitting(MovedTable.Column column, long number, int cut) throws SQLException {
    if (cut != number) {
      throw new SQLException(
          "%d in the column %s of the table %s is larger than it can be"
              .formatted(number, column.name(), table.name()));
    }
    return cut;
  }

  private void add(byte[] value) {
    room(Integer.BYTES + value.length);
    bytes.putInt(value.length).put(value);
  }

  private void room(int more) {
    if (bytes.remaining() < more) {
      ByteBuffer larger =
          ByteBuffer.allocate(Math.max(bytes.capacity() * 2, bytes.position() + more));
      bytes = larger.put(bytes.flip());
    }
  }

  /** Writes them within the transaction under way, and begins anew. */
  void flush(Connection connection) throws SQLException {
    room(Short.BYTES);
    bytes.putShort(END);
    CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(table.copy());
    try {
      copy.writeToCopy(bytes.array(), 0, bytes.position());
      copy.endCopy();
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
    clear();
  }
}
