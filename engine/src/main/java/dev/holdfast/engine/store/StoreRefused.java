package dev.holdfast.engine.store;

import org.jspecify.annotations.Nullable;

/**
 * The data directory, or database, cannot be used. It is as it was; the message says what is wrong
 * and what to do.
 */
public final class StoreRefused extends Exception {
  private final boolean inUse;

  /** Without another error behind it. */
  public StoreRefused(String message) {
    this(message, null);
  }

  /** Because of another error. */
  public StoreRefused(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private StoreRefused(String message, @Nullable Throwable cause, boolean inUse) {
    super(message, cause);
    this.inUse = inUse;
  }

  static StoreRefused inUse(String message) {
    return new StoreRefused(message, null, true);
  }

  /** Whether nothing is wrong but that a running server has the directory. */
  public boolean isInUse() {
    return inUse;
  }
}
