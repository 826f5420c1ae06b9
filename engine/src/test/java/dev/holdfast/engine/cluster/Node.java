package dev.holdfast.engine.cluster;

import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Overload;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Options;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An engine that shares a database with others of the test. */
final class Node implements AutoCloseable {
  static final String TENANT = "default";
  static final Duration LEASE = Duration.ofSeconds(5);

  private final Vertx vertx = Vertx.vertx();
  final Holdfast engine;
  volatile @Nullable Throwable broken;

  private Node(String url, String name, boolean listens, Duration ahead) throws Exception {
    InstantSource wall = () -> InstantSource.system().instant().plus(ahead);
    engine =
        Holdfast.open(
            new Options(
                    Path.of("unused"),
                    new RetrySchedule(Duration.ofMillis(200), 8),
                    new EndpointHealth(
                        100,
                        700_000,
                        1_000,
                        2_000,
                        Duration.ofDays(3),
                        50_000,
                        Duration.ofMinutes(10)),
                    Recovery.DRAIN,
                    Limits.forHeap(256L << 20, 32),
                    Overload.NONE,
                    Duration.ofMillis(1_500),
                    Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8"))),
                    "Holdfast/test",
                    Retention.FOREVER,
                    new MasterKeySource.Given(
                        List.of(
                            MasterKey.parse("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")
                                .orElseThrow()),
                        "the test"))
                .with(
                    new Options.Shared(
                        new PostgresOptions(url, null, null, 4, LEASE, name), listens)),
            vertx,
            wall,
            e -> broken = e);
  }

  static Node open(String url, String name) throws Exception {
    return new Node(url, name, true, Duration.ZERO);
  }

  /** One that is not woken by others, and wakes none. */
  static Node deaf(String url, String name) throws Exception {
    return new Node(url, name, false, Duration.ZERO);
  }

  /** One whose machine's clock is wrong. */
  static Node withClock(String url, String name, Duration ahead) throws Exception {
    return new Node(url, name, true, ahead);
  }

  Answer ask(Request request) {
    return begin(request).join();
  }

  CompletableFuture<Answer> begin(Request request) {
    CompletableFuture<Answer> answered = new CompletableFuture<>();
    engine.ask(request, answered::complete);
    return answered.orTimeout(30, TimeUnit.SECONDS);
  }

  static Request submit(String type, String data) {
    return new Request.Submit(
        TENANT,
        List.of(
            new Request.NewEvent(
                type, null, null, data.getBytes(StandardCharsets.UTF_8), null, null, null)));
  }

  int shards() {
    ClusterState.Own own = engine.measure().await().node();
    return own == null ? 0 : own.shards();
  }

  ClusterState.Own own() {
    ClusterState.Own own = engine.measure().await().node();
    if (own == null) {
      throw new IllegalStateException("it shares nothing");
    }
    return own;
  }

  @Override
  public void close() {
    engine.stop().await();
    vertx.close().await();
  }
}
