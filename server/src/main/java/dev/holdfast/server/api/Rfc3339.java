package dev.holdfast.server.api;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * Reads times such as {@code 2026-03-01T12:00:00.5+01:00}: date, time to the second or finer, and
 * an offset. Written by hand because it stands on the path of every event.
 */
final class Rfc3339 {
  private static final int SECONDS_END = 19;
  private static final int NANO_DIGITS = 9;
  private static final int SECONDS_PER_MINUTE = 60;
  private static final int SECONDS_PER_HOUR = 3_600;

  /** An offset can lead out of the years that have four digits, and so can be written again. */
  static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");

  static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

  private Rfc3339() {}

  /** Empty for anything that is not such a time. */
  static Optional<Instant> parse(String text) {
    int length = text.length();
    if (length <= SECONDS_END
        || text.charAt(4) != '-'
        || text.charAt(7) != '-'
        || (text.charAt(10) != 'T' && text.charAt(10) != 't')
        || text.charAt(13) != ':'
        || text.charAt(16) != ':') {
      return Optional.empty();
    }
    int year = digits(text, 0, 4);
    int month = digits(text, 5, 2);
    int day = digits(text, 8, 2);
    int hour = digits(text, 11, 2);
    int minute = digits(text, 14, 2);
    int second = digits(text, 17, 2);
    int nano = 0;
    int at = SECONDS_END;
    if (text.charAt(at) == '.') {
      int end = at + 1;
      while (end < length && isDigit(text.charAt(end))) {
        end++;
      }
      int places = end - at - 1;
      if (places < 1 || places > NANO_DIGITS) {
        return Optional.empty();
      }
      nano = digits(text, at + 1, places);
      for (int i = places; i < NANO_DIGITS; i++) {
        nano *= 10;
      }
      at = end;
    }
    int offset = offsetSeconds(text, at);
    if ((year | month | day | hour | minute | second | nano) < 0 || offset == Integer.MIN_VALUE) {
      return Optional.empty();
    }
    try {
      Instant time =
          LocalDateTime.of(year, month, day, hour, minute, second, nano)
              .toInstant(ZoneOffset.UTC)
              .minusSeconds(offset);
      return time.isBefore(FIRST) || !time.isBefore(END) ? Optional.empty() : Optional.of(time);
    } catch (DateTimeException _) {
      return Optional.empty();
    }
  }

  private static int offsetSeconds(String text, int at) {
    int length = text.length();
    if (at + 1 == length && (text.charAt(at) == 'Z' || text.charAt(at) == 'z')) {
      return 0;
    }
    if (at + 6 != length || text.charAt(at + 3) != ':') {
      return Integer.MIN_VALUE;
    }
    int hours = digits(text, at + 1, 2);
    int minutes = digits(text, at + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
      return Integer.MIN_VALUE;
    }
    int seconds = hours * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE;
    return switch (text.charAt(at)) {
      case '+' -> seconds;
      case '-' -> -seconds;
      default -> Integer.MIN_VALUE;
    };
  }

  /** The number that stands there, or a negative one. */
  private static int digits(String text, int from, int count) {
    int number = 0;
    for (int i = from; i < from + count; i++) {
      char c = text.charAt(i);
      if (!isDigit(c)) {
        return -1;
      }
      number = number * 10 + (c - '0');
    }
    return number;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
