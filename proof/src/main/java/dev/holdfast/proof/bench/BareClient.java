package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.OpenSSLEngineOptions;

/**
 * What Vert.x's HTTP client can do with nothing around it: posts to the receiver what a server
 * would deliver, and keeps nothing.
 */
final class BareClient extends Traffic {
  private final LoadPlan plan;
  private final HttpClient client;
  private final RequestOptions[] targets;
  private int nextNumber;
  private boolean stopped;

  BareClient(Vertx vertx, LoadPlan plan) {
    this.plan = plan;
    this.nextNumber = plan.get(Setting.FIRST_NUMBER);
    this.client =
        vertx
            .httpClientBuilder()
            .with(options(plan.get(Setting.ENCRYPTED) > 0))
            .with(new PoolOptions().setHttp1MaxSize(plan.get(Setting.CONNECTIONS)))
            .build();
    this.targets = new RequestOptions[plan.get(Setting.ENDPOINTS)];
    for (int i = 0; i < targets.length; i++) {
      targets[i] =
          new RequestOptions()
              .setMethod(HttpMethod.POST)
              .setHost(Control.LOCALHOST)
              .setPort(plan.get(Setting.PORT))
              .setURI("/%c/%d".formatted(Rig.EVENTS, i))
              .putHeader("Content-Type", "application/json");
    }
  }

  private static HttpClientOptions options(boolean encrypted) {
    HttpClientOptions options = new HttpClientOptions().setKeepAlive(true).setSsl(encrypted);
    if (encrypted) {
      options.setTrustAll(true).setVerifyHost(false);
      if (OpenSSLEngineOptions.isAvailable()) {
        options.setSslEngineOptions(new OpenSSLEngineOptions());
      }
    }
    return options;
  }

  @Override
  void start() {
    for (int i = 0; i < plan.get(Setting.CONNECTIONS); i++) {
      next(new Loop());
    }
  }

  @Override
  void stop() {
    stopped = true;
  }

  @Override
  void close() {
    stopped = true;
    client.close();
  }

  private void next(Loop loop) {
    if (stopped || sent() >= plan.get(Setting.MAX_EVENTS)) {
      return;
    }
    int number = nextNumber++;
    sending(1);
    loop.post(number, System.nanoTime());
  }

  /** One place for a request in flight, with the bytes that it sends. */
  private final class Loop {
    private final Buffer body;
    private final int markOffset;
    private final byte[] mark = new byte[Mark.LENGTH];
    private long sentAtNanos;

    Loop() {
      String start =
          "{\"id\":\"evt_0000000000000\",\"type\":\"" + LoadPlan.type(0) + "\",\"data\":";
      this.body =
          Buffer.buffer((start + Mark.data(plan.get(Setting.DATA_BYTES)) + "}").getBytes(US_ASCII));
      this.markOffset = start.length() + Mark.offset();
    }

    void post(int number, long now) {
      sentAtNanos = now;
      Mark.write(mark, 0, now, number);
      body.setBytes(markOffset, mark);
      client
          .request(targets[number % targets.length])
          .compose(request -> request.send(body))
          .compose(this::readToEnd)
          .onComplete(
              answer -> {
                if (answer.failed()) {
                  unknown(1);
                } else if (answer.result() / 100 == 2) {
                  accepted(1, sentAtNanos);
                } else {
                  refused(1, "status " + answer.result());
                }
                next(this);
              });
    }

    private Future<Integer> readToEnd(HttpClientResponse response) {
      return response.end().map(response.statusCode());
    }
  }
}
