package dev.holdfast.core.model;

import org.jspecify.annotations.Nullable;

/** How an attempt ended. A receiver's failure is a value like any other, never an exception. */
public sealed interface Outcome {

  byte[] NO_RESPONSE = new byte[0];

  /** The first bytes of the answer's body, as far as they came. */
  byte[] response();

  /** The endpoint took the message. */
  record Success(int status, byte[] response) implements Outcome {}

  /**
   * The endpoint did not take the message.
   *
   * @param status the HTTP status, when one came
   * @param retryAfter the answer's {@code Retry-After} header as it came
   */
  record Failure(Kind kind, @Nullable Integer status, byte[] response, @Nullable String retryAfter)
      implements Outcome {

    /** What went wrong. */
    public enum Kind {
      /** An answer came, but not a 2xx. */
      STATUS,
      TIMEOUT,
      DNS,
      CONNECT,
      RESET,
      TLS,
      /** The egress rules do not allow the address. */
      FORBIDDEN,
      /** What came was not HTTP. */
      PROTOCOL
    }

    public static Failure of(Kind kind) {
      return new Failure(kind, null, NO_RESPONSE, null);
    }
  }
}
