package dev.holdfast.engine.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server that speaks HTTP/2 as others have written it, and answers as a test tells it to. */
final class Http2Receiver implements AutoCloseable {

  /** What to do with a request that is there whole. */
  interface Script {
    void run(Request request);
  }

  /**
   * A request.
   *
   * @param lines its headers as {@code name: value}, those that begin with a colon too
   */
  record Request(HttpServerRequest request, List<String> lines, byte[] body) {

    void answer(int status, String body) {
      var _ = request.response().setStatusCode(status).end(body);
    }
  }

  private final Vertx vertx = Vertx.vertx();
  private final int port;
  private final List<HttpConnection> connections = new CopyOnWriteArrayList<>();
  private final BlockingQueue<Request> seen = new LinkedBlockingQueue<>();
  private final BlockingQueue<HttpConnection> closed = new LinkedBlockingQueue<>();

  private Http2Receiver(HookCertificate certificate, int mostStreams, Script script) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost("127.0.0.1")
            .setPort(0)
            .setSsl(true)
            .setUseAlpn(true)
            .setAlpnVersions(List.of(HttpVersion.HTTP_2))
            .setKeyCertOptions(certificate.pfx())
            .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(mostStreams));
    port =
        Senders.await(
                vertx
                    .createHttpServer(options)
                    .connectionHandler(
                        connection -> {
                          connections.add(connection);
                          var _ = connection.closeHandler(_ -> closed.add(connection));
                        })
                    .requestHandler(request -> take(request, script))
                    .listen()
                    .toCompletionStage()
                    .toCompletableFuture())
            .actualPort();
  }

  static Http2Receiver start(HookCertificate certificate, Script script) {
    return new Http2Receiver(certificate, 1_000, script);
  }

  static Http2Receiver taking(int mostStreams, HookCertificate certificate, Script script) {
    return new Http2Receiver(certificate, mostStreams, script);
  }

  private void take(HttpServerRequest request, Script script) {
    var _ =
        request
            .body()
            .onSuccess(
                body -> {
                  List<String> lines =
                      Stream.concat(
                              Stream.of(
                                  ":method: " + request.method(),
                                  ":scheme: " + request.scheme(),
                                  ":authority: " + request.authority(),
                                  ":path: " + request.uri()),
                              request.headers().entries().stream()
                                  .map(header -> header.getKey() + ": " + header.getValue()))
                          .toList();
                  Request whole = new Request(request, lines, body.getBytes());
                  seen.add(whole);
                  script.run(whole);
                });
  }

  String url() {
    return "https://127.0.0.1:" + port + "/hook";
  }

  int port() {
    return port;
  }

  int connections() {
    return connections.size();
  }

  Request seen() throws InterruptedException {
    Request request = seen.poll(10, TimeUnit.SECONDS);
    if (request == null) {
      throw new AssertionError("no request came");
    }
    return request;
  }

  /** Waits until a connection is closed. */
  void awaitClosed() throws InterruptedException {
    if (closed.poll(10, TimeUnit.SECONDS) == null) {
      throw new AssertionError("no connection was closed");
    }
  }

  @Override
  public void close() {
    Senders.await(vertx.close().toCompletionStage().toCompletableFuture());
  }
}
