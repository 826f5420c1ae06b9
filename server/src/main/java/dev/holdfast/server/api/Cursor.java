package dev.holdfast.server.api;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.CRC32;

/**
 * Where the next page of a list begins, as opaque text.
 *
 * <p>It names its list and carries a check sum, so that a cursor that was cut, changed or taken
 * from another list is refused instead of skipping items.
 */
final class Cursor {
  private static final int LENGTH = 1 + Long.BYTES + Integer.BYTES;
  private static final int PAIR_LENGTH = LENGTH + Long.BYTES;

  /** What a list goes by that has two numbers for its order. */
  record Pair(long first, long second) {}

  /** The lists that have cursors. */
  enum List {
    SUBSCRIPTIONS('s'),
    ENDPOINTS('e'),
    MESSAGES('m'),
    REPLAYS('r'),
    KEYS('k'),
    AUDIT('a'),
    CHANGES('h'),

    /** One chain of the audit log, which goes by other numbers than all of it. */
    AUDIT_CHAIN('c');

    private final byte letter;

    List(char letter) {
      this.letter = (byte) letter;
    }
  }

  private Cursor() {}

  static String text(List list, long before) {
    byte[] bytes = new byte[LENGTH];
    ByteBuffer.wrap(bytes).put(list.letter).putLong(before);
    return sealed(bytes);
  }

  static String text(List list, Pair before) {
    byte[] bytes = new byte[PAIR_LENGTH];
    ByteBuffer.wrap(bytes).put(list.letter).putLong(before.first()).putLong(before.second());
    return sealed(bytes);
  }

  private static String sealed(byte[] bytes) {
    ByteBuffer.wrap(bytes).putInt(bytes.length - Integer.BYTES, check(bytes));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static long before(List list, String text) {
    return read(list, text, LENGTH).getLong(1);
  }

  static Pair pair(List list, String text) {
    ByteBuffer bytes = read(list, text, PAIR_LENGTH);
    return new Pair(bytes.getLong(1), bytes.getLong(1 + Long.BYTES));
  }

  private static ByteBuffer read(List list, String text, int length) {
    if (text.length() <= ApiLimits.CURSOR_CHARS) {
      try {
        byte[] bytes = Base64.getUrlDecoder().decode(text);
        if (bytes.length == length
            && bytes[0] == list.letter
            && ByteBuffer.wrap(bytes).getInt(length - Integer.BYTES) == check(bytes)) {
          return ByteBuffer.wrap(bytes);
        }
      } catch (IllegalArgumentException _) {
        // refused below, like every other text that is not one of our cursors
      }
    }
    throw Refusal.of(
        Problem.Kind.INVALID_PARAMETER,
        "cursor",
        "Give the value of \"next\" as it came with the page before, or none for the first page.");
  }

  private static int check(byte[] bytes) {
    CRC32 sum = new CRC32();
    sum.update(bytes, 0, bytes.length - Integer.BYTES);
    return (int) sum.getValue();
  }
}
