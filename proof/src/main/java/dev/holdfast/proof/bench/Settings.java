package dev.holdfast.proof.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What can be chosen on the command line about how scenarios run. */
final class Settings {
  private static final int USUAL_RATE = 1_000;
  private static final String USUAL_HEAP = "512m";
  private static final String LARGE_HEAP = "2g";
  private static final int QUICK_SECONDS = 5;
  private static final int QUICK_WARM_UP = 2;
  private static final int QUICK_WAITING = 50_000;
  private static final int QUICK_CLAIMS = 5_000;
  private static final int QUICK_SUBSCRIPTIONS = 100_000;
  private static final int QUICK_HISTORY = 100_000;
  private static final int QUICK_SOAK = 20;
  private static final int QUICK_PARKED = 5_000;
  private static final int QUICK_MANY_ENDPOINTS = 1_000;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "length of each measurement (default: ${DEFAULT-VALUE})",
      defaultValue = "30")
  int seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      description = "seconds of the same load before each measurement (default: ${DEFAULT-VALUE})",
      defaultValue = "20")
  int warmUp;

  @Option(
      names = "--quick",
      description = "short runs that show whether all works; the figures mean little")
  boolean quick;

  @Option(
      names = "--endpoints",
      paramLabel = "N",
      description = "endpoints that events go to (default: ${DEFAULT-VALUE})",
      defaultValue = "100")
  int endpoints;

  @Option(
      names = "--many-endpoints",
      paramLabel = "N",
      description = "the same where there are to be many (default: ${DEFAULT-VALUE})",
      defaultValue = "10000")
  int manyEndpoints;

  @Option(
      names = "--connections",
      paramLabel = "N",
      description =
          "connections that send single events, and those of the bare client "
              + "(default: ${DEFAULT-VALUE})",
      defaultValue = "256")
  int connections;

  @Option(
      names = "--batch-connections",
      paramLabel = "N",
      description = "connections that send batches (default: ${DEFAULT-VALUE})",
      defaultValue = "16")
  int batchConnections;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "events in a batch (default: ${DEFAULT-VALUE})",
      defaultValue = "100")
  int batch;

  @Option(
      names = "--max-undelivered",
      paramLabel = "N",
      description =
          "sending pauses while more accepted events than this have not arrived "
              + "(default: ${DEFAULT-VALUE})",
      defaultValue = "50000")
  int maxUndelivered;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "events per second where time is measured (default: latency goes by what single reaches,"
              + " others take 1000)",
      defaultValue = "0")
  private int rate;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "how often scenarios that compare two things alternate between them, each for its part"
              + " of --seconds (default: ${DEFAULT-VALUE})",
      defaultValue = "3")
  int rounds;

  @Option(
      names = "--waiting",
      paramLabel = "N",
      split = ",",
      description =
          "waiting messages in the store, one after the other (default: ${DEFAULT-VALUE})",
      defaultValue = "1000000,10000000")
  List<Integer> waiting = new ArrayList<>();

  @Option(
      names = "--claims",
      paramLabel = "N",
      description = "messages that become due at once (default: ${DEFAULT-VALUE})",
      defaultValue = "20000")
  int claims;

  @Option(
      names = "--parked",
      paramLabel = "N",
      description = "parked messages of an endpoint that comes back (default: ${DEFAULT-VALUE})",
      defaultValue = "100000")
  int parked;

  @Option(
      names = "--subscriptions",
      paramLabel = "N",
      description =
          "the most among which match looks, and those of long-tail (default: ${DEFAULT-VALUE})",
      defaultValue = "1000000")
  int subscriptions;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "measure with PostgreSQL instead of the embedded store: jdbc:postgresql://HOST/DATABASE,"
              + " where databases may be made, or 'own' for one that is started for it")
  @Nullable String store;

  @Option(
      names = "--store-user",
      paramLabel = "NAME",
      description = "who one is for that PostgreSQL (default: ${DEFAULT-VALUE})",
      defaultValue = "postgres")
  String storeUser = "postgres";

  @Option(
      names = "--store-password",
      paramLabel = "PASSWORD",
      description = "the password for it",
      interactive = true,
      arity = "0..1",
      defaultValue = "")
  String storePassword = "";

  @Option(
      names = "--postgres",
      paramLabel = "DIR",
      description =
          "where the programs of PostgreSQL are, for --store own (default: those that come with the"
              + " build, for Linux on x86-64)")
  @Nullable Path postgres;

  @Option(
      names = "--history",
      paramLabel = "N",
      description = "finished messages in the store (default: ${DEFAULT-VALUE})",
      defaultValue = "10000000")
  int history;

  @Option(
      names = "--soak",
      paramLabel = "SECONDS",
      description = "how long soak takes (default: ${DEFAULT-VALUE})",
      defaultValue = "1800")
  int soak;

  @Option(
      names = "--server-heap",
      paramLabel = "SIZE",
      description =
          "the server's -Xmx (default: ${DEFAULT-VALUE}; 2g for the million of long-tail)",
      defaultValue = USUAL_HEAP)
  String serverHeap = USUAL_HEAP;

  @Option(
      names = "--server-flag",
      paramLabel = "FLAG",
      description = "a flag for the server's JVM, such as -XX:+UseParallelGC; can be repeated")
  List<String> serverFlags = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "a setting for the server; can be repeated")
  List<String> serverSettings = new ArrayList<>();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "where the server's data goes, in a new directory (default: the system's "
              + "directory for temporary files; must be a real disk, or the figures are not)")
  @Nullable Path data;

  @Option(
      names = "--longest-drain",
      paramLabel = "SECONDS",
      description =
          "how long to wait for what was accepted and has not arrived (default: ${DEFAULT-VALUE})",
      defaultValue = "120")
  int longestDrain;

  @Option(names = "--keep", description = "leave the data and logs of this run where they are")
  boolean keep;

  @Option(
      names = "--helper-flag",
      hidden = true,
      description = "a flag for the JVMs of receiver and load generator")
  List<String> helperFlags = new ArrayList<>();

  @Option(
      names = "--server-main",
      hidden = true,
      description = "the server's main class, for tests of the benchmark itself",
      defaultValue = "dev.holdfast.server.cli.Main")
  String serverMain = "dev.holdfast.server.cli.Main";

  /** Events per second where time is measured, as somebody has chosen. */
  OptionalInt chosenRate() {
    return rate > 0 ? OptionalInt.of(rate) : OptionalInt.empty();
  }

  int rate() {
    return rate > 0 ? rate : USUAL_RATE;
  }

  /** The server's heap where the usual one is too small, unless somebody has chosen one. */
  String largeHeap() {
    return serverHeap.equals(USUAL_HEAP) ? LARGE_HEAP : serverHeap;
  }

  /** Shortens what {@code --quick} shortens. */
  void settle() {
    if (quick) {
      seconds = Math.min(seconds, QUICK_SECONDS);
      warmUp = Math.min(warmUp, QUICK_WARM_UP);
      waiting = waiting.stream().map(each -> Math.min(each, QUICK_WAITING)).distinct().toList();
      claims = Math.min(claims, QUICK_CLAIMS);
      subscriptions = Math.min(subscriptions, QUICK_SUBSCRIPTIONS);
      history = Math.min(history, QUICK_HISTORY);
      soak = Math.min(soak, QUICK_SOAK);
      parked = Math.min(parked, QUICK_PARKED);
      manyEndpoints = Math.min(manyEndpoints, QUICK_MANY_ENDPOINTS);
      rounds = 1;
    }
  }
}
