package dev.holdfast.server.api;

import dev.holdfast.core.model.Secret;
import dev.holdfast.server.api.Problem.Kind;
import java.security.SecureRandom;
import java.util.Base64;

/** Secrets that messages are signed with, as they are made and as callers give their own. */
final class Secrets {
  private static final int MADE_BYTES = 32;
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;

  private final SecureRandom random = new SecureRandom();

  String make() {
    byte[] key = new byte[MADE_BYTES];
    random.nextBytes(key);
    return Secret.PREFIX + Base64.getEncoder().encodeToString(key);
  }

  /** Refuses what is no secret, without showing it. */
  static String check(String given, String field) {
    byte[] key = Secret.keyOf(given).orElseThrow(() -> invalid(field));
    boolean isWhole = given.equals(Secret.PREFIX + Base64.getEncoder().encodeToString(key));
    if (!isWhole || key.length < LEAST_BYTES || key.length > MOST_BYTES) {
      throw invalid(field);
    }
    return given;
  }

  private static Refusal invalid(String field) {
    return Refusal.of(
        Kind.INVALID_FIELD,
        field,
        "Give \"%s\" and %d to %d random bytes in Base64 with its padding, or leave it out to have one made."
            .formatted(Secret.PREFIX, LEAST_BYTES, MOST_BYTES));
  }
}
