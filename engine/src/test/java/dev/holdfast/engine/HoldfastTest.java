package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.path.Limits;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.SqliteStore;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HoldfastTest {

  @Test
  void an_engine_that_cannot_start_says_so_and_lets_go_of_its_directory(@TempDir Path data)
      throws Exception {
    SqliteStore.open(data).close();
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + data.resolve("holdfast.db"));
        Statement statement = connection.createStatement()) {
      statement.execute(
          "INSERT INTO subscriptions (id, tenant, endpoint, types, created_at, sum)"
              + " VALUES (1, 'default', 2, '', 0, 0)");
    }
    Options options =
        new Options(
            data,
            new RetrySchedule(Duration.ofMillis(84_800), 11),
            new EndpointHealth(
                100, 700_000, 1_000, 2_000, Duration.ofDays(3), 50_000, Duration.ofMinutes(10)),
            Recovery.DRAIN,
            Limits.forHeap(256L << 20, 32),
            Duration.ofSeconds(5),
            Egress.direct(EgressRules.allowing(List.of())),
            "Holdfast/test",
            Retention.FOREVER);
    Vertx vertx = Vertx.vertx();
    try {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> Holdfast.open(options, vertx, InstantSource.system(), e -> {}))
            .isInstanceOf(StoreException.class);
      }
    } finally {
      vertx.close().await();
    }
  }
}
