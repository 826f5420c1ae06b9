package dev.holdfast.server.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Secret;
import dev.holdfast.engine.http.Ed25519;
import io.vertx.core.MultiMap;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether requests were signed with a secret that it knows, or one whose public key it knows,
 * as Standard Webhooks has it.
 */
final class Verifier {

  /** How far a signature's time may be from now, so that nobody can send old requests again. */
  static final Duration TOLERANCE = Duration.ofMinutes(5);

  /** A request with more signatures than secrets can be valid is not looked at to its end. */
  private static final int MOST_SIGNATURES = 20;

  private static final String HMAC = "HmacSHA256";
  private static final String HMAC_VERSION = "v1,";
  private static final String ED25519 = "Ed25519";
  private static final String ED25519_VERSION = "v1a,";

  /** What is known of a request's signature. */
  enum Verdict {
    /** Nobody has given a secret to verify it with. */
    UNKNOWN(""),
    GOOD("signature ok"),
    WRONG("signature WRONG"),
    OUTDATED("signature WRONG: its time is not within 5 minutes of now"),
    UNSIGNED("not signed");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    /** For a person. */
    String text() {
      return text;
    }
  }

  /** A secret, or the public key of one, which is never printed. */
  static final class Key {
    private final java.security.Key key;

    private Key(java.security.Key key) {
      this.key = key;
    }

    static Key read(String text) throws BadValue {
      Secret secret = new Secret(text, Instant.EPOCH, null);
      Optional<byte[]> half = Secret.publicKeyOf(secret.publicKey().orElse(text));
      if (half.isPresent()) {
        return new Key(publicKey(half.get()));
      }
      return new Key(new SecretKeySpec(Secret.keyOf(text).orElseThrow(Key::none), HMAC));
    }

    private static PublicKey publicKey(byte[] key) throws BadValue {
      try {
        return Ed25519.publicKey(key);
      } catch (GeneralSecurityException _) {
        throw none();
      }
    }

    private static BadValue none() {
      return new BadValue(
          "is no secret: that is whsec_ and a key in Base64, or whpk_ and a public key");
    }
  }

  private final List<Key> keys;

  Verifier(List<Key> keys) {
    this.keys = List.copyOf(keys);
  }

  Verdict verify(MultiMap headers, byte[] body, Instant now) {
    if (keys.isEmpty()) {
      return Verdict.UNKNOWN;
    }
    List<String> given = headers.getAll("webhook-signature");
    if (given.isEmpty()) {
      return Verdict.UNSIGNED;
    }
    String id = headers.get("webhook-id");
    String timestamp = headers.get("webhook-timestamp");
    if (id == null || timestamp == null || !isSigned(id + "." + timestamp + ".", body, given)) {
      return Verdict.WRONG;
    }
    Instant signedAt = time(timestamp);
    return signedAt == null || Duration.between(signedAt, now).abs().compareTo(TOLERANCE) > 0
        ? Verdict.OUTDATED
        : Verdict.GOOD;
  }

  private boolean isSigned(String start, byte[] body, List<String> given) {
    List<String> signatures =
        given.stream().flatMap(header -> Arrays.stream(header.split(" ", -1))).toList();
    for (Key key : keys) {
      boolean isSigned =
          key.key instanceof PublicKey half
              ? isSigned(half, start, body, signatures)
              : isSigned(key.key, start, body, signatures);
      if (isSigned) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSigned(
      java.security.Key key, String start, byte[] body, List<String> given) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(key);
      mac.update(start.getBytes(US_ASCII));
      byte[] expected =
          (HMAC_VERSION + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(US_ASCII);
      return given.stream()
          .anyMatch(one -> MessageDigest.isEqual(expected, one.getBytes(US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot verify signatures", e);
    }
  }

  private static boolean isSigned(PublicKey key, String start, byte[] body, List<String> given) {
    return given.stream()
        .filter(one -> one.startsWith(ED25519_VERSION))
        .limit(MOST_SIGNATURES)
        .anyMatch(one -> isGood(key, start, body, one.substring(ED25519_VERSION.length())));
  }

  /** Whatever cannot be read is no signature. */
  private static boolean isGood(PublicKey key, String start, byte[] body, String base64) {
    try {
      Signature signature = Signature.getInstance(ED25519);
      signature.initVerify(key);
      signature.update(start.getBytes(US_ASCII));
      signature.update(body);
      return signature.verify(Base64.getDecoder().decode(base64));
    } catch (GeneralSecurityException | IllegalArgumentException _) {
      return false;
    }
  }

  private static @Nullable Instant time(String seconds) {
    return seconds.matches("\\d{1,11}") ? Instant.ofEpochSecond(Long.parseLong(seconds)) : null;
  }
}
