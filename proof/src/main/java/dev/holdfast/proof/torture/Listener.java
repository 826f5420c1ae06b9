package dev.holdfast.proof.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.stage.ProofException;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes what the server delivers, notes it in the ledger, and answers as the plan wants it. */
final class Listener implements AutoCloseable {
  static final int ENDPOINTS = 8;

  /** The number of the one that all events go to. */
  static final int ALL_EVENTS = ENDPOINTS;

  private static final String HOST = "127.0.0.1";
  private static final String ALL = "/all";
  private static final String PRESENT = "/present";
  private static final int HANG_EVERY = 3;
  private static final int TAKEN = 200;
  private static final int REFUSED = 500;
  private static final int NO_SUCH_MESSAGE = 400;
  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);
  private static final Duration ASK_EVERY = Duration.ofMillis(5);
  private static final int ROUNDS = 3;

  private final Vertx vertx = Vertx.vertx();
  private final Plan plan;
  private final Duration hang;
  private final Ledger ledger;
  private final AtomicInteger connections = new AtomicInteger();
  private final int port;

  /**
   * Begins to listen.
   *
   * @param hang how long some of those that are refused are left without an answer instead; zero
   *     for none
   */
  Listener(Plan plan, Ledger ledger, Duration hang) {
    this.plan = plan;
    this.hang = hang;
    this.ledger = ledger;
    HttpServer server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost(HOST).setPort(0))
            .connectionHandler(
                connection -> {
                  connections.incrementAndGet();
                  connection.closeHandler(_ -> connections.decrementAndGet());
                })
            .requestHandler(request -> request.bodyHandler(body -> handle(request, body)));
    this.port = server.listen().await().actualPort();
  }

  /** Where events with type {@code t<endpoint>} go. */
  String url(int endpoint) {
    return "http://%s:%d/t%d".formatted(HOST, port, endpoint);
  }

  /** Where all events go. */
  String urlOfAll() {
    return "http://%s:%d%s".formatted(HOST, port, ALL);
  }

  private void handle(HttpServerRequest request, Buffer body) {
    if (PRESENT.equals(request.path())) {
      request.response().end();
      return;
    }
    OptionalLong message = Id.parse(Id.MESSAGE, String.valueOf(request.getHeader("webhook-id")));
    String text = body.toString(StandardCharsets.UTF_8);
    int event = Publishers.number(text);
    if (message.isEmpty() || event < 0) {
      ledger.problem("something arrived that is no message of ours: " + request.path());
      request.response().setStatusCode(NO_SUCH_MESSAGE).end();
      return;
    }
    if (!Publishers.hasDataOf(event, text, plan)) {
      ledger.problem("event %d arrived with other data than it was sent with".formatted(event));
    }
    int subscription = ALL.equals(request.path()) ? 1 : 0;
    Ledger.Verdict verdict = ledger.arrived(message.getAsLong(), event, subscription);
    request.response().setStatusCode(verdict.taken() ? TAKEN : REFUSED);
    long delayMillis =
        !verdict.taken() && event % HANG_EVERY == 0
            ? Math.max(verdict.delayMillis(), hang.toMillis())
            : verdict.delayMillis();
    if (delayMillis < 1) {
      request.response().end();
    } else {
      vertx.setTimer(delayMillis, _ -> request.response().end());
    }
  }

  /** The number of the endpoint with this URL. */
  static int endpoint(String url) {
    return url.endsWith(ALL)
        ? ALL_EVENTS
        : Integer.parseInt(url.substring(url.lastIndexOf("/t") + "/t".length()));
  }

  /**
   * Waits until what had been sent when it was called has been read. Connections that the system
   * has taken and this process not yet come first: after them, in the same queue, comes one of our
   * own. What has come on others has its turn before the last of a few calls.
   */
  void awaitRead() {
    for (int i = 0; i < ROUNDS; i++) {
      callOwn();
    }
  }

  /** Waits until all that a dead server had sent has been read; there is no other one. */
  void awaitClosed() {
    callOwn();
    long deadline = System.nanoTime() + LONGEST_CLOSE.toNanos();
    while (connections.get() > 0) {
      if (System.nanoTime() > deadline) {
        throw new ProofException("connections of a server that was killed stay open");
      }
      Scene.pause(ASK_EVERY);
    }
  }

  private void callOwn() {
    try (Socket own = new Socket(InetAddress.ofLiteral(HOST), port)) {
      own.setSoTimeout((int) LONGEST_CLOSE.toMillis());
      own.getOutputStream()
          .write("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n".formatted(PRESENT, HOST).getBytes(US_ASCII));
      if (own.getInputStream().read() < 0) {
        throw new ProofException("the listener has closed a connection of its own");
      }
    } catch (IOException e) {
      throw new ProofException("the listener does not answer", e);
    }
  }

  @Override
  public void close() {
    vertx.close().await();
  }
}
