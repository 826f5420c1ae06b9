package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.Senders.Ending;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HttpSenderTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  /** Enough for a loaded machine, and far less than the time limits that tests do not expect. */
  private static final long SLACK_MILLIS = 5_000;

  @Test
  void an_attempt_is_a_post_with_the_headers_of_the_contract() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().build()) {
      Event event =
          new Event(
              Id.floor(STARTED_AT),
              "default",
              "order.paid",
              "order/\"7\"",
              Instant.parse("2026-01-02T03:04:05Z"),
              "{\"total\": 1.10}".getBytes(UTF_8),
              "{\"total\":0}".getBytes(UTF_8),
              "evt-1",
              "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

      Ending ending =
          senders.send(Senders.delivery("http://127.0.0.1:" + receiver.port() + "/h?a=b", event));

      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).isEqualTo("ok");
      Receiver.Request request = receiver.seen();
      assertThat(request.lines())
          .containsExactlyInAnyOrder(
              "POST /h?a=b HTTP/1.1",
              "Host: 127.0.0.1:" + receiver.port(),
              "User-Agent: Holdfast/test",
              "Content-Type: application/json",
              "webhook-id: " + Id.text(Id.MESSAGE, 42),
              "webhook-timestamp: " + STARTED_AT.getEpochSecond(),
              "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
              "Content-Length: " + request.body().length);
      assertThat(new String(request.body(), UTF_8))
          .isEqualTo(
              "{\"id\":\"evt-1\",\"type\":\"order.paid\",\"subject\":\"order/\\\"7\\\"\","
                  + "\"occurredAt\":\"2026-01-02T03:04:05Z\",\"data\":{\"total\": 1.10},"
                  + "\"previous\":{\"total\":0}}");
    }
  }

  private static final Instant STARTED_AT = Senders.STARTED_AT;

  @Test
  void a_trace_context_that_could_smuggle_a_header_is_left_out() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().build()) {
      Event event =
          new Event(7, "default", "t", null, null, new byte[] {'1'}, null, null, "00\r\nx: y");

      senders.send(Senders.delivery(receiver.url(), event));

      assertThat(receiver.seen().lines())
          .noneMatch(line -> line.startsWith("traceparent") || line.startsWith("x:"));
    }
  }

  @Test
  void a_megabyte_arrives_as_it_is() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().build()) {
      StringBuilder data = new StringBuilder("\"");
      new Random(1).ints(1_000_000, 'a', 'z').forEach(c -> data.append((char) c));
      Event event = Senders.event(data.append('"').toString());

      assertThat(senders.send(Senders.delivery(receiver.url(), event)).outcome())
          .isInstanceOf(Outcome.Success.class);

      assertThat(new String(receiver.seen().body(), US_ASCII))
          .isEqualTo(
              "{\"id\":\""
                  + event.publicId()
                  + "\",\"type\":\"order.paid\",\"data\":"
                  + data
                  + "}");
    }
  }

  @Test
  void two_hundred_four_is_a_success() {
    try (Receiver receiver = Receiver.answering("HTTP/1.1 204 No Content\r\n\r\n");
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).outcome())
          .isEqualTo(new Outcome.Success(204, Outcome.NO_RESPONSE));
      senders.send(receiver.url());
      assertThat(receiver.connections()).isOne();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {300, 304, 400, 404, 410, 429, 500, 599, 999})
  void other_statuses_are_failures(int status) {
    try (Receiver receiver =
            Receiver.answering("HTTP/1.1 " + status + " No\r\nContent-Length: 0\r\n\r\n");
        Senders senders = Senders.with().build()) {
      Outcome.Failure failure = (Outcome.Failure) senders.send(receiver.url()).outcome();
      assertThat(failure.kind()).isEqualTo(Kind.STATUS);
      assertThat(failure.status()).isEqualTo(status);
    }
  }

  @Test
  void a_redirect_is_a_failure_and_is_not_followed() {
    try (Receiver other = Receiver.answering(OK);
        Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: "
                    + other.url()
                    + "\r\n\r\n");
        Senders senders = Senders.with().build()) {
      Outcome.Failure failure = (Outcome.Failure) senders.send(receiver.url()).outcome();
      assertThat(failure.kind()).isEqualTo(Kind.STATUS);
      assertThat(failure.status()).isEqualTo(307);
      assertThat(other.connections()).isZero();
    }
  }

  @Test
  void retry_after_is_carried_as_it_came() {
    try (Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 503 Busy\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"
                    + "Content-Length: 4\r\n\r\nbusy");
        Senders senders = Senders.with().build()) {
      Ending ending = senders.send(receiver.url());
      Outcome.Failure failure = (Outcome.Failure) ending.outcome();
      assertThat(failure.retryAfter()).isEqualTo("Wed, 21 Oct 2026 07:28:00 GMT");
      assertThat(ending.response()).isEqualTo("busy");
    }
  }

  @Test
  void four_kibibytes_of_a_longer_answer_are_kept() {
    String body = "0123456789".repeat(1_000);
    try (Receiver receiver =
            Receiver.answering("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + body);
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo(body.substring(0, 4_096));
      assertThat(senders.send(receiver.url()).response()).isEqualTo(body.substring(0, 4_096));
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void an_answer_in_chunks_is_put_together() {
    try (Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("abcde");
      assertThat(senders.send(receiver.url()).response()).isEqualTo("abcde");
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void an_answer_may_end_with_its_connection() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 200 OK\r\n\r\nuntil the end");
                });
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("until the end");
    }
  }

  @Test
  void an_answer_that_breaks_off_in_its_body_counts_by_its_status() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
                });
        Senders senders = Senders.with().build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).isEqualTo("half");
    }
  }

  @Test
  void connections_are_used_again() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().build()) {
      for (int i = 0; i < 20; i++) {
        assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
        receiver.seen();
      }
      assertThat(receiver.connections()).isOne();
      assertThat(senders.onLoop(senders.sender::openConnections)).isOne();
    }
  }

  @Test
  void a_connection_that_the_receiver_closes_is_not_used_again() {
    try (Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        Senders senders = Senders.with().build()) {
      senders.send(receiver.url());
      senders.send(receiver.url());
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_surplus_answer_is_not_taken_for_the_next_one() {
    try (Receiver receiver =
            Receiver.answering(OK + "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsurplus");
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_surplus_answer_is_not_taken_for_that_of_a_request_made_at_once() {
    String surplus = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsurplus";
    try (Receiver receiver = Receiver.answering(OK + surplus);
        Senders senders = Senders.with().build()) {
      CompletableFuture<Ending> second = new CompletableFuture<>();
      Delivery delivery = Senders.delivery(receiver.url(), Senders.event("1"));
      senders.onLoop(
          () -> {
            senders.sender.send(
                delivery,
                (first, millis) ->
                    senders.sender.send(
                        delivery, (outcome, again) -> second.complete(new Ending(outcome, again))));
            return true;
          });
      assertThat(Senders.await(second).response()).isEqualTo("ok");
    }
  }

  @Test
  void an_answer_before_the_request_is_read_counts_but_ends_the_connection() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
                  closed.await();
                });
        Senders senders = Senders.with().build()) {
      Event large = Senders.event("\"" + "x".repeat(16_000_000) + "\"");
      Outcome.Failure failure =
          (Outcome.Failure) senders.send(Senders.delivery(receiver.url(), large)).outcome();
      assertThat(failure.status()).isEqualTo(413);
      assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
      closed.countDown();
    }
  }

  @Test
  void a_connection_unused_for_long_is_closed() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write(OK);
                  peer.awaitClose();
                  closed.countDown();
                });
        Senders senders =
            Senders.with()
                .keeping(
                    new Keeping(Duration.ofMillis(50), Duration.ofHours(1), Duration.ofHours(1)))
                .build()) {
      senders.send(receiver.url());
      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void a_connection_is_closed_before_its_server_says_that_it_will() {
    try (Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0, max=5\r\nContent-Length: 0\r\n\r\n");
        Senders senders = Senders.with().build()) {
      senders.send(receiver.url());
      senders.send(receiver.url());
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void an_old_connection_is_not_used_again() {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders =
            Senders.with()
                .keeping(new Keeping(Duration.ofHours(1), Duration.ZERO, Duration.ofHours(1)))
                .build()) {
      senders.send(receiver.url());
      senders.send(receiver.url());
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void the_connection_kept_for_longest_makes_room_for_a_new_one() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (Receiver first =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write(OK);
                  peer.awaitClose();
                  closed.countDown();
                });
        Receiver second = Receiver.answering(OK);
        Senders senders = Senders.with().mostConnections(1).build()) {
      senders.send(first.url());
      senders.send(second.url());
      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(senders.onLoop(senders.sender::openConnections)).isOne();
    }
  }

  @Test
  void a_kept_connection_that_its_server_had_closed_is_replaced_within_the_attempt() {
    try (Receiver receiver = closingOnSecondRequest();
        Senders senders =
            Senders.with()
                .keeping(new Keeping(Duration.ofHours(1), Duration.ofHours(1), Duration.ZERO))
                .build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_connection_that_breaks_in_use_is_a_failure() {
    try (Receiver receiver = closingOnSecondRequest();
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
      assertThat(receiver.connections()).isOne();
    }
  }

  private static Receiver closingOnSecondRequest() {
    return Receiver.start(
        peer -> {
          peer.request();
          peer.write(OK);
          peer.request();
        });
  }

  @Test
  void a_receiver_that_never_answers_is_given_up_in_time() {
    try (Receiver receiver = Receiver.start(Receiver.Peer::awaitClose);
        Senders senders = Senders.with().timeoutMillis(300).build()) {
      assertTimeout(senders.send(receiver.url()), 300);
      assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
    }
  }

  @Test
  void dripping_headers_do_not_prolong_an_attempt() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 200 OK\r\n");
                  while (true) {
                    peer.write("x: y\r\n");
                    Thread.sleep(20);
                  }
                });
        Senders senders = Senders.with().timeoutMillis(300).build()) {
      assertTimeout(senders.send(receiver.url()), 300);
    }
  }

  @Test
  void a_dripping_body_after_headers_in_time_is_a_success() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n");
                  while (true) {
                    peer.write("x");
                    Thread.sleep(20);
                  }
                });
        Senders senders = Senders.with().timeoutMillis(1_500).build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).matches("x+");
      assertThat(ending.millis()).isBetween(1_500L, 1_500 + SLACK_MILLIS);
      assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
    }
  }

  @Test
  void a_dripping_body_after_a_bad_status_is_that_status() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 500 Oops\r\nRetry-After: 7\r\n\r\nbecause");
                  peer.awaitClose();
                });
        Senders senders = Senders.with().timeoutMillis(1_500).build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(ending.outcome())
          .usingRecursiveComparison()
          .isEqualTo(new Outcome.Failure(Kind.STATUS, 500, "because".getBytes(UTF_8), "7"));
    }
  }

  @Test
  void an_endless_body_is_cut_off() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write("HTTP/1.1 200 OK\r\n\r\n");
                  try {
                    while (true) {
                      peer.write("x".repeat(1_000));
                    }
                  } finally {
                    closed.countDown();
                  }
                });
        Senders senders = Senders.with().build()) {
      Ending ending = senders.send(receiver.url());
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).isEqualTo("x".repeat(4_096));
      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void interim_answers_do_not_count() {
    try (Receiver receiver =
            Receiver.answering(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                    + "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                    + OK);
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(senders.send(receiver.url()).response()).isEqualTo("ok");
      assertThat(receiver.connections()).isOne();
    }
  }

  @Test
  void an_interim_answer_alone_is_a_time_out() {
    try (Receiver receiver = Receiver.answering("HTTP/1.1 102 Processing\r\n\r\n");
        Senders senders = Senders.with().timeoutMillis(300).build()) {
      assertTimeout(senders.send(receiver.url()), 300);
    }
  }

  @Test
  void a_flood_of_interim_answers_is_not_http() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  while (true) {
                    peer.write("HTTP/1.1 102 Processing\r\n\r\n");
                  }
                });
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.PROTOCOL);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "garbage\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\u0015\u0003\u0001\u0000\u0002\u0002F",
        "HTTP/1.1 two hundred\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"
      })
  void what_is_not_http_is_a_protocol_failure(String answer) {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write(answer);
                });
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.PROTOCOL);
    }
  }

  @Test
  void headers_beyond_the_limit_are_a_protocol_failure() {
    try (Receiver receiver =
            Receiver.answering("HTTP/1.1 200 OK\r\nx: " + "y".repeat(20_000) + "\r\n\r\n");
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.PROTOCOL);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nx: y\r\n"})
  void a_connection_closed_before_the_end_of_the_headers_is_reset(String beginning) {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.write(beginning);
                });
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
    }
  }

  @Test
  void a_connection_closed_at_once_is_reset() {
    try (Receiver receiver = Receiver.start(peer -> {});
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
    }
  }

  @Test
  void a_reset_connection_is_reset() {
    try (Receiver receiver =
            Receiver.start(
                peer -> {
                  peer.request();
                  peer.socket().setSoLinger(true, 0);
                });
        Senders senders = Senders.with().build()) {
      assertThat(senders.send(receiver.url()).kind()).isEqualTo(Kind.RESET);
    }
  }

  @Test
  void a_refused_connection_is_a_connect_failure() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0)) {
      free = socket.getLocalPort();
    }
    try (Senders senders = Senders.with().build()) {
      assertThat(senders.send("http://127.0.0.1:" + free + "/").kind()).isEqualTo(Kind.CONNECT);
      assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
    }
  }

  @Test
  void a_connection_that_does_not_come_about_is_given_up_in_time() throws Exception {
    List<Socket> queue = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Senders senders = Senders.with().timeoutMillis(300).build()) {
      for (int i = 0; i < 2; i++) {
        queue.add(new Socket(full.getInetAddress(), full.getLocalPort()));
      }
      assertTimeout(senders.send("http://127.0.0.1:" + full.getLocalPort() + "/"), 300);
      assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
    } finally {
      for (Socket socket : queue) {
        socket.close();
      }
    }
  }

  @Test
  void a_thousand_that_hang_end_in_time_and_hold_up_nobody() {
    try (Receiver hanging = Receiver.start(Receiver.Peer::awaitClose);
        Receiver well = Receiver.answering(OK);
        Senders senders = Senders.with().timeoutMillis(3_000).build()) {
      List<CompletableFuture<Ending>> endings = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        endings.add(senders.start(hanging.url()));
      }
      assertThat(senders.send(well.url()).response()).isEqualTo("ok");
      for (CompletableFuture<Ending> ending : endings) {
        assertTimeout(Senders.await(ending), 3_000);
      }
      assertThat(senders.send(well.url()).response()).isEqualTo("ok");
      assertThat(senders.onLoop(senders.sender::openConnections)).isOne();
    }
  }

  @Test
  void whatever_receivers_do_each_attempt_ends_once() {
    Random random = new Random(42);
    try (Receiver receiver = Receiver.start(peer -> misbehave(peer, random));
        Senders senders = Senders.with().timeoutMillis(200).build()) {
      List<CompletableFuture<Void>> lanes = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        lanes.add(sendInARow(senders, receiver.url(), 60));
      }
      lanes.forEach(Senders::await);
      assertThat(senders.onLoop(senders.sender::openConnections)).isLessThanOrEqualTo(32);
      assertThat(senders.onLoop(() -> senders.sender.deadlines.isEmpty())).isTrue();
    }
  }

  private static CompletableFuture<Void> sendInARow(Senders senders, String url, int left) {
    return left == 0
        ? CompletableFuture.completedFuture(null)
        : senders.start(url).thenCompose(ending -> sendInARow(senders, url, left - 1));
  }

  private static void misbehave(Receiver.Peer peer, Random random) throws Exception {
    while (true) {
      int choice = random.nextInt(16);
      if (choice == 0) {
        return;
      }
      peer.request();
      switch (choice) {
        case 1 -> {
          return;
        }
        case 2 -> {
          peer.socket().setSoLinger(true, 0);
          return;
        }
        case 3 -> peer.awaitClose();
        case 4 -> peer.write("nonsense\r\n\r\n");
        case 5 -> peer.write("HTTP/1.1 200 OK\r\nContent-Le");
        case 6 -> peer.write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nnot all of it");
        case 7 -> peer.write("HTTP/1.1 500 No\r\n\r\n" + "x".repeat(50_000));
        case 8 -> peer.write("HTTP/1.1 102 Wait\r\n\r\n");
        case 9 -> peer.write(OK + OK);
        case 10 -> {
          peer.write(OK);
          return;
        }
        default -> peer.write(OK);
      }
    }
  }

  @Test
  void a_name_that_does_not_exist_is_a_dns_failure() {
    try (FakeDns dns = new FakeDns(Map.of(), List.of());
        Senders senders = Senders.with().dns(dns).build()) {
      assertThat(senders.send("http://nowhere.test/").kind()).isEqualTo(Kind.DNS);
    }
  }

  @Test
  void a_name_server_that_does_not_answer_does_not_prolong_an_attempt() {
    try (FakeDns dns = new FakeDns(Map.of(), List.of("silent.test"));
        Senders senders = Senders.with().dns(dns).timeoutMillis(1_000).build()) {
      Ending ending = senders.send("http://silent.test/");
      assertThat(ending.kind()).isIn(Kind.DNS, Kind.TIMEOUT);
      assertThat(ending.millis()).isBetween(400L, 1_000L + SLACK_MILLIS);
    }
  }

  @Test
  void a_name_is_looked_up_and_stays_the_host() throws Exception {
    try (FakeDns dns = new FakeDns(Map.of("hook.test", List.of("127.0.0.1")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).build()) {
      String authority = "hook.test:" + receiver.port();
      assertThat(senders.send("http://" + authority + "/").response()).isEqualTo("ok");
      assertThat(receiver.seen().headers("host")).containsExactly(authority);
    }
  }

  @Test
  void localhost_needs_no_name_server() {
    try (FakeDns dns = new FakeDns(Map.of(), List.of("localhost"));
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).build()) {
      assertThat(senders.send("http://localhost:" + receiver.port() + "/").response())
          .isEqualTo("ok");
    }
  }

  @Test
  void an_address_that_refuses_leaves_it_to_the_next() {
    try (FakeDns dns =
            new FakeDns(Map.of("hook.test", List.of("127.0.0.2", "127.0.0.1")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).build()) {
      assertThat(senders.send("http://hook.test:" + receiver.port() + "/").response())
          .isEqualTo("ok");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "localhost", "hook.test", "[::ffff:127.0.0.1]"})
  void a_forbidden_address_sees_no_connection(String host) {
    try (FakeDns dns = new FakeDns(Map.of("hook.test", List.of("127.0.0.1")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).allowing().build()) {
      assertThat(senders.send("http://" + host + ":" + receiver.port() + "/").kind())
          .isEqualTo(Kind.FORBIDDEN);
      assertThat(receiver.connections()).isZero();
    }
  }

  @Test
  void of_a_names_addresses_only_permitted_ones_are_reached() {
    try (FakeDns dns =
            new FakeDns(Map.of("hook.test", List.of("127.0.0.1", "127.0.0.2")), List.of());
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).allowing("127.0.0.2/32").build()) {
      assertThat(senders.send("http://hook.test:" + receiver.port() + "/").kind())
          .isEqualTo(Kind.CONNECT);
      assertThat(receiver.connections()).isZero();
    }
  }

  @Test
  void a_url_that_is_no_longer_accepted_is_forbidden() {
    try (Senders senders = Senders.with().build()) {
      Delivery broken = Senders.delivery("ftp://example.com/", Senders.event("1"));
      assertThat(senders.send(broken).kind()).isEqualTo(Kind.FORBIDDEN);
    }
  }

  private static void assertTimeout(Ending ending, long millis) {
    assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT);
    assertThat(ending.millis()).isBetween(millis, millis + SLACK_MILLIS);
  }
}
