package dev.holdfast.server.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * A receiver as the documentation of Adobe Workfront's event subscriptions wants it: it knows its
 * token, and takes a message by a status from 200 to 299. How it fails is up to the test.
 */
final class WorkfrontReceiver implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final String authorization;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final BlockingQueue<JsonNode> messages = new LinkedBlockingQueue<>();
  private final AtomicInteger unauthorized = new AtomicInteger();

  /** When the attempts of each message came, by its id, on the clock that only runs forward. */
  final Map<String, List<Long>> attempts = new ConcurrentHashMap<>();

  /** The messages that it has taken, by their id, with how often. */
  final Map<String, Integer> taken = new ConcurrentHashMap<>();

  /** All requests. */
  final AtomicInteger requests = new AtomicInteger();

  /** How often it has answered with each status, late answers apart. */
  final Map<Integer, Integer> statuses = new ConcurrentHashMap<>();

  /** How often it was late. */
  final AtomicInteger late = new AtomicInteger();

  /** How it answers an attempt of a message. */
  volatile BiFunction<JsonNode, Integer, Manner> manner = (_, _) -> Manner.TAKES;

  /**
   * How an attempt is answered.
   *
   * @param after how late
   */
  record Manner(int status, Duration after) {
    static final Manner TAKES = new Manner(200, Duration.ZERO);
    static final Manner FAILS = new Manner(500, Duration.ZERO);
  }

  WorkfrontReceiver(String token) throws IOException {
    authorization = "Bearer " + token;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    server.setExecutor(threads);
    server.createContext("/events", this::receive);
    server.start();
  }

  private void receive(HttpExchange exchange) throws IOException {
    long at = System.nanoTime();
    byte[] body = exchange.getRequestBody().readAllBytes();
    requests.incrementAndGet();
    if (!authorization.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
      unauthorized.incrementAndGet();
    }
    String id = Objects.requireNonNull(exchange.getRequestHeaders().getFirst("webhook-id"));
    List<Long> known = attempts.computeIfAbsent(id, _ -> new CopyOnWriteArrayList<>());
    known.add(at);
    JsonNode message = MAPPER.readTree(body);
    Manner answer = manner.apply(message, known.size());
    try {
      Thread.sleep(answer.after());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!answer.after().isZero()) {
      late.incrementAndGet();
    } else {
      statuses.merge(answer.status(), 1, Integer::sum);
      if (answer.status() < 300) {
        taken.merge(id, 1, Integer::sum);
        messages.add(message);
      }
    }
    exchange.sendResponseHeaders(answer.status(), -1);
    exchange.close();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/events";
  }

  /** How many requests came without the token. */
  int unauthorized() {
    return unauthorized.get();
  }

  /** The next message that it takes. */
  JsonNode next() throws InterruptedException {
    JsonNode message = messages.poll(20, TimeUnit.SECONDS);
    if (message == null) {
      throw new AssertionError("nothing was delivered");
    }
    return message;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
