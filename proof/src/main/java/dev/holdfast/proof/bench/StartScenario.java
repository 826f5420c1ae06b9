package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How long it takes from the start of a server's process to its first delivery, as {@code
 * ./holdfast serve} starts it: without and with Java's cache of what a start loads.
 */
final class StartScenario implements Scenario {
  private static final String NAME = "start";

  /** What {@code ./holdfast} runs. */
  private static final String MAIN = "dev.holdfast.proof.Main";

  /** What it gives Java, besides what every child of ours gets. */
  private static final List<String> FLAGS =
      List.of("-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");

  private static final Duration LONGEST_MAKING = Duration.ofMinutes(2);
  private static final double MOST_SECONDS = 1.5;

  /** What a server finds when it starts. */
  private enum Stock {
    /** Nothing: the store is made, and the subscription when the server is ready. */
    EMPTY("empty store"),
    /** A store that servers have used before, with a subscription. */
    SUBSCRIBED("a subscription there");

    private final String text;

    Stock(String text) {
      this.text = text;
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "time from the start of the process to the first delivery, without and with Java's cache"
        + " of what a start loads";
  }

  /** What a database takes to connect to is its own. */
  @Override
  public boolean runsOn(boolean shared) {
    return !shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    ReceiverProcess receiver = rig.startReceiver();
    List<String> plain = flags(rig);
    List<Way> ways = new ArrayList<>();
    ways.add(new Way(rig, receiver, "without the cache", plain, false));
    makeCache(rig, plain)
        .ifPresent(
            cache -> {
              List<String> cached = new ArrayList<>(plain);
              cached.add("-XX:AOTCache=" + cache);
              cached.add("-Xlog:aot=off");
              ways.add(new Way(rig, receiver, "with the cache", cached, true));
            });
    Path used = rig.newDirectory();
    ServerProcess server = rig.startServer(NAME, MAIN, plain, Place.in(used));
    server.subscribe(receiver.url(Rig.EVENTS, 0), LoadPlan.type(0));
    rig.stop(server.child());

    // Each is over in seconds, and one in which something else ran is not to count.
    int rounds = 2 * rig.settings().rounds;
    for (int round = 1; round <= rounds; round++) {
      for (Way way : ways) {
        rig.progress().tick("round %d of %d, %s".formatted(round, rounds, way.text));
        Path empty = rig.newDirectory();
        way.start(Stock.EMPTY, empty);
        rig.delete(empty);
        way.start(Stock.SUBSCRIBED, used);
      }
    }
    rig.progress().end();
    ways.forEach(Way::report);
  }

  private static List<String> flags(Rig rig) {
    List<String> flags = new ArrayList<>(FLAGS);
    flags.addAll(rig.settings().serverFlags);
    return flags;
  }

  /** Has Java make its cache; absent when it cannot. */
  private static Optional<Path> makeCache(Rig rig, List<String> flags) throws IOException {
    rig.progress().step("making the cache");
    Path cache = rig.newDirectory().resolve("start-up.aot");
    List<String> making = new ArrayList<>(flags);
    making.add("-XX:AOTCacheOutput=" + cache);
    long started = System.nanoTime();
    Child child = rig.startCommand("warm-up", MAIN, making, List.of("warm-up"));
    child.awaitEnd(LONGEST_MAKING);
    rig.stop(child);
    if (!Files.exists(cache)) {
      rig.report().note(NAME + ": Java could not make its cache here:\n" + child.tail());
      return Optional.empty();
    }
    rig.report().add(NAME, "the cache, made in", (System.nanoTime() - started) / 1e9, "s");
    rig.report().add(NAME, "the cache, size", Files.size(cache) / 1e6, "MB");
    return Optional.of(cache);
  }

  /** One way to start, and how long it took so far. */
  private static final class Way {
    private final Rig rig;
    private final ReceiverProcess receiver;
    private final String text;
    private final List<String> flags;
    private final boolean hasTarget;
    private final Map<Stock, Median> ready = new EnumMap<>(Stock.class);
    private final Map<Stock, Median> delivered = new EnumMap<>(Stock.class);

    Way(Rig rig, ReceiverProcess receiver, String text, List<String> flags, boolean hasTarget) {
      this.rig = rig;
      this.receiver = receiver;
      this.text = text;
      this.flags = flags;
      this.hasTarget = hasTarget;
    }

    void start(Stock stock, Path data) throws IOException {
      receiver.reset();
      ServerProcess server = rig.startServer(NAME, MAIN, flags, Place.in(data));
      if (stock == Stock.EMPTY) {
        server.subscribe(receiver.url(Rig.EVENTS, 0), LoadPlan.type(0));
      }
      server.send(LoadPlan.type(0), Mark.data(LoadPlan.DATA_BYTES, Mark.UNTIMED, 0));
      if (rig.awaitArrival(receiver, 1, Rig.EVENTS) == 0) {
        rig.report().fail("%s: %s, %s, nothing was delivered".formatted(NAME, text, stock.text));
      } else {
        long nanos = receiver.counts().firstAtNanos(Rig.EVENTS) - server.startedNanos();
        add(delivered, stock, nanos / 1e9);
        add(ready, stock, server.timeToReady().toNanos() / 1e9);
      }
      rig.stop(server.child());
    }

    private static void add(Map<Stock, Median> to, Stock stock, double seconds) {
      to.computeIfAbsent(stock, _ -> new Median()).add(seconds);
    }

    void report() {
      for (Stock stock : Stock.values()) {
        Median first = delivered.getOrDefault(stock, new Median());
        String name = "%s, %s, ".formatted(text, stock.text);
        rig.report()
            .add(NAME, name + "ready", ready.getOrDefault(stock, new Median()).value(), "s");
        rig.report()
            .add(
                NAME,
                name + "first delivery",
                first.value(),
                "s",
                hasTarget ? Target.atMost(MOST_SECONDS) : null);
        rig.report().add(NAME, name + "first delivery, the slowest", first.largest(), "s");
      }
    }
  }
}
