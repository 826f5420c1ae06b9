package dev.holdfast.engine.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A browser that has signed in. Its cookie is known to nobody but itself.
 *
 * @param hash the SHA-256 of the cookie
 * @param keyHash the SHA-256 of the key that it signed in with; absent for one that is not stored
 * @param fixed for such a key a SHA-256 of the cookie and the key's hash, which tells whether it is
 *     still the same; absent for all others
 * @param expiresAt from when on it opens nothing
 */
public record Session(
    byte[] hash,
    byte @Nullable [] keyHash,
    byte @Nullable [] fixed,
    Instant beganAt,
    Instant expiresAt) {

  public Session {
    if ((keyHash == null) == (fixed == null)) {
      throw new IllegalArgumentException("a session is of a stored key or of one that is not");
    }
  }

  /** One of a stored key. */
  public static Session of(byte[] hash, byte[] keyHash, Instant beganAt, Instant expiresAt) {
    return new Session(hash, keyHash, null, beganAt, expiresAt);
  }

  /** One of a key that is not stored. */
  public static Session ofFixed(byte[] hash, byte[] fixed, Instant beganAt, Instant expiresAt) {
    return new Session(hash, null, fixed, beganAt, expiresAt);
  }

  /** Whether it opens anything at this time, if its key does. */
  public boolean isValid(Instant now) {
    return now.isBefore(expiresAt);
  }

  @Override
  public String toString() {
    return "Session[until " + expiresAt + "]";
  }
}
