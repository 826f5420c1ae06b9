package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import java.security.SecureRandom;
import java.util.Base64;

/** Secrets that messages are signed with, as they are made and as callers give their own. */
final class Secrets {
  private static final String PREFIX = "whsec_";
  private static final int MADE_BYTES = 32;
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;

  private final SecureRandom random = new SecureRandom();

  String make() {
    byte[] key = new byte[MADE_BYTES];
    random.nextBytes(key);
    return PREFIX + Base64.getEncoder().encodeToString(key);
  }

  /** Refuses what is no secret, without showing it. */
  static String check(String given, String field) {
    if (!given.startsWith(PREFIX)) {
      throw invalid(field);
    }
    String encoded = given.substring(PREFIX.length());
    byte[] key;
    try {
      key = Base64.getDecoder().decode(encoded);
    } catch (IllegalArgumentException _) {
      throw invalid(field);
    }
    boolean isWhole = Base64.getEncoder().encodeToString(key).equals(encoded);
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
            .formatted(PREFIX, LEAST_BYTES, MOST_BYTES));
  }
}
