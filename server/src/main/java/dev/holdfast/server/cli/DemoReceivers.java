package dev.holdfast.server.cli;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The receivers of the demo: one HTTP server with a path for each, and a port that refuses. */
final class DemoReceivers implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Vertx vertx;
  private final InstantSource clock;
  private final Instant start;
  private final SplittableRandom random;
  private final Map<String, DemoReceiver> byPath;

  /** Bound, so that nobody else gets the port, but not listening: connections are refused. */
  private final Socket refusing;

  private final int port;

  /**
   * @param start from when on the receivers count
   */
  DemoReceivers(
      List<DemoReceiver> receivers, InstantSource clock, Instant start, SplittableRandom random)
      throws CannotStart {
    this.clock = clock;
    this.start = start;
    this.random = random;
    this.byPath =
        receivers.stream()
            .collect(Collectors.toMap(receiver -> "/" + receiver.name(), Function.identity()));
    this.refusing = bound();
    this.vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    try {
      this.port =
          vertx
              .createHttpServer()
              .requestHandler(this::receive)
              .listen(0, HOST)
              .await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
              .actualPort();
    } catch (TimeoutException e) {
      close();
      throw CannotStart.listening(HOST, 0, e);
    }
  }

  private static Socket bound() throws CannotStart {
    Socket socket = new Socket();
    try {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      return socket;
    } catch (IOException e) {
      throw CannotStart.listening(HOST, 0, e);
    }
  }

  String address() {
    return "http://" + HOST + ":" + port;
  }

  String url(DemoReceiver receiver) {
    return receiver.name().equals(DemoReceiver.REFUSED)
        ? "http://%s:%d/%s".formatted(HOST, refusing.getLocalPort(), receiver.name())
        : address() + "/" + receiver.name();
  }

  private void receive(HttpServerRequest request) {
    DemoReceiver receiver = byPath.get(request.path());
    request.endHandler(
        _ -> {
          if (receiver == null) {
            end(request.response(), 404);
          } else {
            Duration sinceStart = Duration.between(start, clock.instant());
            answer(request.response(), receiver.behaviour().to(sinceStart, random));
          }
        });
  }

  private void answer(HttpServerResponse response, DemoReceiver.Answer answer) {
    switch (answer) {
      case DemoReceiver.Answer.Status(int status, Duration after) when after.isZero() ->
          end(response, status);
      case DemoReceiver.Answer.Status(int status, Duration after) ->
          vertx.setTimer(after.toMillis(), _ -> end(response, status));
      case DemoReceiver.Answer.Later(int seconds) ->
          end(response.putHeader("Retry-After", Integer.toString(seconds)), 429);
      case DemoReceiver.Answer.Never() -> {
        // Whoever asked gives up, and closes the connection.
      }
    }
  }

  private static void end(HttpServerResponse response, int status) {
    if (!response.closed()) {
      response.setStatusCode(status).end();
    }
  }

  @Override
  public void close() {
    try {
      refusing.close();
    } catch (IOException e) {
      // It was never connected: there is nothing that could be lost.
    }
    vertx.close().await();
  }
}
