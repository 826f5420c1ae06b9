package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.TestServer.Reply;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Thousands of requests that are nearly right, against a real engine: none may be answered with a
 * 5xx, and each refusal must be a problem document. The seed of a failure is printed; set {@code
 * holdfast.fuzz.seed} to run it again.
 */
class FuzzTest {
  private static final int ROUNDS = Integer.getInteger("holdfast.fuzz.rounds", 6_000);
  private static final int RAW_ROUNDS = Integer.getInteger("holdfast.fuzz.raw-rounds", 12);
  private static final int RAW_CLIENTS = 60;

  /** A protocol that we do not speak is 501, in its own name; both come from below us. */
  private static final String STATUS_LINE = "(?s)\\S+ ([234]\\d\\d|501) .*";

  private static final JsonMapper MAPPER = new JsonMapper();

  private static final List<String> PATHS =
      List.of(
          "/v1/events",
          "/v1/events/batch",
          "/v1/subscriptions",
          "/v1/events/my-id",
          "/v1/events/evt_00HN3XW5G0400",
          "/v1/subscriptions?limit=5",
          "/v1/subscriptions/sub_00HN3XW5G0400",
          "/v1/endpoints?state=enabled&limit=3",
          "/v1/endpoints/ep_00HN3XW5G0400",
          "/v1/endpoints/ep_00HN3XW5G0400/enable",
          "/v1/endpoints/ep_00HN3XW5G0400/changes",
          "/v1/messages?status=waiting,parked&since=2026-01-01T00:00:00Z&limit=7",
          "/v1/messages?event=my-id&cursor=bQAAAAAAAAABAAAAAA",
          "/v1/messages/msg_00HN3XW5G0400",
          "/v1/messages/msg_00HN3XW5G0400/retry",
          "/health/live",
          "/health/ready",
          "/metrics");

  private static final List<String> BODIES =
      List.of(
          "{\"type\":\"order.paid\",\"subject\":\"s\",\"occurredAt\":\"2026-03-01T12:00:00Z\","
              + "\"data\":{\"a\":[1,2.5,\"x\\u00e9\"]},\"previous\":null,\"id\":\"my-id\"}",
          "{\"events\":[{\"type\":\"a\",\"data\":1},{\"type\":\"b\",\"data\":\"\",\"id\":\"k\"}]}",
          "{\"url\":\"http://127.0.0.1:9/hook\",\"types\":[\"cart.*\",\"x\"],\"subject\":\"s\"}",
          "{}",
          "");

  private static final List<String> PIECES =
      List.of(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "\\",
          "\\u0000",
          "\\ud800",
          "null",
          "true",
          "1e999",
          "-",
          "\u0000",
          "\n",
          "é",
          "🙂",
          "\"id\":",
          "\"data\":",
          "\"type\":\"*\"",
          "*",
          "evt_",
          "%00",
          "%2F",
          "%",
          "&",
          "=",
          "?",
          "/",
          "..",
          "[[[[[[[[[[",
          "\uFEFF",
          "9".repeat(400));

  private static final List<String> METHODS = List.of("GET", "POST", "DELETE", "HEAD", "PUT");

  private static final List<String> HEADERS =
      List.of(
          "",
          "Content-Type: text/plain\r\n",
          "Content-Type: application/json; charset=utf-8\r\n",
          "Content-Encoding: gzip\r\n",
          "Holdfast-Tenant: acme\r\n",
          "Holdfast-Tenant: ../etc\r\n",
          "Expect: nothing\r\n",
          "traceparent: 00-x\r\n",
          "Authorization: Bearer other\r\n",
          "Accept: */*\r\n");

  @Test
  void no_request_makes_the_server_fail(@TempDir Path data) throws Exception {
    long seed = Long.getLong("holdfast.fuzz.seed", new SplittableRandom().nextLong());
    System.out.println("holdfast.fuzz.seed=" + seed);
    try (RealEngine engine = new RealEngine(data);
        TestServer server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults())) {
      Fuzz fuzz = new Fuzz(new SplittableRandom(seed), server.port());
      for (int round = 0; round < ROUNDS; round++) {
        fuzz.round("seed " + seed + ", round " + round);
      }
      fuzz.close();
      assertThat(fuzz.accepted).as("seed %d: some requests must be good", seed).isPositive();
      assertThat(fuzz.refused).as("seed %d: some requests must be bad", seed).isPositive();
      assertThat(server.get("/health/ready").status()).isEqualTo(200);
    }
  }

  /** Whole requests are changed here, heads and all, so that some never end. */
  @Test
  void no_bytes_make_the_server_fail(@TempDir Path data) throws Exception {
    long seed = Long.getLong("holdfast.fuzz.seed", new SplittableRandom().nextLong());
    System.out.println("holdfast.fuzz.seed=" + seed);
    ApiLimits standard = ApiLimits.defaults();
    ApiLimits impatient =
        new ApiLimits(
            standard.messageBytes(),
            standard.receivingBytes(),
            standard.connections(),
            Duration.ofMillis(200),
            Duration.ofMillis(200),
            standard.answerTime());
    SplittableRandom random = new SplittableRandom(seed);
    try (RealEngine engine = new RealEngine(data);
        TestServer server = TestServer.start(Engine.of(engine.holdfast), impatient)) {
      for (int round = 0; round < RAW_ROUNDS; round++) {
        rawRound("seed " + seed + ", round " + round, random, server.port());
      }
      Reply metrics = server.get("/metrics");
      assertThat(metrics.text()).contains("holdfast_http_held_bytes 0.0");
    }
  }

  private static void rawRound(String name, SplittableRandom random, int port) throws IOException {
    Map<RawClient, byte[]> clients = new LinkedHashMap<>();
    for (int i = 0; i < RAW_CLIENTS; i++) {
      Fuzz fuzz = new Fuzz(random, port);
      byte[] body = fuzz.pick(BODIES).getBytes(StandardCharsets.UTF_8);
      String head =
          fuzz.pick(METHODS)
              + " "
              + fuzz.pick(PATHS)
              + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
              + TestServer.ADMIN_KEY
              + "\r\nContent-Type: application/json\r\n"
              + (random.nextBoolean()
                  ? "Content-Length: " + body.length + "\r\n\r\n"
                  : "Transfer-Encoding: chunked\r\n\r\n"
                      + Integer.toHexString(body.length)
                      + "\r\n");
      byte[] request =
          (head + new String(body, StandardCharsets.UTF_8) + "\r\n0\r\n\r\n")
              .getBytes(StandardCharsets.UTF_8);
      for (int change = 1 + random.nextInt(3); change > 0; change--) {
        request = fuzz.mutated(request);
      }
      try {
        fuzz.client.send(request);
      } catch (IOException _) {
        // refused before all was sent
      }
      clients.put(fuzz.client, request);
    }
    for (Map.Entry<RawClient, byte[]> entry : clients.entrySet()) {
      try (RawClient client = entry.getKey()) {
        String answers = client.untilClosed();
        if (!answers.isEmpty()) {
          String request = name + ":\n" + new String(entry.getValue(), StandardCharsets.UTF_8);
          assertThat(answers).as(request).matches(STATUS_LINE);
        }
      }
    }
  }

  private static final class Fuzz {
    private final SplittableRandom random;
    private final int port;
    private RawClient client;
    int accepted;
    int refused;

    Fuzz(SplittableRandom random, int port) throws IOException {
      this.random = random;
      this.port = port;
      this.client = new RawClient(port);
    }

    void round(String name) throws IOException {
      String method = random.nextInt(3) == 0 ? pick(METHODS) : "POST";
      String path = random.nextInt(3) == 0 ? mutatedPath(pick(PATHS)) : pick(PATHS);
      byte[] body = pick(BODIES).getBytes(StandardCharsets.UTF_8);
      for (int i = random.nextInt(4); i > 0; i--) {
        body = mutated(body);
      }
      if (method.equals("GET") || method.equals("HEAD")) {
        body = random.nextInt(4) == 0 ? body : new byte[0];
      }
      String extra = random.nextInt(4) == 0 ? pick(HEADERS) : "";
      String head =
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: x\r\n"
              + extra
              + (extra.startsWith("Authorization")
                  ? ""
                  : "Authorization: Bearer " + TestServer.ADMIN_KEY + "\r\n")
              + (extra.startsWith("Content-Type") ? "" : "Content-Type: application/json\r\n")
              + "Content-Length: "
              + body.length
              + "\r\n\r\n";
      client.send(head).send(body);
      check(name + ":\n" + head + new String(body, StandardCharsets.UTF_8), method);
    }

    private void check(String request, String method) throws IOException {
      String answer;
      try {
        answer = method.equals("HEAD") ? client.head() : client.answer();
      } catch (IOException e) {
        throw new AssertionError(request, e);
      }
      int status = Integer.parseInt(answer.substring(9, 12));
      assertThat(status).as(request + "\n" + answer).isBetween(200, 499);
      if (status < 400) {
        accepted++;
      } else {
        refused++;
        assertThat(answer).as(request).contains("content-type: application/problem+json");
        if (!method.equals("HEAD")) {
          JsonNode problem = MAPPER.readTree(answer.substring(answer.indexOf("\r\n\r\n") + 4));
          assertThat(problem.get("status").asInt()).as(request).isEqualTo(status);
          assertThat(problem.get("detail").asString()).as(request).isNotBlank();
          assertThat(problem.get("type").asString()).as(request).isNotBlank();
        }
      }
      if (answer.contains("connection: close")) {
        client.close();
        client = new RawClient(port);
      }
    }

    private <T> T pick(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }

    private byte[] mutated(byte[] body) {
      int at = random.nextInt(body.length + 1);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      switch (random.nextInt(5)) {
        case 0 -> {
          out.write(body, 0, at);
          out.writeBytes(pick(PIECES).getBytes(StandardCharsets.UTF_8));
          out.write(body, at, body.length - at);
        }
        case 1 -> out.write(body, 0, at);
        case 2 -> {
          int skip = Math.min(random.nextInt(5), body.length - at);
          out.write(body, 0, at);
          out.write(body, at + skip, body.length - at - skip);
        }
        case 3 -> {
          out.writeBytes(body);
          out.write(body, at, body.length - at);
        }
        default -> {
          out.writeBytes(body);
          if (body.length > 0) {
            byte[] changed = out.toByteArray();
            changed[at % body.length] = (byte) random.nextInt();
            return changed;
          }
        }
      }
      return out.toByteArray();
    }

    /** A path that is changed, but still one word of visible characters. */
    private String mutatedPath(String path) {
      int at = 1 + random.nextInt(path.length() - 1);
      String piece = pick(PIECES).chars().allMatch(c -> c > ' ' && c < 0x7f) ? pick(PIECES) : "x";
      String visible = piece.chars().allMatch(c -> c > ' ' && c < 0x7f) ? piece : "%zz";
      return switch (random.nextInt(3)) {
        case 0 -> path.substring(0, at) + visible + path.substring(at);
        case 1 -> path.substring(0, at);
        default -> path.substring(0, at) + (char) (33 + random.nextInt(94)) + path.substring(at);
      };
    }

    void close() throws IOException {
      client.close();
    }
  }
}
