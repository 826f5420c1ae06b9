package dev.holdfast.core.model;

import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What messages are signed with, so that their receiver can tell whom they are from.
 *
 * @param text as its owner knows it: {@code whsec_} and the key in Base64
 * @param validUntil until when messages are signed with it though there is a newer one; absent for
 *     the newest
 */
public record Secret(String text, Instant createdAt, @Nullable Instant validUntil) {

  /** What stands before the key in a secret's text. */
  public static final String PREFIX = "whsec_";

  /** The key in a secret's text; empty when the text is none. What is wrong with it is not told. */
  public static Optional<byte[]> keyOf(String text) {
    if (!text.startsWith(PREFIX)) {
      return Optional.empty();
    }
    try {
      byte[] key = Base64.getDecoder().decode(text.substring(PREFIX.length()));
      return key.length == 0 ? Optional.empty() : Optional.of(key);
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
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
    return "Secret[createdAt=" + createdAt + ", validUntil=" + validUntil + "]";
  }
}
