package dev.holdfast.server.api;

import dev.holdfast.engine.Masked;
import dev.holdfast.server.api.Problem.Kind;

/** Values as they are shown, that come back by mistake. */
final class Mask {

  private Mask() {}

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
