package dev.holdfast.engine;

import org.jspecify.annotations.Nullable;

/** What is shown of a value that only the receiver should know. */
public final class Masked {
  private static final String HIDDEN = "****";
  private static final int SHOWN_CHARS = 4;

  /** Up to this length the last characters would tell too much. */
  private static final int SHORT_CHARS = 8;

  private Masked() {}

  /** Its last four characters, and of a short one nothing. */
  public static @Nullable String of(@Nullable String value) {
    return value == null ? null : ofText(value);
  }

  private static String ofText(String value) {
    return value.length() <= SHORT_CHARS
        ? HIDDEN
        : HIDDEN + value.substring(value.length() - SHOWN_CHARS);
  }

  /** Whether this is how a value is shown. */
  public static boolean isShown(String text) {
    return text.startsWith(HIDDEN) && text.length() <= HIDDEN.length() + SHOWN_CHARS;
  }

  /** A URL with the values in its query masked. */
  public static String url(String url) {
    int query = url.indexOf('?');
    if (query < 0) {
      return url;
    }
    StringBuilder shown = new StringBuilder(url.substring(0, query));
    char before = '?';
    for (String pair : url.substring(query + 1).split("&", -1)) {
      int equals = pair.indexOf('=');
      shown.append(before).append(equals < 0 ? ofText(pair) : pair.substring(0, equals + 1));
      if (equals >= 0) {
        shown.append(ofText(pair.substring(equals + 1)));
      }
      before = '&';
    }
    return shown.toString();
  }
}
