package dev.holdfast.server.api;

import org.jspecify.annotations.Nullable;

/** The W3C trace context header. One that has not the standard's form is ignored, as it asks. */
final class Traceparent {
  private static final int LENGTH = 55;
  private static final int LONGEST = 128;

  private Traceparent() {}

  static @Nullable String valid(@Nullable String header) {
    if (header == null) {
      return null;
    }
    int length = header.length();
    boolean form =
        length >= LENGTH
            && length <= LONGEST
            && hex(header, 0, 2)
            && header.charAt(2) == '-'
            && hex(header, 3, 32)
            && header.charAt(35) == '-'
            && hex(header, 36, 16)
            && header.charAt(52) == '-'
            && hex(header, 53, 2)
            && !zeros(header, 3, 32)
            && !zeros(header, 36, 16);
    if (!form || header.startsWith("ff")) {
      return null;
    }
    if (length == LENGTH) {
      return header;
    }
    boolean laterVersion = !header.startsWith("00") && header.charAt(LENGTH) == '-';
    return laterVersion && visible(header) ? header : null;
  }

  private static boolean hex(String text, int from, int count) {
    for (int i = from; i < from + count; i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return true;
  }

  private static boolean zeros(String text, int from, int count) {
    for (int i = from; i < from + count; i++) {
      if (text.charAt(i) != '0') {
        return false;
      }
    }
    return true;
  }

  private static boolean visible(String text) {
    return text.chars().allMatch(c -> c > ' ' && c < 0x7f);
  }
}
