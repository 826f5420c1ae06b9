package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.engine.format.Body;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Signs requests as Standard Webhooks has it, over {@code id.timestamp.body}: v1 is HMAC-SHA256,
 * v1a is Ed25519.
 *
 * <p>One for all secrets: to give it another key costs little beside the signature itself, and one
 * for each secret would be the largest thing about a subscription.
 */
final class Signer {
  static final String HMAC = "HmacSHA256";

  private static final byte[] V1 = "v1,".getBytes(US_ASCII);
  private static final byte[] V1A = "v1a,".getBytes(US_ASCII);

  /** The signatures of the request that was signed last, up to {@link #length}. */
  byte[] text = new byte[128];

  int length;

  private final Mac mac;
  private final byte[] code;

  /** Made when it is first needed: most secrets do without. */
  private @Nullable Signature ed25519;

  Signer() {
    try {
      mac = Mac.getInstance(HMAC);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot sign", e);
    }
    code = new byte[mac.getMacLength()];
  }

  /** Makes one signature for each secret that is valid, the newest's first. */
  void sign(Letterhead letterhead, Instant at, String id, String timestamp, Body body) {
    byte[] start = (id + '.' + timestamp + '.').getBytes(US_ASCII);
    length = 0;
    for (Letterhead.Key key : letterhead.keys) {
      if (key.isValidAt(at)) {
        add(key.key, start, body);
      }
    }
  }

  /**
   * Makes a signature more.
   *
   * @param start what is signed before the body
   */
  void add(Key key, byte[] start, Body body) {
    if (length > 0) {
      ensure(1);
      text[length++] = ' ';
    }
    try {
      switch (key) {
        case SecretKey secret -> put(V1, hmac(secret, start, body));
        case PrivateKey half -> put(V1A, ed25519(half, start, body));
        default -> throw new InvalidKeyException("neither of HMAC nor of Ed25519");
      }
    } catch (InvalidKeyException e) {
      throw new IllegalStateException("a secret cannot be signed with", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot sign", e);
    }
  }

  private byte[] hmac(SecretKey key, byte[] start, Body body) throws GeneralSecurityException {
    mac.init(key);
    mac.update(start);
    for (byte[] part : body.parts()) {
      mac.update(part);
    }
    mac.doFinal(code, 0);
    return code;
  }

  private byte[] ed25519(PrivateKey key, byte[] start, Body body) throws GeneralSecurityException {
    if (ed25519 == null) {
      ed25519 = Signature.getInstance(Ed25519.ALGORITHM);
    }
    ed25519.initSign(key);
    ed25519.update(start);
    for (byte[] part : body.parts()) {
      ed25519.update(part);
    }
    return ed25519.sign();
  }

  private void put(byte[] version, byte[] signature) {
    byte[] base64 = Base64.getEncoder().encode(signature);
    ensure(version.length + base64.length);
    System.arraycopy(version, 0, text, length, version.length);
    length += version.length;
    System.arraycopy(base64, 0, text, length, base64.length);
    length += base64.length;
  }

  private void ensure(int more) {
    if (text.length - length < more) {
      text = Arrays.copyOf(text, Math.max(text.length * 2, length + more));
    }
  }
}
