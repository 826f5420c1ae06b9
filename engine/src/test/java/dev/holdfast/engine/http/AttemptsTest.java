package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AttemptsTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final int MOST_CONNECTIONS = 8;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(2));
  private final Context context = ((VertxInternal) vertx).createEventLoopContext();
  private final Context apart = ((VertxInternal) vertx).createEventLoopContext();
  private final Attempts attempts =
      new Attempts(
          context,
          apart,
          Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8"))),
          Duration.ofSeconds(20),
          MOST_CONNECTIONS,
          "Holdfast/test",
          null);

  @AfterEach
  void end() {
    attempts.close();
    vertx.close().await();
  }

  private CompletableFuture<Outcome> send(String url, boolean proven) {
    Delivery delivery = Senders.delivery(url, Senders.event("1"));
    CompletableFuture<Outcome> ending = new CompletableFuture<>();
    context.runOnContext(
        _ ->
            attempts.send(
                new Delivery(
                    delivery.message(),
                    delivery.event(),
                    delivery.subscription(),
                    url,
                    delivery.startedAt(),
                    proven),
                (outcome, _) -> {
                  assertThat(Vertx.currentContext()).isSameAs(context);
                  ending.complete(outcome);
                }));
    return ending;
  }

  private static Outcome await(CompletableFuture<Outcome> ending) {
    return ending.orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Test
  void all_are_made_and_heard_of_on_the_engines_event_loop() {
    try (Receiver receiver = Receiver.answering(OK)) {
      for (boolean proven : new boolean[] {false, true, false, true}) {
        assertThat(await(send(receiver.url(), proven))).isInstanceOf(Outcome.Success.class);
      }
      assertThat(await(send("http://10.0.0.1/", false)))
          .isEqualTo(Outcome.Failure.of(Kind.FORBIDDEN));
      assertThat(await(send("no url", true))).isEqualTo(Outcome.Failure.of(Kind.FORBIDDEN));
    }
  }

  @Test
  void those_to_endpoints_that_have_proven_themselves_do_not_wait_for_the_others()
      throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    try (Receiver receiver = Receiver.answering(OK)) {
      apart.runOnContext(
          _ -> {
            blocked.countDown();
            try {
              over.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      blocked.await();
      CompletableFuture<Outcome> unproven = send(receiver.url(), false);

      assertThat(await(send(receiver.url(), true))).isInstanceOf(Outcome.Success.class);
      assertThat(unproven).isNotDone();

      over.countDown();
      assertThat(await(unproven)).isInstanceOf(Outcome.Success.class);
    }
  }

  @Test
  void both_together_keep_no_more_connections_than_there_may_be() {
    AtomicInteger waiting = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(1);
    try (Receiver receiver = Receiver.answering(OK);
        Receiver holding =
            Receiver.start(
                peer -> {
                  peer.request();
                  if (waiting.incrementAndGet() == MOST_CONNECTIONS) {
                    all.countDown();
                  }
                  all.await();
                  peer.write(OK);
                  peer.awaitClose();
                })) {
      for (int i = 0; i < MOST_CONNECTIONS; i++) {
        await(send("http://127.0.0." + (i + 1) + ":" + receiver.port() + "/", true));
      }
      List<CompletableFuture<Outcome>> endings = new ArrayList<>();
      for (int i = 0; i < MOST_CONNECTIONS; i++) {
        endings.add(send(holding.url(), false));
      }
      for (CompletableFuture<Outcome> ending : endings) {
        assertThat(await(ending)).isInstanceOf(Outcome.Success.class);
      }
      while (attempts.openConnections() > MOST_CONNECTIONS) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void forbidden_hosts_are_found_for_whoever_asks() {
    CompletableFuture<Set<String>> found = new CompletableFuture<>();
    attempts.findForbidden(Set.of("localhost"), Duration.ofSeconds(5), found::complete);
    assertThat(found.orTimeout(30, TimeUnit.SECONDS).join()).isEmpty();
  }
}
