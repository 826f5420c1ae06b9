package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Secret;
import io.netty.util.AsciiString;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A subscription's form with all that is the same for every attempt in it.
 *
 * <p>What stands in a form has been checked when it came in. It is checked again here, since a line
 * break in it would be a header, or a request, that nobody asked for. No exception tells what was
 * wrong with what: its text goes into the log.
 */
final class Letterhead {

  /** Without a secret, a token or a header. */
  static final Letterhead PLAIN = new Letterhead(Form.PLAIN);

  static final String AUTHORIZATION = "Authorization";

  /** The headers that never change, each with its line end. */
  final byte[] head;

  /** What attempts are signed with, the newest first. */
  final List<Key> keys;

  /** The form that this was made of, or another that is equal to it. */
  private Form form;

  private AsciiString @Nullable [] http2Fields;

  Letterhead(Form form) {
    this.form = form;
    this.head = head(form);
    this.keys = form.secrets().stream().map(Key::new).toList();
  }

  /** A secret made ready. */
  static final class Key {
    final java.security.Key key;
    private final Secret secret;

    private Key(Secret secret) {
      this.key = key(secret);
      this.secret = secret;
    }

    /** Whether a signature with it takes longer than the event loop has. */
    private boolean isSlow() {
      return key instanceof PrivateKey;
    }

    boolean isValidAt(Instant moment) {
      return secret.isValidAt(moment);
    }
  }

  /** Whether one of its keys is valid. */
  boolean isSignedAt(Instant moment) {
    for (Key key : keys) {
      if (key.isValidAt(moment)) {
        return true;
      }
    }
    return false;
  }

  /** Whether one of its keys is valid that takes long to sign with. */
  boolean isSlowAt(Instant moment) {
    for (Key key : keys) {
      if (key.isSlow() && key.isValidAt(moment)) {
        return true;
      }
    }
    return false;
  }

  static boolean isPlain(Form form) {
    return form.secrets().isEmpty() && form.authToken() == null && form.headers().isEmpty();
  }

  /**
   * Whether it is that form's. Records that are one and the same are equal at once, while to
   * compare two takes as long as they are. So the other is kept: it is the one to be asked for.
   */
  boolean isOf(Form other) {
    if (!form.equals(other)) {
      return false;
    }
    form = other;
    return true;
  }

  /**
   * What {@link #head} says, for HTTP/2: names, in lower case, and values, in turns. Made when it
   * is first needed.
   */
  AsciiString[] http2Fields() {
    if (http2Fields == null) {
      List<AsciiString> fields = new ArrayList<>();
      each(
          form,
          (name, value) -> {
            fields.add(new AsciiString(name.toLowerCase(Locale.ROOT)));
            fields.add(new AsciiString(value.strip()));
          });
      http2Fields = fields.toArray(AsciiString[]::new);
    }
    return http2Fields;
  }

  private static byte[] head(Form form) {
    StringBuilder lines = new StringBuilder();
    each(form, (name, value) -> add(name, value, lines));
    return lines.toString().getBytes(US_ASCII);
  }

  private static void each(Form form, BiConsumer<String, String> header) {
    if (form.authToken() != null) {
      header.accept(AUTHORIZATION, "Bearer " + form.authToken());
    }
    form.headers()
        .forEach(
            (name, value) -> {
              if (form.authToken() == null || !name.equalsIgnoreCase(AUTHORIZATION)) {
                header.accept(name, value);
              }
            });
  }

  private static void add(String name, String value, StringBuilder lines) {
    if (name.isEmpty() || !name.chars().allMatch(Letterhead::isOfToken)) {
      throw new IllegalArgumentException("a header's name must be a token");
    }
    if (!value.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      throw new IllegalArgumentException("a header value must be printable ASCII");
    }
    lines.append(name).append(": ").append(value).append("\r\n");
  }

  /** Whether it may stand in a token of RFC 9110. */
  private static boolean isOfToken(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
  }

  private static java.security.Key key(Secret secret) {
    byte[] key =
        Secret.keyOf(secret.text())
            .orElseThrow(
                () ->
                    new IllegalArgumentException("a secret must be a prefix and a key in Base64"));
    return switch (secret.signature()) {
      case V1 -> new SecretKeySpec(key, Signer.HMAC);
      case V1A -> privateKey(key);
    };
  }

  private static PrivateKey privateKey(byte[] pair) {
    try {
      return Ed25519.privateKey(pair);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot sign with Ed25519", e);
    }
  }
}
