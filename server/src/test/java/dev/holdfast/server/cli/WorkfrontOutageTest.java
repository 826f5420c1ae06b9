package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.WorkfrontReceiver.Manner;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Two days in which a receiver is out of order, some thousand times faster than they would be: all
 * that takes time is set to as much less.
 */
@Timeout(180)
class WorkfrontOutageTest {
  private static final String TOKEN = "EauthTokenWorkfrontRocks1234_";
  private static final Duration LONGEST = Duration.ofSeconds(100);

  @TempDir private Path directory = Path.of("");

  private RunningServer server;
  private WorkfrontProgram program;
  private WorkfrontReceiver receiver;
  private String subscription = "";
  private final HttpClient client = HttpClient.newHttpClient();

  @SuppressWarnings("NullAway.Init")
  WorkfrontOutageTest() {}

  /**
   * Starts a server that is so many times faster, and a program that has subscribed to it.
   *
   * @param unit stands for the 84.8 s before the first retry; the last comes after 2,047 of them
   */
  private void start(Duration unit) throws Exception {
    long probe = unit.toNanos() * 600_000 / 84_800 / 1_000_000;
    server =
        new RunningServer(
            directory.resolve("data"),
            "retry.unit=" + unit.toMillis() + "ms",
            "circuit.probe-every=" + probe + "ms");
    program = new WorkfrontProgram(server.url(), RunningServer.KEY);
    receiver = new WorkfrontReceiver(TOKEN);
    subscription =
        program
            .json(
                program.call(
                    "POST",
                    "/subscriptions",
                    """
                    {"objCode":"PROJ","eventType":"UPDATE","url":"%s","authToken":"%s"}"""
                        .formatted(receiver.url(), TOKEN)))
            .get("id")
            .asString();
  }

  @AfterEach
  void stop() {
    receiver.close();
    server.close();
  }

  private void send(int events) throws Exception {
    for (int i = 0; i < events; i++) {
      program.send(
          """
          {"objCode":"PROJ","eventType":"UPDATE","objId":"p%d","newState":{"n":%d}}"""
              .formatted(i, i));
    }
  }

  /** What the original tells of a URL. */
  private JsonNode url() throws Exception {
    return program
        .json(program.call("GET", "/subscriptions/" + subscription, null))
        .get("subscription_url");
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + LONGEST.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("in vain: " + what);
      }
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  @Test
  void a_message_is_tried_eleven_times_again_on_schedule_and_can_be_taken_at_the_very_last()
      throws Exception {
    Duration unit = Duration.ofMillis(10);
    start(unit);
    receiver.manner =
        (message, attempt) ->
            attempt == 12 && message.get("newState").get("n").asInt() < 3
                ? Manner.TAKES
                : Manner.FAILS;
    send(4);
    await(
        "three messages taken and one given up",
        () -> receiver.taken.size() == 3 && dropped() == 1);
    for (List<Long> times : receiver.attempts.values()) {
      assertThat(times).hasSize(12);
      for (int retry = 1; retry < 12; retry++) {
        Duration since = Duration.ofNanos(times.get(retry) - times.getFirst());
        assertThat(since).isGreaterThanOrEqualTo(unit.multipliedBy((1L << retry) - 1));
      }
    }
    assertThat(messages("dropped").get(0).get("reason").asString()).isEqualTo("exhausted");
    await("the successes counted", () -> url().get("successes").asLong() == 3);
    assertThat(url().get("failures").asLong()).isEqualTo(45);
    assertThat(url().get("disabled_at").isNull()).isTrue();
    assertThat(receiver.unauthorized()).isZero();
  }

  @Test
  void a_url_that_fails_is_disabled_probed_and_recovers_and_everything_arrives() throws Exception {
    start(Duration.ofMillis(40));
    send(20);
    await("20 messages taken", () -> receiver.taken.size() == 20);

    // A redirect is not followed, and an answer that is right but later than 5 s is none.
    receiver.manner = (_, attempt) -> new Manner(attempt == 1 ? 302 : 503, Duration.ZERO);
    send(3);
    await("three redirects", () -> receiver.statuses.getOrDefault(302, 0) == 3);
    receiver.manner =
        (message, _) ->
            message.get("newState").get("n").asInt() == 5
                ? new Manner(200, Duration.ofMillis(5_200))
                : Manner.FAILS;
    send(130);
    await("the URL disabled", () -> !url().get("disabled_at").isNull());
    await("a late answer", () -> receiver.late.get() > 0);
    assertThat(receiver.taken).hasSize(20);

    // One probe after the other, for some hours.
    receiver.manner = (_, _) -> Manner.FAILS;
    int before = receiver.requests.get();
    await("20 probes", () -> receiver.requests.get() >= before + 20);
    assertThat(url().get("disabled_at").isNull()).isFalse();
    assertThat(url().get("frozen_at").isNull()).isTrue();
    send(10);

    receiver.manner = (_, _) -> Manner.TAKES;
    await("all messages taken", () -> receiver.taken.size() == 163);
    await("the URL enabled again", () -> url().get("disabled_at").isNull());
    await("the successes counted", () -> url().get("successes").asLong() >= 163);
    assertThat(receiver.attempts).hasSize(163);
    assertThat(dropped()).isZero();
    assertThat(receiver.unauthorized()).isZero();
  }

  @Test
  void after_more_than_two_days_what_waited_is_given_up_and_kept_and_can_be_sent_again()
      throws Exception {
    start(Duration.ofMillis(4));
    receiver.manner = (_, _) -> Manner.FAILS;
    send(130);
    await("the URL disabled", () -> !url().get("disabled_at").isNull());
    await("everything given up", () -> dropped() == 130);
    assertThat(receiver.taken).isEmpty();

    receiver.manner = (_, _) -> Manner.TAKES;
    send(10);
    await("what came after it taken", () -> receiver.taken.size() == 10);
    await("the URL enabled again", () -> url().get("disabled_at").isNull());

    Typed typed = new Typed().at(server.url(), RunningServer.KEY);
    assertThat(typed.run("replay", "--subscription", subscription, "--status", "dropped"))
        .as(typed.err)
        .isZero();
    await("everything taken", () -> receiver.taken.size() == 140);
  }

  private JsonNode messages(String status) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(server.url() + "/v1/messages?limit=1000&status=" + status))
            .header("Authorization", "Bearer " + RunningServer.KEY)
            .build();
    return program.json(client.send(request, BodyHandlers.ofString())).get("items");
  }

  private int dropped() throws Exception {
    return messages("dropped").size();
  }
}
