package dev.holdfast.engine.format;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/**
 * A moment as RFC 3339 text in UTC, such as {@code 2026-01-02T03:04:05.678Z}.
 *
 * <p>The same text as {@link Instant#toString}, in a fraction of its time: this is done for each
 * message.
 */
final class Rfc3339 {
  private static final int FRACTION_AT = 19;

  private Rfc3339() {}

  static String text(Instant moment) {
    int nanos = moment.getNano();
    LocalDateTime utc = LocalDateTime.ofEpochSecond(moment.getEpochSecond(), nanos, ZoneOffset.UTC);
    if (utc.getYear() < 0 || utc.getYear() > 9999) {
      return moment.toString();
    }
    int fraction = fractionDigits(nanos);
    char[] text = new char[FRACTION_AT + (fraction == 0 ? 0 : 1 + fraction) + 1];
    digits(utc.getYear(), text, 0, 4);
    text[4] = '-';
    digits(utc.getMonthValue(), text, 5, 2);
    text[7] = '-';
    digits(utc.getDayOfMonth(), text, 8, 2);
    text[10] = 'T';
    digits(utc.getHour(), text, 11, 2);
    text[13] = ':';
    digits(utc.getMinute(), text, 14, 2);
    text[16] = ':';
    digits(utc.getSecond(), text, 17, 2);
    if (fraction > 0) {
      text[FRACTION_AT] = '.';
      int unit = fraction == 3 ? 1_000_000 : fraction == 6 ? 1_000 : 1;
      digits(nanos / unit, text, FRACTION_AT + 1, fraction);
    }
    text[text.length - 1] = 'Z';
    return new String(text);
  }

  private static int fractionDigits(int nanos) {
    if (nanos == 0) {
      return 0;
    }
    return nanos % 1_000_000 == 0 ? 3 : nanos % 1_000 == 0 ? 6 : 9;
  }

  private static void digits(int number, char[] text, int at, int count) {
    int rest = number;
    for (int i = at + count - 1; i >= at; i--) {
      text[i] = (char) ('0' + rest % 10);
      rest /= 10;
    }
  }
}
