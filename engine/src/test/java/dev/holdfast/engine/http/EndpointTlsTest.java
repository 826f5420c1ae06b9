package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.KeyMaker.Pair;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Principal;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Certificates and authorities that an endpoint has for itself, with either engine. */
@Timeout(60)
@ParameterizedClass
@EnumSource(names = {"JDK", "OPENSSL_REFCNT"})
class EndpointTlsTest {
  @TempDir static Path directory;

  private static KeyMaker maker;
  private static Pair server;
  private static Pair otherServer;
  private static Pair one;
  private static Pair two;

  @Parameter private SslProvider engine = SslProvider.JDK;

  /** Whom the server has seen, in the order of connections; "nobody" without a certificate. */
  private final List<String> seen = new CopyOnWriteArrayList<>();

  private final List<AutoCloseable> opened = new ArrayList<>();

  @BeforeAll
  static void make_keys() throws Exception {
    maker = new KeyMaker(directory);
    server = maker.make("server", "EC", "-ext", "san=ip:127.0.0.1");
    otherServer = maker.make("other", "EC", "-ext", "san=ip:127.0.0.1");
    one = maker.make("one", "EC");
    two = maker.make("two", "EC");
  }

  @BeforeEach
  void the_engine_runs_here() {
    assumeTrue(engine == SslProvider.JDK || OpenSsl.isAvailable());
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : opened.reversed()) {
      one.close();
    }
  }

  @Test
  void a_server_that_wants_to_know_is_shown_the_endpoints_certificate() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.3");
    Senders senders = senders();
    assertThat(senders.send(delivery(receiver, identity(one))).outcome())
        .isInstanceOf(Outcome.Success.class);
    assertThat(seen).containsExactly("CN=one");
  }

  @Test
  void so_it_is_with_every_kind_of_key_and_version_of_tls() throws Exception {
    for (String protocol : List.of("TLSv1.3", "TLSv1.2")) {
      Receiver receiver = receiver(server, true, protocol);
      Senders senders = senders();
      for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
        Pair pair = maker.make(algorithm, algorithm);
        assertThat(senders.send(delivery(receiver, identity(pair))).outcome())
            .as("%s %s", algorithm, protocol)
            .isInstanceOf(Outcome.Success.class);
        assertThat(seen.getLast()).isEqualTo("CN=" + algorithm);
      }
    }
  }

  @Test
  void without_a_certificate_a_server_that_demands_one_is_a_tls_failure() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.2");
    Senders senders = senders();
    assertThat(senders.send(delivery(receiver, roots(server))).kind()).isIn(Kind.TLS, Kind.RESET);
  }

  @Test
  void an_authority_is_trusted_by_its_endpoint_only() throws Exception {
    Receiver receiver = receiver(server, false, "TLSv1.3", "TLSv1.2");
    Senders senders = senders();
    assertThat(senders.send(delivery(receiver, null)).kind()).isEqualTo(Kind.TLS);
    assertThat(senders.send(delivery(receiver, roots(otherServer))).kind()).isEqualTo(Kind.TLS);
    assertThat(senders.send(delivery(receiver, roots(otherServer, server))).outcome())
        .isInstanceOf(Outcome.Success.class);
    assertThat(senders.send(delivery(receiver, null)).kind()).isEqualTo(Kind.TLS);
    assertThat(senders.send(delivery(receiver, roots(otherServer))).kind()).isEqualTo(Kind.TLS);
  }

  @Test
  void what_is_trusted_for_all_stays_trusted() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.3", "TLSv1.2");
    Senders senders = senders(server.certificate());
    EndpointTls mine =
        new EndpointTls(one.certificatePem(), one.keyPem(), otherServer.certificatePem());
    assertThat(senders.send(delivery(receiver, mine)).outcome())
        .isInstanceOf(Outcome.Success.class);
    assertThat(seen).containsExactly("CN=one");
  }

  /** By kept connections and by sessions, of which a server that closes its connections is told. */
  @Test
  void nobody_is_ever_taken_for_another() throws Exception {
    for (boolean closes : new boolean[] {false, true}) {
      Receiver receiver = receiver(server, false, closes, "TLSv1.3", "TLSv1.2");
      Senders senders = senders(server.certificate());
      seen.clear();
      List<@Nullable EndpointTls> turns = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        turns.add(identity(one));
        expected.add("CN=one");
        turns.add(identity(two));
        expected.add("CN=two");
        turns.add(null);
        expected.add("nobody");
      }
      List<String> shown = new ArrayList<>();
      for (EndpointTls turn : turns) {
        Senders.Ending ending = senders.send(delivery(receiver, turn));
        assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
        shown.add(ending.response());
      }
      assertThat(shown).as("closes: %s", closes).isEqualTo(expected);
      assertThat(seen).hasSize(closes ? 12 : 3);
    }
  }

  @Test
  void a_changed_certificate_is_shown_from_the_next_attempt_on() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.3", "TLSv1.2");
    Senders senders = senders(server.certificate());
    assertThat(senders.send(delivery(receiver, identity(one))).response()).isEqualTo("CN=one");
    assertThat(senders.send(delivery(receiver, identity(two))).response()).isEqualTo("CN=two");
  }

  @Test
  void what_cannot_be_read_is_a_tls_failure_of_the_attempt() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.3", "TLSv1.2");
    Senders senders = senders(server.certificate());
    EndpointTls broken = new EndpointTls("nonsense", "nonsense", null);
    assertThat(senders.send(delivery(receiver, broken)).kind()).isEqualTo(Kind.TLS);
    assertThat(seen).isEmpty();
  }

  @Test
  void many_attempts_at_once_make_it_ready_together() throws Exception {
    Receiver receiver = receiver(server, true, "TLSv1.3", "TLSv1.2");
    Senders senders = senders(server.certificate());
    List<CompletableFuture<Senders.Ending>> endings = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      endings.add(senders.start(delivery(receiver, identity(i % 2 == 0 ? one : two))));
    }
    for (int i = 0; i < 20; i++) {
      assertThat(Senders.await(endings.get(i)).response())
          .isEqualTo(i % 2 == 0 ? "CN=one" : "CN=two");
    }
  }

  @Test
  void those_unused_for_longest_are_let_go_of_and_made_again() throws Exception {
    List<EndpointTls> made = new ArrayList<>();
    OwnContexts contexts =
        new OwnContexts(
            2,
            tls -> {
              made.add(tls);
              try {
                return SslContextBuilder.forClient().sslProvider(engine).build();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    EndpointTls a = new EndpointTls(null, null, "a");
    EndpointTls b = new EndpointTls(null, null, "b");
    EndpointTls c = new EndpointTls(null, null, "c");
    for (EndpointTls tls : List.of(a, b, a, c, a, b)) {
      ReferenceCountUtil.release(contexts.take(tls));
    }
    assertThat(made).containsExactly(a, b, c, b);
    contexts.close();
    assertThat(contexts.takeReady(a)).isNull();
  }

  @Test
  void what_is_let_go_of_meanwhile_is_not_made_again_and_never_on_the_event_loop()
      throws Exception {
    List<String> makers = new CopyOnWriteArrayList<>();
    List<SslContext> made = new CopyOnWriteArrayList<>();
    OwnContexts keepsNone =
        new OwnContexts(
            0,
            tls -> {
              makers.add(Thread.currentThread().getName());
              try {
                SslContext context =
                    SslContextBuilder.forClient()
                        .sslProvider(engine)
                        .trustManager(server.certificate())
                        .build();
                made.add(context);
                return context;
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    SslContext usual = SslContextBuilder.forClient().sslProvider(engine).build();
    Receiver receiver = receiver(server, false, true, "TLSv1.3", "TLSv1.2");
    Senders senders = Senders.with().tls(new Tls(usual, keepsNone)).build();
    ReferenceCountUtil.release(usual);
    opened.add(senders);
    for (int i = 0; i < 3; i++) {
      assertThat(senders.send(delivery(receiver, roots(server))).outcome())
          .isInstanceOf(Outcome.Success.class);
    }
    assertThat(makers).hasSize(3).allMatch(name -> name.startsWith("holdfast-tls-own-"));
    if (engine != SslProvider.JDK) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (made.stream().anyMatch(context -> ReferenceCountUtil.refCnt(context) > 0)) {
        assertThat(System.nanoTime()).as("all are released").isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void a_key_must_be_its_certificates() throws Exception {
    assertThat(TlsMaterial.of(identity(one)).privateKey()).isEqualTo(one.key());
    Pair rsa = maker.make("RSA", "RSA");
    for (Pair other : List.of(two, rsa)) {
      assertUnusable(
          new EndpointTls(one.certificatePem(), other.keyPem(), null),
          TlsMaterial.Part.PRIVATE_KEY);
    }
    assertUnusable(
        new EndpointTls(
            one.certificatePem(), KeyMaker.pem("EC PRIVATE KEY", one.key().getEncoded()), null),
        TlsMaterial.Part.PRIVATE_KEY);
    assertUnusable(
        new EndpointTls(one.certificatePem(), one.keyPem() + two.keyPem(), null),
        TlsMaterial.Part.PRIVATE_KEY);
    assertUnusable(
        new EndpointTls(one.keyPem(), one.keyPem(), null), TlsMaterial.Part.CERTIFICATES);
    assertUnusable(
        new EndpointTls(null, null, KeyMaker.pem("CERTIFICATE", new byte[] {1, 2, 3})),
        TlsMaterial.Part.ROOTS);
    assertUnusable(
        new EndpointTls(null, null, one.certificatePem().repeat(17)), TlsMaterial.Part.ROOTS);
    Pair weak = maker.make("weak", "RSA", "-keysize", "1024");
    assertUnusable(identity(weak), TlsMaterial.Part.CERTIFICATES);
  }

  private static void assertUnusable(EndpointTls tls, TlsMaterial.Part part) {
    assertThatThrownBy(() -> TlsMaterial.of(tls))
        .isInstanceOfSatisfying(
            TlsMaterial.Unusable.class,
            unusable -> {
              assertThat(unusable.part()).isEqualTo(part);
              assertThat(unusable.advice()).doesNotContain("MII", "MEE");
            });
  }

  private static EndpointTls identity(Pair pair) {
    return new EndpointTls(pair.certificatePem(), pair.keyPem(), server.certificatePem());
  }

  private static EndpointTls roots(Pair... trusted) {
    StringBuilder all = new StringBuilder();
    for (Pair pair : trusted) {
      all.append(pair.certificatePem());
    }
    return new EndpointTls(null, null, all.toString());
  }

  private Senders senders(X509Certificate... trusted) {
    Senders senders = Senders.with().tls(Tls.verifying(List.of(trusted), engine)).build();
    opened.add(senders);
    return senders;
  }

  private static Delivery delivery(Receiver receiver, @Nullable EndpointTls tls) {
    Event event = Senders.event("1");
    return new Delivery(
        Message.pending(42, event.id(), 1, 1, event.size()),
        event,
        Senders.subscription(1, Form.PLAIN),
        HookCertificate.url(receiver),
        tls,
        Senders.STARTED_AT,
        false);
  }

  private Receiver receiver(Pair shown, boolean demands, String... protocols) throws Exception {
    return receiver(shown, demands, false, protocols);
  }

  /** Answers with whom it sees, and takes everybody for whom they say they are. */
  private Receiver receiver(Pair shown, boolean demands, boolean closes, String... protocols)
      throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry("it", shown.key(), new char[0], new X509Certificate[] {shown.certificate()});
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    KeyManager[] own = managers.getKeyManagers();
    context.init(own, new TrustManager[] {new Everybody()}, null);
    SSLServerSocket socket =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    socket.setEnabledProtocols(protocols);
    if (demands) {
      socket.setNeedClientAuth(true);
    } else {
      socket.setWantClientAuth(true);
    }
    Receiver receiver =
        Receiver.start(
            socket,
            peer -> {
              peer.request();
              String name = name((SSLSocket) peer.socket());
              seen.add(name);
              String answer =
                  "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s"
                      .formatted(name.length(), closes ? "Connection: close\r\n" : "", name);
              peer.write(answer);
              while (!closes) {
                peer.request();
                peer.write(answer);
              }
            });
    opened.add(receiver);
    return receiver;
  }

  private static String name(SSLSocket socket) {
    try {
      Principal principal = socket.getSession().getPeerPrincipal();
      return principal.getName();
    } catch (SSLPeerUnverifiedException e) {
      return "nobody";
    }
  }

  private static final class Everybody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
