package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.engine.Leaks;
import dev.holdfast.engine.Seeds;
import dev.holdfast.engine.http.RandomAnswers.Answer;
import dev.holdfast.engine.http.Senders.Ending;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever receivers answer: each attempt ends once, in time, and as the answer says; nothing stays
 * behind; and a receiver that is well does not notice.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class AnswerFuzzTest {
  private static final int ROUNDS = 1;

  /** At once, since many of them take all the time that there is. */
  private static final int ANSWERS = 400;

  private static final long TIMEOUT_MILLIS = 3_000;

  /** For a loaded machine. */
  private static final long SLACK_MILLIS = 15_000;

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private record Attempt(Answer answer, Receiver receiver, CompletableFuture<Ending> ending) {}

  @Test
  void no_answer_makes_an_attempt_end_otherwise_than_it_should() throws Exception {
    try (Leaks leaks = new Leaks()) {
      Seeds.each(ROUNDS, AnswerFuzzTest::round);
      leaks.assertNone();
    }
  }

  private static void round(SplittableRandom random) throws Exception {
    List<Attempt> attempts = new ArrayList<>();
    try (Receiver healthy = Receiver.answering(OK);
        Senders senders = Senders.with().timeoutMillis(TIMEOUT_MILLIS).build()) {
      try {
        RandomAnswers answers = new RandomAnswers(random);
        for (int i = 0; i < ANSWERS; i++) {
          Answer answer = answers.next();
          Receiver receiver = Receiver.start(answer.script());
          String url =
              (answer.overTls() ? "https" : "http") + "://127.0.0.1:" + receiver.port() + "/hook";
          Event event =
              Senders.event("\"" + "x".repeat(random.nextInt(10) == 0 ? 300_000 : 10) + "\"");
          attempts.add(new Attempt(answer, receiver, senders.start(Senders.delivery(url, event))));
          if (i % 10 == 0) {
            assertThat(senders.send(healthy.url()).outcome())
                .as("beside %s", answer.name())
                .isInstanceOf(Outcome.Success.class);
          }
        }
        for (Attempt attempt : attempts) {
          Ending ending = Senders.await(attempt.ending());
          String name = attempt.answer().name() + " ended as " + ending.outcome();
          assertThat(attempt.answer().isRight()).as(name).accepts(ending.outcome());
          assertThat(ending.millis()).as(name).isBetween(0L, TIMEOUT_MILLIS + SLACK_MILLIS);
          assertThat(ending.outcome().response().length)
              .as(name)
              .isLessThanOrEqualTo(Sending.KEPT_BYTES);
        }
        assertThat(senders.onLoop(() -> senders.sender.deadlines.isEmpty())).isTrue();
      } finally {
        attempts.forEach(attempt -> attempt.receiver().close());
      }
      assertThat(senders.send(healthy.url()).response()).isEqualTo("ok");
      senders.onLoop(
          () -> {
            senders.sender.close();
            return true;
          });
      awaitNoConnections(senders);
    }
  }

  private static void awaitNoConnections(Senders senders) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLACK_MILLIS);
    while (senders.onLoop(senders.sender::openConnections) > 0 && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
  }
}
