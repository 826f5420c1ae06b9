package dev.holdfast.server.api;

import java.util.Optional;

/**
 * Knows who a key belongs to. Asked on the event loop for every request, so it answers from memory.
 */
@FunctionalInterface
public interface Authenticator {

  /**
   * Finds the one that a key belongs to, if anybody.
   *
   * @param sha256OfKey only the hash of a key is ever passed on or kept
   */
  Optional<Principal> authenticate(byte[] sha256OfKey);
}
