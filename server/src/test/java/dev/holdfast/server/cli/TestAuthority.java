package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes certificates for 127.0.0.1, each its own authority, with the JDK's own tool. */
public final class TestAuthority {
  private static final String PASSWORD = "changeit";

  private TestAuthority() {}

  /**
   * Writes a certificate and its key.
   *
   * @param algorithm such as EC or RSA
   */
  public static void write(Path certificate, Path key, String algorithm, String name)
      throws Exception {
    Path store = Files.createTempFile("identity", ".p12");
    Files.delete(store);
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1",
                "-ext",
                "bc:c",
                "-validity",
                "30",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
    Process keytool =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(keytool.exitValue()).isZero();
    KeyStore made = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    Files.delete(store);
    write(certificate, "CERTIFICATE", made.getCertificate("own").getEncoded());
    write(key, "PRIVATE KEY", made.getKey("own", PASSWORD.toCharArray()).getEncoded());
  }

  private static void write(Path file, String kind, byte[] der) throws Exception {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    Files.writeString(
        file,
        "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind),
        StandardCharsets.US_ASCII);
  }
}
