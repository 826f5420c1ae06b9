package dev.holdfast.engine.http;

import dev.holdfast.engine.format.Body;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKey;

/**
 * Signs requests as Standard Webhooks v1 has it: HMAC-SHA256 over {@code id.timestamp.body}.
 *
 * <p>One for all secrets: to give it another key costs little beside the signature itself, and one
 * for each secret would be the largest thing about a subscription.
 */
final class Signer {
  static final String ALGORITHM = "HmacSHA256";

  private final Mac mac;
  private final byte[] code;
  private final byte[] text;

  Signer() {
    try {
      mac = Mac.getInstance(ALGORITHM);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot sign", e);
    }
    code = new byte[mac.getMacLength()];
    text = Base64.getEncoder().encode(code);
  }

  /**
   * A signature in Base64, in an array that is used again for the next.
   *
   * @param start what is signed before the body
   */
  byte[] sign(SecretKey key, byte[] start, Body body) {
    try {
      mac.init(key);
      mac.update(start);
      for (byte[] part : body.parts()) {
        mac.update(part);
      }
      mac.doFinal(code, 0);
    } catch (InvalidKeyException e) {
      throw new IllegalStateException("a secret cannot be signed with", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot sign", e);
    }
    Base64.getEncoder().encode(code, text);
    return text;
  }
}
