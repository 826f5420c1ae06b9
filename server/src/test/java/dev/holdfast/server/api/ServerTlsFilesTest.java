package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.TestAuthority;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTlsFilesTest {
  @TempDir private Path files = Path.of("");

  @Test
  void new_files_are_used_once_they_have_stayed_the_same_and_unusable_ones_never()
      throws Exception {
    Path certificate = files.resolve("cert.pem");
    Path key = files.resolve("key.pem");
    TestAuthority.write(certificate, key, "EC", "first");
    ServerTls tls = ServerTls.of(certificate, key, InstantSource.system());
    assertThat(tls.look()).as("nothing has changed").isFalse();
    Path otherCertificate = files.resolve("other-cert.pem");
    Path otherKey = files.resolve("other-key.pem");
    TestAuthority.write(otherCertificate, otherKey, "RSA", "a longer name");

    Files.writeString(certificate, Files.readString(otherCertificate));
    assertThat(tls.look()).as("seen for the first time").isFalse();
    assertThat(tls.look()).as("the key does not fit").isFalse();
    assertThat(tls.look()).isFalse();

    Files.writeString(key, Files.readString(otherKey));
    assertThat(tls.look()).as("seen for the first time").isFalse();
    assertThat(tls.look()).isTrue();
    assertThat(tls.look()).as("used already").isFalse();

    Files.delete(key);
    assertThat(tls.look()).isFalse();
    assertThat(tls.look()).as("there is none").isFalse();
  }
}
