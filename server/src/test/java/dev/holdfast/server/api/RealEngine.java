package dev.holdfast.server.api;

import dev.holdfast.core.path.Limits;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Options;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.store.Retention;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real engine with the embedded store, that may deliver to this machine. */
final class RealEngine implements AutoCloseable {
  static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);

  private static final EndpointHealth HEALTH =
      new EndpointHealth(
          100, 700_000, 1_000, 2_000, Duration.ofHours(72), 50_000, Duration.ofMinutes(10));

  private final Vertx vertx = Vertx.vertx();
  final Holdfast holdfast;

  RealEngine(Path data) throws Exception {
    holdfast =
        Holdfast.open(
            new Options(
                data,
                SCHEDULE,
                HEALTH,
                Recovery.DRAIN,
                Limits.forHeap(256L << 20, 32),
                Duration.ofSeconds(5),
                Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8"))),
                "Holdfast/test",
                Retention.FOREVER),
            vertx,
            InstantSource.system(),
            failure -> {
              throw new AssertionError("the engine broke", failure);
            });
  }

  @Override
  public void close() {
    ended(holdfast.stop());
    ended(vertx.close());
  }

  private static void ended(Future<Void> end) {
    end.toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
