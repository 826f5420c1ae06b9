package dev.holdfast.server.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who the server says it is: a chain of certificates, and the key of the first.
 *
 * <p>What was read is checked, so that nobody finds out by a connection that fails.
 */
public final class ServerIdentity {
  private static final int MOST_BYTES = 1 << 20;

  private static final Pattern PRIVATE_KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private final byte[] certificates;
  private final byte[] key;
  private final X509Certificate first;

  private ServerIdentity(byte[] certificates, byte[] key, X509Certificate first) {
    this.certificates = certificates;
    this.key = key;
    this.first = first;
  }

  /** The files cannot be used. The message says which, why, and what to do. */
  public static final class Unusable extends Exception {
    Unusable(String message) {
      super(message);
    }
  }

  /** Reads both files. */
  public static ServerIdentity read(Path certificateFile, Path keyFile) throws Unusable {
    byte[] certificates = bytes(certificateFile);
    byte[] key = bytes(keyFile);
    X509Certificate first = first(certificates, certificateFile);
    if (!fits(privateKey(key, keyFile, first.getPublicKey().getAlgorithm()), first)) {
      throw new Unusable(
          "The key in %s does not belong to the first certificate in %s. Give the certificate of the server first, and its own key."
              .formatted(keyFile, certificateFile));
    }
    return new ServerIdentity(certificates, key, first);
  }

  private static byte[] bytes(Path file) throws Unusable {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new Unusable(file + " is too large for a PEM file with a certificate or key.");
      }
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new Unusable("There is no file " + file + ".");
    } catch (AccessDeniedException e) {
      throw new Unusable("This user may not read " + file + ".");
    } catch (IOException e) {
      throw new Unusable("%s cannot be read: %s.".formatted(file, e.getMessage()));
    }
  }

  private static X509Certificate first(byte[] pem, Path file) throws Unusable {
    try {
      List<X509Certificate> chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!chain.isEmpty()) {
        return chain.getFirst();
      }
    } catch (CertificateException e) {
      // Said below.
    }
    throw new Unusable(
        file + " has no certificate. It is a PEM file with -----BEGIN CERTIFICATE-----.");
  }

  private static PrivateKey privateKey(byte[] pem, Path file, String algorithm) throws Unusable {
    Matcher found = PRIVATE_KEY.matcher(new String(pem, StandardCharsets.US_ASCII));
    if (found.find()) {
      try {
        byte[] der = Base64.getMimeDecoder().decode(found.group(1));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        throw new Unusable(
            "%s has no key of the kind that the certificate has, which is %s."
                .formatted(file, algorithm));
      }
    }
    throw new Unusable(
        "%s has no key with -----BEGIN PRIVATE KEY-----. Others are made into one, without a password, by: openssl pkcs8 -topk8 -nodes -in FILE"
            .formatted(file));
  }

  /** Whether what the key signs is verified by the certificate. */
  private static boolean fits(PrivateKey key, X509Certificate certificate) {
    String algorithm =
        switch (certificate.getPublicKey().getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> certificate.getPublicKey().getAlgorithm();
        };
    byte[] text = "does it fit".getBytes(StandardCharsets.US_ASCII);
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(text);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** The server's own certificate. */
  public X509Certificate certificate() {
    return first;
  }

  /** When it ends. */
  Instant end() {
    return first.getNotAfter().toInstant();
  }

  PemKeyCertOptions options() {
    return new PemKeyCertOptions()
        .setCertValue(Buffer.buffer(certificates))
        .setKeyValue(Buffer.buffer(key));
  }
}
