package dev.holdfast.engine.vault;

import org.jspecify.annotations.Nullable;

/** Master keys cannot be had. The message says why and what to do, and never a key. */
public final class KeysRefused extends Exception {
  private static final long serialVersionUID = 1L;

  /** Without another error behind it. */
  public KeysRefused(String message) {
    this(message, null);
  }

  KeysRefused(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
