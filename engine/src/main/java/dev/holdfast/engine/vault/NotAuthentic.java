package dev.holdfast.engine.vault;

/** A sealed value is not what was sealed, or not where it was put. */
public final class NotAuthentic extends Exception {
  private static final long serialVersionUID = 1L;

  NotAuthentic(String message) {
    super(message);
  }
}
