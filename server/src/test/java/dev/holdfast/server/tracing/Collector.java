package dev.holdfast.server.tracing;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A collector on this machine that takes OTLP over HTTP, as protobuf. */
public final class Collector implements AutoCloseable {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED32 = 5;

  private final HttpServer server;
  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();

  /** What it answers with. */
  public volatile int status = 200;

  /** Holds answers back until it is opened. */
  public volatile CountDownLatch gate = new CountDownLatch(0);

  /** One span as it came. */
  public record Span(
      String traceId,
      String spanId,
      String parentId,
      String name,
      long kind,
      Map<String, String> attributes,
      Map<String, String> resource) {}

  private record Field(int number, long value, byte[] bytes) {}

  public Collector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          requests.add(
              exchange.getRequestMethod()
                  + " "
                  + exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Content-Type"));
          try {
            gate.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          if (status == 200) {
            spans.addAll(read(body));
          }
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
  }

  /** Where it listens, without a path. */
  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** All spans so far. */
  public List<Span> spans() {
    return spans;
  }

  /** Method, path and content type of all requests so far. */
  public List<String> requests() {
    return requests;
  }

  private static List<Span> read(byte[] request) {
    List<Span> found = new ArrayList<>();
    for (Field resourceSpans : fields(request)) {
      Map<String, String> resource = new TreeMap<>();
      for (Field part : fields(resourceSpans.bytes())) {
        if (part.number() == 1) {
          resource.putAll(attributes(part.bytes(), 1));
        } else if (part.number() == 2) {
          for (Field inScope : fields(part.bytes())) {
            if (inScope.number() == 2) {
              found.add(span(inScope.bytes(), resource));
            }
          }
        }
      }
    }
    return found;
  }

  private static Span span(byte[] bytes, Map<String, String> resource) {
    Field[] byNumber = new Field[32];
    Arrays.fill(byNumber, new Field(0, 0, new byte[0]));
    fields(bytes).forEach(field -> byNumber[field.number()] = field);
    return new Span(
        hex(byNumber[1]),
        hex(byNumber[2]),
        hex(byNumber[4]),
        new String(byNumber[5].bytes(), StandardCharsets.UTF_8),
        byNumber[6].value(),
        attributes(bytes, 9),
        resource);
  }

  private static Map<String, String> attributes(byte[] message, int number) {
    Map<String, String> found = new TreeMap<>();
    for (Field field : fields(message)) {
      if (field.number() == number) {
        List<Field> pair = fields(field.bytes());
        Field value = fields(pair.get(1).bytes()).getFirst();
        found.put(
            new String(pair.getFirst().bytes(), StandardCharsets.UTF_8),
            value.number() == 1
                ? new String(value.bytes(), StandardCharsets.UTF_8)
                : Long.toString(value.value()));
      }
    }
    return found;
  }

  private static String hex(Field field) {
    return HexFormat.of().formatHex(field.bytes());
  }

  private static List<Field> fields(byte[] message) {
    List<Field> found = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    while (in.hasRemaining()) {
      long tag = varint(in);
      int number = (int) (tag >>> 3);
      switch ((int) (tag & 7)) {
        case VARINT -> found.add(new Field(number, varint(in), new byte[0]));
        case FIXED64 -> found.add(new Field(number, in.getLong(), new byte[0]));
        case FIXED32 -> found.add(new Field(number, in.getInt(), new byte[0]));
        case BYTES -> {
          byte[] bytes = new byte[(int) varint(in)];
          in.get(bytes);
          found.add(new Field(number, 0, bytes));
        }
        default -> throw new IllegalArgumentException("no protobuf");
      }
    }
    return found;
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  @Override
  public void close() {
    gate.countDown();
    server.stop(0);
  }
}
