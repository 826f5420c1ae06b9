package dev.holdfast.engine.vault;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * AES-256 in Galois/Counter Mode: a random nonce, the encrypted bytes, and a tag over them and what
 * they belong to.
 *
 * <p>With random nonces of 96 bits a key is good for 2^32 values. A store does not come near that:
 * it seals when people change something.
 */
final class AesGcm {
  static final String ALGORITHM = "AES";

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;

  private AesGcm() {}

  /**
   * Encrypts.
   *
   * @param head stands before what is encrypted, as it is
   * @param belongsTo what must be the same when it is opened
   */
  static byte[] seal(
      SecretKey key, SecureRandom random, byte[] head, byte[] belongsTo, byte[] bytes) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    try {
      Cipher cipher = Cipher.getInstance(CIPHER);
      cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, nonce));
      cipher.updateAAD(head);
      cipher.updateAAD(belongsTo);
      int before = head.length + NONCE_BYTES;
      byte[] sealed = Arrays.copyOf(head, before + cipher.getOutputSize(bytes.length));
      System.arraycopy(nonce, 0, sealed, head.length, NONCE_BYTES);
      cipher.doFinal(bytes, 0, bytes.length, sealed, before);
      return sealed;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java without AES-256-GCM", e);
    }
  }

  /**
   * Opens what {@link #seal} made.
   *
   * @param headBytes how long the head is
   */
  static byte[] open(SecretKey key, int headBytes, byte[] belongsTo, byte[] sealed)
      throws NotAuthentic {
    int before = headBytes + NONCE_BYTES;
    if (sealed.length < before + TAG_BITS / Byte.SIZE) {
      throw new NotAuthentic("it is too short");
    }
    try {
      Cipher cipher = Cipher.getInstance(CIPHER);
      cipher.init(
          Cipher.DECRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, sealed, headBytes, NONCE_BYTES));
      cipher.updateAAD(sealed, 0, headBytes);
      cipher.updateAAD(belongsTo);
      return cipher.doFinal(sealed, before, sealed.length - before);
    } catch (AEADBadTagException e) {
      throw new NotAuthentic("it was changed, or belongs elsewhere");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java without AES-256-GCM", e);
    }
  }
}
