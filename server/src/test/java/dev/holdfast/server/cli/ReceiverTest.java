package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Receiver.Manner;
import dev.holdfast.server.cli.Receiver.Summary;
import io.vertx.core.Vertx;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine.Help.Ansi;

@Timeout(60)
class ReceiverTest {
  private final Vertx vertx = Vertx.vertx();
  private final HttpClient client = HttpClient.newHttpClient();
  private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
  private final Receiver receiver =
      new Receiver(
          vertx,
          InstantSource.fixed(Instant.parse("2026-03-01T12:00:00Z")),
          new Manner(200, Duration.ZERO, 0),
          arrivals::add);
  private final int port = listen();

  @AfterEach
  void close() {
    client.shutdownNow();
    vertx.close().await();
  }

  @Test
  void it_answers_with_its_status_and_tells_what_arrived() throws Exception {
    assertThat(post("/hook?x=1", "msg_1", "{\"type\":\"order.paid\",\"subject\":\"o-1\"}"))
        .isEqualTo(200);
    assertThat(arrivals.take().line(Ansi.OFF).substring("00:00:00.000".length()))
        .isEqualTo("  POST /hook?x=1  msg_1  order.paid o-1  37 B  -> 200");
  }

  @Test
  void it_says_how_often_a_message_has_arrived() throws Exception {
    for (String id : List.of("msg_1", "msg_2", "msg_1", "msg_1")) {
      post("/", id, "{}");
    }
    post("/", null, "{}");
    assertThat(arrivals)
        .extracting(arrival -> arrival.line(Ansi.OFF).replaceFirst(".*-> 200", ""))
        .containsExactly("", "", "  again (2nd time)", "  again (3rd time)", "");
    assertThat(receiver.summary()).isEqualTo(new Summary(5, 2, 2));
    assertThat(Listen.tell(receiver.summary())).isEqualTo("Received 5: 2 distinct, 2 repeated.");
  }

  @Test
  void it_changes_its_mind_while_running() throws Exception {
    StringWriter said = new StringWriter();
    assertThat(post("/", "msg_1", "{}")).isEqualTo(200);
    Listen.obey(new StringReader("503\n"), receiver, new PrintWriter(said, true));
    assertThat(post("/", "msg_1", "{}")).isEqualTo(503);
    Listen.obey(new StringReader("\n 204 \nwhat?\n99\n"), receiver, new PrintWriter(said, true));
    assertThat(post("/", "msg_1", "{}")).isEqualTo(204);
    assertThat(said.toString().lines())
        .containsExactly(
            "Now answering 503.",
            "Now answering 204.",
            "Type a status, a whole number from 200 to 599, to answer with that.",
            "Type a status, a whole number from 200 to 599, to answer with that.");
  }

  @Test
  void it_can_fail_each_message_a_number_of_times_first() throws Exception {
    receiver.answer(new Manner(202, Duration.ZERO, 2));
    assertThat(post("/", "msg_1", "{}")).isEqualTo(503);
    assertThat(post("/", "msg_2", "{}")).isEqualTo(503);
    assertThat(post("/", "msg_1", "{}")).isEqualTo(503);
    assertThat(post("/", "msg_1", "{}")).isEqualTo(202);
    assertThat(post("/", null, "{}")).isEqualTo(202);
  }

  @Test
  void it_can_hold_its_answers_back() throws Exception {
    receiver.answer(new Manner(200, Duration.ofMinutes(10), 0));
    CompletableFuture<Integer> held = send("/", "msg_1", "{}");
    assertThat(arrivals.poll(10, TimeUnit.SECONDS)).isNotNull();
    receiver.answer(new Manner(200, Duration.ofMillis(1), 0));
    assertThat(post("/", "msg_2", "{}")).isEqualTo(200);
    assertThat(held).isNotDone();
  }

  @Test
  void it_takes_what_is_no_event_too() throws Exception {
    assertThat(post("/", "msg_1", "not { json")).isEqualTo(200);
    assertThat(post("/", "msg_2", "")).isEqualTo(200);
    assertThat(post("/", "msg_3", "[1,2]")).isEqualTo(200);
    assertThat(arrivals).extracting(arrival -> arrival.content().type()).containsOnlyNulls();
  }

  private int post(String path, @Nullable String id, String body) throws Exception {
    return send(path, id, body).get(30, TimeUnit.SECONDS);
  }

  private CompletableFuture<Integer> send(String path, @Nullable String id, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .POST(BodyPublishers.ofString(body));
    if (id != null) {
      request.header("webhook-id", id);
    }
    return client
        .sendAsync(request.build(), BodyHandlers.discarding())
        .thenApply(HttpResponse::statusCode);
  }

  private int listen() {
    return receiver.listen("127.0.0.1", 0).await().actualPort();
  }
}
