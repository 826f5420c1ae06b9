package dev.holdfast.engine.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Another Java process that runs the {@code main} of a class of the tests, until closed. */
final class Child implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private Child(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  static Child start(Class<?> main, Path directory) throws IOException {
    return new Child(
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  @Nullable String readLine() throws IOException {
    return output.readLine();
  }

  /** Ends the process as a power cut would, and waits until it is gone. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
