package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands against a server that answers as the test wants it. */
@Timeout(60)
class FakedServerTest {
  private static final String EVENTS = "POST /v1/events";
  private static final String BATCH = "POST /v1/events/batch";
  private static final String RUNNING =
      """
      {"id":"rpl_1","state":"running","total":null,"done":0,"skipped":0,"createdAt":"2026-03-01T11:00:00Z"}""";
  private static final String HALF =
      """
      {"id":"rpl_1","state":"running","total":10,"done":4,"skipped":1,"createdAt":"2026-03-01T11:00:00Z"}""";
  private static final String DONE =
      """
      {"id":"rpl_1","state":"done","total":10,"done":8,"skipped":2,"createdAt":"2026-03-01T11:00:00Z"}""";

  private final FakeApi api;
  private final Typed typed = new Typed();

  FakedServerTest() throws IOException {
    api = new FakeApi();
    typed.at(api.url(), "hf_key");
  }

  @AfterEach
  void close() {
    api.close();
  }

  // send

  @Test
  void an_overloaded_server_is_waited_for_as_it_asks() {
    api.on(EVENTS, 429, Map.of("Retry-After", "3"), "{\"detail\":\"x\"}")
        .on(EVENTS, 503, "{\"detail\":\"x\"}")
        .on(EVENTS, 202, "{\"id\":\"evt_1\",\"messages\":2}");
    assertThat(typed.run("send", "--type", "t")).isZero();
    assertThat(typed.out).contains("Accepted evt_1, for 2 messages.");
    assertThat(typed.waited).containsExactly(Duration.ofSeconds(3), Duration.ofSeconds(1));
  }

  @Test
  void it_is_not_waited_for_longer_than_wanted() {
    api.on(
        EVENTS, 503, Map.of("Retry-After", "40"), "{\"title\":\"Full\",\"detail\":\"No room.\"}");
    assertThat(typed.run("send", "--type", "t", "--wait", "100s")).isEqualTo(1);
    assertThat(typed.waited).containsExactly(Duration.ofSeconds(40), Duration.ofSeconds(40));
    assertThat(typed.err).contains("Full (503): No room.");
  }

  @Test
  void somebody_who_is_asked_to_end_while_waiting_ends() {
    api.on(EVENTS, 503, "{\"detail\":\"x\"}");
    typed.waitsUntilAsked = 1;
    assertThat(typed.run("send", "--type", "t")).isEqualTo(1);
    assertThat(typed.err).contains("Ended while waiting");
  }

  @Test
  void a_file_that_is_sent_can_be_broken_off_and_gone_on_with() {
    api.on(BATCH, 202, "{\"events\":[{\"id\":\"a\",\"messages\":1}]}");
    typed.waitsUntilAsked = 2;
    typed.input("{\"type\":\"t\",\"data\":1}\n".repeat(5));
    assertThat(typed.run("send", "--file", "-", "--batch", "1")).isEqualTo(1);
    assertThat(typed.err)
        .contains("Ended as asked. 2 events were accepted before. Go on with --from-line 3.");
    assertThat(api.asked).hasSize(2);
  }

  @Test
  void a_connection_that_breaks_in_a_batch_is_told_with_where_to_go_on(@TempDir Path directory)
      throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("f"), "{\"type\":\"a\",\"data\":1}\n{\"type\":\"b\",\"data\":1}\n");
    try (ServerSocket rude = new ServerSocket(0)) {
      Thread.ofVirtual()
          .start(
              () -> {
                try (Socket connection = rude.accept()) {
                  connection.getOutputStream().write("rude".getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
      typed.at("http://127.0.0.1:" + rude.getLocalPort(), "k");
      assertThat(typed.run("send", "--file", file.toString())).isEqualTo(1);
      assertThat(typed.err)
          .contains("lines 1 to 2 were accepted is not known", "--from-line 1", "ids");
    }
  }

  @Test
  void progress_is_drawn_on_a_terminal_only() {
    api.on(BATCH, 202, "{\"events\":[{\"id\":\"a\",\"messages\":1}]}");
    String events = "{\"type\":\"t\",\"data\":1}\n".repeat(3);
    assertThat(typed.input(events).run("send", "--file", "-", "--batch", "1")).isZero();
    assertThat(typed.err).hasLineCount(1).doesNotContain("per second");
    assertThat(typed.terminal(80).run("send", "--file", "-", "--batch", "1")).isZero();
    assertThat(typed.err).contains("1 events, ", "per second");
  }

  // replay

  @Test
  void a_replay_is_started_and_awaited() {
    api.on("POST /v1/replays", 202, RUNNING)
        .on("GET /v1/replays/rpl_1", 200, HALF)
        .on("GET /v1/replays/rpl_1", 200, DONE);
    typed.now(Instant.parse("2026-03-03T00:00:00Z")).terminal(200);
    assertThat(typed.run("replay", "--endpoint", "ep_1", "--since", "2d", "--again")).isZero();
    assertThat(api.bodies.getFirst())
        .isEqualTo(
            "{\"endpoint\":\"ep_1\",\"status\":[\"dropped\"],\"since\":\"2026-03-01T00:00:00Z\",\"again\":true}");
    assertThat(typed.out).isEqualTo("rpl_1 is done: 8 of 10 replayed, 2 skipped.%n".formatted());
    assertThat(typed.err)
        .contains("Started rpl_1.", "--show rpl_1", "--cancel rpl_1")
        .contains("[###############---------------]  50 %  4 of 10 replayed, 1 skipped");
  }

  @Test
  void a_replay_goes_on_when_the_command_is_asked_to_end() {
    api.on("POST /v1/replays", 202, RUNNING).on("GET /v1/replays/rpl_1", 200, HALF);
    typed.waitsUntilAsked = 2;
    assertThat(typed.run("replay", "--subscription", "sub_1", "--status", "dropped,delivered"))
        .isZero();
    assertThat(api.bodies.getFirst()).contains("\"status\":[\"dropped\",\"delivered\"]");
    assertThat(typed.err).contains("It goes on.", "replay --show rpl_1", "--cancel rpl_1");
    assertThat(api.asked).noneMatch(call -> call.contains("cancel"));
  }

  @Test
  void a_replay_need_not_be_awaited_and_can_be_looked_at_cancelled_and_listed() {
    api.on("POST /v1/replays", 202, RUNNING)
        .on("GET /v1/replays/rpl_1", 200, HALF)
        .on("POST /v1/replays/rpl_1/cancel", 200, HALF.replace("running", "cancelled"))
        .on("GET /v1/replays?limit=100", 200, "{\"items\":[" + DONE + "],\"next\":null}");
    assertThat(typed.run("replay", "--endpoint", "ep_1", "--no-wait", "--json")).isZero();
    assertThat(typed.out).contains("\"state\":\"running\"");
    assertThat(typed.run("replay", "--show", "rpl_1")).isZero();
    assertThat(typed.out).contains("rpl_1 is running: 4 of 10 replayed");
    assertThat(typed.run("replay", "--cancel", "rpl_1")).isZero();
    assertThat(typed.out).contains("rpl_1 is cancelled");
    assertThat(typed.run("replay", "--list")).isZero();
    assertThat(typed.out).contains("STATE", "rpl_1", "done");
  }

  @Test
  void a_replay_that_somebody_cancels_is_not_done() {
    api.on("POST /v1/replays", 202, RUNNING)
        .on("GET /v1/replays/rpl_1", 200, HALF.replace("running", "cancelled"));
    assertThat(typed.run("replay", "--endpoint", "ep_1")).isEqualTo(1);
    assertThat(typed.err).contains("cancelled before it was done");
  }

  @Test
  void wrong_usage_of_replay_starts_nothing() {
    for (String[] arguments :
        new String[][] {
          {"replay"},
          {"replay", "--status", "dropped"},
          {"replay", "--endpoint", "ep_1", "--status", "waiting"},
          {"replay", "--endpoint", "ep_1", "--since", "soon"},
          {"replay", "--show", "rpl_1", "--cancel", "rpl_1"},
          {"replay", "--show", "rpl_1", "--again"},
          {"replay", "rpl_1"}
        }) {
      assertThat(typed.run(arguments)).as(String.join(" ", arguments)).isEqualTo(2);
      assertThat(typed.err).contains("Try ./holdfast replay --help");
    }
    assertThat(api.asked).isEmpty();
  }

  // endpoints test

  @Test
  void a_test_message_tells_how_the_endpoint_answered() {
    api.on(
            "POST /v1/endpoints/ep_1/test",
            200,
            "{\"outcome\":\"success\",\"status\":204,\"error\":null,\"durationMillis\":12,\"response\":\"\"}")
        .on(
            "POST /v1/endpoints/ep_2/test",
            200,
            "{\"outcome\":\"failure\",\"status\":null,\"error\":\"timeout\",\"durationMillis\":5000,\"response\":\"\"}");
    assertThat(typed.run("endpoints", "test", "ep_1")).isZero();
    assertThat(typed.out).contains("Answered 204 after 12 ms.");
    assertThat(typed.run("endpoints", "test", "ep_2")).isEqualTo(1);
    assertThat(typed.err).contains("No answer (timeout) after 5,000 ms.");
  }

  @Test
  void a_message_that_has_a_version_of_its_own_shows_it() {
    String message =
        """
        {"id":"msg_1","event":"e","subscription":"sub_1","endpoint":"ep_1","type":"PROJ.UPDATE",\
        "subject":null,"status":"delivered","reason":null,"createdAt":"2026-03-01T12:00:00Z",\
        "deadline":null,"nextAttemptAt":null,"replayOf":null,"version":%s,"attempts":[]}""";
    api.on("GET /v1/messages/msg_1", 200, message.formatted("\"v1\""));
    assertThat(typed.run("messages", "show", "msg_1")).isZero();
    assertThat(typed.out).containsPattern("(?m)^ *version:? +v1$");
    api.on("GET /v1/messages/msg_2", 200, message.formatted("null"));
    assertThat(typed.run("messages", "show", "msg_2")).isZero();
    assertThat(typed.out).doesNotContain("version");
  }

  // Servers that are none

  @Test
  void somebody_else_who_answers_is_told() {
    api.on("GET /v1/endpoints?limit=50", 502, "<html>bad gateway</html>");
    assertThat(typed.run("endpoints")).isEqualTo(1);
    assertThat(typed.err).contains("answered 502, and not as a Holdfast does");
    api.on("GET /v1/messages?limit=50", 200, "hello");
    assertThat(typed.run("messages")).isEqualTo(1);
    assertThat(typed.err).contains("not what a Holdfast answers");
  }

  @Test
  void a_name_that_nobody_knows_is_told() {
    typed.at("http://no-such-name.invalid", "k");
    assertThat(typed.run("endpoints")).isEqualTo(1);
    assertThat(typed.err).contains("no-such-name.invalid").hasLineCount(1);
  }

  @Test
  void what_a_server_says_cannot_rewrite_the_screen() {
    api.on(
        "GET /v1/endpoints?limit=50",
        200,
        "{\"items\":[{\"id\":\"ep_1\",\"url\":\"http://a/\\u001b[2J\",\"state\":\"enabled\"}],\"next\":null}");
    assertThat(typed.run("endpoints")).isZero();
    assertThat(typed.out).contains("http://a/?[2J").doesNotContain("\u001b");
  }

  @Test
  void a_terminal_gets_colours_and_long_texts_cut() {
    api.on(
        "GET /v1/endpoints?limit=50",
        200,
        "{\"items\":[{\"id\":\"ep_1\",\"url\":\"http://a/%s\",\"state\":\"enabled\"}],\"next\":null}"
            .formatted("x".repeat(200)));
    assertThat(typed.terminal(100).run("endpoints")).isZero();
    assertThat(typed.out).contains("\u001b[32menabled", "…");
    assertThat(typed.out.replaceAll("\u001b\\[[0-9;]*m", "").lines())
        .allMatch(line -> line.length() <= 100);
  }
}
