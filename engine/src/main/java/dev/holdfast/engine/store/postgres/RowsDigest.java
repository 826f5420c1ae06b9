package dev.holdfast.engine.store.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A digest over all values of all rows of a table, whatever order they come in.
 *
 * <p>It is the sum of the SHA-256 of each row, and how many there are. A value is preceded by what
 * it is and its length, so that no two rows are alike because a value has moved from one column to
 * the next.
 */
final class RowsDigest {
  private static final int SHOWN = 16;

  private final MessageDigest sha256;
  private final byte[] hash;
  private final long[] sums;
  private ByteBuffer row = ByteBuffer.allocate(4 << 10);
  private long rows;

  RowsDigest() {
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has it", e);
    }
    hash = new byte[sha256.getDigestLength()];
    sums = new long[hash.length / Long.BYTES];
  }

  /** The result: equal for equal rows, and for no others. */
  record Result(long rows, String hex) {
    /** Enough of it for a person to compare. */
    String shown() {
      return hex.substring(0, SHOWN);
    }
  }

  /** Adds a row of absent values, and of Long, Double, String and byte[]. */
  void add(@Nullable Object[] values) {
    row.clear();
    for (Object value : values) {
      switch (value) {
        case null -> put((byte) 'n', new byte[0]);
        case Long number -> put((byte) 'l', number);
        case Double number -> put((byte) 'd', Double.doubleToLongBits(number));
        case String text -> put((byte) 't', text.getBytes(StandardCharsets.UTF_8));
        case byte[] bytes -> put((byte) 'b', bytes);
        default -> throw new IllegalArgumentException("no value of a row: " + value.getClass());
      }
    }
    sha256.update(row.array(), 0, row.position());
    ByteBuffer of = ByteBuffer.wrap(sha256.digest());
    for (int i = 0; i < sums.length; i++) {
      sums[i] += of.getLong();
    }
    rows++;
  }

  private void put(byte kind, long value) {
    room(1 + Long.BYTES);
    row.put(kind).putLong(value);
  }

  private void put(byte kind, byte[] value) {
    room(1 + Integer.BYTES + value.length);
    row.put(kind).putInt(value.length).put(value);
  }

  private void room(int bytes) {
    if (row.remaining() < bytes) {
      ByteBuffer larger = ByteBuffer.allocate(Math.max(row.capacity() * 2, row.position() + bytes));
      row = larger.put(row.flip());
    }
  }

  Result result() {
    ByteBuffer all = ByteBuffer.wrap(hash);
    for (long sum : sums) {
      all.putLong(sum);
    }
    return new Result(rows, HexFormat.of().formatHex(hash));
  }
}
