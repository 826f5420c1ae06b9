package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** What clients send on a connection: requests one after the other, and what goes wrong in them. */
final class RandomBytes {
  private static final String KEY = "Authorization: Bearer " + TestServer.ADMIN_KEY + "\r\n";
  private static final String JSON = "Content-Type: application/json\r\n";

  private static final List<String> REQUEST_LINES =
      List.of(
          "POST /v1/events HTTP/1.1",
          "GET /v1/messages?limit=1 HTTP/1.0",
          "GET /v1/messages HTTP/1.9",
          "GET /v1/messages HTTP/2.0",
          "GET /v1/messages HTTP/0.9",
          "GET /v1/messages",
          "GET",
          "",
          " ",
          "GET  /v1/messages  HTTP/1.1",
          "GET /v1/messages HTTP/1.1 HTTP/1.1",
          "get /v1/messages http/1.1",
          "G\u0000T /v1/messages HTTP/1.1",
          "GET \u00e9\u00ff HTTP/1.1",
          "GET * HTTP/1.1",
          "OPTIONS * HTTP/1.1",
          "CONNECT 127.0.0.1:9 HTTP/1.1",
          "GET http://127.0.0.1:9/v1/messages HTTP/1.1",
          "GET http://[::1/v1/messages HTTP/1.1",
          "GET //127.0.0.1:9 HTTP/1.1",
          "GET /" + "a".repeat(9_000) + " HTTP/1.1",
          "B".repeat(9_000) + " / HTTP/1.1",
          "PRI * HTTP/2.0",
          "RTSP / RTSP/1.0",
          "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003");

  private static final List<String> HEADERS =
      List.of(
          "Content-Length: -1\r\n",
          "Content-Length: 99999999999999999999\r\n",
          "Content-Length: 2147483648\r\n",
          "Content-Length: 5\r\nContent-Length: 7\r\n",
          "Content-Length: 5, 5\r\n",
          "Content-Length: five\r\n",
          "Content-Length: 0x5\r\n",
          "Content-Length: \r\n",
          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip, chunked\r\n",
          "Transfer-Encoding: chunked, identity\r\n",
          "Transfer-Encoding: nonsense\r\n",
          "Transfer-Encoding : chunked\r\n",
          "Transfer-Encoding:\u000bchunked\r\n",
          "Host: y\r\n",
          "Expect: 100-continue\r\n",
          "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXA=\r\n",
          "Connection: close\r\n",
          "Connection: keep-alive\r\n",
          ": no name\r\n",
          "no colon\r\n",
          " folded\r\n",
          "name : spaced\r\n",
          "x: \u0000\u0001\u00ff\r\n",
          "x: y\rz: w\n\r\n",
          "x: " + "y".repeat(20_000) + "\r\n",
          "x: y\r\n".repeat(3_000));

  private static final List<String> CHUNKED =
      List.of(
          "5\r\nab\r\n0\r\n\r\n",
          "ffffffffffffffff\r\nab",
          "7fffffff\r\nab",
          "-1\r\nab\r\n",
          "zz\r\nab\r\n0\r\n\r\n",
          "2;x=y\r\n{}\r\n0\r\nTrailer: z\r\n\r\n",
          "2;" + "x".repeat(20_000) + "\r\n{}\r\n0\r\n\r\n",
          "2\r\n{}0\r\n\r\n",
          "\r\n\r\n",
          "0\r\n",
          "0\r\n" + "t: u\r\n".repeat(5_000) + "\r\n",
          "2\n{}\n0\n\n");

  /**
   * What one client does.
   *
   * @param bytes all that it sends
   * @param pieces after how many bytes it sends on its own accord
   * @param batches the ids of events that are together in a batch
   */
  record Conversation(byte[] bytes, int pieces, End end, List<List<String>> batches) {}

  /** What a client does when it has sent all. */
  enum End {
    /** Waits until the server closes the connection. */
    WAIT,
    /** Says that it sends no more, and waits. */
    HALF_CLOSE,
    CLOSE,
    RESET
  }

  private final SplittableRandom random;
  private final RandomJson json;
  private final String name;
  private final List<List<String>> batches = new ArrayList<>();
  private int count;

  RandomBytes(SplittableRandom random, String name) {
    this.random = random;
    this.json = new RandomJson(random);
    this.name = name;
  }

  Conversation next() {
    batches.clear();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = random.nextInt(3) == 0 ? random.nextInt(2, 12) : 1; i > 0; i--) {
      out.writeBytes(
          switch (random.nextInt(8)) {
            case 0 -> batch(false);
            case 1 -> batch(true);
            case 2 -> oddRequestLine();
            case 3 -> oddHeader();
            case 4 -> oddChunks();
            case 5 -> wrongLength();
            case 6 -> noise();
            default -> mutated(batch(random.nextBoolean()));
          });
    }
    return new Conversation(
        out.toByteArray(),
        random.nextInt(3) == 0 ? random.nextInt(1, 2_000) : Integer.MAX_VALUE,
        json.pick(List.of(End.values())),
        List.copyOf(batches));
  }

  /** Events that must be there together or not at all. */
  private byte[] batch(boolean inChunks) {
    List<String> ids = new ArrayList<>();
    List<String> events = new ArrayList<>();
    for (int i = random.nextInt(2, 6); i > 0; i--) {
      String id = name + "." + count++;
      ids.add(id);
      events.add("{\"type\":\"order.paid\",\"id\":\"" + id + "\",\"data\":{\"n\": 1.0}}");
    }
    batches.add(List.copyOf(ids));
    byte[] body = ("{\"events\":[" + String.join(",", events) + "]}").getBytes(UTF_8);
    String start = "POST /v1/events/batch HTTP/1.1\r\nHost: x\r\n" + KEY + JSON;
    return inChunks
        ? join(text(start + "Transfer-Encoding: chunked\r\n\r\n"), chunks(body))
        : join(text(start + "Content-Length: " + body.length + "\r\n\r\n"), body);
  }

  private byte[] chunks(byte[] body) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int at = 0;
    while (at < body.length) {
      int length = Math.min(body.length - at, random.nextInt(1, 200));
      out.writeBytes(text(Integer.toHexString(length) + "\r\n"));
      out.write(body, at, length);
      out.writeBytes(text("\r\n"));
      at += length;
    }
    out.writeBytes(text("0\r\n\r\n"));
    return out.toByteArray();
  }

  private byte[] oddRequestLine() {
    return text(json.pick(REQUEST_LINES) + "\r\nHost: x\r\n" + KEY + "\r\n");
  }

  private byte[] oddHeader() {
    String line = random.nextBoolean() ? "POST /v1/events" : "GET /v1/messages";
    return text(
        line + " HTTP/1.1\r\nHost: x\r\n" + KEY + JSON + json.pick(HEADERS) + "\r\n{\"a\":1}");
  }

  private byte[] oddChunks() {
    return text(
        "POST /v1/events HTTP/1.1\r\nHost: x\r\n"
            + KEY
            + JSON
            + "Transfer-Encoding: chunked\r\n\r\n"
            + json.pick(CHUNKED));
  }

  /** Says that more or less comes than does. */
  private byte[] wrongLength() {
    byte[] body = new byte[random.nextInt(100)];
    Arrays.fill(body, (byte) ' ');
    int length = Math.max(0, body.length + random.nextInt(-20, 2_000_000));
    String path = json.pick(List.of("/v1/events", "/v1/events/batch", "/v1/messages", "/nowhere"));
    String key = random.nextInt(4) == 0 ? "" : KEY;
    String start = "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + key + JSON;
    return join(text(start + "Content-Length: " + length + "\r\n\r\n"), body);
  }

  private byte[] noise() {
    byte[] bytes = new byte[random.nextInt(20_000)];
    random.nextBytes(bytes);
    return bytes;
  }

  private byte[] mutated(byte[] request) {
    byte[] changed = request;
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      changed = json.broken(changed);
    }
    batches.removeLast();
    return changed;
  }

  private static byte[] text(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static byte[] join(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }
}
