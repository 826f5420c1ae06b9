package dev.holdfast.core.model;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * How the 64-bit ids of events, messages, subscriptions and endpoints are laid out and shown.
 *
 * <p>An id is {@code milliseconds since 2025 (41 bits) | counter (12 bits) | node (10 bits)}, so
 * that ids sort by time and new rows go to the end of a table. The ids that one node gives out are
 * {@link #STRIDE} apart, which lets the messages of an event take the ids right after the event's
 * own: they are found by range, without an index. A counter that runs over carries into the time.
 *
 * <p>People see a prefix and 13 characters of Crockford's base 32, such as {@code
 * msg_00HN3XW5G0400}.
 */
public final class Id {
  public static final String EVENT = "evt";
  public static final String MESSAGE = "msg";
  public static final String SUBSCRIPTION = "sub";
  public static final String ENDPOINT = "ep";
  public static final String REPLAY = "rpl";

  public static final int NODE_BITS = 10;
  public static final int COUNTER_BITS = 12;

  /** The distance between two neighbouring ids of one node. */
  public static final long STRIDE = 1L << NODE_BITS;

  private static final long EPOCH_MILLIS = Instant.parse("2025-01-01T00:00:00Z").toEpochMilli();
  private static final int TEXT_LENGTH = 13;
  private static final char[] DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".toCharArray();

  private Id() {}

  /** The smallest id that can be given out at {@code time}. */
  public static long floor(Instant time) {
    long millis = Math.max(0, time.toEpochMilli() - EPOCH_MILLIS);
    return millis << (COUNTER_BITS + NODE_BITS);
  }

  /** When the id was given out, to the millisecond. */
  public static Instant time(long id) {
    return Instant.ofEpochMilli((id >>> (COUNTER_BITS + NODE_BITS)) + EPOCH_MILLIS);
  }

  public static String text(String prefix, long id) {
    int start = prefix.length() + 1;
    char[] text = new char[start + TEXT_LENGTH];
    prefix.getChars(0, prefix.length(), text, 0);
    text[start - 1] = '_';
    long rest = id;
    for (int i = text.length - 1; i >= start; i--) {
      text[i] = DIGITS[(int) (rest & 31)];
      rest >>>= 5;
    }
    return new String(text);
  }

  /** Reads what {@link #text} wrote; empty for anything else. */
  public static OptionalLong parse(String prefix, String text) {
    int start = prefix.length() + 1;
    if (text.length() != start + TEXT_LENGTH
        || !text.startsWith(prefix)
        || text.charAt(start - 1) != '_') {
      return OptionalLong.empty();
    }
    long id = 0;
    for (int i = start; i < text.length(); i++) {
      int digit = digit(text.charAt(i));
      if (digit < 0 || (i == start && digit > 7)) {
        return OptionalLong.empty();
      }
      id = (id << 5) | digit;
    }
    return OptionalLong.of(id);
  }

  private static int digit(char c) {
    for (int i = 0; i < DIGITS.length; i++) {
      if (DIGITS[i] == c) {
        return i;
      }
    }
    return -1;
  }
}
