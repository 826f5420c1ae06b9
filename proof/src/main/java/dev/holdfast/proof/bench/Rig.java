package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.ServerProcess.Wish;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The processes that a scenario needs, and the report that it writes to. */
final class Rig implements AutoCloseable {
  /** The group of the receiver that events of the load go to. */
  static final char EVENTS = 'e';

  /** Of the build that this program belongs to. */
  static final String OWN_CLASS_PATH = System.getProperty("java.class.path");

  /** Stands for all groups together where they are counted. */
  static final char ALL = '*';

  /** Enough to hold all that is in flight, young: these processes keep next to nothing. */
  private static final List<String> HELPER_FLAGS =
      List.of(
          "-Xms256m",
          "-Xmx256m",
          "-Xmn160m",
          "-XX:+UseSerialGC",
          "-Dvertx.disableMetrics=true",
          "-Dvertx.disableHttpHeadersValidation=true",
          "-Dlogback.configurationFile=dev/holdfast/proof/bench/logback.xml");

  private final Settings settings;
  private final Progress progress;
  private Report report;
  private final Path directory;
  private final Http http = new Http();
  private final Stores stores;
  private final Reference reference = new Reference(this);
  private final List<Child> children = new ArrayList<>();
  private String serverClassPath = OWN_CLASS_PATH;
  private int logs;
  private boolean closed;

  Rig(Settings settings, Progress progress, Report report, Path directory) {
    this.settings = settings;
    this.progress = progress;
    this.report = report;
    this.directory = directory;
    this.stores = new Stores(settings, directory);
  }

  Settings settings() {
    return settings;
  }

  Progress progress() {
    return progress;
  }

  Report report() {
    return report;
  }

  /** Has what follows written to another report. */
  void reportTo(Report other) {
    report = other;
  }

  /** Has servers that are started from now on be those of another build. */
  void serveFrom(String classPath) {
    serverClassPath = classPath;
  }

  /** What this machine can do with nothing stored. */
  Reference reference() {
    return reference;
  }

  Stores stores() {
    return stores;
  }

  /** A new empty place for a server's data. */
  Place newPlace() throws IOException {
    return stores.newPlace();
  }

  /** A new empty directory. */
  Path newDirectory() throws IOException {
    return stores.newDirectory();
  }

  ReceiverProcess startReceiver() throws IOException {
    Child child = startHelper("receiver", Receiver.class);
    return ReceiverProcess.of(child, http);
  }

  /** Starts one that takes HTTPS as well, with the certificates that it puts into a directory. */
  ReceiverProcess startReceiver(Path certificates) throws IOException {
    Child child = startHelper("receiver", Receiver.class, certificates.toString());
    return ReceiverProcess.of(child, http);
  }

  LoadProcess startLoad() throws IOException {
    Child child = startHelper("load", LoadGenerator.class);
    return new LoadProcess(child, child.awaitPort(), http);
  }

  /**
   * Starts a server on {@code place} and waits until it is ready.
   *
   * @param more settings, each a key and a value
   */
  ServerProcess startServer(Place place, String... more) throws IOException {
    return startNode("server", place, more);
  }

  /** The same for one of several, which are told apart by their names. */
  ServerProcess startNode(String name, Place place, String... more) throws IOException {
    List<String> flags = new ArrayList<>();
    flags.add("-Xmx" + settings.serverHeap);
    flags.addAll(settings.serverFlags);
    return startServer(name, settings.serverMain, flags, place, more);
  }

  /** The same with a main class and flags for Java that are given. */
  ServerProcess startServer(
      String name, String mainClass, List<String> flags, Place place, String... more)
      throws IOException {
    int port = freePort();
    String key = randomKey();
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(place.arguments());
    arguments.addAll(List.of("--set", "admin.key=" + key));
    arguments.addAll(List.of("--set", "egress.allow=127.0.0.0/8"));
    for (String setting : more) {
      arguments.addAll(List.of("--set", setting));
    }
    for (String setting : settings.serverSettings) {
      arguments.addAll(List.of("--set", setting));
    }
    long started = System.nanoTime();
    Child child = startCommand(name, mainClass, flags, arguments);
    return ServerProcess.awaitReady(child, started, port, key, http);
  }

  /** Starts any command of the build that servers are of. */
  Child startCommand(String name, String mainClass, List<String> flags, List<String> arguments)
      throws IOException {
    return track(
        Child.start(name, flags, serverClassPath, mainClass, arguments, newLog(name), true));
  }

  private Child startHelper(String name, Class<?> main, String... arguments) throws IOException {
    List<String> flags = new ArrayList<>(HELPER_FLAGS);
    flags.addAll(settings.helperFlags);
    return track(Child.start(name, flags, main.getName(), List.of(arguments), newLog(name), false));
  }

  /** Starts a program that is not ours. */
  Child startOther(String name, List<String> command) throws IOException {
    return track(Child.run(name, command, newLog(name)));
  }

  private Path newLog(String name) {
    return directory.resolve(name + "-" + ++logs + ".log");
  }

  private synchronized Child track(Child child) {
    children.add(child);
    if (closed) {
      child.kill();
    }
    return child;
  }

  /** These, and the database's, if there is one of ours. */
  List<Child> withDatabase(Child... processes) {
    List<Child> all = new ArrayList<>(List.of(processes));
    stores.process().ifPresent(all::add);
    return all;
  }

  /** Subscribes each endpoint of a group to a type of its own. */
  void subscribe(ServerProcess server, ReceiverProcess receiver, int endpoints) {
    progress.step("subscribing %,d endpoints".formatted(endpoints));
    for (int i = 0; i < endpoints; i++) {
      server.subscribe(receiver.url(EVENTS, i), LoadPlan.type(i));
    }
  }

  /** The same for so many that they are made with few calls. */
  void subscribeMany(ServerProcess server, ReceiverProcess receiver, int endpoints) {
    progress.step("subscribing %,d endpoints".formatted(endpoints));
    server.subscribe(
        IntStream.range(0, endpoints)
            .mapToObj(i -> new Wish(receiver.url(EVENTS, i), LoadPlan.type(i)))
            .toList());
  }

  /**
   * Waits, within a limit, until as many events have arrived as were accepted, and says how many
   * have.
   */
  long awaitArrival(ReceiverProcess receiver, long accepted, char... groups) {
    long deadline = System.nanoTime() + Duration.ofSeconds(settings.longestDrain).toNanos();
    long arrived = arrived(receiver, groups);
    while (arrived < accepted && System.nanoTime() < deadline) {
      progress.tick("waiting for the last %,d messages".formatted(accepted - arrived));
      pause(Duration.ofMillis(100));
      arrived = arrived(receiver, groups);
    }
    progress.end();
    return arrived;
  }

  /**
   * Ends a scenario: waits for what is on the way, and reports what is missing.
   *
   * @param last what the load counted in its last run
   * @param accepted in all its runs since the receiver was started
   */
  void settle(ReceiverProcess receiver, LoadProcess.Counts last, long accepted, char... groups) {
    long arrived = awaitArrival(receiver, accepted, groups);
    String scenario = progress.currentScenario();
    ReceiverProcess.Counts counts = receiver.counts();
    long repeats = 0;
    for (char group : groups) {
      repeats += counts.repeats(group);
    }
    report.count(scenario, "accepted", accepted);
    report.count(scenario, "accepted and not arrived", Math.max(0, accepted - arrived));
    report.count(scenario, "arrived more than once", repeats);
    if (last.refused() > 0) {
      report.count(scenario, "refused", last.refused());
      report.note(scenario + ": the last refusal was: " + last.refusal());
    }
    if (last.unknown() > 0) {
      report.count(scenario, "sent and never answered", last.unknown());
    }
    if (accepted == 0) {
      report.fail(scenario + ": nothing was accepted");
    }
    if (arrived < accepted) {
      report.fail(
          "%s: %,d of %,d accepted events did not arrive within %d s"
              .formatted(scenario, accepted - arrived, accepted, settings.longestDrain));
    }
    if (arrived > accepted + last.unknown()) {
      report.fail(
          "%s: %,d events arrived, but only %,d were accepted"
              .formatted(scenario, arrived, accepted));
    }
  }

  private static long arrived(ReceiverProcess receiver, char... groups) {
    ReceiverProcess.Counts counts = receiver.counts();
    long sum = 0;
    for (char group : groups) {
      sum += counts.numbers(group);
    }
    return sum;
  }

  /** Waits {@code seconds} and shows how many are left. */
  void watch(String what, int seconds) {
    for (int i = 0; i < seconds; i++) {
      progress.tick("%s %d/%d s".formatted(what, i, seconds));
      pause(Duration.ofSeconds(1));
    }
    progress.end();
  }

  /** Ends all processes, so that the next scenario has the machine to itself. */
  void stopAll() {
    List<Child> ending;
    synchronized (this) {
      ending = List.copyOf(children);
      children.clear();
    }
    ending.reversed().forEach(Child::close);
  }

  /** Ends all processes of a scenario, and deletes what they have stored. */
  void endScenario() {
    stopAll();
    if (!settings.keep) {
      stores.takeMade().forEach(Rig::deleteTree);
    }
  }

  void stop(Child child) {
    synchronized (this) {
      children.remove(child);
    }
    child.close();
  }

  /** Ends all processes at once and for good; called when the benchmark itself ends. */
  @Override
  public void close() {
    List<Child> ending;
    synchronized (this) {
      closed = true;
      ending = List.copyOf(children);
      children.clear();
    }
    ending.forEach(Child::kill);
    ending.forEach(Child::close);
    stores.close();
    http.close();
    delete(directory);
  }

  /** Deletes what is needed no longer, where it takes much room. */
  void delete(Path directory) {
    if (!settings.keep) {
      deleteTree(directory);
    }
  }

  private static void deleteTree(Path directory) {
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      System.err.println("could not delete " + directory + ": " + e.getMessage());
    }
  }

  static void pause(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static String randomKey() {
    byte[] bytes = new byte[24];
    new SecureRandom().nextBytes(bytes);
    return "hf_" + HexFormat.of().formatHex(bytes);
  }
}
