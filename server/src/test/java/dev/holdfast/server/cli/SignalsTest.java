package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own can show. */
@Timeout(60)
class SignalsTest {
  @TempDir private Path directory = Path.of("");

  private @Nullable Process process;

  @AfterEach
  void end() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Test
  void a_receiver_ends_with_a_summary_and_0() throws Exception {
    Process listening = start(Main.class, "listen", "--port", "0", "--status", "503", "--body");
    BufferedReader out = listening.inputReader(StandardCharsets.UTF_8);
    String address = out.readLine().replaceFirst(".*(http://[0-9.:]+), answering 503\\.", "$1");
    out.readLine();
    post(address + "/hook");
    assertThat(out.readLine()).endsWith("  POST /hook  msg_1  12 B  -> 503");
    assertThat(out.readLine() + out.readLine() + out.readLine())
        .isEqualTo("    {      \"a\": 1.10    }");

    listening.outputWriter().append("200\n").flush();
    assertThat(out.readLine()).isEqualTo("Now answering 200.");
    post(address + "/hook");
    assertThat(out.readLine()).endsWith("-> 200  again (2nd time)");

    listening.toHandle().destroy();
    assertThat(listening.waitFor()).isZero();
    assertThat(out.lines().toList()).endsWith("Received 2: 1 distinct, 1 repeated.");
  }

  @Test
  void a_server_ends_with_0_and_leaves_its_store_in_order() throws Exception {
    for (int start = 1; start <= 2; start++) {
      Process serving = start(Main.class, "serve", "--port", "0", "--data", directory.toString());
      BufferedReader out = serving.inputReader(StandardCharsets.UTF_8);
      List<String> said = new ArrayList<>();
      do {
        said.add(out.readLine());
      } while (!said.getLast().startsWith("  stop "));
      assertThat(said.stream().filter(line -> line.contains("hf_")).count())
          .isEqualTo(start == 1 ? 1 : 0);
      serving.toHandle().destroy();
      assertThat(serving.waitFor()).isZero();
    }
  }

  @Test
  void a_second_signal_ends_at_once() throws Exception {
    Process stubborn = start(Stubborn.class);
    BufferedReader out = stubborn.inputReader(StandardCharsets.UTF_8);
    assertThat(out.readLine()).isEqualTo("running");
    stubborn.toHandle().destroy();
    assertThat(out.readLine()).isEqualTo("asked to stop");
    stubborn.toHandle().destroy();
    assertThat(stubborn.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(stubborn.exitValue()).isEqualTo(ExitCode.FAILED);
  }

  /** A program that never finishes stopping. */
  static final class Stubborn {
    public static void main(String[] arguments) throws InterruptedException {
      StopSignal stop = StopSignal.install();
      System.out.println("running");
      stop.await();
      System.out.println("asked to stop");
      new CountDownLatch(1).await();
    }
  }

  private Process start(Class<?> program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    // Settings of whoever runs the tests are not the test's.
    builder.environment().keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
    process = builder.start();
    return process;
  }

  private static void post(String address) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      client.send(
          HttpRequest.newBuilder(URI.create(address))
              .header("webhook-id", "msg_1")
              .POST(BodyPublishers.ofString("{ \"a\":1.10 }"))
              .build(),
          BodyHandlers.discarding());
    }
  }
}
