package dev.holdfast.engine.vault;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.SecretKey;

/** SHA-256, with a key and without. Every Java has it. */
final class Hash {
  static final String KEYED = "HmacSHA256";

  private Hash() {}

  static byte[] sha256(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return digest.digest();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java without SHA-256", e);
    }
  }

  static byte[] keyed(SecretKey key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(KEYED);
      mac.init(key);
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java without HMAC-SHA256", e);
    }
  }
}
