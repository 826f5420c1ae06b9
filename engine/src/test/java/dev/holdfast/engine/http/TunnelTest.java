package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.egress.Ports;
import dev.holdfast.engine.egress.Proxy;
import dev.holdfast.engine.egress.Proxy.Credentials;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TunnelTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String OPEN = "HTTP/1.1 200 Connection established\r\n\r\n";

  @TempDir Path directory;

  /** What the proxy was asked, the line and the headers. */
  private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();

  /** A proxy that takes every connection to a port of this machine, whichever host was asked. */
  private Receiver proxy() {
    return Receiver.start(
        peer -> {
          String head = head(peer.in());
          asked.add(head);
          String to = head.split(" ", 3)[1];
          int port = Integer.parseInt(to.substring(to.lastIndexOf(':') + 1));
          try (Socket target = new Socket(InetAddress.getLoopbackAddress(), port)) {
            peer.write(OPEN);
            Thread back = Thread.ofVirtual().start(() -> pass(target, peer.socket()));
            pass(peer.socket(), target);
            back.join();
          }
        });
  }

  private Receiver proxyAnswering(String answer) {
    return Receiver.start(
        peer -> {
          asked.add(head(peer.in()));
          peer.write(answer);
          peer.awaitClose();
        });
  }

  private static void pass(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
      to.shutdownOutput();
    } catch (IOException e) {
      // One of the two has closed.
    }
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException();
      }
      head.write(b);
    }
    return head.toString(ISO_8859_1);
  }

  private static Egress through(Receiver proxy, boolean looksUpNames, String... allow) {
    return through(proxy, looksUpNames, null, allow);
  }

  private static Egress through(
      Receiver proxy, boolean looksUpNames, @Nullable Credentials credentials, String... allow) {
    return new Egress(
        EgressRules.of(List.of(allow), List.of(), Ports.ALL),
        new Proxy("127.0.0.1", proxy.port(), credentials, looksUpNames),
        List.of());
  }

  private String asked() throws InterruptedException {
    String head = asked.poll(10, TimeUnit.SECONDS);
    assertThat(head).as("what the proxy was asked").isNotNull();
    return head;
  }

  @Test
  void the_proxy_is_asked_for_the_address_that_was_checked_and_the_name_stays_the_host()
      throws Exception {
    try (FakeDns dns = new FakeDns(Map.of("hook.test", List.of("9.9.9.9")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders = Senders.with().dns(dns).egress(through(proxy, false)).build()) {
      String url = "http://hook.test:" + receiver.port() + "/a?b=c";

      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);

      assertThat(asked()).startsWith("CONNECT 9.9.9.9:" + receiver.port() + " HTTP/1.1\r\n");
      Receiver.Request seen = receiver.seen();
      assertThat(seen.lines()).first().isEqualTo("POST /a?b=c HTTP/1.1");
      assertThat(seen.header("host")).isEqualTo("hook.test:" + receiver.port());
    }
  }

  @Test
  void a_connection_through_the_proxy_is_used_again() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders = Senders.with().egress(through(proxy, false)).build()) {
      String url = "http://9.9.9.9:" + receiver.port() + "/";

      for (int i = 0; i < 3; i++) {
        assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      }

      assertThat(proxy.connections()).isEqualTo(1);
    }
  }

  @Test
  void what_the_rules_forbid_the_proxy_is_not_asked_for() {
    try (FakeDns dns =
            new FakeDns(
                Map.of("inside.test", List.of("10.0.0.1"), "local.test", List.of("127.0.0.1")),
                List.of());
        Receiver proxy = proxy();
        Senders senders = Senders.with().dns(dns).egress(through(proxy, false)).build()) {
      for (String host : List.of("10.0.0.1", "127.0.0.1", "[::1]", "inside.test", "local.test")) {
        assertThat(senders.send("http://" + host + ":8080/").outcome())
            .as(host)
            .isEqualTo(Outcome.Failure.of(Kind.FORBIDDEN));
      }

      assertThat(proxy.connections()).isZero();
    }
  }

  @Test
  void a_proxy_that_looks_names_up_is_given_them_and_no_name_server_is_asked() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders = Senders.with().egress(through(proxy, true)).build()) {
      String host = "hook.test:" + receiver.port();

      assertThat(senders.send("http://" + host + "/").outcome())
          .isInstanceOf(Outcome.Success.class);

      assertThat(asked()).startsWith("CONNECT " + host + " HTTP/1.1\r\n");
    }
  }

  @Test
  void an_address_in_the_url_is_checked_also_when_the_proxy_looks_names_up() {
    try (Receiver proxy = proxy();
        Senders senders = Senders.with().egress(through(proxy, true)).build()) {
      assertThat(senders.send("http://127.0.0.1:8080/").outcome())
          .isEqualTo(Outcome.Failure.of(Kind.FORBIDDEN));
      assertThat(proxy.connections()).isZero();
    }
  }

  @Test
  void a_proxy_with_a_name_is_looked_up_itself() {
    try (FakeDns dns = new FakeDns(Map.of("proxy.test", List.of("127.0.0.1")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders =
            Senders.with()
                .dns(dns)
                .egress(
                    new Egress(
                        EgressRules.allowing(List.of()),
                        new Proxy("proxy.test", proxy.port(), null, false),
                        List.of()))
                .build()) {
      assertThat(senders.send("http://9.9.9.9:" + receiver.port() + "/").outcome())
          .isInstanceOf(Outcome.Success.class);
    }
  }

  @Test
  void a_proxy_whose_name_is_unknown_is_a_connect_failure() {
    try (FakeDns dns = new FakeDns(Map.of(), List.of());
        Senders senders =
            Senders.with()
                .dns(dns)
                .egress(
                    new Egress(
                        EgressRules.allowing(List.of()),
                        new Proxy("proxy.test", 3128, null, false),
                        List.of()))
                .build()) {
      assertThat(senders.send("http://9.9.9.9/").outcome())
          .isEqualTo(Outcome.Failure.of(Kind.CONNECT));
    }
  }

  @Test
  void credentials_are_shown_to_the_proxy_alone() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders =
            Senders.with()
                .egress(through(proxy, false, new Credentials("me", "pass:word")))
                .build()) {
      senders.send("http://9.9.9.9:" + receiver.port() + "/");

      String basic = Base64.getEncoder().encodeToString("me:pass:word".getBytes(ISO_8859_1));
      assertThat(asked()).containsIgnoringCase("proxy-authorization: Basic " + basic + "\r\n");
      assertThat(receiver.seen().lines()).noneMatch(line -> line.contains(basic));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbad",
        "220 mail.test ESMTP\r\n\r\n"
      })
  void a_proxy_that_refuses_is_a_connect_failure(String answer) {
    try (Receiver proxy = proxyAnswering(answer);
        Senders senders = Senders.with().egress(through(proxy, false)).build()) {
      for (String url : List.of("http://9.9.9.9/", "https://9.9.9.9/")) {
        assertThat(senders.send(url).outcome()).as(url).isEqualTo(Outcome.Failure.of(Kind.CONNECT));
      }
    }
  }

  @Test
  void a_proxy_that_closes_is_a_connect_failure() {
    try (Receiver proxy = Receiver.start(peer -> head(peer.in()));
        Senders senders = Senders.with().egress(through(proxy, false)).build()) {
      assertThat(senders.send("http://9.9.9.9/").outcome())
          .isEqualTo(Outcome.Failure.of(Kind.CONNECT));
    }
  }

  @Test
  void a_proxy_that_is_not_there_is_a_connect_failure() {
    Receiver gone = proxy();
    gone.close();
    try (Senders senders = Senders.with().egress(through(gone, false)).build()) {
      assertThat(senders.send("http://9.9.9.9/").outcome())
          .isEqualTo(Outcome.Failure.of(Kind.CONNECT));
    }
  }

  @Test
  void a_proxy_that_hangs_does_not_prolong_an_attempt() {
    try (Receiver proxy = proxyAnswering("HTTP/1.1 200");
        Senders senders = Senders.with().timeoutMillis(300).egress(through(proxy, false)).build()) {
      for (String url : List.of("http://9.9.9.9/", "https://9.9.9.9/")) {
        assertThat(senders.send(url).outcome()).isEqualTo(Outcome.Failure.of(Kind.TIMEOUT));
      }
    }
  }

  @Test
  void a_server_that_speaks_no_tls_behind_the_proxy_is_a_tls_failure() {
    try (Receiver receiver = Receiver.start(peer -> peer.write("220 mail.test ESMTP\r\n"));
        Receiver proxy = proxy();
        Senders senders = Senders.with().egress(through(proxy, false)).build()) {
      assertThat(senders.send("https://9.9.9.9:" + receiver.port() + "/").outcome())
          .isEqualTo(Outcome.Failure.of(Kind.TLS));
    }
  }

  @Test
  void tls_is_agreed_on_with_the_server_behind_the_proxy_by_its_name() throws Exception {
    HookCertificate certificate = new HookCertificate(directory);
    try (FakeDns dns = new FakeDns(Map.of("hook.test", List.of("9.9.9.9")), List.of());
        Receiver receiver =
            certificate.receiver(
                peer -> {
                  peer.request();
                  peer.write(OK);
                },
                "http/1.1");
        Receiver proxy = proxy();
        Senders senders =
            Senders.with()
                .dns(dns)
                .tls(certificate.trusting)
                .egress(through(proxy, false))
                .build()) {
      assertThat(senders.send("https://hook.test:" + receiver.port() + "/").outcome())
          .isInstanceOf(Outcome.Success.class);
      assertThat(senders.send("https://9.9.9.9:" + receiver.port() + "/").outcome())
          .as("the certificate is not for that")
          .isEqualTo(Outcome.Failure.of(Kind.TLS));
    }
  }

  @Test
  void an_address_of_ipv6_is_asked_for_in_brackets() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Receiver proxy = proxy();
        Senders senders = Senders.with().egress(through(proxy, false)).build()) {
      String host = "[2606:4700::1111]:" + receiver.port();
      assertThat(senders.send("http://" + host + "/").outcome())
          .isInstanceOf(Outcome.Success.class);
      assertThat(asked()).startsWith("CONNECT " + host + " HTTP/1.1\r\n");
    }
  }

  @Test
  void an_address_that_the_proxy_cannot_reach_leaves_it_to_the_next() throws Exception {
    try (FakeDns dns = new FakeDns(Map.of("hook.test", List.of("9.9.9.9", "8.8.8.8")), List.of());
        Receiver proxy =
            Receiver.start(
                peer -> {
                  String head = head(peer.in());
                  asked.add(head);
                  if (head.startsWith("CONNECT 9.9.9.9")) {
                    peer.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
                    peer.awaitClose();
                  } else {
                    peer.write(OPEN);
                    peer.request();
                    peer.write(OK);
                  }
                });
        Senders senders = Senders.with().dns(dns).egress(through(proxy, false)).build()) {
      assertThat(senders.send("http://hook.test/").outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(List.of(asked(), asked()))
          .anyMatch(head -> head.startsWith("CONNECT 8.8.8.8:80 "));
    }
  }

  @Test
  void what_is_denied_and_other_ports_the_proxy_is_not_asked_for() {
    try (Receiver proxy = proxy();
        Senders senders =
            Senders.with()
                .egress(
                    new Egress(
                        EgressRules.of(List.of(), List.of("9.9.9.9"), Ports.parse("80")),
                        new Proxy("127.0.0.1", proxy.port(), null, true),
                        List.of()))
                .build()) {
      for (String url : List.of("http://9.9.9.9/", "http://hook.test:81/")) {
        assertThat(senders.send(url).outcome())
            .as(url)
            .isEqualTo(Outcome.Failure.of(Kind.FORBIDDEN));
      }
      assertThat(proxy.connections()).isZero();
    }
  }
}
