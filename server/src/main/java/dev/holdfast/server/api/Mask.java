package dev.holdfast.server.api;

import dev.holdfast.engine.Masked;
import dev.holdfast.server.api.Problem.Kind;
import org.jspecify.annotations.Nullable;

/** What is shown of a value that only the receiver should know, and may come back by mistake. */
final class Mask {

  private Mask() {}

  static @Nullable String of(@Nullable String value) {
    return Masked.of(value);
  }

  /**
   * Refuses a masked value that comes back: it would take the place of the real one.
   *
   * @param isChange whether there may be a value already, which stays if none is given
   */
  static String refuse(String value, String field, boolean isChange) {
    if (Masked.isShown(value)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "This is how the value is shown, and not the value. Give the value"
              + (isChange ? "; a change that leaves it out keeps it." : "."));
    }
    return value;
  }
}
