package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections that the server encrypts itself. */
@Timeout(120)
class ServerTlsTest {
  @TempDir private Path data = Path.of("");
  @TempDir private Path files = Path.of("");

  private final Typed typed = new Typed();
  private Path certificate = Path.of("");
  private Path key = Path.of("");

  @BeforeEach
  void make() throws Exception {
    certificate = files.resolve("cert.pem");
    key = files.resolve("key.pem");
    TestAuthority.write(certificate, key, "EC", "first");
  }

  private RunningServer start(String... more) throws Exception {
    List<String> all = new ArrayList<>();
    all.add("server.tls.certificate=" + certificate);
    all.add("server.tls.key=" + key);
    all.addAll(List.of(more));
    return new RunningServer(data, all.toArray(String[]::new));
  }

  private static String https(RunningServer server) {
    return "https://127.0.0.1:" + server.port();
  }

  private SSLSocket connect(RunningServer server, String... protocols) throws Exception {
    List<X509Certificate> trusted = Kind.certificates().read(certificate.toString());
    SSLSocket socket =
        (SSLSocket)
            Trust.usualAnd(trusted)
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout(30_000);
    if (protocols.length > 0) {
      socket.setEnabledProtocols(protocols);
    }
    return socket;
  }

  private static String live(Socket socket) throws Exception {
    OutputStream out = socket.getOutputStream();
    out.write(
        "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            .getBytes(StandardCharsets.US_ASCII));
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void commands_ask_a_server_that_encrypts() throws Exception {
    try (RunningServer server = start()) {
      typed.at(https(server), RunningServer.KEY);
      assertThat(typed.run("key", "list", "--ca", certificate.toString())).isZero();
      typed.environment.put("HOLDFAST_CA", certificate.toString());
      assertThat(typed.run("send", "--type", "order.paid")).isZero();
      assertThat(typed.out).contains("Accepted");
      typed.environment.remove("HOLDFAST_CA");
      assertThat(typed.run("key", "list")).as("nobody knows the authority").isEqualTo(1);
      assertThat(typed.err).contains("No encrypted connection", "--ca FILE");
      assertThat(typed.run("key", "list", "--ca", files.resolve("none").toString())).isEqualTo(2);
      typed.at("http://127.0.0.1:" + server.port(), RunningServer.KEY);
      assertThat(typed.run("key", "list")).isEqualTo(1);
      assertThat(typed.err).contains("http or https");
    }
  }

  @Test
  void the_cookie_of_a_browser_is_only_sent_encrypted() throws Exception {
    try (RunningServer server = start();
        SSLSocket socket = connect(server)) {
      String body = "{\"key\":\"" + RunningServer.KEY + "\"}";
      socket
          .getOutputStream()
          .write(
              ("POST /v1/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                      + "Content-Type: application/json\r\nContent-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 201")
          .containsPattern("(?i)set-cookie: holdfast_session=[^;]+; [^\r]*; Secure\r");
    }
  }

  @Test
  void tls_is_spoken_in_its_newer_versions_only() throws Exception {
    try (RunningServer server = start()) {
      for (String protocol : new String[] {"TLSv1.3", "TLSv1.2"}) {
        try (SSLSocket socket = connect(server, protocol)) {
          assertThat(live(socket)).startsWith("HTTP/1.1 200").contains("live");
          assertThat(socket.getSession().getProtocol()).isEqualTo(protocol);
        }
      }
      assertThat(firstAnswer(server, clientHello(0x0302)))
          .as("an alert, and not a hello")
          .isEqualTo(0x15);
      assertThat(firstAnswer(server, clientHello(0x0303))).as("a hello").isEqualTo(0x16);
    }
  }

  /** The first message of a handshake that offers this version and those before it. */
  private static byte[] clientHello(int version) {
    String suites = "0008c02bc02fc009c013";
    String extensions =
        "000a00080006001700180019" + "000b00020100" + "000d000a0008040305030403" + "0401";
    String body =
        "%04x".formatted(version)
            + "00".repeat(32)
            + "00"
            + suites
            + "0100"
            + "%04x".formatted(extensions.length() / 2)
            + extensions;
    String message = "01" + "%06x".formatted(body.length() / 2) + body;
    return HexFormat.of().parseHex("160301" + "%04x".formatted(message.length() / 2) + message);
  }

  private static int firstAnswer(RunningServer server, byte[] sent) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write(sent);
      InputStream in = socket.getInputStream();
      return in.read();
    }
  }

  @Test
  void a_handshake_that_does_not_end_is_ended() throws Exception {
    try (RunningServer server = start();
        Socket silent = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      silent.setSoTimeout(30_000);
      long start = System.nanoTime();
      assertThat(silent.getInputStream().read()).isEqualTo(-1);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(20));
    }
  }

  @Test
  void of_too_many_handshakes_the_oldest_silent_one_gives_way() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (RunningServer server = start();
        Socket begun = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      begun.setSoTimeout(30_000);
      begun.getOutputStream().write(clientHello(0x0303));
      assertThat(begun.getInputStream().read()).as("a hello").isEqualTo(0x16);
      long start = System.nanoTime();
      for (int i = 0; i < 1_000; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
      }
      try (SSLSocket socket = connect(server)) {
        assertThat(live(socket)).startsWith("HTTP/1.1 200");
      }
      silent.getFirst().setSoTimeout(30_000);
      assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as("before any time was over")
          .isLessThan(Duration.ofSeconds(4));
      begun.setSoTimeout(1);
      assertThatThrownBy(() -> begun.getInputStream().transferTo(OutputStream.nullOutputStream()))
          .as("who has begun may go on")
          .isInstanceOf(SocketTimeoutException.class);
    } finally {
      for (Socket one : silent) {
        one.close();
      }
    }
  }

  @Test
  void what_is_not_encrypted_is_not_answered() throws Exception {
    try (RunningServer server = start();
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      plain.setSoTimeout(30_000);
      assertThat(live(plain)).doesNotContain("HTTP/1.1 200");
    }
  }

  @Test
  void a_certificate_that_changes_is_used_without_a_restart() throws Exception {
    try (RunningServer server = start()) {
      Path before = Files.copy(certificate, files.resolve("before.pem"));
      TestAuthority.write(certificate, key, "RSA", "second");
      long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
      while (true) {
        try (SSLSocket socket = connect(server)) {
          socket.startHandshake();
          break;
        } catch (SSLHandshakeException e) {
          assertThat(System.nanoTime()).as("it is still the first").isLessThan(deadline);
          Thread.sleep(100);
        }
      }
      certificate = before;
      assertThatThrownBy(
              () -> {
                try (SSLSocket socket = connect(server)) {
                  socket.startHandshake();
                }
              })
          .isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void the_doctor_asks_a_server_that_encrypts() throws Exception {
    try (RunningServer server = start()) {
      assertThat(
              typed.run(
                  "doctor",
                  "--data",
                  data.toString(),
                  "--port",
                  "" + server.port(),
                  "--set",
                  "server.tls.certificate=" + certificate,
                  "--set",
                  "server.tls.key=" + key))
          .as(typed.out)
          .isZero();
      assertThat(typed.out).contains("one is running and ready at https://127.0.0.1");
    }
  }

  @Test
  void files_that_cannot_be_used_stop_the_start_and_say_why() throws Exception {
    Path other = files.resolve("other.pem");
    TestAuthority.write(files.resolve("unused.pem"), other, "EC", "other");
    Path nothing = Files.writeString(files.resolve("nothing.pem"), "nothing");
    Path good = key;
    key = other;
    assertThatThrownBy(this::start).hasMessageContaining("does not belong to");
    key = nothing;
    assertThatThrownBy(this::start).hasMessageContaining("openssl pkcs8");
    key = files.resolve("absent");
    assertThatThrownBy(this::start).hasMessageContaining("There is no file");
    key = good;
    certificate = nothing;
    assertThatThrownBy(this::start).hasMessageContaining("has no certificate");
    assertThatThrownBy(() -> new RunningServer(data, "server.tls.key=" + good))
        .isInstanceOf(InvalidSettings.class);
  }
}
