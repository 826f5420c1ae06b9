package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Settings.Sources;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast serve}. */
@Command(
    name = "serve",
    description = "The server: accepts events and delivers them.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast serve",
      "  ./holdfast serve --port 9090 --data /var/lib/holdfast",
      "  ./holdfast serve --store jdbc:postgresql://db.example.com/holdfast",
      "  ./holdfast serve --set retry.unit=1s --set egress.allow=127.0.0.0/8",
      "  HOLDFAST_ADMIN_KEY=… ./holdfast serve --config holdfast.properties",
      "",
      "./holdfast settings lists everything that can be set. A value on the command line goes",
      "before one in the environment (retry.unit is HOLDFAST_RETRY_UNIT), that before the file's.",
      "",
      "SIGTERM or Ctrl-C stops accepting, lets what is in flight end, and ends; a second one ends at",
      "once. Exit codes: 0 ended as asked, 1 could not start or not stop in time, 2 wrong usage or",
      "settings, 3 the store failed: start it again, it finds everything that was accepted, unless",
      "the log says that the store is damaged."
    })
final class Serve implements Callable<Integer> {
  /** What stopping may take beyond the time-out of an attempt: callers get their answers. */
  private static final Duration STOP_MARGIN = Duration.ofSeconds(15);

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port to listen on (server.port, default 8080).")
  private @Nullable String port;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the store (data, default holdfast-data).")
  private @Nullable String data;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "A PostgreSQL database that is the store instead of that directory, such as"
              + " jdbc:postgresql://db.example.com/holdfast (store.url). All servers with the same are"
              + " one system. Its password is better given as HOLDFAST_STORE_PASSWORD.")
  private @Nullable String store;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A file with settings, KEY=VALUE on each line.")
  private @Nullable Path config;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "One setting. Can be repeated.")
  private List<String> assignments = List.of();

  /** Starts a server. */
  interface Starter {
    Server start(Settings settings, PrintWriter out) throws CannotStart;
  }

  private final Map<String, String> environment;
  private final Starter starter;
  private final Supplier<StopSignal> signals;
  private final Duration stopMargin;

  Serve(InstantSource clock) {
    this(
        System.getenv(),
        (settings, out) -> Wiring.start(settings, clock, out),
        StopSignal::install,
        STOP_MARGIN);
  }

  /** With the world around it given, for tests. */
  Serve(
      Map<String, String> environment,
      Starter starter,
      Supplier<StopSignal> signals,
      Duration stopMargin) {
    this.environment = environment;
    this.starter = starter;
    this.signals = signals;
    this.stopMargin = stopMargin;
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      Settings settings = Settings.read(sources());
      Logging.apply(settings.get(Settings.LOG_FORMAT), settings.get(Settings.LOG_LEVEL));
      StopSignal stop = signals.get();
      Server server = starter.start(settings, out);
      greet(settings, server, out);
      stop.await();
      return stop(server, settings);
    } catch (InvalidSettings e) {
      err.println(e.report());
      return ExitCode.USAGE;
    } catch (CannotStart e) {
      err.println("Holdfast did not start: " + e.getMessage());
      return ExitCode.FAILED;
    }
  }

  private Sources sources() {
    Map<String, Sources.Flag> flags = new HashMap<>();
    if (port != null) {
      flags.put("--port", new Sources.Flag(Settings.SERVER_PORT, port));
    }
    if (data != null) {
      flags.put("--data", new Sources.Flag(Settings.DATA, data));
    }
    if (store != null) {
      flags.put("--store", new Sources.Flag(Settings.STORE_URL, store));
    }
    return new Sources(config, environment, assignments, flags);
  }

  private static void greet(Settings settings, Server server, PrintWriter out) {
    String host = settings.get(Settings.SERVER_HOST);
    out.println("Holdfast " + Version.NUMBER);
    out.printf(
        "  listening  %s://%s:%d%s%n",
        settings.isEncrypted() ? "https" : "http",
        host.contains(":") ? "[" + host + "]" : host,
        server.port(),
        reach(settings));
    out.println(store(settings));
    out.println("  admin key  " + server.adminKey());
    out.println("  secrets    " + server.masterKey());
    server.warnings().forEach(warning -> out.println("  warning    " + warning));
    out.println("  stop       Ctrl-C or SIGTERM");
    out.flush();
    log().info("server.started host={} port={}", host, server.port());
  }

  private static String store(Settings settings) {
    return settings
        .database()
        .map(database -> "  store      " + database.place() + "  as " + database.name())
        .orElseGet(
            () -> "  data       " + settings.get(Settings.DATA).toAbsolutePath().normalize());
  }

  private static String reach(Settings settings) {
    if (settings.isLoopback()) {
      return "  (from this machine only; --set server.host=0.0.0.0 opens it to others)";
    }
    return settings.isEncrypted()
        ? ""
        : "  (not encrypted: set server.tls.certificate, or put a TLS proxy in front of it)";
  }

  private int stop(Server server, Settings settings) {
    Duration patience = settings.get(Settings.DELIVERY_TIMEOUT).plus(stopMargin);
    log().info("server.stopping patience={}ms", patience.toMillis());
    try {
      server.stop().await(patience.toMillis(), TimeUnit.MILLISECONDS);
      log().info("server.stopped");
      return ExitCode.DONE;
    } catch (TimeoutException e) {
      log()
          .error(
              "server.stop-late next=\"ending now; what was in flight is tried again after a restart\"");
      return ExitCode.FAILED;
    }
  }

  /** No constant, since every command makes this one, and few of them log. */
  private static Logger log() {
    return LoggerFactory.getLogger(Serve.class);
  }
}
