package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Makes certificates that sign themselves, and their keys. */
final class KeyMaker {
  private static final String PASSWORD = "password";

  private final Path directory;
  private final Map<String, Pair> made = new HashMap<>();

  KeyMaker(Path directory) {
    this.directory = directory;
  }

  /** A key and its certificate. */
  record Pair(PrivateKey key, X509Certificate certificate) {
    String certificatePem() {
      try {
        return pem("CERTIFICATE", certificate.getEncoded());
      } catch (GeneralSecurityException e) {
        throw new AssertionError(e);
      }
    }

    String keyPem() {
      return pem("PRIVATE KEY", key.getEncoded());
    }
  }

  static String pem(String label, byte[] content) {
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(label, Base64.getMimeEncoder().encodeToString(content), label);
  }

  /**
   * The pair of that name, made when it is first asked for.
   *
   * @param more options of keytool
   */
  Pair make(String name, String algorithm, String... more) throws Exception {
    Pair known = made.get(name);
    if (known == null) {
      known = makeNew(name, algorithm, more);
      made.put(name, known);
    }
    return known;
  }

  private Pair makeNew(String name, String algorithm, String... more) throws Exception {
    Path store = directory.resolve(name + ".p12");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", "it", "-keyalg", algorithm));
    command.addAll(List.of("-dname", "CN=" + name, "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD, "-keystore", store.toString()));
    command.addAll(List.of(more));
    Process keytool = new ProcessBuilder(command).inheritIO().start();
    assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return new Pair(
        (PrivateKey) keys.getKey("it", PASSWORD.toCharArray()),
        (X509Certificate) keys.getCertificate("it"));
  }
}
