package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.engine.Leaks;
import dev.holdfast.engine.Seeds;
import dev.holdfast.engine.http.RandomFrames.Server;
import dev.holdfast.engine.http.Senders.Ending;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever servers say in HTTP/2: each attempt ends once, in time, and as the answer says; nothing
 * stays behind; and a receiver that is well does not notice.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class Http2FuzzTest {
  private static final int ROUNDS = 1;

  /** At once, since many of them take all the time that there is. */
  private static final int SERVERS = 200;

  /** For servers that may well never answer. The others get all the time that they need. */
  private static final long TIMEOUT_MILLIS = 3_000;

  /** For a loaded machine. */
  private static final long SLACK_MILLIS = 15_000;

  @TempDir static Path directory;

  private static HookCertificate certificate;

  @BeforeAll
  static void make_a_certificate() throws Exception {
    certificate = new HookCertificate(directory);
  }

  private record Attempt(Server server, Receiver receiver, CompletableFuture<Ending> ending) {}

  @Test
  void no_frames_make_an_attempt_end_otherwise_than_it_should() throws Exception {
    try (Leaks leaks = new Leaks()) {
      Seeds.each(ROUNDS, Http2FuzzTest::round);
      leaks.assertNone();
    }
  }

  private static void round(SplittableRandom random) throws Exception {
    List<Attempt> attempts = new ArrayList<>();
    try (Http2Receiver healthy =
            Http2Receiver.start(certificate, request -> request.answer(200, "ok"));
        Senders patient = Senders.with().tls(certificate.trusting).build();
        Senders senders =
            Senders.with().tls(certificate.trusting).timeoutMillis(TIMEOUT_MILLIS).build()) {
      try {
        RandomFrames frames = new RandomFrames(random);
        for (int i = 0; i < SERVERS; i++) {
          Server server = frames.next();
          Receiver receiver = certificate.receiver(server.script(), "h2");
          String url = HookCertificate.url(receiver);
          Event event =
              Senders.event("\"" + "x".repeat(random.nextInt(10) == 0 ? 300_000 : 10) + "\"");
          for (int j = random.nextInt(1, 4); j > 0; j--) {
            Senders sending = server.isProper() ? patient : senders;
            attempts.add(
                new Attempt(server, receiver, sending.start(Senders.delivery(url, event))));
          }
          if (i % 10 == 0) {
            assertThat(patient.send(healthy.url()).outcome())
                .as("beside %s", server.name())
                .isInstanceOf(Outcome.Success.class);
          }
        }
        for (Attempt attempt : attempts) {
          Ending ending = Senders.await(attempt.ending());
          String name = attempt.server().name() + " ended as " + ending.outcome();
          assertThat(attempt.server().isRight()).as(name).accepts(ending.outcome());
          if (!attempt.server().isProper()) {
            assertThat(ending.millis()).as(name).isBetween(0L, TIMEOUT_MILLIS + SLACK_MILLIS);
          }
          assertThat(ending.outcome().response().length)
              .as(name)
              .isLessThanOrEqualTo(Sending.KEPT_BYTES);
        }
        assertThat(senders.onLoop(() -> senders.sender.deadlines.isEmpty())).isTrue();
      } finally {
        attempts.forEach(attempt -> attempt.receiver().close());
      }
      assertThat(patient.send(healthy.url()).response()).isEqualTo("ok");
      assertThat(healthy.connections()).isOne();
      awaitNoConnections(senders);
      awaitNoConnections(patient);
    }
  }

  private static void awaitNoConnections(Senders senders) throws InterruptedException {
    senders.onLoop(
        () -> {
          senders.sender.close();
          return true;
        });
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLACK_MILLIS);
    while (senders.onLoop(senders.sender::openConnections) > 0 && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
  }
}
