package dev.holdfast.server.cli;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server that answers as it is told, one answer after the other; the last one again and again.
 */
final class FakeApi implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, Queue<Reply>> replies = new ConcurrentHashMap<>();
  final List<String> asked = new CopyOnWriteArrayList<>();
  final List<String> bodies = new CopyOnWriteArrayList<>();

  private record Reply(int status, Map<String, String> headers, String body) {}

  FakeApi() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/",
        exchange -> {
          String call = exchange.getRequestMethod() + " " + exchange.getRequestURI();
          asked.add(call);
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          Queue<Reply> queue = replies.getOrDefault(call, new ConcurrentLinkedQueue<>());
          Reply reply = queue.size() > 1 ? queue.poll() : queue.peek();
          if (reply == null) {
            reply = new Reply(404, Map.of(), "{\"detail\":\"nobody foresaw " + call + "\"}");
          }
          reply.headers().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
          byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(reply.status(), body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  FakeApi on(String call, int status, String body) {
    return on(call, status, Map.of(), body);
  }

  FakeApi on(String call, int status, Map<String, String> headers, String body) {
    replies
        .computeIfAbsent(call, _ -> new ConcurrentLinkedQueue<>())
        .add(new Reply(status, headers, body));
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
