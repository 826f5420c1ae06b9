package dev.holdfast.server.cli;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An HTTP server that answers as it is told and tells what arrives. */
final class Receiver {
  /** Larger than any message, so that all of them can be looked into. */
  private static final int MOST_KEPT_BYTES = 10 << 20;

  private static final int MOST_IDS = 100_000;

  /** What a message is answered with while it is one of the first. */
  static final int FAILURE = 503;

  /**
   * How to answer.
   *
   * @param status the status of an answer
   * @param delay how long an answer is held back
   * @param failFirst how often each message is answered with {@link #FAILURE} first
   */
  record Manner(int status, Duration delay, int failFirst) {
    Manner withStatus(int newStatus) {
      return new Manner(newStatus, delay, failFirst);
    }
  }

  /**
   * What has arrived.
   *
   * @param received all requests
   * @param distinct different webhook-ids
   * @param repeated requests with a webhook-id that had arrived before
   */
  record Summary(long received, long distinct, long repeated) {}

  private final Vertx vertx;
  private final InstantSource clock;
  private final Verifier verifier;
  private final Consumer<Arrival> told;
  private final Map<String, Integer> seen =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
          return size() > MOST_IDS;
        }
      };
  private volatile Manner manner;
  private volatile Summary summary = new Summary(0, 0, 0);

  Receiver(
      Vertx vertx, InstantSource clock, Manner manner, Verifier verifier, Consumer<Arrival> told) {
    this.vertx = vertx;
    this.clock = clock;
    this.manner = manner;
    this.verifier = verifier;
    this.told = told;
  }

  /** A receiver that verifies nothing. */
  Receiver(Vertx vertx, InstantSource clock, Manner manner, Consumer<Arrival> told) {
    this(vertx, clock, manner, new Verifier(List.of()), told);
  }

  Future<HttpServer> listen(String host, int port) {
    return vertx.createHttpServer().requestHandler(this::receive).listen(port, host);
  }

  Manner manner() {
    return manner;
  }

  void answer(Manner newManner) {
    manner = newManner;
  }

  Summary summary() {
    return summary;
  }

  private void receive(HttpServerRequest request) {
    Buffer start = Buffer.buffer();
    long[] size = {0};
    request.handler(
        chunk -> {
          size[0] += chunk.length();
          int room = MOST_KEPT_BYTES - start.length();
          start.appendBuffer(chunk, 0, Math.min(room, chunk.length()));
        });
    request.endHandler(end -> answer(request, start.getBytes(), size[0]));
  }

  private void answer(HttpServerRequest request, byte[] body, long size) {
    Manner how = manner;
    Instant now = clock.instant();
    String id = request.getHeader("webhook-id");
    int times = count(id);
    int status = id != null && times <= how.failFirst() ? FAILURE : how.status();
    told.accept(
        new Arrival(
            LocalTime.ofInstant(now, ZoneId.systemDefault()),
            request.method().name(),
            request.uri(),
            id,
            times,
            Content.of(body, size),
            verifier.verify(request.headers(), body, now),
            status));
    if (how.delay().isZero()) {
      end(request, status);
    } else {
      vertx.setTimer(how.delay().toMillis(), timer -> end(request, status));
    }
  }

  private static void end(HttpServerRequest request, int status) {
    if (!request.response().closed()) {
      request.response().setStatusCode(status).end();
    }
  }

  /** Runs on the server's one event loop only. */
  private int count(@Nullable String id) {
    int times = id == null ? 1 : seen.merge(id, 1, Integer::sum);
    summary =
        new Summary(
            summary.received() + 1,
            summary.distinct() + (id != null && times == 1 ? 1 : 0),
            summary.repeated() + (times > 1 ? 1 : 0));
    return times;
  }
}
