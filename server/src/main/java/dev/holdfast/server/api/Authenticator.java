package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Knows who a key belongs to. Asked on the event loop for every request, so it answers from memory.
 */
@FunctionalInterface
public interface Authenticator {

  /** What is known about a key. */
  sealed interface Recognition {}

  /** It opens what its role allows. */
  record Valid(Principal principal) implements Recognition {}

  /**
   * It was somebody's once. Whoever asks has the whole key, and may know this much about it.
   *
   * @param at when it ended
   */
  record Expired(Instant at) implements Recognition {}

  /** It is nobody's: it never was, or is revoked. */
  record Unknown() implements Recognition {}

  /** The one and only. */
  Unknown UNKNOWN = new Unknown();

  /**
   * Finds the one that a key belongs to, if anybody.
   *
   * @param sha256OfKey only the hash of a key is ever passed on or kept
   */
  Recognition authenticate(byte[] sha256OfKey, Instant now);

  /** The hash of the key that is set and stored nowhere; absent when none is. */
  default byte @Nullable [] fixedKey() {
    return null;
  }

  /**
   * Whether a key that is not known may have been made elsewhere a moment ago, so that it is worth
   * looking for it. Says so seldom enough that looking costs little, whoever sends what.
   */
  default boolean mayBeNew(byte[] sha256OfKey) {
    return false;
  }

  /** Looks for such a key. Blocking. */
  default void lookFor(byte[] sha256OfKey) throws StoreException {}
}
