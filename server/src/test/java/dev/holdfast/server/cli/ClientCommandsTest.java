package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands against a real server, its real store and a real receiver. */
@Timeout(120)
class ClientCommandsTest {
  @TempDir private Path directory = Path.of("");

  private final Typed typed = new Typed();
  private final Vertx vertx = Vertx.vertx();
  private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
  private final HttpClient client = HttpClient.newHttpClient();
  private RunningServer server;
  private Receiver receiver;

  @SuppressWarnings("NullAway.Init")
  ClientCommandsTest() {}

  @BeforeEach
  void start() throws Exception {
    server = new RunningServer(directory.resolve("data"));
    typed.at(server.url(), RunningServer.KEY);
    receiver =
        new Receiver(
            vertx,
            InstantSource.system(),
            new Receiver.Manner(200, Duration.ZERO, 0),
            arrivals::add);
    int port = receiver.listen("127.0.0.1", 0).await().actualPort();
    subscribe("http://127.0.0.1:" + port + "/hook", "order.*");
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    server.close();
    vertx.close().await();
  }

  private void subscribe(String url, String type) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/subscriptions"))
            .header("Authorization", "Bearer " + RunningServer.KEY)
            .header("Content-Type", "application/json")
            .POST(
                BodyPublishers.ofString("{\"url\":\"%s\",\"types\":[\"%s\"]}".formatted(url, type)))
            .build();
    assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(201);
  }

  private Arrival arrival() throws InterruptedException {
    return Objects.requireNonNull(arrivals.poll(30, TimeUnit.SECONDS), "nothing arrived");
  }

  // send

  @Test
  void a_server_with_an_embedded_store_is_shown_alone_with_its_version() {
    assertThat(typed.run("cluster", "--json")).as(typed.err).isZero();
    Item cluster = Objects.requireNonNull(Item.read(typed.out));
    assertThat(cluster.list("nodes"))
        .singleElement()
        .satisfies(node -> assertThat(node.text("version")).isEqualTo(Version.NUMBER));
  }

  @Test
  void an_event_is_sent_with_the_bytes_of_its_data() throws Exception {
    assertThat(
            typed.run(
                "send", "--type", "order.paid", "--subject", "o \"1\"", "--data", "{\"a\":1.10}"))
        .isZero();
    assertThat(typed.out).matches("Accepted evt_\\w+, for 1 message\\.\\R");
    Arrival arrival = arrival();
    assertThat(arrival.content().subject()).isEqualTo("o \"1\"");
    assertThat(arrival.content().text()).contains("\"data\":{\"a\":1.10}");
  }

  @Test
  void data_comes_from_a_file_or_from_standard_input_too() throws Exception {
    Path file = Files.writeString(directory.resolve("data.json"), "[1.0]\n");
    assertThat(typed.run("send", "--type", "order.a", "--data", "@" + file)).isZero();
    assertThat(arrival().content().text()).contains("\"data\":[1.0]");
    assertThat(typed.input("\"x\"").run("send", "--type", "order.b", "--data", "-")).isZero();
    assertThat(arrival().content().text()).contains("\"data\":\"x\"");
    assertThat(typed.run("send", "--type", "order.c")).isZero();
    assertThat(arrival().content().text()).contains("\"data\":{}");
  }

  @Test
  void an_id_that_was_accepted_before_is_told() {
    String[] command = {"send", "--type", "t", "--id", "i-1", "--json"};
    assertThat(typed.run(command)).isZero();
    assertThat(typed.out).isEqualTo("{\"id\":\"i-1\",\"messages\":0}%n".formatted());
    assertThat(typed.run("send", "--type", "t", "--id", "i-1")).isZero();
    assertThat(typed.out).contains("accepted before: i-1");
    assertThat(typed.run("send", "--type", "other", "--id", "i-1")).isEqualTo(1);
    assertThat(typed.err).contains("409", "id");
  }

  @Test
  void a_file_is_sent_in_batches_and_can_be_sent_again() throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 25; i++) {
      lines.append("{\"type\":\"order.x\",\"id\":\"f-%d\",\"data\":%d}\n\n".formatted(i, i));
    }
    Path file = Files.writeString(directory.resolve("events.ndjson"), lines);
    String[] command = {"send", "--file", file.toString(), "--batch", "10", "--json"};
    assertThat(typed.run(command)).isZero();
    assertThat(typed.out.lines()).hasSize(25).first().isEqualTo("{\"id\":\"f-0\",\"messages\":1}");
    assertThat(typed.err).contains("Accepted 25 events, for 25 messages");
    assertThat(typed.run(command)).isZero();
    for (int i = 0; i < 25; i++) {
      arrival();
    }
    assertThat(typed.input("{\"type\":\"t\",\"data\":1}").run("send", "--file", "-")).isZero();
    assertThat(typed.err).contains("Accepted 1 events");
    assertThat(arrivals).isEmpty();
  }

  @Test
  void nothing_is_sent_of_a_file_with_a_line_that_is_no_event() throws Exception {
    Path file =
        Files.writeString(directory.resolve("bad"), "{\"type\":\"order.x\",\"data\":1}\n[1]\n");
    assertThat(typed.run("send", "--file", file.toString(), "--batch", "1")).isEqualTo(1);
    assertThat(typed.err).contains("Line 2 is not a JSON object");
    assertThat(typed.run("messages", "--json")).isZero();
    assertThat(typed.out).isEmpty();
  }

  @Test
  void an_event_that_the_server_refuses_is_named_by_its_line() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("refused"),
            """
            {"type":"order.a","data":1}
            {"type":"order.b","data":1}

            {"type":"order.*","data":1}
            """);
    assertThat(typed.run("send", "--file", file.toString(), "--batch", "2")).isEqualTo(1);
    assertThat(typed.err)
        .contains("Line 4: ", "400", "2 events were accepted before", "--from-line 4");
  }

  @Test
  void wrong_usage_of_send_is_told_before_anything_is_sent() throws Exception {
    for (String[] arguments :
        new String[][] {
          {"send"},
          {"send", "--type", "t", "--data", "{"},
          {"send", "--type", "t", "--data", "text"},
          {"send", "--type", "t", "--data", ""},
          {"send", "--type", "t", "--data", "1 2"},
          {"send", "--type", "t", "--file", "x"},
          {"send", "--type", "t", "--batch", "3"},
          {"send", "--file", "x", "--batch", "0"},
          {"send", "--file", "x", "--from-line", "no"},
          {"send", "--file", "x", "--wait", "long"},
          {"send", "--type", "t", "more"}
        }) {
      assertThat(typed.run(arguments)).as(String.join(" ", arguments)).isEqualTo(2);
      assertThat(typed.err).contains("Try ./holdfast send --help").doesNotContain("\tat ");
    }
    for (String[] arguments :
        new String[][] {
          {"send", "--file", directory.toString()},
          {"send", "--file", directory.resolve("absent").toString()},
          {"send", "--type", "t", "--data", "@" + directory.resolve("absent")},
        }) {
      assertThat(typed.run(arguments)).as(String.join(" ", arguments)).isEqualTo(1);
      assertThat(typed.err).hasLineCount(1).doesNotContain("Exception");
    }
  }

  // endpoints and messages

  @Test
  void endpoints_are_listed_shown_and_operated_by_hand() throws Exception {
    assertThat(typed.run("endpoints")).isZero();
    assertThat(typed.out).contains("ID", "enabled", "created", "/hook").hasLineCount(2);
    String id = typed.out.replaceAll("(?s).*(ep_[0-9A-Z]{13}).*", "$1");
    assertThat(typed.run("endpoints", "freeze", id)).isZero();
    assertThat(typed.out).contains(id + " is frozen; 0 messages are unfinished.");
    assertThat(typed.run("endpoints", "list", "--state", "frozen", "--json")).isZero();
    assertThat(typed.out.lines()).singleElement().asString().startsWith("{\"id\":\"" + id);
    assertThat(typed.run("endpoints", "--state", "disabled")).isZero();
    assertThat(typed.out).contains("No endpoint is disabled.");
    assertThat(typed.run("endpoints", "enable", id)).isZero();
    assertThat(typed.run("endpoints", "disable", id, "--json")).isZero();
    assertThat(typed.out).contains("\"state\":\"disabled\"");
    assertThat(typed.run("endpoints", "show", id)).isZero();
    assertThat(typed.out)
        .contains("disabled since", "CHANGED", "frozen", "operator")
        .contains("last success   -");
    assertThat(typed.run("endpoints", "show", "ep_0000000000000")).isEqualTo(1);
    assertThat(typed.err).contains("404");
    assertThat(typed.run("endpoints", "show", "../../x y")).isEqualTo(1);
    assertThat(typed.run("endpoints", "--state", "broken")).isEqualTo(2);
    assertThat(typed.err).contains("--state", "enabled", "frozen");
  }

  @Test
  void messages_are_listed_shown_with_their_attempts_and_retried() throws Exception {
    receiver.answer(receiver.manner().withStatus(503));
    typed.run("send", "--type", "order.paid", "--subject", "o-1");
    arrival();
    String id = awaitMessage("waiting");
    assertThat(typed.run("messages", "show", id)).isZero();
    assertThat(typed.out)
        .contains("waiting", "order.paid", "o-1", "ATTEMPT", "503", " ms")
        .contains("next attempt   in ");
    receiver.answer(receiver.manner().withStatus(200));
    assertThat(typed.run("messages", "retry", id)).isZero();
    assertThat(typed.out).contains(id + " is being tried");
    arrival();
    awaitMessage("delivered");
    assertThat(typed.run("messages", "show", id, "--json")).isZero();
    assertThat(typed.out).contains("\"outcome\":\"success\"");
    assertThat(typed.run("messages", "retry", id)).isEqualTo(1);
    assertThat(typed.err).contains("409", "replay");
    assertThat(typed.run("messages", "--since", "1h", "--status", "waiting,parked")).isZero();
    assertThat(typed.out).contains("No such messages.");
    assertThat(typed.run("messages", "--since", "yesterday")).isEqualTo(2);
    assertThat(typed.err).contains("neither a time", "2h");
    assertThat(typed.run("messages", "--limit", "many")).isEqualTo(2);
    assertThat(typed.err).contains("'many' is not a whole number").doesNotContain("NumberFormat");
  }

  /** Asks until the only message has the status: what arrived is recorded a moment later. */
  private String awaitMessage(String status) {
    do {
      typed.run("messages", "list", "--status", status, "--limit", "5");
    } while (!typed.out.contains("msg_"));
    return typed.out.replaceAll("(?s).*(msg_[0-9A-Z]{13}).*", "$1");
  }

  @Test
  void a_list_goes_on_over_pages() throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 1_100; i++) {
      lines.append("{\"type\":\"order.x\",\"data\":1}\n");
    }
    assertThat(typed.input(lines.toString()).run("send", "--file", "-")).isZero();
    assertThat(typed.run("messages", "--json", "--limit", "2000")).isZero();
    assertThat(typed.out.lines()).hasSize(1_100).doesNotHaveDuplicates();
    assertThat(typed.run("messages", "--limit", "3")).isZero();
    assertThat(typed.out).hasLineCount(5).contains("There are more");
  }
}
