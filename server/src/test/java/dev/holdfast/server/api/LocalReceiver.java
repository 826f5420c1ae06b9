package dev.holdfast.server.api;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A receiver of deliveries on this machine that answers with whatever status it is told. */
final class LocalReceiver implements AutoCloseable {
  private final HttpServer server;
  private final BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
  volatile int status = 200;

  /** What arrived. */
  record Delivery(String path, String messageId, String body, List<String> traceparent) {}

  LocalReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          deliveries.add(
              new Delivery(
                  exchange.getRequestURI().getPath(),
                  String.valueOf(exchange.getRequestHeaders().getFirst("webhook-id")),
                  body,
                  exchange.getRequestHeaders().getOrDefault("traceparent", List.of())));
          byte[] answer = "seen, grüße".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  Delivery next() throws InterruptedException {
    Delivery delivery = deliveries.poll(10, TimeUnit.SECONDS);
    if (delivery == null) {
      throw new AssertionError("nothing was delivered");
    }
    return delivery;
  }

  boolean isEmpty() {
    return deliveries.isEmpty();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
