package dev.holdfast.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;

/** Which Holdfast this is. */
final class Version {
  static final String NUMBER = read();

  private Version() {}

  private static String read() {
    try (InputStream file = Version.class.getResourceAsStream("version.properties")) {
      Properties properties = new Properties();
      properties.load(Objects.requireNonNull(file));
      return Objects.requireNonNull(properties.getProperty("version"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
