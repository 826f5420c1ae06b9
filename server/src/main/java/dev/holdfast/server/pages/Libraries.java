package dev.holdfast.server.pages;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;

/**
 * What the scripts use that is not ours and comes as a Maven dependency: Preact, in the jar that
 * WebJars makes of its npm package.
 *
 * <p>Its modules name each other as npm does, which a browser does not understand. So that name is
 * replaced when they are read; the rest is as it was published.
 */
final class Libraries {
  private static final String PROPERTIES = "/META-INF/maven/org.webjars.npm/preact/pom.properties";
  private static final String FILES = "/META-INF/resources/webjars/preact/";

  private Libraries() {}

  /** By the path of each, which begins with this directory. */
  static Map<String, byte[]> load(String directory) throws IOException {
    String files = FILES + version() + "/";
    return Map.of(
        directory + "preact.js", module(files + "dist/preact.module.js"),
        directory + "hooks.js", module(files + "hooks/dist/hooks.module.js"),
        directory + "preact-LICENSE.txt", bytes(files + "LICENSE"));
  }

  private static String version() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = open(PROPERTIES)) {
      properties.load(in);
    }
    return properties.getProperty("version", "");
  }

  private static byte[] module(String resource) throws IOException {
    return new String(bytes(resource), StandardCharsets.UTF_8)
        .replace("from\"preact\"", "from\"./preact.js\"")
        .replaceFirst("\n//# sourceMappingURL=\\S*\\s*$", "\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String resource) throws IOException {
    try (InputStream in = open(resource)) {
      return in.readAllBytes();
    }
  }

  private static InputStream open(String resource) throws IOException {
    InputStream in = Libraries.class.getResourceAsStream(resource);
    if (in == null) {
      throw new IOException(
          resource + " is not on the class path: the program is not packed as it should be");
    }
    return in;
  }
}
