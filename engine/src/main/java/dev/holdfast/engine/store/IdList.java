package dev.holdfast.engine.store;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * Ids that belong together, in their order, as the index of history keeps them: few bytes for each,
 * since they lie close to each other.
 */
final class IdList {
  private static final int GROUP_BITS = 7;
  private static final int GROUP = (1 << GROUP_BITS) - 1;
  private static final int MORE = 1 << GROUP_BITS;

  private IdList() {}

  /**
   * What {@link #decode} reads.
   *
   * @param first none of the ids is below
   * @param ids in ascending order
   */
  static byte[] encode(long first, long[] ids, int from, int to) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(4 * (to - from));
    long previous = first;
    for (int i = from; i < to; i++) {
      long rest = ids[i] - previous;
      while (rest > GROUP) {
        bytes.write((int) (rest & GROUP) | MORE);
        rest >>>= GROUP_BITS;
      }
      bytes.write((int) rest);
      previous = ids[i];
    }
    return bytes.toByteArray();
  }

  static long[] decode(long first, byte[] bytes) throws Damaged {
    long[] ids = new long[bytes.length];
    int count = 0;
    long id = first;
    long distance = 0;
    int shift = 0;
    for (byte each : bytes) {
      distance |= (long) (each & GROUP) << shift;
      if ((each & MORE) == 0) {
        if (distance < 0 || id + distance < id || (distance == 0 && count > 0)) {
          throw damaged();
        }
        id += distance;
        ids[count++] = id;
        distance = 0;
        shift = 0;
      } else {
        shift += GROUP_BITS;
        if (shift >= Long.SIZE) {
          throw damaged();
        }
      }
    }
    if (shift != 0) {
      throw damaged();
    }
    return Arrays.copyOf(ids, count);
  }

  private static Damaged damaged() {
    return new Damaged("the index of history has ids that nobody has written");
  }
}
