package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.Senders.Ending;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attempts over HTTP/2, to servers that mean well. */
@Timeout(60)
class Http2SenderTest {
  private static final String H1_OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final Keeping ALWAYS_STALE =
      new Keeping(Duration.ofHours(1), Duration.ofHours(1), Duration.ZERO);

  @TempDir static Path directory;

  private static HookCertificate certificate;

  @BeforeAll
  static void make_a_certificate() throws Exception {
    certificate = new HookCertificate(directory);
  }

  private static Senders.Builder with() {
    return Senders.with().tls(certificate.trusting);
  }

  private static Http2Receiver answering(int status, String body) {
    return Http2Receiver.start(certificate, request -> request.answer(status, body));
  }

  @Test
  void an_attempt_is_a_post_with_the_headers_of_the_contract() throws Exception {
    String secret = "whsec_" + "A".repeat(32);
    String older = "whsec_" + "B".repeat(32);
    try (Http2Receiver receiver = answering(200, "ok");
        Senders senders = with().build()) {
      Event event =
          new Event(
              Id.floor(Senders.STARTED_AT),
              "default",
              "order.paid",
              null,
              null,
              "{\"total\": 1.10}".getBytes(UTF_8),
              null,
              "evt-1",
              "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
      Form form = form(List.of(secret, older), "tok", Map.of("X-Own", " mine ", "b", "2"));
      Delivery delivery =
          new Delivery(
              Message.pending(42, event.id(), 1, 1, event.size()),
              event,
              Senders.subscription(1, form),
              "https://127.0.0.1:" + receiver.port() + "/h?a=b",
              Senders.STARTED_AT);

      Ending ending = senders.send(delivery);

      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).isEqualTo("ok");
      Http2Receiver.Request request = receiver.seen();
      String id = Id.text(Id.MESSAGE, 42);
      String body = new String(request.body(), UTF_8);
      assertThat(body)
          .isEqualTo("{\"id\":\"evt-1\",\"type\":\"order.paid\",\"data\":{\"total\": 1.10}}");
      long at = Senders.STARTED_AT.getEpochSecond();
      String signatures =
          new Webhook(secret).sign(id, at, body) + " " + new Webhook(older).sign(id, at, body);
      assertThat(request.lines())
          .containsExactlyInAnyOrder(
              ":method: POST",
              ":scheme: https",
              ":authority: 127.0.0.1:" + receiver.port(),
              ":path: /h?a=b",
              "user-agent: Holdfast/test",
              "content-type: application/json",
              "authorization: Bearer tok",
              "x-own: mine",
              "b: 2",
              "webhook-id: " + id,
              "webhook-timestamp: " + at,
              "webhook-signature: " + signatures,
              "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
              "content-length: " + body.length());
    }
  }

  private static Form form(List<String> secrets, String token, Map<String, String> headers) {
    return new Form(
        Form.Format.HOLDFAST,
        false,
        token,
        new TreeMap<>(headers),
        secrets.stream().map(text -> new Secret(text, Senders.STARTED_AT, null)).toList());
  }

  @Test
  void a_megabyte_arrives_as_it_is() throws Exception {
    try (Http2Receiver receiver = answering(200, "ok");
        Senders senders = with().build()) {
      String data = "\"" + "x".repeat(1_000_000) + "\"";
      Event event = Senders.event(data);
      List<CompletableFuture<Ending>> endings = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        endings.add(senders.start(Senders.delivery(receiver.url(), event)));
      }
      for (CompletableFuture<Ending> ending : endings) {
        assertThat(Senders.await(ending).response()).isEqualTo("ok");
        assertThat(new String(receiver.seen().body(), UTF_8)).endsWith("\"data\":" + data + "}");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 300, 404, 429, 500, 599})
  void statuses_are_successes_or_failures_as_with_http_1(int status) {
    try (Http2Receiver receiver = answering(status, "");
        Senders senders = with().build()) {
      Outcome outcome = senders.send(receiver.url()).outcome();
      if (status < 300) {
        assertThat(outcome).isEqualTo(new Outcome.Success(status, Outcome.NO_RESPONSE));
      } else {
        assertThat(((Outcome.Failure) outcome).kind()).isEqualTo(Kind.STATUS);
        assertThat(((Outcome.Failure) outcome).status()).isEqualTo(status);
      }
    }
  }

  @Test
  void retry_after_is_carried_as_it_came() {
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  request.request().response().putHeader("Retry-After", "7");
                  request.answer(503, "busy");
                });
        Senders senders = with().build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(((Outcome.Failure) ending.outcome()).retryAfter()).isEqualTo("7");
      assertThat(ending.response()).isEqualTo("busy");
    }
  }

  @Test
  void trailers_and_interim_answers_do_not_count() {
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  var response = request.request().response();
                  var _ = response.writeContinue();
                  var _ = response.putTrailer("x", "y");
                  var _ = response.write("body");
                  var _ = response.end();
                });
        Senders senders = with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("body");
      assertThat(senders.send(receiver.url()).response()).isEqualTo("body");
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void four_kibibytes_of_a_longer_answer_are_kept() {
    String body = "0123456789".repeat(1_600);
    try (Http2Receiver receiver = answering(200, body);
        Senders senders = with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo(body.substring(0, 4_096));
      assertThat(senders.send(receiver.url()).response()).isEqualTo(body.substring(0, 4_096));
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void of_an_answer_that_is_too_long_the_rest_is_not_waited_for() throws Exception {
    try (Http2Receiver receiver = answering(500, "x".repeat(1_000_000));
        Senders senders = with().build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(ending.kind()).isEqualTo(Kind.STATUS);
      assertThat(ending.response()).isEqualTo("x".repeat(4_096));
      receiver.awaitClosed();
    }
  }

  @Test
  void many_at_once_share_a_connection() throws Exception {
    List<Http2Receiver.Request> held = new ArrayList<>();
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  held.add(request);
                  if (held.size() == 1) {
                    request.answer(200, "ok");
                  } else if (held.size() == 81) {
                    held.subList(1, 81).forEach(one -> one.answer(200, "ok"));
                  }
                });
        Senders senders = with().build()) {
      senders.send(receiver.url());
      List<CompletableFuture<Ending>> endings = startMany(senders, receiver.url(), 80);
      for (CompletableFuture<Ending> ending : endings) {
        assertThat(Senders.await(ending).response()).isEqualTo("ok");
      }
      assertThat(receiver.connections()).isOne();
      assertThat(senders.onLoop(senders.sender::openConnections)).isOne();
    }
  }

  private static List<CompletableFuture<Ending>> startMany(Senders senders, String url, int many) {
    List<CompletableFuture<Ending>> endings = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      endings.add(senders.start(url));
    }
    return endings;
  }

  @Test
  void a_server_that_takes_few_at_once_gets_more_connections() throws Exception {
    CountDownLatch all = new CountDownLatch(7);
    try (Http2Receiver receiver =
            Http2Receiver.taking(
                3,
                certificate,
                request -> {
                  all.countDown();
                  new Thread(
                          () -> {
                            try {
                              all.await();
                            } catch (InterruptedException e) {
                              throw new IllegalStateException(e);
                            }
                            request.request().response().end("ok");
                          })
                      .start();
                });
        Senders senders = with().build()) {
      CompletableFuture<Ending> first = senders.start(receiver.url());
      receiver.seen();
      List<CompletableFuture<Ending>> endings = startMany(senders, receiver.url(), 6);
      endings.add(first);
      for (CompletableFuture<Ending> ending : endings) {
        assertThat(Senders.await(ending).response()).isEqualTo("ok");
      }
      assertThat(receiver.connections()).isEqualTo(3);
    }
  }

  @Test
  void those_who_wait_for_a_connection_to_be_opened_share_it() {
    try (Http2Receiver receiver = answering(200, "ok");
        Senders senders =
            with()
                .keeping(new Keeping(Duration.ofNanos(1), Duration.ofHours(1), Duration.ofHours(1)))
                .build()) {
      senders.send(receiver.url());
      int before = receiver.connections();
      for (CompletableFuture<Ending> ending : startAtOnce(senders, receiver.url(), 50)) {
        assertThat(Senders.await(ending).response()).isEqualTo("ok");
      }
      assertThat(receiver.connections()).isEqualTo(before + 1);
    }
  }

  /** All in one turn of the event loop. */
  private static List<CompletableFuture<Ending>> startAtOnce(
      Senders senders, String url, int many) {
    return senders.onLoop(
        () -> {
          List<CompletableFuture<Ending>> endings = new ArrayList<>();
          for (int i = 0; i < many; i++) {
            CompletableFuture<Ending> ending = new CompletableFuture<>();
            endings.add(ending);
            senders.sender.send(
                Senders.delivery(url, Senders.event("1")),
                (outcome, millis) -> ending.complete(new Ending(outcome, millis)));
          }
          return endings;
        });
  }

  @Test
  void those_who_wait_for_a_connection_fail_with_it() throws Exception {
    try (Senders senders = with().build()) {
      Http2Receiver receiver = answering(200, "ok");
      try (receiver) {
        senders.send(receiver.url());
      }
      awaitConnections(senders, 0);
      for (CompletableFuture<Ending> ending : startAtOnce(senders, receiver.url(), 50)) {
        assertThat(Senders.await(ending).kind()).isEqualTo(Kind.CONNECT);
      }
    }
  }

  @Test
  void those_who_wait_longer_than_they_may_leave_it_to_the_others() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    CountDownLatch slow = new CountDownLatch(1);
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  if (connections.incrementAndGet() == 2) {
                    slow.await();
                  }
                  Http2Peer http2 = Http2Peer.greeting(peer);
                  http2.answer(http2.request());
                },
                "h2");
        Senders senders = with().timeoutMillis(1_500).keeping(ALWAYS_STALE).build()) {
      String url = HookCertificate.url(receiver);
      senders.send(url);
      awaitConnections(senders, 0);
      CompletableFuture<Ending> first = senders.start(url);
      Thread.sleep(1_000);
      CompletableFuture<Ending> second = senders.start(url);
      assertThat(Senders.await(first).kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(senders.send(url).outcome())
          .as("one who comes now does not wait for the same connection")
          .isInstanceOf(Outcome.Success.class);
      assertThat(second).isNotDone();
      slow.countDown();
      assertThat(Senders.await(second).outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(receiver.connections()).isEqualTo(3);
    }
  }

  @Test
  void when_the_server_has_changed_to_http_1_each_gets_its_own_connection() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    try (Senders senders = with().keeping(ALWAYS_STALE).build()) {
      int port;
      try (Http2Receiver receiver = answering(200, "ok")) {
        senders.send(receiver.url());
        port = receiver.port();
      }
      awaitConnections(senders, 0);
      try (Receiver receiver =
          certificate.receiverAt(
              port,
              peer -> {
                connections.incrementAndGet();
                while (true) {
                  peer.request();
                  peer.write(H1_OK);
                }
              },
              "http/1.1")) {
        for (CompletableFuture<Ending> ending :
            startAtOnce(senders, HookCertificate.url(receiver), 5)) {
          assertThat(Senders.await(ending).response()).isEqualTo("ok");
        }
        assertThat(connections).hasValue(5);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http/1.1", ""})
  void a_server_without_http_2_is_spoken_to_as_before(String protocol) throws Exception {
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  while (true) {
                    peer.request();
                    peer.write(H1_OK);
                  }
                },
                protocol.isEmpty() ? new String[0] : new String[] {protocol});
        Senders senders = with().build()) {
      assertThat(senders.send(HookCertificate.url(receiver)).response()).isEqualTo("ok");
      assertThat(senders.send(HookCertificate.url(receiver)).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isOne();
      assertThat(receiver.seen().lines()).first().asString().endsWith("HTTP/1.1");
    }
  }

  @Test
  void a_connection_unused_for_long_is_closed() throws Exception {
    try (Http2Receiver receiver = answering(200, "ok");
        Senders senders =
            with()
                .keeping(
                    new Keeping(Duration.ofMillis(50), Duration.ofHours(1), Duration.ofHours(1)))
                .build()) {
      senders.send(receiver.url());
      receiver.awaitClosed();
    }
  }

  @Test
  void an_old_connection_is_not_used_again() {
    try (Http2Receiver receiver = answering(200, "ok");
        Senders senders =
            with()
                .keeping(new Keeping(Duration.ofHours(1), Duration.ZERO, Duration.ofHours(1)))
                .build()) {
      senders.send(receiver.url());
      senders.send(receiver.url());
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void the_connection_kept_for_longest_makes_room_for_a_new_one() throws Exception {
    try (Http2Receiver first = answering(200, "ok");
        Http2Receiver second = answering(200, "ok");
        Senders senders = with().mostConnections(1).build()) {
      senders.send(first.url());
      senders.send(second.url());
      first.awaitClosed();
      awaitConnections(senders, 1);
    }
  }

  private static void awaitConnections(Senders senders, int open) throws InterruptedException {
    long until = System.nanoTime() + 10_000_000_000L;
    while (senders.onLoop(senders.sender::openConnections) != open && System.nanoTime() < until) {
      Thread.sleep(10);
    }
    assertThat(senders.onLoop(senders.sender::openConnections)).isEqualTo(open);
  }

  @Test
  void a_stream_that_takes_too_long_leaves_others_alone() throws Exception {
    List<Http2Receiver.Request> held = new ArrayList<>();
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  if (new String(request.body(), UTF_8).contains("hang")) {
                    request
                        .request()
                        .response()
                        .exceptionHandler(_ -> held.forEach(one -> one.answer(200, "ok")));
                  } else {
                    held.add(request);
                    if (held.size() == 1) {
                      request.answer(200, "ok");
                      held.clear();
                    }
                  }
                });
        Senders senders = with().timeoutMillis(1_500).build()) {
      senders.send(receiver.url());
      CompletableFuture<Ending> hanging =
          senders.start(Senders.delivery(receiver.url(), Senders.event("\"hang\"")));
      Thread.sleep(1_000);
      CompletableFuture<Ending> other = senders.start(receiver.url());
      assertThat(Senders.await(hanging).kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(Senders.await(other).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isOne();
      receiver.awaitClosed();
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_refused_stream_goes_on_with_another_connection_once() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  if (requests.incrementAndGet() <= 3) {
                    var _ = request.request().response().reset(Http2Peer.REFUSED_STREAM);
                  } else {
                    request.answer(200, "ok");
                  }
                });
        Senders senders = with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
      assertThat(requests).hasValue(2);
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(requests).hasValue(4);
    }
  }

  @Test
  void a_reset_stream_is_reset() {
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  var _ = request.request().response().reset(Http2Peer.CANCEL);
                });
        Senders senders = with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void after_a_goodbye_what_was_not_processed_goes_on_with_another_connection() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  Http2Peer http2 = Http2Peer.greeting(peer);
                  if (connections.incrementAndGet() == 1) {
                    http2.answer(http2.request());
                    int processed = http2.request();
                    http2.request();
                    http2.goAway(processed, Http2Peer.NO_ERROR);
                    http2.answer(processed);
                    http2.peer.awaitClose();
                  } else {
                    http2.answer(http2.request());
                    http2.peer.awaitClose();
                  }
                },
                "h2");
        Senders senders = with().build()) {
      String url = HookCertificate.url(receiver);
      senders.send(url);
      for (CompletableFuture<Ending> ending : startAtOnce(senders, url, 2)) {
        assertThat(Senders.await(ending).outcome()).isInstanceOf(Outcome.Success.class);
      }
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_kept_connection_that_its_server_says_goodbye_on_is_not_used_again() throws Exception {
    try (Http2Receiver receiver =
            Http2Receiver.start(
                certificate,
                request -> {
                  request.answer(200, "ok");
                  var _ = request.request().connection().shutdown(5, TimeUnit.SECONDS);
                });
        Senders senders = with().build()) {
      senders.send(receiver.url());
      receiver.awaitClosed();
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_kept_connection_that_its_server_had_closed_is_replaced_within_the_attempt()
      throws Exception {
    try (Receiver receiver = closingOnSecondRequest();
        Senders senders = with().keeping(ALWAYS_STALE).build()) {
      String url = HookCertificate.url(receiver);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_connection_that_breaks_in_use_is_a_failure() throws Exception {
    try (Receiver receiver = closingOnSecondRequest();
        Senders senders = with().build()) {
      String url = HookCertificate.url(receiver);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(senders.send(url).kind()).isEqualTo(Kind.RESET);
      assertThat(receiver.connections()).isOne();
    }
  }

  private static Receiver closingOnSecondRequest() throws Exception {
    return certificate.receiver(
        peer -> {
          Http2Peer http2 = Http2Peer.greeting(peer);
          http2.answer(http2.request());
          http2.request();
        },
        "h2");
  }

  @Test
  void an_answer_before_the_request_is_read_counts() throws Exception {
    CompletableFuture<Integer> reset = new CompletableFuture<>();
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  Http2Peer http2 = Http2Peer.greeting(peer);
                  http2.answer(http2.requestHead());
                  reset.complete(http2.await(Http2Peer.RST_STREAM).number());
                  http2.answer(http2.request());
                  peer.awaitClose();
                },
                "h2");
        Senders senders = with().build()) {
      String url = HookCertificate.url(receiver);
      Event large = Senders.event("\"" + "x".repeat(1_000_000) + "\"");
      assertThat(senders.send(Senders.delivery(url, large)).outcome())
          .isInstanceOf(Outcome.Success.class);
      assertThat(Senders.await(reset)).isEqualTo(Http2Peer.NO_ERROR);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(receiver.connections()).isOne();
    }
  }
}
