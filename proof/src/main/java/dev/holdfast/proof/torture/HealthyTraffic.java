package dev.holdfast.proof.torture;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Events at a steady rate to endpoints that are well, and how long each takes from when it was
 * meant to be sent until it arrives.
 *
 * <p>An event goes out when its time has come, whatever became of those before it: a server that
 * stalls does not slow the load down, and the wait counts.
 */
final class HealthyTraffic implements AutoCloseable {
  static final int ENDPOINTS = 20;

  /** What the paths of its endpoints begin with. */
  static final String PATH = "/well/";

  private static final String HOST = "127.0.0.1";
  private static final String TYPE = "healthy.";
  private static final int CONNECTIONS = 64;
  private static final int ACCEPTED = 202;
  private static final int MOST_EVENTS = 1 << 20;
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Vertx vertx =
      Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setPreferNativeTransport(true));
  private final HttpClient client =
      vertx.createHttpClient(
          new HttpClientOptions().setDefaultHost(HOST),
          new PoolOptions().setHttp1MaxSize(CONNECTIONS));
  private final int serverPort;
  private final String key;
  private final int rate;
  private final int port;
  private final long[] meant = new long[MOST_EVENTS];
  private final BitSet accepted = new BitSet();
  private final BitSet arrived = new BitSet();
  private Histogram latency = new Histogram(LONGEST_NANOS, 3);
  private long repeats;
  private long refused;
  private int sent;
  private volatile boolean sending = true;
  private final Thread pacer;

  /**
   * Subscribes and begins.
   *
   * @param rate events a second
   */
  HealthyTraffic(Server server, int serverPort, String key, int rate) {
    this.serverPort = serverPort;
    this.key = key;
    this.rate = rate;
    this.port =
        vertx
            .createHttpServer(new HttpServerOptions().setHost(HOST).setPort(0))
            .requestHandler(request -> request.bodyHandler(body -> arrive(request, body)))
            .listen()
            .await()
            .actualPort();
    for (int i = 0; i < ENDPOINTS; i++) {
      server.subscribe("http://%s:%d%s%d".formatted(HOST, port, PATH, i), TYPE + i);
    }
    this.pacer = Thread.ofPlatform().daemon().name("healthy-traffic").start(this::run);
  }

  /** What happened since the last time that somebody asked. */
  record Figures(long count, double p50, double p99, double p999, double most) {}

  synchronized Figures figures() {
    Histogram all = latency;
    latency = new Histogram(LONGEST_NANOS, 3);
    return new Figures(
        all.getTotalCount(),
        all.getValueAtPercentile(50) / 1e6,
        all.getValueAtPercentile(99) / 1e6,
        all.getValueAtPercentile(99.9) / 1e6,
        all.getMaxValue() / 1e6);
  }

  synchronized long acceptedCount() {
    return accepted.cardinality();
  }

  synchronized long missing() {
    BitSet missing = (BitSet) accepted.clone();
    missing.andNot(arrived);
    return missing.cardinality();
  }

  synchronized long repeats() {
    return repeats;
  }

  /** Events that the server did not take, for whatever reason. */
  synchronized long refused() {
    return refused;
  }

  /** Sends nothing more. */
  void stop() {
    sending = false;
  }

  private void run() {
    long start = System.nanoTime();
    while (sending && sent < MOST_EVENTS) {
      long next = start + sent * TimeUnit.SECONDS.toNanos(1) / rate;
      long wait = next - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(wait);
        continue;
      }
      meant[sent] = next;
      send(sent++);
    }
  }

  private void send(int number) {
    String body =
        "{\"type\":\"%s%d\",\"data\":{\"n\":%d,\"text\":\"%s\"}}"
            .formatted(TYPE, number % ENDPOINTS, number, "x".repeat(500));
    client
        .request(HttpMethod.POST, serverPort, HOST, "/v1/events")
        .compose(
            request ->
                request
                    .putHeader("Authorization", "Bearer " + key)
                    .putHeader("Content-Type", "application/json")
                    .send(body))
        .onComplete(
            answer -> {
              synchronized (this) {
                if (answer.succeeded() && answer.result().statusCode() == ACCEPTED) {
                  accepted.set(number);
                } else {
                  refused++;
                }
              }
            });
  }

  private void arrive(HttpServerRequest request, Buffer body) {
    long now = System.nanoTime();
    int number = Publishers.number(body.toString(StandardCharsets.UTF_8));
    synchronized (this) {
      if (number < 0 || arrived.get(number)) {
        repeats++;
      } else {
        arrived.set(number);
        latency.recordValue(Math.clamp(now - meant[number], 0, LONGEST_NANOS));
      }
    }
    request.response().end();
  }

  @Override
  public void close() {
    sending = false;
    pacer.interrupt();
    vertx.close().await();
  }
}
