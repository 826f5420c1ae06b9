package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/** The server that is tortured: many processes, one after the other, on one directory and port. */
final class Server implements AutoCloseable {
  static final String MAIN = "dev.holdfast.server.cli.Main";

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Pattern UNFINISHED =
      Pattern.compile("(?m)^holdfast_messages_unfinished\\{[^}]*} (\\S+)$");
  private static final Duration LONGEST_START = Duration.ofMinutes(2);
  private static final Duration LONGEST_STOP = Duration.ofMinutes(1);
  private static final Duration LONGEST_KILL = Duration.ofSeconds(30);
  private static final Duration ASK_EVERY = Duration.ofMillis(20);

  /** These processes live for seconds: what they do is not worth compiling twice. */
  static final List<String> BRIEFLY =
      List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

  private final Options options;
  private final Http http;
  private int starts;
  private Child child;

  /**
   * How it is started.
   *
   * @param name what it and its logs are called
   * @param store where its store is, as arguments
   */
  record Options(
      String name, List<String> store, Path logs, int port, String key, Program program) {

    /** With a store of its own, in a directory. */
    static Options embedded(Path data, Path logs, int port, String key, Program program) {
      return new Options("server", List.of("--data", data.toString()), logs, port, key, program);
    }
  }

  /**
   * What is started.
   *
   * @param flags for its JVM
   * @param settings {@code KEY=VALUE}
   */
  record Program(String mainClass, List<String> flags, List<String> settings) {

    /** The server as it is released. */
    static Program released(String... settings) {
      return new Program(MAIN, BRIEFLY, List.of(settings));
    }
  }

  /** Starts the first process. */
  Server(Options options, Http http) throws IOException {
    this.options = options;
    this.http = http;
    this.child = launch();
  }

  private Child launch() throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("serve", "--port", Integer.toString(options.port())));
    arguments.addAll(options.store());
    arguments.addAll(List.of("--set", "admin.key=" + options.key()));
    arguments.addAll(List.of("--set", "egress.allow=127.0.0.0/8"));
    for (String setting : options.program().settings()) {
      arguments.addAll(List.of("--set", setting));
    }
    Path log = options.logs().resolve("%s-%d.log".formatted(options.name(), ++starts));
    Program program = options.program();
    return Child.start(options.name(), program.flags(), program.mainClass(), arguments, log, true);
  }

  /** Starts another process; the one before has ended. */
  void restart() throws IOException {
    child = launch();
  }

  int starts() {
    return starts;
  }

  void awaitReady() {
    long deadline = System.nanoTime() + LONGEST_START.toNanos();
    while (!isReady()) {
      if (!child.isAlive()) {
        throw new ProofException("the server ended by itself:\n" + child.tail());
      }
      if (System.nanoTime() > deadline) {
        throw new ProofException(
            "the server is not ready after %d s:\n%s"
                .formatted(LONGEST_START.toSeconds(), child.tail()));
      }
      Scene.pause(ASK_EVERY);
    }
  }

  int port() {
    return options.port();
  }

  boolean isReady() {
    try {
      return http.call("GET", options.port(), "/health/ready", "", "").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  boolean isAlive() {
    return child.isAlive();
  }

  void subscribe(String url, String... types) {
    call(
        "POST",
        "/v1/subscriptions",
        "{\"url\":\"%s\",\"types\":[\"%s\"]}".formatted(url, String.join("\",\"", types)));
  }

  /** Sends an event with this much data, and says its id. */
  String publish(String type, int bytes) {
    String body = "{\"type\":\"%s\",\"data\":\"%s\"}".formatted(type, "x".repeat(bytes));
    return JSON.readTree(call("POST", "/v1/events", body)).path("id").asString();
  }

  /** How many messages it has that are not finished, as it counts them itself. */
  long unfinished() {
    Matcher matcher = UNFINISHED.matcher(call("GET", "/metrics", ""));
    if (!matcher.find()) {
      throw new ProofException("GET /metrics does not tell how many messages are unfinished");
    }
    long unfinished = 0;
    do {
      unfinished += (long) Double.parseDouble(matcher.group(1));
    } while (matcher.find());
    return unfinished;
  }

  /** What it answers; anything but success ends the torture. */
  String call(String method, String path, String body) {
    try {
      HttpResponse<String> answer = http.call(method, options.port(), path, options.key(), body);
      if (answer.statusCode() / 100 != 2) {
        throw new ProofException("%s %s answered %s".formatted(method, path, answer.body()));
      }
      return answer.body();
    } catch (IOException e) {
      throw new ProofException("%s %s failed:\n%s".formatted(method, path, child.tail()), e);
    }
  }

  long pid() {
    return child.pid();
  }

  /** {@code kill -9}, and waits until the process is gone. */
  void kill() {
    child.kill();
    if (child.awaitEnd(LONGEST_KILL).isEmpty()) {
      throw new ProofException("a server that was killed does not end");
    }
  }

  void signal(String signal) throws IOException {
    child.signal(signal);
  }

  /** What it ended with by itself; absent when it still runs. */
  OptionalInt awaitEnd(Duration patience) {
    return child.awaitEnd(patience);
  }

  String log() {
    return child.log();
  }

  String tail() {
    return child.tail();
  }

  /** Asks it to end as an operator does. */
  void stop() throws IOException {
    child.signal("TERM");
    OptionalInt code = child.awaitEnd(LONGEST_STOP);
    if (code.isEmpty() || code.getAsInt() != 0) {
      throw new ProofException("the server did not stop as it should:\n" + child.tail());
    }
  }

  @Override
  public void close() {
    child.kill();
    child.awaitEnd(LONGEST_KILL);
  }
}
