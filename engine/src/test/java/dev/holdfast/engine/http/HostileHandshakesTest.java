package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.Leaks;
import dev.holdfast.engine.http.Receiver.Peer;
import dev.holdfast.engine.http.Receiver.Script;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What servers may do to harm who speaks TLS with them. See {@link Siege} for what holds. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class HostileHandshakesTest {
  private static final char[] PASSWORD = "password".toCharArray();
  private static final String SMALL = "{\"a\":1}";
  private static final int RECORD_HEADER = 5;
  private static final int LARGEST_RECORD = 17_000;

  @TempDir static Path directory;

  private static Leaks leaks;
  private static Siege brief;
  private static Siege patient;

  /**
   * @param ended as what the attempts end; several where it depends on what is read first
   */
  record Hostile(String name, Script script, List<Kind> ended) {
    /** Attempts that can only end by their time limit get a short one. */
    Siege siege() {
      return ended.equals(List.of(Kind.TIMEOUT)) ? brief : patient;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Hostile hostile(String name, Script script, Kind... ended) {
    return new Hostile(name, script, List.of(ended));
  }

  @BeforeAll
  static void make_an_authority_and_what_it_has_signed() throws Exception {
    keytool("-alias", "authority", "-ext", "bc:c");
    signed("right", "san=ip:127.0.0.1");
    signed("other", "san=dns:other.test");
    signed("expired", "san=ip:127.0.0.1", "-startdate", "-10d", "-validity", "5");
    signed("early", "san=ip:127.0.0.1", "-startdate", "+10d");
    signed("long", "san=ip:127.0.0.1" + ",dns:a.test".repeat(3_000));
    keytool("-alias", "own", "-ext", "san=ip:127.0.0.1");
    leaks = new Leaks();
    brief = new Siege(Siege.BRIEF_MILLIS, trusting());
    patient = new Siege(Siege.PATIENT_MILLIS, trusting());
  }

  @AfterAll
  static void nothing_is_left() throws Exception {
    brief.close();
    patient.close();
    leaks.assertNone();
    leaks.close();
  }

  private static void signed(String alias, String name, String... more) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("-alias", alias, "-signer", "authority"));
    arguments.addAll(List.of("-ext", name));
    arguments.addAll(List.of(more));
    keytool(arguments.toArray(String[]::new));
  }

  private static void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1"));
    command.addAll(List.of("-dname", "CN=" + arguments[1]));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
    command.addAll(List.of("-keystore", directory.resolve("keys.p12").toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertThat(process.waitFor()).as(String.join(" ", command)).isZero();
  }

  private static KeyStore keys() throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(directory.resolve("keys.p12"))) {
      keys.load(in, PASSWORD);
    }
    return keys;
  }

  private static SslContext trusting() throws Exception {
    return SslContextBuilder.forClient()
        .trustManager((X509Certificate) keys().getCertificate("authority"))
        .build();
  }

  private static SSLContext server(String alias) {
    try {
      KeyStore all = keys();
      KeyStore one = KeyStore.getInstance("PKCS12");
      one.load(null, PASSWORD);
      one.setKeyEntry(alias, all.getKey(alias, PASSWORD), PASSWORD, all.getCertificateChain(alias));
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(one, PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, null);
      return context;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Speaks TLS as it should, and then does this. */
  private static Script over(SSLContext context, String protocol, Script script) {
    return peer -> {
      SSLSocket socket =
          (SSLSocket) context.getSocketFactory().createSocket(peer.socket(), null, true);
      socket.setUseClientMode(false);
      socket.setEnabledProtocols(new String[] {protocol});
      script.run(new Peer(socket, socket.getInputStream(), socket.getOutputStream(), peer.seen()));
    };
  }

  private static Script answering(String alias) {
    SSLContext context = server(alias);
    return over(
        context,
        "TLSv1.3",
        peer -> {
          peer.request();
          peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
          peer.awaitClose();
        });
  }

  /** A record of TLS. */
  private static byte[] record(int type, byte[] content) {
    ByteBuffer bytes = ByteBuffer.allocate(RECORD_HEADER + content.length);
    bytes.put((byte) type).putShort((short) 0x0303).putShort((short) content.length).put(content);
    return bytes.array();
  }

  private static byte[] readRecord(InputStream from) throws IOException {
    DataInputStream in = new DataInputStream(from);
    byte[] header = in.readNBytes(RECORD_HEADER);
    int length = ByteBuffer.wrap(header).getShort(3);
    byte[] all = Arrays.copyOf(header, RECORD_HEADER + length);
    in.readFully(all, RECORD_HEADER, length);
    return all;
  }

  /** All that a good server sends first, in answer to what the other side has said. */
  private static byte[] firstFlight(SSLContext context, Peer peer) throws IOException {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.beginHandshake();
    ByteBuffer nothing = ByteBuffer.allocate(LARGEST_RECORD);
    engine.unwrap(ByteBuffer.wrap(readRecord(peer.in())), nothing);
    ByteBuffer out = ByteBuffer.allocate(4 * LARGEST_RECORD);
    while (true) {
      HandshakeStatus status = engine.getHandshakeStatus();
      if (status == HandshakeStatus.NEED_TASK) {
        engine.getDelegatedTask().run();
      } else if (status == HandshakeStatus.NEED_WRAP) {
        engine.wrap(ByteBuffer.allocate(0), out);
      } else {
        return Arrays.copyOf(out.array(), out.position());
      }
    }
  }

  private static Script hangingAfter(int percent) {
    SSLContext context = server("right");
    return peer -> {
      byte[] flight = firstFlight(context, peer);
      peer.out().write(flight, 0, Math.max(1, flight.length * percent / 100));
      peer.awaitClose();
    };
  }

  private static Script flooding(byte[] beginning, byte[] piece) {
    return peer -> {
      readRecord(peer.in());
      peer.out().write(beginning);
      while (true) {
        peer.out().write(piece);
      }
    };
  }

  private static Stream<Hostile> handshakes() {
    SSLContext right = server("right");
    byte[] zeros = new byte[16_000];
    byte[] certificate = new byte[16_000];
    certificate[0] = 11;
    certificate[1] = (byte) 0xff;
    return Stream.of(
        hostile("a certificate that has expired", answering("expired"), Kind.TLS),
        hostile("a certificate that is not valid yet", answering("early"), Kind.TLS),
        hostile("a certificate signed by itself", answering("own"), Kind.TLS),
        hostile("a certificate for another name", answering("other"), Kind.TLS),
        hostile(
            "a handshake that drips",
            peer -> {
              for (byte one : firstFlight(right, peer)) {
                peer.out().write(one);
                Thread.sleep(10);
              }
              peer.awaitClose();
            },
            Kind.TIMEOUT),
        hostile(
            "a handshake that breaks off",
            peer -> {
              byte[] flight = firstFlight(right, peer);
              peer.out().write(flight, 0, flight.length / 2);
            },
            Kind.TLS),
        hostile(
            "a handshake that is reset",
            peer -> {
              byte[] flight = firstFlight(right, peer);
              peer.out().write(flight, 0, flight.length / 2);
              peer.socket().setSoLinger(true, 0);
            },
            Kind.TLS,
            Kind.RESET),
        hostile(
            "a handshake with bits turned",
            peer -> {
              byte[] flight = firstFlight(right, peer);
              flight[flight.length - 50] ^= 1;
              peer.out().write(flight);
              peer.awaitClose();
            },
            Kind.TLS),
        hostile(
            "the same flight over and over",
            peer -> {
              byte[] flight = firstFlight(right, peer);
              while (true) {
                peer.out().write(flight);
              }
            },
            Kind.TLS,
            Kind.RESET),
        hostile("handshake records of nothing", flooding(zeros, record(22, zeros)), Kind.TLS),
        hostile(
            "a certificate of 16 MB",
            flooding(record(22, certificate), record(22, zeros)),
            Kind.TLS),
        hostile("empty records", flooding(new byte[0], record(22, new byte[0])), Kind.TLS),
        hostile("warnings", flooding(new byte[0], record(21, new byte[] {1, 90})), Kind.TLS),
        hostile("cipher changes", flooding(new byte[0], record(20, new byte[] {1})), Kind.TLS),
        hostile(
            "a record that is announced and never comes",
            peer -> {
              readRecord(peer.in());
              peer.out().write(new byte[] {22, 3, 3, 0x40, 0});
              peer.awaitClose();
            },
            Kind.TIMEOUT),
        hostile(
            "text without end",
            flooding(new byte[0], "text ".repeat(1_000).getBytes(ISO_8859_1)),
            Kind.TLS),
        hostile("nothing read, nothing sent", peer -> Thread.sleep(60_000), Kind.TIMEOUT));
  }

  @ParameterizedTest
  @MethodSource("handshakes")
  void who_cannot_be_agreed_with_is_a_failure(Hostile hostile) throws Exception {
    assertThat(hostile.siege().of("https", hostile.script(), SMALL))
        .allSatisfy(ending -> assertThat(ending.kind()).isIn(hostile.ended()));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, 30, 60, 99})
  void a_handshake_that_hangs_in_its_middle_is_given_up_in_time(int percent) throws Exception {
    assertThat(brief.of("https", hangingAfter(percent), SMALL))
        .allSatisfy(ending -> assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT));
  }

  @Test
  void a_certificate_for_thousands_of_names_is_read_within_the_ration() throws Exception {
    assertThat(patient.of("https", answering("long"), SMALL))
        .allSatisfy(
            ending ->
                assertThat(ending.outcome())
                    .matches(
                        outcome ->
                            outcome instanceof Outcome.Success
                                || (outcome instanceof Outcome.Failure failure
                                    && failure.kind() == Kind.TLS)));
  }

  @Test
  void a_session_begun_anew_over_and_over_is_given_up() throws Exception {
    Script script =
        over(
            server("right"),
            "TLSv1.2",
            peer -> {
              peer.request();
              while (true) {
                ((SSLSocket) peer.socket()).startHandshake();
                peer.write("HTTP/1.1 102 Processing\r\n\r\n");
              }
            });
    assertThat(patient.of("https", script, SMALL))
        .allSatisfy(
            ending -> assertThat(ending.kind()).isIn(Kind.PROTOCOL, Kind.TLS, Kind.TIMEOUT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void a_body_without_end_is_not_read_over_tls_either(String protocol) throws Exception {
    Script script =
        over(
            server("right"),
            protocol,
            peer -> {
              peer.request();
              peer.write("HTTP/1.1 200 OK\r\n\r\n");
              byte[] piece = new byte[8_192];
              while (true) {
                peer.out().write(piece);
              }
            });
    assertThat(patient.of("https", script, SMALL))
        .allSatisfy(ending -> assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class));
  }

  @Test
  void text_amid_an_encrypted_answer_is_a_tls_failure() throws Exception {
    SSLContext context = server("right");
    Script script =
        raw ->
            over(
                    context,
                    "TLSv1.3",
                    peer -> {
                      peer.request();
                      raw.out().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(ISO_8859_1));
                      raw.awaitClose();
                    })
                .run(raw);
    assertThat(patient.of("https", script, SMALL))
        .allSatisfy(ending -> assertThat(ending.kind()).isIn(Kind.TLS, Kind.RESET));
  }
}
