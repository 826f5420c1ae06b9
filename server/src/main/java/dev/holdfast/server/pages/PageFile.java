package dev.holdfast.server.pages;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * A file as it is sent.
 *
 * @param plain its content as it is
 * @param compressed the same, in gzip; not much smaller if it is an image
 */
public record PageFile(String contentType, Content plain, Content compressed) {
  private static final int TAG_BYTES = 16;

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "json", "application/json",
          "txt", "text/plain; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png",
          "ico", "image/x-icon",
          "woff2", "font/woff2");

  /**
   * Bytes that are sent.
   *
   * @param tag changes whenever they do
   */
  public record Content(byte[] bytes, String tag) {}

  static PageFile of(String name, byte[] bytes) throws IOException {
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      throw new IOException("the content type of " + name + " is not known: add it to the types");
    }
    String hash = hash(bytes);
    return new PageFile(
        type,
        new Content(bytes, "\"" + hash + "\""),
        new Content(compressed(bytes), "\"" + hash + "-gzip\""));
  }

  private static byte[] compressed(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private static String hash(byte[] bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(hash, 0, TAG_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
