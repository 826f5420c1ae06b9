package dev.holdfast.engine.http;

import dev.holdfast.core.model.Secret;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;

/**
 * Keys of Ed25519 as Standard Webhooks writes them: bare bytes, the public half after the other.
 */
public final class Ed25519 {
  static final String ALGORITHM = "Ed25519";

  /** What stands before the bare bytes of a public key in the form that Java reads. */
  private static final byte[] PUBLIC_HEAD = {
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00
  };

  private Ed25519() {}

  /** A new pair. */
  public static byte[] make() {
    try {
      KeyPair made = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
      byte[] seed = ((EdECPrivateKey) made.getPrivate()).getBytes().orElseThrow();
      byte[] encoded = made.getPublic().getEncoded();
      byte[] pair = Arrays.copyOf(seed, Secret.PAIR_BYTES);
      System.arraycopy(encoded, PUBLIC_HEAD.length, pair, Secret.PUBLIC_BYTES, Secret.PUBLIC_BYTES);
      return pair;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot make keys of Ed25519", e);
    }
  }

  /** Whether the two halves belong together: what one signs, the other verifies. */
  public static boolean isPair(byte[] pair) {
    try {
      Signature engine = Signature.getInstance(ALGORITHM);
      engine.initSign(privateKey(pair));
      engine.update(PUBLIC_HEAD);
      byte[] signature = engine.sign();
      engine.initVerify(publicKey(Arrays.copyOfRange(pair, Secret.PUBLIC_BYTES, pair.length)));
      engine.update(PUBLIC_HEAD);
      return engine.verify(signature);
    } catch (GeneralSecurityException _) {
      return false;
    }
  }

  /** What a pair signs with. */
  static PrivateKey privateKey(byte[] pair) throws GeneralSecurityException {
    return KeyFactory.getInstance(ALGORITHM)
        .generatePrivate(
            new EdECPrivateKeySpec(
                NamedParameterSpec.ED25519, Arrays.copyOf(pair, Secret.PUBLIC_BYTES)));
  }

  /** What the bare bytes of a public key verify with. */
  public static PublicKey publicKey(byte[] key) throws GeneralSecurityException {
    byte[] encoded = Arrays.copyOf(PUBLIC_HEAD, PUBLIC_HEAD.length + key.length);
    System.arraycopy(key, 0, encoded, PUBLIC_HEAD.length, key.length);
    return KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(encoded));
  }
}
