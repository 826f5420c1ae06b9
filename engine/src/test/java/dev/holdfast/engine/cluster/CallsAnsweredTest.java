package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls through the real table. A node that asks itself does what two would do. */
@Timeout(60)
class CallsAnsweredTest {
  private final PostgresStore store;
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger unwritten = new AtomicInteger();

  CallsAnsweredTest() throws Exception {
    store =
        PostgresStore.open(
            new PostgresOptions(PostgresServer.freshDatabase()),
            new MasterKeySource.Given(
                List.of(
                    MasterKey.parse("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=").orElseThrow()),
                "the test"),
            InstantSource.system());
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void what_was_done_is_not_done_again_because_the_answer_could_not_be_written() throws Exception {
    unwritten.set(2);
    try (Calls calls = calls(Shards.ALL)) {
      assertThat(ask(calls).get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.RetryStarted.class);
    }
    assertThat(unwritten).hasValue(-1);
    assertThat(asked).hasValue(1);
  }

  @Test
  void many_who_wait_are_looked_for_as_often_as_one() throws Exception {
    try (Calls calls = calls(Shards.NONE)) {
      for (int i = 0; i < 50; i++) {
        var _ = ask(calls);
      }
      awaitLooks(1);
      int before = looks.get();
      long since = System.nanoTime();
      awaitLooks(before + 10);

      assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(Duration.ofMillis(800));
    }
  }

  private void awaitLooks(int count) {
    while (looks.get() < count) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private Calls calls(Shards ours) {
    return new Calls(
        this::connect,
        () -> ours,
        _ -> {},
        (_, _, replyTo) -> {
          asked.incrementAndGet();
          replyTo.accept(new Answer.RetryStarted());
        },
        store,
        store);
  }

  private static CompletableFuture<Answer> ask(Calls calls) {
    CompletableFuture<Answer> answered = new CompletableFuture<>();
    calls.ask(1, 7, new Request.RetryNow("acme", 12), Actor.PROGRAM, answered::complete);
    return answered;
  }

  /** A connection that counts looks, and on which some answers cannot be written. */
  private Connection connect() throws SQLException {
    Connection real = store.connections().own();
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class},
            (_, method, given) -> {
              if (method.getName().equals("prepareStatement")) {
                prepared((String) given[0]);
              }
              try {
                return method.invoke(real, given);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  private void prepared(String sql) throws SQLException {
    if (sql.startsWith("SELECT id, request FROM calls")) {
      looks.incrementAndGet();
    }
    if (sql.startsWith("UPDATE calls") && unwritten.getAndDecrement() > 0) {
      throw new SQLException("cut off", "08006");
    }
  }
}
