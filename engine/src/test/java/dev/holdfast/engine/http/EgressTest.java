package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.egress.Ports;
import dev.holdfast.engine.http.Senders.Ending;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody tries who wants to reach what only this machine should, and what it sees of it. */
class EgressTest {
  private static final String OK =
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  private static final String PUBLIC = "93.184.215.14";

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "10.1.2.3", "169.254.169.254", "93.184.215.99"})
  void a_name_that_changes_its_mind_gains_nothing(String forbidden) {
    AtomicInteger queries = new AtomicInteger();
    Set<String> dialled = new ConcurrentSkipListSet<>();
    int forbiddenEndings = 0;
    int successes = 0;
    try (FakeDns dns = new FakeDns((_, type) -> alternating(queries, type, PUBLIC, forbidden));
        Receiver there = Receiver.answering(OK);
        Receiver trap = Receiver.answering(OK);
        Senders senders =
            Senders.with()
                .dns(dns)
                .egress(
                    Egress.direct(EgressRules.of(List.of(), List.of("93.184.215.99"), Ports.ALL)))
                .route(
                    address -> {
                      String dialledNow = address.getAddress().getHostAddress();
                      dialled.add(dialledNow);
                      return local(dialledNow.equals(PUBLIC) ? there.port() : trap.port());
                    })
                .build()) {
      for (int i = 0; i < 100; i++) {
        Ending ending = senders.send("http://rebinding.test/");
        switch (ending.outcome()) {
          case Outcome.Success _ -> successes++;
          case Outcome.Failure failure -> {
            assertThat(failure.kind()).isEqualTo(Kind.FORBIDDEN);
            forbiddenEndings++;
          }
        }
      }
      assertThat(dialled).containsExactly(PUBLIC);
      assertThat(trap.connections()).isZero();
      assertThat(there.connections()).isEqualTo(successes);
      assertThat(successes).isBetween(20, 80);
      assertThat(forbiddenEndings).isBetween(20, 80);
    }
  }

  /** The same without a detour: both are this machine, of which one address is allowed. */
  @Test
  void a_name_that_changes_its_mind_reaches_no_real_listener() throws IOException {
    AtomicInteger queries = new AtomicInteger();
    try (ServerSocket socket = new ServerSocket(0, 100, InetAddress.ofLiteral("127.0.0.1"));
        ServerSocket beside =
            new ServerSocket(socket.getLocalPort(), 100, InetAddress.ofLiteral("127.0.0.2"));
        Receiver forbidden = Receiver.start(socket, answering());
        Receiver allowed = Receiver.start(beside, answering());
        FakeDns dns =
            new FakeDns((_, type) -> alternating(queries, type, "127.0.0.2", "127.0.0.1"));
        Senders senders = Senders.with().dns(dns).allowing("127.0.0.2/32").build()) {
      int successes = 0;
      for (int i = 0; i < 100; i++) {
        Ending ending = senders.send("http://rebinding.test:" + forbidden.port() + "/");
        if (ending.outcome() instanceof Outcome.Success) {
          successes++;
        } else {
          assertThat(ending.kind()).isEqualTo(Kind.FORBIDDEN);
        }
      }
      assertThat(forbidden.connections()).isZero();
      assertThat(successes).isBetween(20, 80).isEqualTo(allowed.connections());
    }
  }

  /**
   * Both at once: only the one that was checked and permitted is dialled, whichever comes first.
   */
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1 127.0.0.2", "127.0.0.2 127.0.0.1", "::1 127.0.0.2"})
  void a_name_with_a_forbidden_address_leads_to_the_other(String addresses) throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 100, InetAddress.ofLiteral("127.0.0.1"));
        ServerSocket beside =
            new ServerSocket(socket.getLocalPort(), 100, InetAddress.ofLiteral("127.0.0.2"));
        Receiver forbidden = Receiver.start(socket, answering());
        Receiver allowed = Receiver.start(beside, answering());
        FakeDns dns = new FakeDns((_, _) -> List.of(addresses.split(" ", -1)));
        Senders senders = Senders.with().dns(dns).allowing("127.0.0.2/32").build()) {
      for (int i = 0; i < 10; i++) {
        assertThat(senders.send("http://two.test:" + forbidden.port() + "/").outcome())
            .isInstanceOf(Outcome.Success.class);
      }
      assertThat(forbidden.connections()).isZero();
      assertThat(allowed.connections()).isEqualTo(10);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "127.0.0.2",
        "127.255.255.254",
        "0.0.0.0",
        "0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "localhost",
        "localhost.",
        "LocalHost",
        "\u24dbocalhost",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0.0.0.0]",
        "v4.test",
        "v6.test",
        "mapped.test",
        "zero.test",
        "zero6.test",
        "all.test"
      })
  void nothing_that_leads_to_this_machine_is_reached(String host) throws IOException {
    Map<String, List<String>> names =
        Map.of(
            "v4.test", List.of("127.0.0.1"),
            "v6.test", List.of("::1"),
            "mapped.test", List.of("::ffff:127.0.0.1"),
            "zero.test", List.of("0.0.0.0"),
            "zero6.test", List.of("::"),
            "all.test", List.of("127.0.0.1", "0.0.0.0", "::1", "::"));
    try (ServerSocket socket = new ServerSocket(0, 100, InetAddress.ofLiteral("::"));
        Receiver receiver = Receiver.start(socket, answering());
        FakeDns dns = new FakeDns(names, List.of());
        Senders senders = Senders.with().dns(dns).allowing().build();
        Senders allowing =
            Senders.with().dns(dns).allowing("127.0.0.0/8", "0.0.0.0/8", "::/127").build()) {
      String url = "http://" + host + ":" + receiver.port() + "/";
      assertThat(senders.send(url).kind()).isEqualTo(Kind.FORBIDDEN);
      assertThat(receiver.connections()).isZero();

      // It is there: who may, reaches it. What cannot be written in a URL stays forbidden.
      Ending ending = allowing.send(url);
      if (ending.outcome() instanceof Outcome.Success) {
        assertThat(receiver.connections()).isOne();
      } else {
        assertThat(ending.kind()).isEqualTo(Kind.FORBIDDEN);
        assertThat(host)
            .containsPattern("^(0|0x.*|0[0-9]+.*|\\d+|127\\.1|.*[0-9]\\.|.*::ffff:.*)$");
      }
    }
  }

  @Test
  void a_redirect_to_what_is_forbidden_or_permitted_is_not_followed() {
    try (Receiver elsewhere = Receiver.answering(OK);
        Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
                    + elsewhere.url()
                    + "\r\nRefresh: 0;url="
                    + elsewhere.url()
                    + "\r\nAlt-Svc: h2=\":"
                    + elsewhere.port()
                    + "\"\r\nConnection: close\r\n\r\n");
        Senders senders = Senders.with().build()) {
      for (int i = 0; i < 3; i++) {
        assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.STATUS);
      }
      assertThat(receiver.connections()).isEqualTo(3);
      assertThat(elsewhere.connections()).isZero();
    }
  }

  @Test
  void a_proxy_of_the_system_is_not_used() {
    try (Receiver proxy = Receiver.answering(OK);
        Receiver receiver = Receiver.answering(OK);
        Receiver closing = Receiver.start(_ -> {})) {
      String port = Integer.toString(proxy.port());
      Map<String, String> properties = new HashMap<>();
      for (String kind : List.of("http.proxy", "https.proxy", "ftp.proxy", "socksProxy")) {
        properties.put(kind + "Host", "127.0.0.1");
        properties.put(kind + "Port", port);
      }
      properties.put("http.nonProxyHosts", "");
      properties.put("java.net.useSystemProxies", "true");
      Map<String, @Nullable String> before = new HashMap<>();
      properties.forEach((key, value) -> before.put(key, System.setProperty(key, value)));
      try (Senders senders = Senders.with().build()) {
        assertThat(senders.send(receiver.url()).outcome()).isInstanceOf(Outcome.Success.class);
        assertThat(senders.send("https://127.0.0.1:" + closing.port() + "/").outcome())
            .isInstanceOf(Outcome.Failure.class);
        assertThat(receiver.connections()).isOne();
        assertThat(closing.connections()).isOne();
        assertThat(proxy.connections()).isZero();
      } finally {
        before.forEach(
            (key, value) -> {
              if (value == null) {
                System.clearProperty(key);
              } else {
                System.setProperty(key, value);
              }
            });
      }
    }
  }

  /** One address and the other in turn; only v4 addresses are known. */
  private static List<String> alternating(
      AtomicInteger queries, FakeDns.Type type, String one, String other) {
    if (type == FakeDns.Type.AAAA) {
      return List.of();
    }
    return List.of(queries.getAndIncrement() % 2 == 0 ? one : other);
  }

  private static Receiver.Script answering() {
    return peer -> {
      peer.request();
      peer.write(OK);
    };
  }

  private static InetSocketAddress local(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
