package dev.holdfast.core.model;

import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What messages are signed with, so that their receiver can tell whom they are from.
 *
 * @param text as its owner knows it: a prefix that tells which signatures are made with it, and the
 *     key in Base64
 * @param validUntil until when messages are signed with it though there is a newer one; absent for
 *     the newest
 */
public record Secret(String text, Instant createdAt, @Nullable Instant validUntil) {

  /** What stands before the key that receivers of {@link Signature#V1A} verify with. */
  public static final String PUBLIC_PREFIX = "whpk_";

  /** How long a key is that receivers of {@link Signature#V1A} verify with. */
  public static final int PUBLIC_BYTES = 32;

  /** How long a key of {@link Signature#V1A} is: the private half, and then the public one. */
  public static final int PAIR_BYTES = 2 * PUBLIC_BYTES;

  /** The signatures of Standard Webhooks. */
  public enum Signature {
    /** HMAC-SHA256: whoever can verify it could have made it. */
    V1("whsec_"),
    /** Ed25519: receivers verify it with a key that it cannot be made with. */
    V1A("whsk_");

    private final String prefix;

    Signature(String prefix) {
      this.prefix = prefix;
    }

    /** What stands before the key in the text of a secret for these. */
    public String prefix() {
      return prefix;
    }
  }

  /** Which signatures a secret with that text makes; empty when it is none. */
  public static Optional<Signature> signatureOf(String text) {
    for (Signature signature : Signature.values()) {
      if (text.startsWith(signature.prefix)) {
        return Optional.of(signature);
      }
    }
    return Optional.empty();
  }

  /** The key in a secret's text; empty when the text is none. What is wrong with it is not told. */
  public static Optional<byte[]> keyOf(String text) {
    return signatureOf(text)
        .flatMap(
            signature ->
                decoded(text.substring(signature.prefix.length()))
                    .filter(key -> signature == Signature.V1 || key.length == PAIR_BYTES));
  }

  /** The key in the text of a public key; empty when the text is none. */
  public static Optional<byte[]> publicKeyOf(String text) {
    return text.startsWith(PUBLIC_PREFIX)
        ? decoded(text.substring(PUBLIC_PREFIX.length())).filter(key -> key.length == PUBLIC_BYTES)
        : Optional.empty();
  }

  private static Optional<byte[]> decoded(String base64) {
    try {
      byte[] key = Base64.getDecoder().decode(base64);
      return key.length == 0 ? Optional.empty() : Optional.of(key);
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /** Which signatures are made with it. */
  public Signature signature() {
    return signatureOf(text).orElse(Signature.V1);
  }

  /** What receivers verify with, where that is no secret. */
  public Optional<String> publicKey() {
    return signature() == Signature.V1
        ? Optional.empty()
        : keyOf(text)
            .map(
                pair ->
                    PUBLIC_PREFIX
                        + Base64.getEncoder()
                            .encodeToString(Arrays.copyOfRange(pair, PUBLIC_BYTES, PAIR_BYTES)));
  }

  public boolean isValidAt(Instant moment) {
    return validUntil == null || moment.isBefore(validUntil);
  }

  /** The same secret, valid until then, or until it would have ended anyway. */
  Secret until(Instant end) {
    return new Secret(
        text, createdAt, validUntil == null || end.isBefore(validUntil) ? end : validUntil);
  }

  /** Never the text: what is printed can be read by others. */
  @Override
  public String toString() {
    return "Secret[signature="
        + signature()
        + ", createdAt="
        + createdAt
        + ", validUntil="
        + validUntil
        + "]";
  }
}
