package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** HTTPS, with either engine. */
@Timeout(60)
@ParameterizedClass
@EnumSource(names = {"JDK", "OPENSSL_REFCNT"})
class HttpSenderTlsTest {
  private static final char[] PASSWORD = "password".toCharArray();
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  /** A ServerHello of TLS 1.1 as it goes over the wire, whose random numbers are zeros. */
  private static final byte[] TLS_1_1 =
      HexFormat.of().parseHex("160302002a" + "020000260302" + "00".repeat(32) + "00" + "c01300");

  @TempDir static Path directory;

  private static Identity hook;
  private static Identity expired;

  @Parameter private SslProvider engine = SslProvider.JDK;

  /** A server's key, and the certificates that it shows. */
  private record Identity(PrivateKey key, List<X509Certificate> chain) {

    X509Certificate certificate() {
      return chain.getFirst();
    }
  }

  @BeforeAll
  static void make_certificates_for_hook_test() throws Exception {
    hook = identity("hook");
    expired = identity("expired", "-startdate", "-3d", "-validity", "1");
  }

  private static Identity identity(String name, String... more) throws Exception {
    Path store = directory.resolve(name + ".p12");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", "hook", "-keyalg", "EC"));
    command.addAll(List.of("-dname", "CN=hook.test", "-ext", "san=dns:hook.test"));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
    command.addAll(List.of("-keystore", store.toString()));
    command.addAll(List.of(more));
    Process keytool = new ProcessBuilder(command).inheritIO().start();
    assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    return new Identity(
        (PrivateKey) keys.getKey("hook", PASSWORD),
        List.of((X509Certificate) keys.getCertificate("hook")));
  }

  @BeforeEach
  void the_engine_runs_here() {
    assumeTrue(engine == SslProvider.JDK || OpenSsl.isAvailable());
  }

  private static Receiver receiver(Receiver.Script script) throws Exception {
    return receiver(hook, script);
  }

  private static Receiver receiver(Identity shown, Receiver.Script script) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[] {new Showing(shown)}, null, null);
    ServerSocket socket =
        context
            .getServerSocketFactory()
            .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    return Receiver.start(socket, script);
  }

  private static Receiver answering(Identity shown) throws Exception {
    return receiver(
        shown,
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

  private Senders.Builder trusting(X509Certificate... trusted) {
    return Senders.with().tls(Tls.verifying(List.of(trusted), engine));
  }

  private static String url(Receiver receiver) {
    return "https://hook.test:" + receiver.port() + "/";
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
        Senders senders = trusting(hook.certificate()).dns(dns).build()) {
      assertThat(senders.send(url(receiver)).response()).isEqualTo("ok");
      assertThat(senders.send(url(receiver)).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isOne();
      assertThat(Senders.await(asked)).isEqualTo("hook.test");
    }
  }

  @Test
  void the_usual_authorities_stay_trusted_beside_others() {
    X509Certificate[] usual = Authorities.usualAnd(List.of()).getAcceptedIssuers();
    assertThat(usual).hasSizeGreaterThan(50);
    assertThat(Authorities.usualAnd(List.of(hook.certificate())).getAcceptedIssuers())
        .contains(usual)
        .contains(hook.certificate())
        .hasSize(usual.length + 1);
  }

  @Test
  void a_megabyte_goes_through_tls() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering(hook);
        Senders senders = trusting(hook.certificate()).dns(dns).build()) {
      String data = "\"" + "x".repeat(1_000_000) + "\"";
      var ending = senders.send(Senders.delivery(url(receiver), Senders.event(data)));
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(receiver.seen().body().length).isGreaterThan(1_000_000);
    }
  }

  @Test
  void an_untrusted_certificate_is_a_tls_failure() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering(hook);
        Senders senders = trusting(expired.certificate()).dns(dns).build()) {
      assertThat(senders.send(url(receiver)).kind()).isEqualTo(Kind.TLS);
      assertThat(receiver.unreadRequests()).isZero();
    }
  }

  @Test
  void an_expired_certificate_is_a_tls_failure_however_trusted() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering(expired);
        Senders senders = trusting(hook.certificate(), expired.certificate()).dns(dns).build()) {
      assertThat(senders.send(url(receiver)).kind()).isEqualTo(Kind.TLS);
      assertThat(receiver.unreadRequests()).isZero();
    }
  }

  @Test
  void a_certificate_for_another_name_is_a_tls_failure() throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering(hook);
        Senders senders = trusting(hook.certificate()).dns(dns).build()) {
      assertThat(senders.send("https://other.test:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(receiver.unreadRequests()).isZero();
    }
  }

  @Test
  void a_chain_that_is_too_long_is_a_tls_failure() throws Exception {
    List<X509Certificate> others =
        List.of(Authorities.usualAnd(List.of()).getAcceptedIssuers())
            .subList(0, Authorities.LONGEST_CHAIN);
    assertThat(showing(hookAnd(others.subList(1, others.size()))).response()).isEqualTo("ok");
    assertThat(showing(hookAnd(others)).kind()).isEqualTo(Kind.TLS);
  }

  private static Identity hookAnd(List<X509Certificate> others) {
    List<X509Certificate> chain = new ArrayList<>(hook.chain());
    chain.addAll(others);
    return new Identity(hook.key(), chain);
  }

  private Senders.Ending showing(Identity shown) throws Exception {
    try (FakeDns dns = dns();
        Receiver receiver = answering(shown);
        Senders senders = trusting(hook.certificate()).dns(dns).build()) {
      return senders.send(url(receiver));
    }
  }

  /** If it were not refused, the attempt would wait for what comes after the hello. */
  @Test
  void a_server_that_speaks_tls_1_1_is_refused() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.out().write(TLS_1_1);
                  peer.out().flush();
                  peer.awaitClose();
                });
        Senders senders = trusting().build()) {
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
    }
  }

  @Test
  void a_server_that_closes_its_connections_goes_on_with_the_session_of_the_last()
      throws Exception {
    List<Long> sessions = new CopyOnWriteArrayList<>();
    try (FakeDns dns = dns();
        Receiver receiver =
            receiver(
                peer -> {
                  peer.request();
                  sessions.add(((SSLSocket) peer.socket()).getSession().getCreationTime());
                  peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
                });
        Senders senders = trusting(hook.certificate()).dns(dns).build()) {
      for (int i = 0; i < 3; i++) {
        assertThat(senders.send(url(receiver)).response()).isEqualTo("ok");
      }
      assertThat(receiver.connections()).isEqualTo(3);
      assertThat(sessions).hasSize(3).containsOnly(sessions.getFirst());
      // The name that the session was not made for is verified as if there were none.
      assertThat(senders.send("https://other.test:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
      assertThat(sessions).hasSize(3);
    }
  }

  @Test
  void certificates_are_not_verified_on_the_event_loop() throws Exception {
    CompletableFuture<String> thread = new CompletableFuture<>();
    try (FakeDns dns = dns();
        Receiver receiver = answering(hook);
        Senders senders =
            Senders.with()
                .dns(dns)
                .tls(verifiedBy(() -> thread.complete(Thread.currentThread().getName())))
                .build()) {
      assertThat(senders.send(url(receiver)).response()).isEqualTo("ok");
      assertThat(Senders.await(thread)).startsWith("holdfast-tls-");
    }
  }

  @Test
  void a_verification_that_takes_long_delays_neither_the_end_of_its_attempt_nor_other_attempts()
      throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<Boolean> enough = new CompletableFuture<>();
    Runnable slow =
        () -> {
          asked.countDown();
          Senders.await(enough);
        };
    try (FakeDns dns = dns();
        Receiver receiver = answering(hook);
        Receiver plain = Receiver.answering(OK);
        Senders senders =
            Senders.with().dns(dns).timeoutMillis(1_000).tls(verifiedBy(slow)).build()) {
      var attempt = senders.start(url(receiver));
      asked.await();
      assertThat(senders.send(plain.url()).response()).isEqualTo("ok");
      assertThat(Senders.await(attempt).kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(enough).isNotDone();
      enough.complete(true);
    }
  }

  private Tls verifiedBy(Runnable verification) throws IOException {
    X509TrustManager trust =
        new X509TrustManager() {
          @Override
          public void checkClientTrusted(X509Certificate[] chain, String authType) {}

          @Override
          public void checkServerTrusted(X509Certificate[] chain, String authType) {
            verification.run();
          }

          @Override
          public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
          }
        };
    return new Tls(
        SslContextBuilder.forClient()
            .sslProvider(engine)
            .trustManager(trust)
            .endpointIdentificationAlgorithm(null)
            .build());
  }

  @Test
  void plain_http_where_tls_was_expected_is_a_tls_failure() {
    try (Receiver receiver =
            Receiver.start(peer -> peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
        Senders senders = trusting().build()) {
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.TLS);
    }
  }

  @Test
  void a_connection_closed_in_the_handshake_is_a_tls_failure() {
    try (Receiver receiver = Receiver.start(peer -> peer.in().read());
        Senders senders = trusting().build()) {
      assertThat(senders.send("https://127.0.0.1:" + receiver.port() + "/").kind())
          .isIn(Kind.TLS, Kind.RESET);
    }
  }

  @Test
  void a_handshake_that_hangs_is_given_up_in_time() {
    try (Receiver receiver = Receiver.start(Receiver.Peer::awaitClose);
        Senders senders = trusting().timeoutMillis(300).build()) {
      var ending = senders.send("https://127.0.0.1:" + receiver.port() + "/");
      assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(ending.millis()).isBetween(300L, 5_000L);
    }
  }

  /** Shows the same certificates to everybody, whatever they are. */
  private static final class Showing extends X509ExtendedKeyManager {
    private final Identity identity;

    Showing(Identity identity) {
      this.identity = identity;
    }

    @Override
    public String[] getClientAliases(String keyType, Principal @Nullable [] issuers) {
      return new String[0];
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return null;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
      return new String[] {"hook"};
    }

    @Override
    public @Nullable String chooseServerAlias(
        String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return keyType.equals(identity.key.getAlgorithm()) ? "hook" : null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return identity.chain.toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return identity.key;
    }
  }
}
