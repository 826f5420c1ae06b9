package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Settings.Sources;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast demo}. */
@Command(
    name = "demo",
    description = {
      "A server to look at, which needs nothing and leaves nothing behind: receivers in this process",
      "that fail in different ways, a stream of events, and time that passes 1,440 times as fast, so",
      "that 48 hours are two minutes. Prints a link to the dashboard."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast demo                       until Ctrl-C",
      "  ./holdfast demo --seconds 150         ends by itself, after all of it was to be seen",
      "  ./holdfast demo --port 9090 --seed 7  elsewhere, and with other events",
      "",
      "It can only be reached from this machine. Its store is in a temporary directory, which is",
      "removed at the end. Exit codes: 0 ended as asked, 1 failed, 2 wrong usage."
    })
final class Demo implements Callable<Integer> {
  private static final int FIRST_PORT = 8_080;
  private static final int PORTS_TRIED = 100;
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(15);
  private static final int LOOKS_AT_SUMS = 20;
  private static final String LOG = "holdfast.log";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      converter = Port.class,
      description =
          "The server's port, 0 for any that is free (default: 8080, or the next that is free).")
  private @Nullable Integer port;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "0",
      converter = Seconds.class,
      description = "End after so many seconds; 0: not before Ctrl-C (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      converter = Seed.class,
      description = "Which events are made up (default: ${DEFAULT-VALUE}).")
  private int seed;

  private final InstantSource clock;
  private final Supplier<StopSignal> signals;

  Demo(InstantSource clock) {
    this(clock, StopSignal::install);
  }

  /** With another way to be asked to end, for tests. */
  Demo(InstantSource clock, Supplier<StopSignal> signals) {
    this.clock = clock;
    this.signals = signals;
  }

  @Override
  public Integer call() throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    StopSignal stop = signals.get();
    Path directory = Files.createTempDirectory("holdfast-demo");
    int code = ExitCode.FAILED;
    try (Logging.Diverted _ = Logging.divert(directory.resolve(LOG))) {
      code = run(directory, stop, out);
    } catch (InvalidSettings e) {
      err.println(e.report());
    } catch (CannotStart e) {
      err.println("The demo did not start: " + e.getMessage());
    } catch (CommandFailed e) {
      err.println("The demo failed: " + e.getMessage());
    } finally {
      remove(directory, err);
    }
    return code;
  }

  private int run(Path directory, StopSignal stop, PrintWriter out)
      throws CannotStart, InvalidSettings, CommandFailed {
    NewKey key = NewKey.make(new SecureRandom());
    Server server = start(settings(directory, key));
    try {
      Instant start = clock.instant();
      List<DemoReceiver> cast = DemoReceiver.cast();
      URI address = URI.create("http://127.0.0.1:" + server.port());
      try (DemoReceivers receivers =
              new DemoReceivers(cast, clock, start, new SplittableRandom(seed));
          ApiClient api =
              new ApiClient(address, new ApiClient.Key(key.text(), "the demo"), null, null)) {
        greet(address, key, directory, cast, receivers, out);
        return play(stop, start, cast, receivers, api, out);
      }
    } finally {
      stop(server);
    }
  }

  /** Times are divided by {@link DemoTime#SPEED}: pages that show them multiply by it. */
  private Server start(Settings settings) throws CannotStart {
    return Wiring.start(settings, clock, new PrintWriter(Writer.nullWriter()), DemoTime.SPEED);
  }

  private Settings settings(Path directory, NewKey key) throws InvalidSettings, CannotStart {
    List<String> all = new ArrayList<>(DemoTime.settings());
    all.addAll(
        List.of(
            "server.port=" + (port == null ? freePort() : port),
            "data=" + directory.resolve("data"),
            "admin.key=" + key.text(),
            "egress.allow=127.0.0.0/8",
            "store.reserve=16MB",
            "retention=1h",
            "retention.max-bytes=512MB"));
    return Settings.read(new Sources(null, Map.of(), all, Map.of()));
  }

  /** The usual port, or the next one that nobody uses. */
  private static int freePort() throws CannotStart {
    for (int candidate = FIRST_PORT; candidate < FIRST_PORT + PORTS_TRIED; candidate++) {
      if (isFree(candidate)) {
        return candidate;
      }
    }
    throw new CannotStart(
        "All ports from %d on are in use. Choose one with --port.".formatted(FIRST_PORT));
  }

  private static boolean isFree(int candidate) {
    try (ServerSocket probe = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
      return probe.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  private static void greet(
      URI address,
      NewKey key,
      Path directory,
      List<DemoReceiver> cast,
      DemoReceivers receivers,
      PrintWriter out) {
    out.printf(
        Locale.ROOT,
        """
        Holdfast %s, a demo. It needs nothing and leaves nothing behind.

          open    %s/sign-in#key=%s
          time    %,d times as fast: a second is 24 minutes, two minutes are two days.
                  Only answers take as long as they take, and Retry-After means real seconds.
          rules   as ever, but for what nobody wants to wait for: %d failures in a row disable an
                  endpoint (instead of 2,000), %d hours without a success (72) or %,d failures in a
                  row (50,000) freeze it, and an attempt may take %d second (5).
          log     %s
          stop    Ctrl-C

        Receivers, in this process (%s), and what they do:

        """,
        Version.NUMBER,
        address,
        key.text(),
        DemoTime.SPEED,
        DemoTime.DISABLE_AFTER,
        DemoTime.FREEZE_SILENCE.toHours(),
        DemoTime.FREEZE_AT,
        DemoTime.TIMEOUT.toSeconds(),
        directory.resolve(LOG),
        receivers.address());
    cast.forEach(receiver -> out.printf("  %-25s  %s%n", receiver.name(), receiver.does()));
    out.print(
        """

        What you will see, and when:

          0:10   the first endpoints are disabled, and probed every 10 minutes (0.4 seconds)
          0:15   the warehouse goes down: its messages are parked while others get theirs
          0:55   it is back: a probe finds that out, and its backlog drains
          1:30   the old shop has been silent for 36 hours and is frozen; others follow
          2:00   messages that nobody took for 48 hours are dropped, and stay to be looked at
          3:20   the partner is repaired: enable it by hand, and see what it has missed arrive

        """);
    out.flush();
  }

  private int play(
      StopSignal stop,
      Instant start,
      List<DemoReceiver> cast,
      DemoReceivers receivers,
      ApiClient api,
      PrintWriter out)
      throws CommandFailed {
    List<DemoReceiver> toJoin = new ArrayList<>(cast);
    DemoStory story = new DemoStory(api, out, start);
    DemoStream stream = new DemoStream(api, new DemoEvents(seed), clock);
    try (stream) {
      subscribeDue(toJoin, receivers, api, Duration.ZERO);
      stream.start();
      while (!stop.askedWithin(LOOK_EVERY)) {
        Instant now = clock.instant();
        Duration time = Duration.between(start, now);
        if (seconds > 0 && time.toSeconds() >= seconds) {
          break;
        }
        String problem = stream.problem();
        if (problem != null) {
          throw new CommandFailed(problem);
        }
        subscribeDue(toJoin, receivers, api, time);
        story.look(now);
      }
    }
    return end(stream.accepted(), Duration.between(start, clock.instant()), api, out);
  }

  private static void subscribeDue(
      List<DemoReceiver> toJoin, DemoReceivers receivers, ApiClient api, Duration time)
      throws CommandFailed {
    for (DemoReceiver receiver : List.copyOf(toJoin)) {
      if (receiver.joins().compareTo(time) <= 0) {
        ObjectNode subscription = Item.create();
        subscription.put("url", receivers.url(receiver));
        receiver.types().forEach(subscription.withArray("types")::add);
        subscription.set("filters", Item.MAPPER.readTree(receiver.filters()));
        api.post("/v1/subscriptions", subscription.toString());
        toJoin.remove(receiver);
      }
    }
  }

  /** The sums are looked at until they agree: they are not all of one moment. */
  private static int end(long acknowledged, Duration time, ApiClient api, PrintWriter out)
      throws CommandFailed {
    DemoSums sums = sums(api);
    for (int look = 1; look < LOOKS_AT_SUMS && !sums.isComplete(acknowledged); look++) {
      StopSignal.pause(LOOK_EVERY);
      sums = sums(api);
    }
    Map<String, Integer> states = new HashMap<>();
    api.list(
        "/v1/endpoints", 1_000, endpoint -> states.merge(endpoint.text("state"), 1, Integer::sum));
    out.printf(
        Locale.ROOT,
        """

        Over after %d:%02d.

          events     %,d accepted
          messages   %,d made of them: %,d delivered, %,d waiting, %,d dropped
          endpoints  %d enabled, %d disabled, %d frozen

        """,
        time.toMinutes(),
        time.toSecondsPart(),
        sums.events(),
        sums.messages(),
        sums.delivered(),
        sums.unfinished(),
        sums.dropped(),
        states.getOrDefault("enabled", 0),
        states.getOrDefault("disabled", 0),
        states.getOrDefault("frozen", 0));
    boolean isComplete = sums.isComplete(acknowledged);
    out.println(
        isComplete
            ? "Nothing was lost: each message was delivered, waits, or was dropped by the rules."
            : "These numbers do not agree: %,d events were acknowledged. Please report this."
                .formatted(acknowledged));
    out.flush();
    return isComplete ? ExitCode.DONE : ExitCode.FAILED;
  }

  private static DemoSums sums(ApiClient api) throws CommandFailed {
    return DemoSums.read(api.granted(api.send("GET", "/metrics", new byte[0])).text());
  }

  private static void stop(Server server) throws CommandFailed {
    try {
      server.stop().await(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new CommandFailed("the server did not stop in time.");
    }
  }

  private static void remove(Path directory, PrintWriter err) {
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(
              file -> {
                try {
                  Files.delete(file);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (IOException | UncheckedIOException e) {
      err.println("Remove this by hand, it could not be removed: " + directory);
    }
  }

  private static final class Port implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(0, 65_535), text);
    }
  }

  private static final class Seconds implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(0, 86_400), text);
    }
  }

  private static final class Seed implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(0, 1_000_000_000), text);
    }
  }
}
