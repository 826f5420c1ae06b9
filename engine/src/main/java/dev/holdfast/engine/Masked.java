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
    if (value == null) {
      return null;
    }
    return value.length() <= SHORT_CHARS
        ? HIDDEN
        : HIDDEN + value.substring(value.length() - SHOWN_CHARS);
  }

  /** Whether this is how a value is shown. */
  public static boolean isShown(String text) {
    return text.startsWith(HIDDEN) && text.length() <= HIDDEN.length() + SHOWN_CHARS;
  }
}
