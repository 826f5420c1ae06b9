package dev.holdfast.server.api;

import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Secret.Signature;
import dev.holdfast.engine.http.Ed25519;
import dev.holdfast.server.api.Problem.Kind;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Secrets that messages are signed with, as they are made and as callers give their own. */
final class Secrets {
  private static final int MADE_BYTES = 32;
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;

  private final SecureRandom random = new SecureRandom();

  String make(Signature signature) {
    return switch (signature) {
      case V1 -> {
        byte[] key = new byte[MADE_BYTES];
        random.nextBytes(key);
        yield text(signature, key);
      }
      case V1A -> text(signature, Ed25519.make());
    };
  }

  private static String text(Signature signature, byte[] key) {
    return signature.prefix() + Base64.getEncoder().encodeToString(key);
  }

  /** Refuses what is no secret, without showing it. */
  static String check(String given, String field) {
    Signature signature = Secret.signatureOf(given).orElseThrow(() -> invalid(field));
    byte[] key = Secret.keyOf(given).orElseThrow(() -> invalid(field));
    boolean isKey =
        switch (signature) {
          case V1 -> key.length >= LEAST_BYTES && key.length <= MOST_BYTES;
          case V1A -> Ed25519.isPair(key);
        };
    if (!isKey || !given.equals(text(signature, key))) {
      throw invalid(field);
    }
    return given;
  }

  /** Refuses to make other signatures than a secret can that is given. */
  static void check(@Nullable Signature wanted, @Nullable String given) {
    if (wanted != null && given != null && !Secret.signatureOf(given).equals(Optional.of(wanted))) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          "signature",
          "The secret that is given makes other signatures: \"%s\" makes v1 and \"%s\" makes v1a. Leave this out, or the secret."
              .formatted(Signature.V1.prefix(), Signature.V1A.prefix()));
    }
  }

  private static Refusal invalid(String field) {
    return Refusal.of(
        Kind.INVALID_FIELD,
        field,
        "Give \"%s\" and %d to %d random bytes in Base64 with its padding, or \"%s\" and in the same way the 32 bytes of a private key of Ed25519 and the 32 of its public key; or leave it out to have one made."
            .formatted(Signature.V1.prefix(), LEAST_BYTES, MOST_BYTES, Signature.V1A.prefix()));
  }
}
