package dev.holdfast.core.filter;

import java.time.Instant;
import java.time.LocalDate;
import java.time.Month;
import java.time.Year;
import org.jspecify.annotations.Nullable;

/**
 * Reads date-times such as {@code 2026-05-04T09:30:00.5+02:00}: a date, a time of which the seconds
 * may be absent, and an offset, which may not.
 */
final class Moment {
  private static final int SHORTEST = "2026-05-04T09:30Z".length();
  private static final int MINUTE_END = "2026-05-04T09:30".length();
  private static final int NANO_DIGITS = 9;
  private static final int SECONDS_OF_DAY = 86_400;
  private static final int NONE = -1;

  private final String text;

  /** How far it has been read. */
  private int at;

  private Moment(String text) {
    this.text = text;
  }

  /** The instant that a text stands for; nothing when it is no date-time with an offset. */
  static @Nullable Instant parse(String text) {
    boolean hasItsShape =
        text.length() >= SHORTEST
            && text.charAt(4) == '-'
            && text.charAt(7) == '-'
            && text.charAt(10) == 'T'
            && text.charAt(13) == ':';
    return hasItsShape ? new Moment(text).read() : null;
  }

  private @Nullable Instant read() {
    int year = number(0, 4);
    int month = number(5, 2);
    int day = number(8, 2);
    int hour = number(11, 2);
    int minute = number(14, 2);
    if (year == NONE || month < 1 || month > 12 || !isTime(hour, minute)) {
      return null;
    }
    if (day < 1 || day > Month.of(month).length(Year.isLeap(year))) {
      return null;
    }
    at = MINUTE_END;
    int second = 0;
    int nano = 0;
    if (text.charAt(at) == ':') {
      second = number(at + 1, 2);
      if (second == NONE || second > 59) {
        return null;
      }
      at += 3;
      if (isAt('.')) {
        nano = fraction();
        if (nano == NONE) {
          return null;
        }
      }
    }
    Integer offsetMinutes = offset();
    if (offsetMinutes == null) {
      return null;
    }
    long seconds =
        LocalDate.of(year, month, day).toEpochDay() * SECONDS_OF_DAY
            + (hour * 60L + minute - offsetMinutes) * 60
            + second;
    return Instant.ofEpochSecond(seconds, nano);
  }

  /** The digits after the point as nanoseconds, which are at most nine. */
  private int fraction() {
    int from = ++at;
    int nano = 0;
    while (at < text.length() && isDigit(text.charAt(at))) {
      nano = nano * 10 + text.charAt(at++) - '0';
      if (at - from > NANO_DIGITS) {
        return NONE;
      }
    }
    for (int digits = at - from; digits < NANO_DIGITS; digits++) {
      nano *= 10;
    }
    return at == from ? NONE : nano;
  }

  /** {@code Z}, {@code +02}, {@code +0200} or {@code +02:00}, and nothing after it. */
  private @Nullable Integer offset() {
    if (isAt('Z')) {
      return at + 1 == text.length() ? 0 : null;
    }
    if (!isAt('+') && !isAt('-')) {
      return null;
    }
    int sign = isAt('+') ? 1 : -1;
    int hours = number(at + 1, 2);
    at += 3;
    int minutes = 0;
    if (at < text.length()) {
      if (isAt(':')) {
        at++;
      }
      minutes = number(at, 2);
      at += 2;
    }
    return isTime(hours, minutes) && at == text.length() ? sign * (hours * 60 + minutes) : null;
  }

  private static boolean isTime(int hour, int minute) {
    return hour != NONE && hour <= 23 && minute != NONE && minute <= 59;
  }

  private boolean isAt(char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  private int number(int from, int digits) {
    if (from + digits > text.length()) {
      return NONE;
    }
    int number = 0;
    for (int i = from; i < from + digits; i++) {
      if (!isDigit(text.charAt(i))) {
        return NONE;
      }
      number = number * 10 + text.charAt(i) - '0';
    }
    return number;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
