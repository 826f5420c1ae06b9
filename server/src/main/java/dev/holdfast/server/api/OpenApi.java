package dev.holdfast.server.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Serves the description of this interface, an OpenAPI document that is written by hand.
 *
 * <p>The tests hold it against the routes, and against every answer that they see.
 */
final class OpenApi {
  static final String RESOURCE = "openapi.yaml";

  private static final CharSequence YAML = HttpHeaders.createOptimized("application/yaml");
  private static final int TAG_BYTES = 16;

  private final Buffer document;
  private final String tag;

  OpenApi() {
    byte[] bytes = read();
    document = Buffer.buffer(bytes);
    tag = tag(bytes);
  }

  private static byte[] read() {
    try (InputStream file = OpenApi.class.getResourceAsStream(RESOURCE)) {
      return Objects.requireNonNull(file, RESOURCE).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tag(byte[] bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return "\"" + HexFormat.of().formatHex(hash, 0, TAG_BYTES) + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  List<Route> routes() {
    return List.of(Route.get("/openapi.yaml", Access.OPEN, Set.of(), this::get));
  }

  private void get(Exchange exchange, byte[] body) {
    exchange.answerTagged(YAML, document, tag, _ -> {});
  }
}
