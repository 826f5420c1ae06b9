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

  /** The lists that have cursors. */
  enum List {
    SUBSCRIPTIONS('s'),
    ENDPOINTS('e'),
    MESSAGES('m'),
    REPLAYS('r'),
    EVENTS('v'),
    ATTEMPTS('t'),
    MATCHES('h'),

    /** Endpoints in other orders. */
    ENDPOINTS_BY_URL('u'),
    ENDPOINTS_BY_STATE('z'),
    ENDPOINTS_BY_FAILURES('f'),
    ENDPOINTS_BY_WAITING('w'),
    KEYS('k'),
    AUDIT('a'),
    CHANGES('g'),

    /** One chain of the audit log, which goes by other numbers than all of it. */
    AUDIT_CHAIN('c');

    private final byte letter;

    List(char letter) {
      this.letter = (byte) letter;
    }
  }

  private Cursor() {}

  /** A place between the items of a list that go by two numbers. */
  record Place(long first, long second) {}

  static String text(List list, long before) {
    byte[] bytes = new byte[length(1)];
    ByteBuffer.wrap(bytes).put(list.letter).putLong(before);
    return sealed(bytes);
  }

  static String text(List list, Place place) {
    byte[] bytes = new byte[length(2)];
    ByteBuffer.wrap(bytes).put(list.letter).putLong(place.first()).putLong(place.second());
    return sealed(bytes);
  }

  private static String sealed(byte[] bytes) {
    ByteBuffer.wrap(bytes).putInt(bytes.length - Integer.BYTES, check(bytes));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static long before(List list, String text) {
    return read(list, text, 1).getLong(1);
  }

  static Place place(List list, String text) {
    ByteBuffer bytes = read(list, text, 2);
    return new Place(bytes.getLong(1), bytes.getLong(1 + Long.BYTES));
  }

  private static ByteBuffer read(List list, String text, int numbers) {
    if (text.length() <= ApiLimits.CURSOR_CHARS) {
      try {
        byte[] bytes = Base64.getUrlDecoder().decode(text);
        int length = length(numbers);
        if (bytes.length == length
            && bytes[0] == list.letter
            && ByteBuffer.wrap(bytes).getInt(length - Integer.BYTES) == check(bytes)) {
          return ByteBuffer.wrap(bytes);
        }
      } catch (IllegalArgumentException _) {
        // refused below, like every other text that is not one of our cursors
      }
    }
    throw refused();
  }

  /** For a cursor that leads nowhere. */
  static Refusal refused() {
    return Refusal.of(
        Problem.Kind.INVALID_PARAMETER,
        "cursor",
        "Give the value of \"next\" as it came with the page before, or none for the first page.");
  }

  private static int length(int numbers) {
    return 1 + numbers * Long.BYTES + Integer.BYTES;
  }

  private static int check(byte[] bytes) {
    CRC32 sum = new CRC32();
    sum.update(bytes, 0, bytes.length - Integer.BYTES);
    return (int) sum.getValue();
  }
}
