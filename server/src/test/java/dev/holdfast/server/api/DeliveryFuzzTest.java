package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.TestServer.Reply;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Odd answers of receivers, on their way through the rules, the store and the API. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class DeliveryFuzzTest {
  private static final int ROUNDS = 1;

  /** Fewer than could disable the endpoint. */
  private static final int EVENTS = 80;

  private static final List<String> WAITS =
      List.of(
          "0",
          "-1",
          "NaN",
          "1e9",
          "99999999999999999999999999",
          "3.5",
          "Wed, 21 Oct 9999 07:28:00 GMT",
          "Wed, 21 Oct 1999 07:28:00 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 2094",
          "\u00ff\u00e9",
          "soon");

  @Test
  void each_attempt_is_recorded_once_and_can_be_shown(@TempDir Path data) throws Exception {
    Seeds.each(ROUNDS, random -> round(data.resolve(Long.toHexString(random.nextLong())), random));
  }

  private static void round(Path data, SplittableRandom random) throws Exception {
    try (FuzzedServer fuzzed = new FuzzedServer(data, ApiLimits.defaults());
        OddReceiver receiver = new OddReceiver(random)) {
      TestServer server = fuzzed.server;
      String subscription =
          "{\"url\":\"http://127.0.0.1:" + receiver.port() + "/\",\"types\":[\"odd\"]}";
      assertThat(server.post("/v1/subscriptions", subscription).status()).isEqualTo(201);
      for (int i = 0; i < EVENTS; i++) {
        Reply reply = server.post("/v1/events", "{\"type\":\"odd\",\"data\":" + i + "}");
        assertThat(reply.status()).isEqualTo(202);
      }
      for (JsonNode listed : attempted(server)) {
        check(server.get("/v1/messages/" + listed.get("id").asString()), receiver);
      }
      fuzzed.assertNothingLeft();
    }
  }

  private static JsonNode attempted(TestServer server) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      JsonNode items = server.get("/v1/messages?limit=1000").json().get("items");
      int attempts = 0;
      for (JsonNode item : items) {
        attempts += item.get("attempts").asInt();
      }
      if (attempts >= EVENTS) {
        assertThat(items.size()).isEqualTo(EVENTS);
        return items;
      }
      assertThat(System.nanoTime()).as(items.toString()).isLessThan(until);
      Thread.sleep(20);
    }
  }

  private static void check(Reply reply, OddReceiver receiver) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    JsonNode message = reply.json();
    int answered = receiver.answered.getOrDefault(message.get("id").asString(), 0);
    assertThat(message.get("attempts").size()).as(reply.text()).isEqualTo(1);
    JsonNode attempt = message.get("attempts").get(0);
    assertThat(attempt.get("status").asInt()).isEqualTo(answered);
    boolean delivered = answered < 300;
    assertThat(attempt.get("outcome").asString()).isEqualTo(delivered ? "success" : "failure");
    assertThat(message.get("status").asString()).isEqualTo(delivered ? "delivered" : "waiting");
    if (!delivered) {
      Instant next = Instant.parse(message.get("nextAttemptAt").asString());
      assertThat(next).isAfter(Instant.parse(message.get("createdAt").asString()));
      assertThat(next).isBeforeOrEqualTo(Instant.parse(message.get("deadline").asString()));
    }
  }

  /** Answers each request with a status, a wish for time and bytes of its own choice. */
  private static final class OddReceiver implements AutoCloseable {
    private final ServerSocket socket =
        new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
    private final SplittableRandom random;

    /** The status that each message was answered with. */
    final Map<String, Integer> answered = new ConcurrentHashMap<>();

    OddReceiver(SplittableRandom random) throws IOException {
      this.random = random.split();
      Thread.ofVirtual().start(this::serve);
    }

    int port() {
      return socket.getLocalPort();
    }

    /** One after the other, so that the answers are drawn in an order. */
    private void serve() {
      while (!socket.isClosed()) {
        try (Socket peer = socket.accept()) {
          String request = request(new BufferedInputStream(peer.getInputStream()));
          int at = request.indexOf("webhook-id: ") + "webhook-id: ".length();
          String id = request.substring(at, request.indexOf('\r', at));
          int status =
              random.nextInt(3) == 0 ? random.nextInt(200, 600) : random.nextBoolean() ? 429 : 503;
          byte[] body = new byte[status == 204 || status == 304 ? 0 : random.nextInt(6_000)];
          random.nextBytes(body);
          answered.put(id, status);
          String head =
              "HTTP/1.1 "
                  + status
                  + " Odd\r\nConnection: close\r\nRetry-After: "
                  + WAITS.get(random.nextInt(WAITS.size()))
                  + "\r\nContent-Length: "
                  + body.length
                  + "\r\n\r\n";
          peer.getOutputStream().write(head.getBytes(ISO_8859_1));
          peer.getOutputStream().write(body);
        } catch (IOException _) {
          // closed
        }
      }
    }

    private static String request(InputStream in) throws IOException {
      StringBuilder request = new StringBuilder();
      while (request.indexOf("\r\n\r\n") < 0 || !request.toString().endsWith("}")) {
        int b = in.read();
        if (b < 0) {
          throw new IOException("closed");
        }
        request.append((char) b);
      }
      return request.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
