package dev.holdfast.engine.cluster;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** A receiver that counts how often each message came. */
final class CountingReceiver implements AutoCloseable {
  private final HttpServer server;

  /** How often, by the message's id. */
  final Map<String, Integer> messages = new ConcurrentHashMap<>();

  volatile int status = 200;

  CountingReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          int answer = status;
          if (answer == 200) {
            messages.merge(exchange.getRequestHeaders().getFirst("webhook-id"), 1, Integer::sum);
          }
          exchange.sendResponseHeaders(answer, -1);
          exchange.close();
        });
    server.start();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
