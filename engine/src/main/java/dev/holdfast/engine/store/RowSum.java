package dev.holdfast.engine.store;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The checksum that each row carries: a CRC32C of the table's name and of all values of the row.
 *
 * <p>SQLite does not notice a bit that has flipped in a value. So the sum is reckoned from the
 * values of the model when a row is written, kept with it, and reckoned again from what was read. A
 * value is preceded by its length, so that no two rows are summed alike because a value has moved
 * from one column to the next.
 */
public final class RowSum {
  private static final ThreadLocal<RowSum> OF_THREAD = ThreadLocal.withInitial(RowSum::new);
  private static final int ABSENT = -1;
  private static final int KEPT_BYTES = 64 << 10;

  private final CRC32C crc = new CRC32C();
  private byte[] bytes = new byte[512];
  private int length;

  private RowSum() {}

  /** Begins the sum of a row; it ends before the thread begins another. */
  public static RowSum of(String table) {
    RowSum sum = OF_THREAD.get();
    sum.crc.reset();
    sum.length = 0;
    return sum.add(table);
  }

  public RowSum add(long value) {
    ensure(Long.BYTES);
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  /** A time as it is kept. */
  public RowSum add(@Nullable Instant time) {
    return time == null ? addLength(ABSENT) : addLength(Long.BYTES).add(Rows.micros(time));
  }

  public RowSum add(@Nullable String text) {
    return add(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  public RowSum add(byte @Nullable [] value) {
    if (value == null) {
      return addLength(ABSENT);
    }
    addLength(value.length);
    if (value.length > KEPT_BYTES) {
      flush();
      crc.update(value, 0, value.length);
    } else {
      ensure(value.length);
      System.arraycopy(value, 0, bytes, length, value.length);
      length += value.length;
    }
    return this;
  }

  public long value() {
    flush();
    return crc.getValue();
  }

  private RowSum addLength(int value) {
    ensure(Integer.BYTES);
    for (int shift = Integer.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  private void flush() {
    crc.update(bytes, 0, length);
    length = 0;
  }

  private void ensure(int more) {
    if (length + more > KEPT_BYTES) {
      flush();
    }
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
    }
  }
}
