package dev.holdfast.engine.vault;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * A key that the keys of a store are wrapped with. It is never in the store itself.
 *
 * @param id by which it is known; tells nothing about the key
 */
public record MasterKey(String id, SecretKey key) {
  private static final int BYTES = 32;
  private static final int ID_BYTES = 4;
  private static final byte[] ID_LABEL =
      "holdfast master key\0".getBytes(StandardCharsets.US_ASCII);

  /** How a key is written down, for people. */
  public static final String FORM = "32 random bytes in Base64, as openssl rand -base64 32 prints";

  public MasterKey {
    if (!id.equals(idOf(key.getEncoded()))) {
      throw new IllegalArgumentException("the id of another key");
    }
  }

  /** The key that a text is; empty when it is none. What is wrong with it is not told. */
  public static Optional<MasterKey> parse(String text) {
    try {
      byte[] bytes = Base64.getDecoder().decode(text.strip());
      return bytes.length == BYTES ? Optional.of(of(bytes)) : Optional.empty();
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  static MasterKey make(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return of(bytes);
  }

  private static MasterKey of(byte[] bytes) {
    return new MasterKey(idOf(bytes), new SecretKeySpec(bytes, AesGcm.ALGORITHM));
  }

  private static String idOf(byte[] bytes) {
    byte[] hash = Hash.sha256(ID_LABEL, bytes);
    return HexFormat.of().formatHex(Arrays.copyOf(hash, ID_BYTES));
  }

  /** As {@link #parse} reads it. */
  String text() {
    return Base64.getEncoder().encodeToString(key.getEncoded());
  }

  /** Never the key: what is printed can be read by others. */
  @Override
  public String toString() {
    return "MasterKey[" + id + "]";
  }
}
