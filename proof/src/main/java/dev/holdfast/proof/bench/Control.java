package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * What the processes of the benchmark have in common: how they start and end, and how they tell
 * what they counted.
 *
 * <p>A process prints {@value #LISTENING} and its port when it is ready, answers questions as lines
 * of a name and a value, and ends when its standard input does: so it never outlives the benchmark.
 */
final class Control {
  static final String LISTENING = Child.LISTENING;
  static final String LOCALHOST = "127.0.0.1";

  /** Longest time that is told apart, and three digits of each. */
  private static final long LONGEST_NANOS = 600_000_000_000L;

  private Control() {}

  /** One event loop: these processes must be cheap, not fast. */
  static Vertx vertx() {
    return Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setPreferNativeTransport(true));
  }

  static void ready(HttpServer server) {
    System.out.println(LISTENING + server.actualPort());
    System.out.flush();
  }

  /** Blocks until the benchmark closes our standard input, or is gone. */
  static void waitForEnd() throws IOException {
    while (System.in.read() >= 0) {
      // Nothing is ever sent.
    }
  }

  static String required(MultiMap parameters, String name) {
    String value = parameters.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the parameter " + name + " is missing");
    }
    return value;
  }

  static Histogram histogram() {
    return new Histogram(LONGEST_NANOS, 3);
  }

  static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
  }

  static String encode(Histogram histogram) {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    buffer.flip().limit(length);
    byte[] bytes = new byte[length];
    buffer.get(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  static Histogram decode(String text) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("not a histogram", e);
    }
  }

  /** The lines of an answer. */
  static Map<String, String> lines(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    text.lines()
        .forEach(
            line -> {
              int space = line.indexOf(' ');
              if (space > 0) {
                values.put(line.substring(0, space), line.substring(space + 1));
              }
            });
    return values;
  }
}
