package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Certificates made for one run: an authority that the server trusts, and good and bad ones. */
record Certificates(Path file) {
  static final String PASSWORD = "torture";

  private static final String AUTHORITY = "authority";

  /** Certificates with their keys. */
  enum Entry {
    RIGHT,
    EXPIRED,
    OWN,
    OTHER;

    private String alias() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Makes them with the tool that every JDK has. */
  static Certificates make(Path directory) throws IOException {
    Certificates made = new Certificates(directory.resolve("hostile-keys.p12"));
    made.add(AUTHORITY, "-ext", "bc:c");
    made.add(Entry.RIGHT.alias(), "-signer", AUTHORITY, "-ext", "san=ip:127.0.0.1");
    made.add(Entry.OTHER.alias(), "-signer", AUTHORITY, "-ext", "san=dns:other.test");
    made.add(Entry.OWN.alias(), "-ext", "san=ip:127.0.0.1");
    made.add(
        Entry.EXPIRED.alias(),
        "-signer",
        AUTHORITY,
        "-ext",
        "san=ip:127.0.0.1",
        "-startdate",
        "-10d",
        "-validity",
        "5");
    return made;
  }

  /** A store with nothing but the authority in it, to be trusted. */
  Path trusted() throws IOException {
    Path trusted = file.resolveSibling("hostile-trusted.p12");
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, PASSWORD.toCharArray());
      store.setCertificateEntry(AUTHORITY, load().getCertificate(AUTHORITY));
      try (var out = Files.newOutputStream(trusted)) {
        store.store(out, PASSWORD.toCharArray());
      }
    } catch (GeneralSecurityException e) {
      throw new ProofException("no store of trusted certificates could be made", e);
    }
    return trusted;
  }

  PrivateKey key(Entry entry) throws IOException, GeneralSecurityException {
    return (PrivateKey) load().getKey(entry.alias(), PASSWORD.toCharArray());
  }

  X509Certificate[] chain(Entry entry) throws IOException, GeneralSecurityException {
    return Arrays.stream(load().getCertificateChain(entry.alias()))
        .map(X509Certificate.class::cast)
        .toArray(X509Certificate[]::new);
  }

  private KeyStore load() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private void add(String alias, String... how) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1"));
    command.addAll(List.of("-alias", alias, "-dname", "CN=" + alias, "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD, "-keystore", file.toString()));
    command.addAll(List.of(how));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new ProofException("keytool failed: " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }
}
