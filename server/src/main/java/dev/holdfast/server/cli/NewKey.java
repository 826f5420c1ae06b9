package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/**
 * A key that was just made: {@code hf_<id>_<secret>}, all of it URL-safe.
 *
 * <p>The id may be shown and logged. The whole text is the key and is known only to the one it was
 * printed for: of it only the SHA-256 is kept, which is enough because nobody can guess 192 random
 * bits.
 *
 * @param id what the key is called
 * @param text the key itself
 */
record NewKey(String id, String text) {
  private static final int ID_BYTES = 6;
  private static final int SECRET_BYTES = 24;

  static NewKey make(SecureRandom random) {
    String id = hex(random, ID_BYTES);
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    return new NewKey(id, "hf_" + id + "_" + text);
  }

  private static String hex(SecureRandom random, int bytes) {
    byte[] id = new byte[bytes];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
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
