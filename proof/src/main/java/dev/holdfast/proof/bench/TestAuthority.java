package dev.holdfast.proof.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * An authority that nobody trusts unless told to, and a certificate of it for 127.0.0.1.
 *
 * @param keys a key store with the certificate and its key
 * @param certificate the authority's own, for {@code egress.trust}
 */
record TestAuthority(Path keys, Path certificate) {
  static final String PASSWORD = "benchmark";

  private static final String AUTHORITY = "authority";

  /** The files, whether they have been made or not. */
  static TestAuthority in(Path directory) {
    return new TestAuthority(directory.resolve("receiver.p12"), directory.resolve("authority.pem"));
  }

  /** Makes the files, with the tool that comes with Java. */
  void make() throws IOException, InterruptedException {
    keytool(AUTHORITY, "CN=Benchmark authority", "-ext", "bc:c");
    keytool("receiver", "CN=127.0.0.1", "-signer", AUTHORITY, "-ext", "san=ip:127.0.0.1");
    try (InputStream in = Files.newInputStream(keys)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, PASSWORD.toCharArray());
      byte[] encoded = store.getCertificate(AUTHORITY).getEncoded();
      String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
      Files.writeString(
          certificate,
          "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n",
          StandardCharsets.US_ASCII);
    } catch (GeneralSecurityException e) {
      throw new IOException("the authority's certificate cannot be read", e);
    }
  }

  private void keytool(String alias, String name, String... more)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", alias, "-dname", name));
    command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1", "-validity", "2"));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
    command.addAll(List.of("-keystore", keys.toString()));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    if (process.waitFor() != 0) {
      throw new IOException("keytool could not make a certificate");
    }
  }
}
