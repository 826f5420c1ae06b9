package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import org.jspecify.annotations.Nullable;

/**
 * What is shown of a value that only the receiver should know: its last four characters, and of a
 * short one nothing.
 */
final class Mask {
  private static final String HIDDEN = "****";
  private static final int SHOWN_CHARS = 4;

  /** Up to this length the last characters would tell too much. */
  private static final int SHORT_CHARS = 8;

  private Mask() {}

  static @Nullable String of(@Nullable String value) {
    if (value == null) {
      return null;
    }
    return value.length() <= SHORT_CHARS
        ? HIDDEN
        : HIDDEN + value.substring(value.length() - SHOWN_CHARS);
  }

  /**
   * Refuses a masked value that comes back: it would take the place of the real one.
   *
   * @param isChange whether there may be a value already, which stays if none is given
   */
  static String refuse(String value, String field, boolean isChange) {
    if (value.startsWith(HIDDEN) && value.length() <= HIDDEN.length() + SHOWN_CHARS) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "This is how the value is shown, and not the value. Give the value"
              + (isChange ? "; a change that leaves it out keeps it." : "."));
    }
    return value;
  }
}
