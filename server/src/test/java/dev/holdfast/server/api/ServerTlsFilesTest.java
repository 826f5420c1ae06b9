package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.TestAuthority;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
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
    assertThat(tls.look()).as("nothing has changed").isEmpty();
    Path otherCertificate = files.resolve("other-cert.pem");
    Path otherKey = files.resolve("other-key.pem");
    TestAuthority.write(otherCertificate, otherKey, "RSA", "a longer name");

    Files.writeString(certificate, Files.readString(otherCertificate));
    assertThat(tls.look()).as("seen for the first time").isEmpty();
    assertThat(tls.look()).as("the key does not fit").isEmpty();
    assertThat(tls.look()).isEmpty();

    Files.writeString(key, Files.readString(otherKey));
    assertThat(tls.look()).as("seen for the first time").isEmpty();
    Optional<ServerTls.Renewal> found = tls.look();
    assertThat(found).isPresent();
    assertThat(tls.use(found, _ -> Future.failedFuture("not now")).failed()).isTrue();
    Optional<ServerTls.Renewal> again = tls.look();
    assertThat(again).as("it was not used").isPresent();
    assertThat(tls.use(again, _ -> Future.succeededFuture(true)).succeeded()).isTrue();
    assertThat(tls.look()).as("used already").isEmpty();

    Files.delete(key);
    assertThat(tls.look()).isEmpty();
    assertThat(tls.look()).as("there is none").isEmpty();
  }
}
