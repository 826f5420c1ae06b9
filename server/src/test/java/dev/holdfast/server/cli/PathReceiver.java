package dev.holdfast.server.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Receivers on this machine, one for each path: each takes what comes until it is told to fail. */
final class PathReceiver implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, String> failing = new ConcurrentHashMap<>();

  PathReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.createContext("/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String problem = failing.get(exchange.getRequestURI().getRawPath());
    byte[] body = (problem == null ? "taken" : problem).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(problem == null ? 200 : 500, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /** From now on this path answers 500 with this text. */
  void fail(String path, String text) {
    failing.put(path, text);
  }

  void repair(String path) {
    failing.remove(path);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
