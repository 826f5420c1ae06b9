package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.HtmlReport;
import dev.holdfast.proof.stage.Machine;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The benchmark: starts a server and all that it needs, measures, and cleans up. */
@Command(
    name = "bench",
    sortOptions = false,
    description =
        "Measures how fast Holdfast is on this machine. Starts its own server, receiver and load"
            + " generator on 127.0.0.1, and stops them again.",
    footer = {
      "",
      "Examples:",
      "  ./holdfast bench                              all scenarios, about an hour",
      "  ./holdfast bench --quick                      all scenarios, to see whether it works",
      "  ./holdfast bench --scenario reference,batch   only these",
      "  ./holdfast bench --seconds 120 --json out.json",
      "  ./holdfast bench --html out.html              with a page of figures and charts",
      "  ./holdfast bench --compare HEAD~1             what has become faster or slower since",
      "  ./holdfast bench --store own                  those that go with a PostgreSQL, on one",
      "  ./holdfast bench --server-heap 1g --server-flag=-XX:+UseParallelGC",
      "",
      "Exit codes: 0 all was measured, 1 a scenario failed or messages were lost (or, with",
      "--fail-on-miss, a target was missed), 2 wrong usage."
    })
public final class Bench implements Callable<Integer> {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new ReferenceScenario(),
          ThroughputScenario.batch(),
          ThroughputScenario.single(),
          ThroughputScenario.large(),
          ThroughputScenario.fanOut(),
          new SignedScenario(),
          HttpsScenario.warm(),
          HttpsScenario.cold(),
          new LatencyScenario(),
          new CostScenario(),
          new IsolationScenario(),
          new LongTailScenario(),
          new MatchScenario(),
          new WaitingScenario(InstantSource.system()),
          new HistoryScenario(InstantSource.system()),
          new RecoveryScenario(InstantSource.system()),
          new StartScenario(),
          new TripsScenario(),
          new ClusterScenario(),
          new SoakScenario());

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description = "which to run, in the order of --list (default: all)")
  private List<String> chosen = new ArrayList<>();

  @Option(names = "--list", description = "show the scenarios and end")
  private boolean list;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "write the figures to this file as well")
  private @Nullable Path json;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "write a page with figures and charts to this file")
  private @Nullable Path html;

  @Option(
      names = "--compare",
      paramLabel = "BASE",
      description =
          "run with the servers of this build and of another in turns, --rounds times each"
              + " (default: 5), and say what differs; BASE is the directory of another checkout"
              + " that is built, or a git revision (default scenarios: batch, single, latency)")
  private @Nullable String compare;

  @Option(names = "--fail-on-miss", description = "end with 1 when a target is missed")
  private boolean failOnMiss;

  @Mixin private Settings settings = new Settings();

  /** For picocli. */
  public Bench() {}

  @Override
  public Integer call() throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    if (list) {
      SCENARIOS.forEach(scenario -> out.printf("%-10s %s%n", scenario.name(), scenario.about()));
      return 0;
    }
    int rounds = compareRounds();
    atLeast(1, "--seconds", settings.seconds);
    atLeast(0, "--warm-up", settings.warmUp);
    atLeast(1, "--rounds", settings.rounds);
    atLeast(1, "--parked", settings.parked);
    atLeast(1, "--history", settings.history);
    settings.settle();
    checkDirectory(json);
    checkDirectory(html);
    return run(scenarios(), rounds, out);
  }

  private int run(List<Scenario> scenarios, int rounds, PrintStream out) throws IOException {
    Path directory =
        settings.data == null
            ? Files.createTempDirectory("holdfast-bench")
            : Files.createTempDirectory(Files.createDirectories(settings.data), "holdfast-bench");
    Progress progress = Progress.onStandardError();
    Report report =
        new Report(
            InstantSource.system().instant(),
            Machine.describe() + ", data on " + Files.getFileStore(directory).type());
    Rig rig = new Rig(settings, progress, report, directory);
    Thread hook = new Thread(rig::close, "bench-cleanup");
    Runtime.getRuntime().addShutdownHook(hook);
    try (rig) {
      if (compare == null) {
        for (Scenario scenario : scenarios) {
          run(scenario, rig);
        }
      } else {
        compare(compare, scenarios, rounds, rig);
      }
    } finally {
      removeHook(hook);
    }
    report.print(out);
    if (json != null) {
      report.write(json);
    }
    if (html != null) {
      HtmlReport.write(report, abouts(), html);
    }
    if (settings.keep) {
      out.println("data and logs: " + directory);
    }
    return report.hasFailures() || (failOnMiss && report.hasMisses()) ? 1 : 0;
  }

  private static void compare(String name, List<Scenario> scenarios, int rounds, Rig rig)
      throws IOException {
    try (BaseBuild base = BaseBuild.of(name, rig.progress())) {
      new Compare(rig, base, rounds).run(scenarios);
    } catch (ProofException e) {
      rig.progress().end();
      rig.report().fail(e.getMessage());
    }
  }

  /** How often each build has its turn, if one is compared with another. */
  private int compareRounds() {
    if (compare == null) {
      return 0;
    }
    boolean given =
        spec != null && spec.commandLine().getParseResult().hasMatchedOption("--rounds");
    int rounds = given ? settings.rounds : settings.quick ? Compare.QUICK_ROUNDS : Compare.ROUNDS;
    if (rounds < 1 && spec != null) {
      throw new ParameterException(spec.commandLine(), "--rounds must be at least 1");
    }
    // A scenario that alternates by itself does so once in each of its turns.
    settings.rounds = 1;
    return rounds;
  }

  /** A scenario that fails does not keep the others from running. */
  static void run(Scenario scenario, Rig rig) throws IOException {
    rig.progress().scenario(scenario.name());
    rig.progress().step(scenario.about());
    try {
      scenario.run(rig);
    } catch (ProofException e) {
      rig.progress().end();
      rig.report().fail(scenario.name() + ": " + e.getMessage());
    } finally {
      rig.endScenario();
    }
  }

  private void atLeast(int least, String option, int value) {
    if (value < least && spec != null) {
      throw new ParameterException(
          spec.commandLine(), "%s must be at least %d".formatted(option, least));
    }
  }

  /** Said before anything is measured, and not after it. */
  private void checkDirectory(@Nullable Path file) {
    Path directory = file == null ? null : file.toAbsolutePath().getParent();
    if (directory != null && !Files.isDirectory(directory) && spec != null) {
      throw new ParameterException(
          spec.commandLine(), "%s: there is no directory %s".formatted(file, directory));
    }
  }

  private static Map<String, String> abouts() {
    return SCENARIOS.stream().collect(Collectors.toMap(Scenario::name, Scenario::about));
  }

  static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The hook is running: it cleans up.
    }
  }

  private List<Scenario> scenarios() {
    if (compare != null && chosen.isEmpty()) {
      chosen = Compare.SCENARIOS;
    }
    List<String> pointless = chosen.stream().filter(Compare.WITHOUT_SERVER::contains).toList();
    if (compare != null && !pointless.isEmpty() && spec != null) {
      throw new ParameterException(
          spec.commandLine(),
          String.join(", ", pointless) + " starts no server, so there is nothing to compare");
    }
    List<String> known = SCENARIOS.stream().map(Scenario::name).toList();
    List<String> unknown = chosen.stream().filter(name -> !known.contains(name)).toList();
    if (!unknown.isEmpty() && spec != null) {
      throw new ParameterException(
          spec.commandLine(),
          "no scenario named %s; there are %s"
              .formatted(String.join(", ", unknown), String.join(", ", known)));
    }
    boolean shared = settings.store != null;
    if (chosen.isEmpty()) {
      return SCENARIOS.stream()
          .filter(scenario -> scenario.runsOn(shared) && !scenario.isOnlyOnRequest())
          .toList();
    }
    List<Scenario> found =
        SCENARIOS.stream().filter(scenario -> chosen.contains(scenario.name())).toList();
    for (Scenario scenario : found) {
      if (!scenario.runsOn(shared) && spec != null) {
        throw new ParameterException(
            spec.commandLine(),
            shared
                ? scenario.name() + " is for the embedded store; leave out --store"
                : scenario.name() + " is for PostgreSQL; say --store own, or --store jdbc:…");
      }
    }
    return found;
  }
}
