package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.stream.Collectors;

/**
 * A key that was just made: {@code hf_<id>_<secret>}, all of it safe in URLs and selected by one
 * double click.
 *
 * <p>The id may be shown and logged. The whole text is the key and is known only to the one it was
 * printed for: of it only the SHA-256 is kept, which is enough because nobody can guess 195 random
 * bits.
 *
 * @param id what the key is called
 * @param text the key itself
 */
record NewKey(String id, String text) {
  /** Crockford's: no two that look alike, and five bits each. */
  private static final String DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

  private static final int ID_DIGITS = 8;
  private static final int SECRET_DIGITS = 39;

  static NewKey make(SecureRandom random) {
    String id = digits(random, ID_DIGITS);
    return new NewKey(id, "hf_" + id + "_" + digits(random, SECRET_DIGITS));
  }

  private static String digits(SecureRandom random, int number) {
    return random
        .ints(number, 0, DIGITS.length())
        .mapToObj(digit -> DIGITS.substring(digit, digit + 1))
        .collect(Collectors.joining());
  }

  /** What is kept of a key. */
  static byte[] sha256(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "key " + id;
  }
}
