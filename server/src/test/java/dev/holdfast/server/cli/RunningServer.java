package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Settings.Sources;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A real server with a real store that may deliver to this machine, for commands to ask. */
final class RunningServer implements AutoCloseable {
  static final String KEY = "hf_of_the_test";

  private final Server server;

  RunningServer(Path data, String... assignments) throws Exception {
    List<String> all =
        Stream.concat(
                Stream.of("admin.key=" + KEY, "server.port=0", "egress.allow=127.0.0.0/8"),
                Stream.of(assignments))
            .toList();
    server =
        Wiring.start(
            Settings.read(
                new Sources(null, Map.of("HOLDFAST_DATA", data.toString()), all, Map.of())),
            InstantSource.system(),
            new PrintWriter(new StringWriter()));
  }

  String url() {
    return "http://127.0.0.1:" + server.port();
  }

  int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.stop().await();
  }
}
