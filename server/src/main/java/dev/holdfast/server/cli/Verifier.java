package dev.holdfast.server.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Secret;
import io.vertx.core.MultiMap;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Tells whether requests were signed with a secret that it knows, as Standard Webhooks has it. */
final class Verifier {

  /** How far a signature's time may be from now, so that nobody can send old requests again. */
  static final Duration TOLERANCE = Duration.ofMinutes(5);

  private static final String ALGORITHM = "HmacSHA256";
  private static final String VERSION = "v1,";

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

  /** A secret, which is never printed. */
  static final class Key {
    private final SecretKeySpec key;

    private Key(byte[] key) {
      this.key = new SecretKeySpec(key, ALGORITHM);
    }

    static Key read(String text) throws BadValue {
      return new Key(
          Secret.keyOf(text)
              .orElseThrow(() -> new BadValue("is no secret: that is whsec_ and a key in Base64")));
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
    for (Key key : keys) {
      byte[] signature = sign(key, start, body).getBytes(US_ASCII);
      for (String header : given) {
        for (String one : header.split(" ", -1)) {
          if (MessageDigest.isEqual(signature, one.getBytes(US_ASCII))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static String sign(Key key, String start, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key.key);
      mac.update(start.getBytes(US_ASCII));
      return VERSION + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot verify signatures", e);
    }
  }

  private static @Nullable Instant time(String seconds) {
    return seconds.matches("\\d{1,11}") ? Instant.ofEpochSecond(Long.parseLong(seconds)) : null;
  }
}
