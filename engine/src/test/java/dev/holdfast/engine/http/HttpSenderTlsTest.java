package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HttpSenderTlsTest {
  private static final char[] PASSWORD = "password".toCharArray();
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @TempDir static Path directory;

  private static SSLContext server;
  private static SslContext trusting;

  @BeforeAll
  static void make_a_certificate_for_hook_test() throws Exception {
    Path store = directory.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "hook",
                "-keyalg",
                "EC",
                "-dname",
                "CN=hook.test",
                "-ext",
                "san=dns:hook.test",
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                store.toString())
            .inheritIO()
            .start();
    assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    KeyManagerFactory keyManagers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keyManagers.init(keys, PASSWORD);
    server = SSLContext.getInstance("TLS");
    server.init(keyManagers.getKeyManagers(), null, null);
    TrustManagerFactory trustManagers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trustManagers.init(keys);
    trusting = SslContextBuilder.forClient().trustManager(trustManagers).build();
  }

  private static Receiver receiver(Receiver.Script script) throws IOException {
    ServerSocket socket =
        server.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    return Receiver.start(socket, script);
  }

  private static Receiver answering() throws IOException {
    return receiver(
        peer -> {
          while (true) {
            peer.request();
            peer.write(OK);
          }
        });
  }

  private static FakeDns dns() {
    return new FakeDns(
        Map.of("hook.test", List.of("127.0.0.1"), "other.test", List.of("127.0.0.1")), List.of());
  }

  @Test
  void a_trusted_certificate_for_the_name_is_accepted_and_the_connection_kept() throws Exception {
    CompletableFuture<String> asked = new CompletableFuture<>();
    try (FakeDns dns = dns();
        Receiver receiver =
            receiver(
                peer -> {
                  while (true) {
                    peer.request();
                    var session = (ExtendedSSLSession) ((SSLSocket) peer.socket()).getSession();
                    asked.complete(
                        ((SNIHostName) session.getRequestedServerNames().getFirst())
                            .getAsciiName());
                    peer.write(OK);
                  }
                });
        Senders senders = Senders.with().dns(dns).tls(trusting).build()) {
      String url = "https://hook.test:" + receiver.port() + "/";
      assertThat(senders.send(url).response()).isEqualTo("ok");
      assertThat(senders.send(url).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isOne();
      assertThat(Senders.await(asked)).isEqualTo("hook.test");
    }
  }

  @Test
  void a_megabyte_goes_through_tls() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering();
        Senders senders = Senders.with().dns(dns).tls(trusting).build()) {
      String data = "\"" + "x".repeat(1_000_000) + "\"";
      var ending =
          senders.send(
              Senders.delivery("https://hook.test:" + receiver.port() + "/", Senders.event(data)));
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(receiver.seen().body().length).isGreaterThan(1_000_000);
    }
  }

  @Test
  void an_untrusted_certificate_is_a_tls_failure() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering();
        Senders senders = Senders.with().dns(dns).build()) {
      assertThat(senders.send("https://hook.test:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(receiver.unreadRequests()).isZero();
    }
  }

  @Test
  void a_certificate_for_another_name_is_a_tls_failure() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering();
        Senders senders = Senders.with().dns(dns).tls(trusting).build()) {
      assertThat(senders.send("https://other.test:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(receiver.unreadRequests()).isZero();
    }
  }

  @Test
  void plain_http_where_tls_was_expected_is_a_tls_failure() {
    try (Receiver receiver =
            Receiver.start(peer -> peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
        Senders senders = Senders.with().build()) {
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
    }
  }

  @Test
  void a_connection_closed_in_the_handshake_is_a_tls_failure() {
    try (Receiver receiver = Receiver.start(peer -> peer.in().read());
        Senders senders = Senders.with().build()) {
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isIn(Kind.TLS, Kind.RESET);
    }
  }

  @Test
  void a_handshake_that_hangs_is_given_up_in_time() {
    try (Receiver receiver = Receiver.start(Receiver.Peer::awaitClose);
        Senders senders = Senders.with().timeoutMillis(300).build()) {
      var ending = senders.send("https://127.0.0.1:" + receiver.port() + "/");
      assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(ending.millis()).isBetween(300L, 5_000L);
    }
  }
}
