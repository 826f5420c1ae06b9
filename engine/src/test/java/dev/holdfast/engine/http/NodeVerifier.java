package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Node with a library that others wrote, to verify signatures with. Where there is no Node, or the
 * library cannot be had, a test that wants it is skipped and says so, unless {@code CI} is set in
 * the environment.
 */
final class NodeVerifier {
  private static final Path SOURCE = Path.of("src/test/npm");
  private static final Path PLACE = Path.of("target/npm");
  private static final List<String> FILES =
      List.of("package.json", "package-lock.json", "verify.mjs");
  private static final int PATIENCE_SECONDS = 120;

  private NodeVerifier() {}

  /** A request, and what it is to be verified with: a secret or a public key. */
  record Question(String key, Receiver.Request request) {
    private String json() {
      String headers =
          List.of("webhook-id", "webhook-timestamp", "webhook-signature").stream()
              .map(name -> "\"" + name + "\":\"" + request.header(name) + "\"")
              .collect(Collectors.joining(","));
      return "{\"key\":\"%s\",\"headers\":{%s},\"body\":\"%s\"}"
          .formatted(key, headers, Base64.getEncoder().encodeToString(request.body()));
    }
  }

  /** Whether Node finds each of them good. */
  static List<Boolean> verify(List<Question> questions) throws Exception {
    install();
    Path input = PLACE.resolve("input");
    Path output = PLACE.resolve("output");
    Files.write(input, questions.stream().map(Question::json).toList());
    assertThat(run(input, output, "node", "verify.mjs")).as(() -> text(output)).isZero();
    List<Boolean> verdicts = Files.readAllLines(output).stream().map("good"::equals).toList();
    assertThat(verdicts).hasSameSizeAs(questions);
    return verdicts;
  }

  private static void install() throws Exception {
    Files.createDirectories(PLACE);
    for (String file : FILES) {
      Files.copy(SOURCE.resolve(file), PLACE.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    Path done = PLACE.resolve("node_modules/.of");
    String wanted = Files.readString(PLACE.resolve("package-lock.json"));
    if (Files.exists(done) && Files.readString(done).equals(wanted)) {
      return;
    }
    Path output = PLACE.resolve("npm.log");
    int ended;
    try {
      ended =
          run(
              Files.writeString(PLACE.resolve("nothing"), ""),
              output,
              "npm",
              "ci",
              "--ignore-scripts",
              "--no-audit",
              "--no-fund");
    } catch (IOException e) {
      skip("there is no npm on the PATH: " + e.getMessage());
      return;
    }
    if (ended != 0) {
      skip("npm could not install what verifies signatures: " + text(output));
    }
    Files.writeString(done, wanted);
  }

  private static void skip(String why) {
    if (System.getenv("CI") != null) {
      throw new AssertionError(why);
    }
    abort(why);
  }

  private static int run(Path input, Path output, String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .directory(PLACE.toFile())
            .redirectErrorStream(true)
            .redirectInput(input.toFile())
            .redirectOutput(output.toFile())
            .start();
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(String.join(" ", command) + " did not end");
    }
    return process.exitValue();
  }

  private static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
