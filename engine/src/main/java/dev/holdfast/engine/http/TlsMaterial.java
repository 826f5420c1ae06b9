package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.EndpointTls;
import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is special about encrypted connections to an endpoint, read.
 *
 * @param certificates ours first, then those between it and an authority; empty if it has none
 * @param privateKey our certificate's, if there is one
 * @param roots authorities that are trusted besides the usual ones
 */
public record TlsMaterial(
    List<X509Certificate> certificates,
    @Nullable PrivateKey privateKey,
    List<X509Certificate> roots) {

  /** How many certificates there may be from ours to an authority. */
  public static final int MOST_CERTIFICATES = 8;

  /** How many authorities an endpoint may have. */
  public static final int MOST_ROOTS = 16;

  private static final int SMALLEST_RSA_BITS = 2_048;

  /** Whoever gives us a larger one decides how long we are busy with each connection. */
  private static final int LARGEST_RSA_BITS = 4_096;

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

  /** What cannot be read, or does not fit. Its message says what to do, and never shows a key. */
  public static final class Unusable extends Exception {
    private static final long serialVersionUID = 1;

    private final Part part;

    Unusable(Part part, String message) {
      super(message);
      this.part = part;
    }

    /** What is wrong. */
    public Part part() {
      return part;
    }

    /** What to do about it. */
    public String advice() {
      return String.valueOf(getMessage());
    }
  }

  /** The parts of it. */
  public enum Part {
    CERTIFICATES,
    PRIVATE_KEY,
    ROOTS
  }

  /** A block of PEM. */
  private record Block(String label, byte[] content) {}

  /** Reads what an endpoint has. */
  public static TlsMaterial of(EndpointTls tls) throws Unusable {
    List<X509Certificate> certificates =
        tls.certificates() == null
            ? List.of()
            : certificates(tls.certificates(), Part.CERTIFICATES, MOST_CERTIFICATES);
    PrivateKey key =
        tls.privateKey() == null || certificates.isEmpty()
            ? null
            : privateKey(tls.privateKey(), certificates.getFirst().getPublicKey());
    List<X509Certificate> roots =
        tls.roots() == null ? List.of() : certificates(tls.roots(), Part.ROOTS, MOST_ROOTS);
    return new TlsMaterial(certificates, key, roots);
  }

  /** What a certificate is known by: its SHA-256 in hexadecimal. */
  public static String fingerprint(X509Certificate certificate) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a certificate that was read has no fingerprint", e);
    }
  }

  /** What the certificates of an endpoint are known by; none where they cannot be read. */
  public static List<String> fingerprints(@Nullable String pem) {
    if (pem == null) {
      return List.of();
    }
    try {
      return certificates(pem, Part.ROOTS, MOST_ROOTS).stream()
          .map(TlsMaterial::fingerprint)
          .toList();
    } catch (Unusable _) {
      return List.of();
    }
  }

  private static List<X509Certificate> certificates(String pem, Part part, int most)
      throws Unusable {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks(pem, part)) {
      if (certificates.size() == most) {
        throw new Unusable(
            part, "There can be %d certificates, no more. Leave some out.".formatted(most));
      }
      if (!block.label.equals("CERTIFICATE")) {
        throw new Unusable(part, "Only certificates belong here. Leave the other blocks out.");
      }
      try {
        certificates.add(
            (X509Certificate)
                CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(block.content)));
      } catch (CertificateException _) {
        throw new Unusable(
            part,
            "Certificate %d cannot be read. Give X.509 certificates in PEM."
                .formatted(certificates.size() + 1));
      }
    }
    return List.copyOf(certificates);
  }

  private static PrivateKey privateKey(String pem, PublicKey wanted) throws Unusable {
    List<Block> blocks = blocks(pem, Part.PRIVATE_KEY);
    if (blocks.size() != 1 || !blocks.getFirst().label.equals("PRIVATE KEY")) {
      throw new Unusable(
          Part.PRIVATE_KEY,
          "Give one private key that is not encrypted, in PEM as PKCS #8, which begins with"
              + " \"-----BEGIN PRIVATE KEY-----\". \"openssl pkcs8 -topk8 -nocrypt\" makes that of"
              + " others.");
    }
    String algorithm = wanted.getAlgorithm();
    if (!algorithm.equals("RSA") && !algorithm.equals("EC") && !algorithm.equals("EdDSA")) {
      throw new Unusable(
          Part.CERTIFICATES, "Its key must be of RSA, of an elliptic curve or of Ed25519.");
    }
    if (wanted instanceof RSAKey rsa
        && (rsa.getModulus().bitLength() < SMALLEST_RSA_BITS
            || rsa.getModulus().bitLength() > LARGEST_RSA_BITS)) {
      throw new Unusable(
          Part.CERTIFICATES,
          "A key of RSA must have %,d to %,d bits.".formatted(SMALLEST_RSA_BITS, LARGEST_RSA_BITS));
    }
    try {
      PrivateKey key =
          KeyFactory.getInstance(algorithm)
              .generatePrivate(new PKCS8EncodedKeySpec(blocks.getFirst().content));
      if (isPair(key, wanted)) {
        return key;
      }
    } catch (GeneralSecurityException _) {
      // another kind of key than the certificate's cannot be read as one of its kind
    }
    throw new Unusable(
        Part.PRIVATE_KEY,
        "This is not the key of the first certificate. Give that, and the certificates in the order"
            + " from yours to the authority.");
  }

  private static boolean isPair(PrivateKey key, PublicKey other) throws GeneralSecurityException {
    Signature signature =
        Signature.getInstance(
            switch (key.getAlgorithm()) {
              case "RSA" -> "SHA256withRSA";
              case "EC" -> "SHA256withECDSA";
              default -> "EdDSA";
            });
    byte[] anything = "anything".getBytes(US_ASCII);
    signature.initSign(key);
    signature.update(anything);
    byte[] signed = signature.sign();
    signature.initVerify(other);
    signature.update(anything);
    return signature.verify(signed);
  }

  private static List<Block> blocks(String pem, Part part) throws Unusable {
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(pem);
    while (matcher.find()) {
      try {
        blocks.add(
            new Block(matcher.group(1), Base64.getMimeDecoder().decode(matcher.group(2).strip())));
      } catch (IllegalArgumentException _) {
        throw notPem(part);
      }
    }
    if (blocks.isEmpty()) {
      throw notPem(part);
    }
    return blocks;
  }

  private static Unusable notPem(Part part) {
    return new Unusable(
        part,
        "Give PEM: Base64 between a line \"-----BEGIN %s-----\" and one with END, with their line breaks."
            .formatted(part == Part.PRIVATE_KEY ? "PRIVATE KEY" : "CERTIFICATE"));
  }

  /** Whether only Java's own engine can show that key to a server. */
  boolean needsJava() {
    return privateKey != null && privateKey.getAlgorithm().equals("EdDSA");
  }

  /** Never the key: what is printed can be read by others. */
  @Override
  public String toString() {
    return "TlsMaterial[certificates=" + certificates.size() + ", roots=" + roots.size() + "]";
  }
}
