package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.jspecify.annotations.Nullable;

/**
 * What an event's data carries for the benchmark: when it was meant to be sent, and its number.
 *
 * <p>It stands in the data as {@code "mark":"<16 hex digits>-<8 hex digits>"}, always of the same
 * length, so that it can be written into a prepared request and found by a search for bytes. The
 * time is {@link System#nanoTime}, which processes on one Linux machine share.
 */
record Mark(long sentAtNanos, int number) {

  /** The time of an event of which nobody wants to know how long it took. */
  static final long UNTIMED = 0;

  /** How many bytes {@link #write} writes. */
  static final int LENGTH = 16 + 1 + 8;

  private static final byte[] PREFIX = "\"mark\":\"".getBytes(US_ASCII);
  private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);

  /** The data of an event: a JSON object of {@code size} bytes, with room for a mark. */
  static String data(int size) {
    String start = "{\"mark\":\"" + "0".repeat(LENGTH) + "\",\"text\":\"";
    String end = "\"}";
    int rest = size - start.length() - end.length();
    if (rest < 0) {
      throw new IllegalArgumentException("no room for a mark in " + size + " bytes");
    }
    return start + "x".repeat(rest) + end;
  }

  /** The same with a mark in it. */
  static String data(int size, long sentAtNanos, int number) {
    byte[] data = data(size).getBytes(US_ASCII);
    write(data, offset(), sentAtNanos, number);
    return new String(data, US_ASCII);
  }

  /** Where the mark of {@link #data} begins, counted from the beginning of the data. */
  static int offset() {
    return 1 + PREFIX.length;
  }

  static void write(byte[] into, int at, long sentAtNanos, int number) {
    hex(into, at, sentAtNanos, 16);
    into[at + 16] = '-';
    hex(into, at + 17, number, 8);
  }

  /** The mark in these bytes, if one is there as a whole. */
  static @Nullable Mark find(byte[] bytes, int from, int to) {
    int last = to - PREFIX.length - LENGTH;
    for (int i = from; i <= last; i++) {
      if (bytes[i] == '"' && bytes[i + 1] == 'm' && startsAt(bytes, i)) {
        int at = i + PREFIX.length;
        return new Mark(number(bytes, at, 16), (int) number(bytes, at + 17, 8));
      }
    }
    return null;
  }

  private static boolean startsAt(byte[] bytes, int at) {
    for (int i = 0; i < PREFIX.length; i++) {
      if (bytes[at + i] != PREFIX[i]) {
        return false;
      }
    }
    return true;
  }

  static void hex(byte[] into, int at, long value, int digits) {
    long rest = value;
    for (int i = at + digits - 1; i >= at; i--) {
      into[i] = HEX[(int) (rest & 15)];
      rest >>>= 4;
    }
  }

  private static long number(byte[] bytes, int at, int digits) {
    long value = 0;
    for (int i = at; i < at + digits; i++) {
      value = (value << 4) | (bytes[i] <= '9' ? bytes[i] - '0' : bytes[i] - 'a' + 10);
    }
    return value;
  }
}
