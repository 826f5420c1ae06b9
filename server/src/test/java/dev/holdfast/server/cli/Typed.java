package dev.holdfast.server.cli;

import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Types commands, and keeps what they print. */
final class Typed {
  final Map<String, String> environment = new HashMap<>();
  final List<Duration> waited = new ArrayList<>();
  String out = "";
  String err = "";

  /** After so many waits the command is asked to end. */
  int waitsUntilAsked = Integer.MAX_VALUE;

  private byte[] input = new byte[0];
  private InstantSource clock = InstantSource.system();
  private Screen screen = Screen.NONE;

  Typed at(String server, String key) {
    environment.put("HOLDFAST_SERVER", server);
    environment.put("HOLDFAST_KEY", key);
    return this;
  }

  Typed input(String text) {
    input = text.getBytes(StandardCharsets.UTF_8);
    return this;
  }

  Typed now(Instant time) {
    clock = InstantSource.fixed(time);
    return this;
  }

  Typed terminal(int width) {
    screen = new Screen(true, true, () -> width);
    return this;
  }

  int run(String... arguments) {
    StringWriter toOut = new StringWriter();
    StringWriter toErr = new StringWriter();
    Surroundings surroundings =
        new Surroundings(
            environment, clock, new ByteArrayInputStream(input), () -> screen, () -> this::wait);
    CommandLine line = Main.commandLine(List.of(), clock, surroundings);
    line.setOut(new PrintWriter(toOut, true));
    line.setErr(new PrintWriter(toErr, true));
    int code = line.execute(arguments);
    out = toOut.toString();
    err = toErr.toString();
    return code;
  }

  private boolean wait(Duration time) {
    waited.add(time);
    return waited.size() >= waitsUntilAsked;
  }
}
