package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Settings.Sources;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A real server with a real store, for commands to ask. It may deliver to this machine, unless it
 * is told where it may, and asks no real name server.
 */
final class RunningServer implements AutoCloseable {
  static final String KEY = "hf_of_the_test";

  private final FakeNames names;
  private final Server server;

  RunningServer(Path data, String... assignments) throws Exception {
    this(data, new FakeNames(Map.of()), assignments);
  }

  /**
   * @param names closed with the server
   */
  RunningServer(Path data, FakeNames names, String... assignments) throws Exception {
    this.names = names;
    boolean isToldWhere = Stream.of(assignments).anyMatch(one -> one.startsWith("egress.allow="));
    boolean isToldPort = Stream.of(assignments).anyMatch(one -> one.startsWith("server.port="));
    List<String> all =
        Stream.of(
                Stream.of("admin.key=" + KEY),
                isToldPort ? Stream.<String>empty() : Stream.of("server.port=0"),
                isToldWhere ? Stream.<String>empty() : Stream.of("egress.allow=127.0.0.0/8"),
                Stream.of(assignments))
            .flatMap(some -> some)
            .toList();
    server =
        Wiring.start(
            Settings.read(
                new Sources(null, Map.of("HOLDFAST_DATA", data.toString()), all, Map.of())),
            InstantSource.system(),
            new PrintWriter(new StringWriter()),
            names.options());
  }

  String url() {
    return "http://127.0.0.1:" + server.port();
  }

  int port() {
    return server.port();
  }

  List<String> warnings() {
    return server.warnings();
  }

  @Override
  public void close() {
    server.stop().await();
    names.close();
  }
}
