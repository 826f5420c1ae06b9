package dev.holdfast.engine.store;

import org.jspecify.annotations.Nullable;

/**
 * The data directory cannot be used. Its files are as they were; the message says what is wrong and
 * what to do.
 */
public final class StoreRefused extends Exception {

  StoreRefused(String message) {
    this(message, null);
  }

  StoreRefused(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
