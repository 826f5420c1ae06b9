package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Machine;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The torture: starts servers, mistreats them, and checks that nothing was lost. */
@Command(
    name = "torture",
    description = {
      "Mistreats servers of its own (kill -9, SIGSTOP, a full disk, damaged files, a clock that is"
          + " set, endpoints that mean harm), one or several that share a PostgreSQL of its own, while events are sent to them, and checks that no acknowledged event is lost and"
          + " none is delivered again without a reason.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ./holdfast torture                        every scenario, a few minutes",
      "  ./holdfast torture --cycles 200           the same, longer",
      "  ./holdfast torture --only kill,clock      only these",
      "  ./holdfast torture --only hostile --hostile 10000",
      "  ./holdfast torture --only cluster         only those with several nodes",
      "  ./holdfast torture --seed 4711            the same moments as a run before",
      "",
      "All traffic stays on 127.0.0.1. The seed is printed; with it, the same things are done at the",
      "same moments again, as far as the machine allows.",
      "",
      "Exit codes: 0 nothing was lost, 1 something was, or a scenario could not be played, 2 wrong",
      "usage."
    })
public final class Torture implements Callable<Integer> {
  private static final List<Scenario> SCENARIOS =
      Stream.concat(
              Stream.of(
                  new KillScenario(),
                  new StopScenario(),
                  new DiskScenario(),
                  new ClockScenario(),
                  new DamageScenario(),
                  new HostileScenario()),
              ClusterScenario.all().stream())
          .toList();

  /** Stands for all scenarios with several nodes. */
  private static final String CLUSTER = "cluster";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--cycles",
      paramLabel = "N",
      description = "how often each thing is done (default: ${DEFAULT-VALUE})",
      defaultValue = "20")
  private int cycles;

  @Option(
      names = "--hostile",
      paramLabel = "N",
      description =
          "how many endpoints mean harm in the hostile scenario (default: ${DEFAULT-VALUE})",
      defaultValue = "2000")
  private int hostile;

  @Option(
      names = "--longest-attempt",
      paramLabel = "MILLIS",
      description =
          "how long an attempt may take in the hostile scenario, whose limit is 5 s (default:"
              + " ${DEFAULT-VALUE}); more on a machine that has other things to do",
      defaultValue = "5100")
  private int longestAttempt;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "what chance depends on (default: another one each time, printed)")
  private @Nullable Long seed;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "which scenarios to play, in the order of --list (default: all)")
  private List<String> only = new ArrayList<>();

  @Option(names = "--list", description = "show the scenarios and end")
  private boolean list;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "where the data goes, in a new directory (default: the system's directory for temporary"
              + " files; should be a real disk)")
  private @Nullable Path dir;

  @Option(
      names = "--small-disk",
      paramLabel = "DIR",
      description =
          "an empty directory on a file system of 8 to 64 MB, for the disk scenario (default: one is"
              + " mounted, which takes root)")
  private @Nullable Path smallDisk;

  @Option(
      names = "--postgres",
      paramLabel = "DIR",
      description =
          "where the programs of PostgreSQL are, for the scenarios of several nodes (default: those"
              + " that come with the build, for Linux on x86-64)")
  private @Nullable Path postgres;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "write the figures to this file as well")
  private @Nullable Path json;

  @Option(names = "--keep", description = "leave the data and logs of this run where they are")
  private boolean keep;

  /** For picocli. */
  public Torture() {}

  /**
   * What the scenarios of one run have in common.
   *
   * @param hostile how many endpoints mean harm
   * @param longestAttempt how long an attempt to one of these may take, in milliseconds
   * @param postgres where the programs of PostgreSQL are, if not those of the build
   * @param explicit whether the scenarios were asked for by name
   * @param toClose what is ended when the run is, however that happens
   */
  record Run(
      int cycles,
      int hostile,
      int longestAttempt,
      long seed,
      boolean explicit,
      Path directory,
      @Nullable Path smallDisk,
      @Nullable Path postgres,
      Progress progress,
      Report report,
      ConcurrentLinkedDeque<AutoCloseable> toClose) {

    /** Sees to it that this is closed, also when the run is interrupted. */
    void track(AutoCloseable part) {
      toClose.push(part);
    }

    /** A scenario cannot be played here, which is bad only if somebody has asked for it. */
    void skip(String why) {
      if (explicit) {
        report.fail(why);
      } else {
        report.note(why);
      }
    }

    private void closeAll() {
      for (AutoCloseable part = toClose.poll(); part != null; part = toClose.poll()) {
        try {
          part.close();
        } catch (Exception e) {
          System.err.println("could not clean up: " + e);
        }
      }
    }
  }

  @Override
  public Integer call() throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    if (list) {
      SCENARIOS.forEach(scenario -> out.printf("%-19s %s%n", scenario.name(), scenario.about()));
      return 0;
    }
    List<Scenario> scenarios = scenarios();
    if (cycles < 1) {
      throw usage("--cycles must be at least 1");
    }
    if (hostile < 1) {
      throw usage("--hostile must be at least 1");
    }
    if (longestAttempt < 5_000) {
      throw usage("--longest-attempt must be at least 5000, the time limit of an attempt");
    }
    Progress progress = Progress.onStandardError();
    Path directory =
        dir == null
            ? Files.createTempDirectory("holdfast-torture")
            : Files.createTempDirectory(Files.createDirectories(dir), "holdfast-torture");
    long chosenSeed = seed != null ? seed : new SecureRandom().nextInt(1_000_000);
    Report report =
        new Report(
            InstantSource.system().instant(),
            "%s, data on %s, %d cycles, seed %d"
                .formatted(
                    Machine.describe(), Files.getFileStore(directory).type(), cycles, chosenSeed));
    out.println("seed " + chosenSeed);
    Run run =
        new Run(
            cycles,
            hostile,
            longestAttempt,
            chosenSeed,
            !only.isEmpty(),
            directory,
            smallDisk,
            postgres,
            progress,
            report,
            new ConcurrentLinkedDeque<>());
    play(scenarios, run);
    report.print(out);
    out.println(report.hasFailures() ? "NOT PROVEN, see above" : "nothing was lost");
    if (json != null) {
      report.write(json);
    }
    if (keep) {
      out.println("data and logs: " + directory);
    }
    return report.hasFailures() ? 1 : 0;
  }

  private void play(List<Scenario> scenarios, Run run) throws IOException {
    Thread hook = new Thread(run::closeAll, "torture-cleanup");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      for (Scenario scenario : scenarios) {
        play(scenario, run);
      }
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The hook is running: it cleans up.
      }
      if (!keep) {
        Scene.delete(run.directory());
      }
    }
  }

  /** A scenario that fails does not keep the others from being played. */
  private static void play(Scenario scenario, Run run) throws IOException {
    run.progress().scenario(scenario.name());
    run.progress().step(scenario.about());
    try {
      scenario.run(run);
    } catch (ProofException e) {
      run.report().fail(scenario.name() + ": " + e.getMessage());
    } finally {
      run.progress().end();
      run.closeAll();
    }
  }

  private List<Scenario> scenarios() {
    List<String> known = SCENARIOS.stream().map(Scenario::name).toList();
    for (String name : only) {
      if (!known.contains(name) && !name.equals(CLUSTER)) {
        throw usage("no scenario named %s; there are %s".formatted(name, String.join(", ", known)));
      }
    }
    return SCENARIOS.stream()
        .filter(scenario -> only.isEmpty() || isChosen(scenario.name()))
        .toList();
  }

  private boolean isChosen(String scenario) {
    return only.contains(scenario)
        || (only.contains(CLUSTER) && scenario.startsWith(ClusterScenario.PREFIX));
  }

  private ParameterException usage(String problem) {
    if (spec == null) {
      throw new IllegalStateException(problem);
    }
    return new ParameterException(spec.commandLine(), problem);
  }
}
