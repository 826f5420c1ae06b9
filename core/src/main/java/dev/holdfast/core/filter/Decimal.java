package dev.holdfast.core.filter;

import org.jspecify.annotations.Nullable;

/**
 * A decimal number of any size, to be compared and no more than that.
 *
 * <p>It is its sign, its significant digits and where the first of them stands, so reading and
 * comparing take time in proportion to what was written: {@code 1e999999999} is as cheap as {@code
 * 1}, and a million digits are looked at once. A number that {@link java.math.BigDecimal} would
 * have to write out could hold up everybody's events.
 *
 * <p>Comparisons are exact, except far out: all numbers whose first digit is more than 10^18 places
 * before the decimal point count as one, larger than all others, and likewise behind it.
 */
final class Decimal implements Comparable<Decimal> {

  /** How many digits fit into {@link #head}. */
  private static final int HEAD_DIGITS = 18;

  private static final long FARTHEST = 1_000_000_000_000_000_000L;

  /** An exponent that is beyond {@link #FARTHEST} wherever the digits stand. */
  private static final long BEYOND = 2 * FARTHEST;

  private static final Decimal ZERO = new Decimal(0, 0, 0, "");

  private final int sign;

  /** The number is 0.ddd times ten to the power of this, where the first d is not zero. */
  private final long exponent;

  /** The first significant digits, filled up with zeros on the right. */
  private final long head;

  /** The digits that follow, without zeros at the end. */
  private final String tail;

  private Decimal(int sign, long exponent, long head, String tail) {
    this.sign = sign;
    this.exponent = exponent;
    this.head = head;
    this.tail = tail;
  }

  /** Reads a number as JSON writes it; nothing when the text is something else. */
  static @Nullable Decimal parse(String text) {
    int start = text.startsWith("-") ? 1 : 0;
    int wholeEnd = digitsEnd(text, start);
    boolean hasNoDigit = wholeEnd == start;
    if (hasNoDigit || (text.charAt(start) == '0' && wholeEnd > start + 1)) {
      return null;
    }
    int end = wholeEnd;
    if (isAt(text, end, '.')) {
      end = digitsEnd(text, wholeEnd + 1);
      if (end == wholeEnd + 1) {
        return null;
      }
    }
    long power = 0;
    if (end < text.length()) {
      if (!isAt(text, end, 'e') && !isAt(text, end, 'E')) {
        return null;
      }
      boolean isNegative = isAt(text, end + 1, '-');
      int from = isNegative || isAt(text, end + 1, '+') ? end + 2 : end + 1;
      if (from >= text.length() || digitsEnd(text, from) < text.length()) {
        return null;
      }
      power = isNegative ? -power(text, from) : power(text, from);
    }
    return of(text, start, wholeEnd, end, power);
  }

  /**
   * @param wholeEnd where the digits before the decimal point end
   * @param end where all digits end
   */
  private static Decimal of(String text, int start, int wholeEnd, int end, long power) {
    int first = start;
    while (first < end && isZeroOrPoint(text.charAt(first))) {
      first++;
    }
    if (first == end) {
      return ZERO;
    }
    int last = end;
    while (isZeroOrPoint(text.charAt(last - 1))) {
      last--;
    }
    int sign = start == 0 ? 1 : -1;
    long places = first < wholeEnd ? wholeEnd - first : wholeEnd + 1L - first;
    long exponent = power + places;
    if (Math.abs(exponent) > FARTHEST) {
      return new Decimal(sign, exponent > 0 ? BEYOND : -BEYOND, 0, "");
    }
    long head = 0;
    int digits = 0;
    int at = first;
    for (; at < last && digits < HEAD_DIGITS; at++) {
      if (text.charAt(at) != '.') {
        head = head * 10 + digit(text, at);
        digits++;
      }
    }
    for (; digits < HEAD_DIGITS; digits++) {
      head *= 10;
    }
    return new Decimal(sign, exponent, head, text.substring(at, last).replace(".", ""));
  }

  private static long power(String text, int from) {
    long power = 0;
    for (int i = from; i < text.length(); i++) {
      power = power > BEYOND / 10 ? BEYOND : power * 10 + digit(text, i);
    }
    return power;
  }

  private static boolean isZeroOrPoint(char c) {
    return c == '0' || c == '.';
  }

  private static int digit(String text, int at) {
    return text.charAt(at) - '0';
  }

  private static boolean isAt(String text, int at, char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  private static int digitsEnd(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at;
  }

  @Override
  public int compareTo(Decimal other) {
    if (sign != other.sign) {
      return Integer.compare(sign, other.sign);
    }
    return sign >= 0 ? compareSize(other) : other.compareSize(this);
  }

  private int compareSize(Decimal other) {
    if (exponent != other.exponent) {
      return Long.compare(exponent, other.exponent);
    }
    return head != other.head ? Long.compare(head, other.head) : tail.compareTo(other.tail);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Decimal decimal && compareTo(decimal) == 0;
  }

  @Override
  public int hashCode() {
    return 31 * (31 * (31 * (int) exponent + Long.hashCode(head)) + tail.hashCode()) + sign;
  }

  @Override
  public String toString() {
    return (sign < 0 ? "-0." : "0.") + head + tail + "e" + exponent;
  }
}
