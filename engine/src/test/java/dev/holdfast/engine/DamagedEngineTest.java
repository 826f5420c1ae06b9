package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.SqliteStore;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An engine that comes to something damaged stops and says what to do; it does not go around it.
 */
final class DamagedEngineTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final long ENDPOINT = Id.floor(NOW);
  private static final long SUBSCRIPTION = ENDPOINT + Id.STRIDE;
  private static final long EVENT = SUBSCRIPTION + Id.STRIDE;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  @BeforeEach
  void writeAPendingMessage() throws Exception {
    Subscription subscription =
        new Subscription(
            SUBSCRIPTION, "default", ENDPOINT, List.of(new TypePattern("*")), null, NOW);
    Event event =
        new Event(
            EVENT,
            "default",
            "order.paid",
            null,
            null,
            "{}".getBytes(StandardCharsets.UTF_8),
            null,
            null,
            null);
    Message message =
        Message.pending(EVENT + Id.STRIDE, EVENT, SUBSCRIPTION, ENDPOINT, event.size());
    try (SqliteStore store = SqliteStore.open(data)) {
      store.write(
          new Batch(
              List.of(
                  new Write.Subscribe(
                      subscription,
                      new Endpoint(
                          ENDPOINT, "default", "http://127.0.0.1:9/", Health.created(NOW))),
                  new Write.Accept(List.of(new Write.AcceptedEvent(event, List.of(message))))),
              List.of()));
    }
  }

  @Test
  void it_stops_when_an_event_is_not_as_it_was_written() throws Exception {
    change("UPDATE events SET data = x'5b5d'");
    assertThat(whatBreaksIt())
        .hasMessageContaining("row " + EVENT + " of events is not as it was written")
        .hasMessageContaining("backup");
  }

  @Test
  void it_stops_when_an_event_of_an_unfinished_message_is_missing() throws Exception {
    change("DELETE FROM events");
    assertThat(whatBreaksIt())
        .hasMessageContaining("missing: [" + EVENT + "]")
        .hasMessageContaining("backup");
  }

  @Test
  void it_stops_when_a_message_is_not_as_it_was_written() throws Exception {
    change("UPDATE open SET slot = 1");
    assertThat(whatBreaksIt()).hasMessageContaining("of open is not as it was written");
  }

  @Test
  void it_does_not_start_when_the_endpoint_of_an_unfinished_message_is_missing() throws Exception {
    change("DELETE FROM endpoints");
    assertThatThrownBy(this::whatBreaksIt)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("missing: [" + ENDPOINT + "]")
        .hasMessageContaining("backup");
  }

  private void change(String sql) throws Exception {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + data.resolve("holdfast.db"));
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate(sql)).isEqualTo(1);
    }
  }

  private Throwable whatBreaksIt() throws Exception {
    CompletableFuture<Throwable> broken = new CompletableFuture<>();
    Vertx vertx = Vertx.vertx();
    try {
      Holdfast.open(
          new Options(
              data,
              new RetrySchedule(Duration.ofSeconds(1), 11),
              new EndpointHealth(
                  100, 700_000, 1_000, 2_000, Duration.ofHours(72), 50_000, Duration.ofMinutes(10)),
              Recovery.DRAIN,
              Limits.forHeap(256L << 20, 32),
              Duration.ofSeconds(5),
              Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8"))),
              "Holdfast/test",
              Retention.FOREVER),
          vertx,
          InstantSource.system(),
          broken::complete);
      return broken.get(30, TimeUnit.SECONDS);
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
  }
}
