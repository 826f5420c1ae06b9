package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** What one scenario needs: a server with a store, and a ledger with everybody who writes in it. */
final class Scene implements AutoCloseable {
  static final String KEY = "hf_torture_on_this_machine_only";
  private static final Duration LONGEST_DRAIN = Duration.ofMinutes(3);
  private static final Duration ASK_EVERY = Duration.ofMillis(50);

  private final String name;
  private final Progress progress;
  private final Report report;
  private final Plan plan;
  private final Path data;
  private final Path look;
  private final Ledger ledger;
  private final Http http = new Http();
  private final Listener listener;
  private final Server server;
  private final Publishers publishers;

  /** Starts everything; nothing is sent yet. */
  Scene(Torture.Run run, String name, Path data, Server.Program program) throws IOException {
    this(run, name, data, program, Duration.ZERO);
  }

  /**
   * Starts everything; nothing is sent yet.
   *
   * @param hang how long some messages are left without an answer at first; zero for none
   */
  Scene(Torture.Run run, String name, Path data, Server.Program program, Duration hang)
      throws IOException {
    this.name = name;
    this.progress = run.progress();
    this.report = run.report();
    this.plan = new Plan(run.seed());
    this.data = data;
    this.look = run.directory().resolve("look");
    this.ledger = new Ledger(plan);
    this.listener = new Listener(plan, ledger, hang);
    int port = freePort();
    Path logs = Files.createDirectories(run.directory().resolve(name + "-logs"));
    this.server = new Server(Server.Options.embedded(data, logs, port, KEY, program), http);
    run.track(server);
    this.publishers = new Publishers(port, KEY, plan, ledger);
    server.awaitReady();
    for (int i = 0; i < Listener.ENDPOINTS; i++) {
      server.subscribe(listener.url(i), "t" + i);
    }
    server.subscribe(listener.urlOfAll(), "*");
  }

  Plan plan() {
    return plan;
  }

  Server server() {
    return server;
  }

  Publishers publishers() {
    return publishers;
  }

  Ledger ledger() {
    return ledger;
  }

  Path data() {
    return data;
  }

  void tick(String what) {
    Ledger.Counts counts = ledger.counts();
    progress.tick(
        "%s, %,d acknowledged, %,d arrived, %,d again"
            .formatted(what, counts.acknowledged(), counts.taken(), counts.repeats()));
  }

  /** Kills the server, and notes which messages may come again for that. */
  void kill() {
    server.kill();
    listener.awaitClosed();
    ledger.killed(StoreLook.unfinished(data, look));
  }

  /**
   * Ends the scenario: sends nothing new, waits for what is missing, stops the server, and compares
   * the ledger with the store.
   */
  void settle() throws IOException {
    publishers.pause();
    awaitArrivals();
    server.stop();
    List<String> problems = ledger.audit(StoreLook.contents(data, look));
    Ledger.Counts counts = ledger.counts();
    report.count(name, "processes", server.starts());
    report.count(name, "events acknowledged", counts.acknowledged());
    report.count(name, "messages arrived", counts.taken());
    report.count(
        name,
        "acknowledged and not arrived",
        problems.stream().filter(p -> p.startsWith("NOT ARRIVED")).count());
    if (counts.refused() > 0) {
      report.count(name, "events refused", counts.refused());
    }
    report.count(name, "arrived again", counts.repeats());
    if (counts.kills() > 0) {
      report.count(name, "taken but not recorded yet, at all kills", counts.unrecordedAtKills());
      report.count(name, "the same, at one kill at most", counts.mostUnrecordedAtKill());
    }
    problems.forEach(problem -> report.fail(name + ": " + problem));
    if (counts.acknowledged() == 0) {
      report.fail(name + ": nothing was acknowledged, so nothing was proven");
    }
  }

  /**
   * Waits, within a limit, until everything that was acknowledged has arrived, and until the server
   * has nothing left to do: what was accepted in the moment of a kill, with nobody told, arrives as
   * well, and what was taken too late comes again.
   */
  private void awaitArrivals() {
    long deadline = System.nanoTime() + LONGEST_DRAIN.toNanos();
    long unfinished = server.unfinished();
    while ((ledger.missing() > 0 || !publishers.isIdle() || unfinished > 0)
        && System.nanoTime() < deadline) {
      if (!server.isAlive()) {
        throw new ProofException("the server ended by itself:\n" + server.tail());
      }
      progress.tick(
          "waiting for %,d messages, %,d unfinished".formatted(ledger.missing(), unfinished));
      pause(ASK_EVERY);
      unfinished = server.unfinished();
    }
    progress.end();
    if (unfinished > 0) {
      ledger.problem(
          "the server still counts %d unfinished messages after %d s"
              .formatted(unfinished, LONGEST_DRAIN.toSeconds()));
    }
  }

  @Override
  public void close() {
    publishers.close();
    server.close();
    listener.close();
    http.close();
  }

  static void pause(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  static void delete(Path directory) {
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      System.err.println("could not delete " + directory + ": " + e.getMessage());
    }
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
