package dev.holdfast.proof.simulation;

import dev.holdfast.proof.model.Violation;
import dev.holdfast.proof.simulation.MutantSuite.Finding;
import dev.holdfast.proof.simulation.Simulation.Result;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The simulation's command. */
@Command(
    name = "simulate",
    sortOptions = false,
    description =
        "Lets the engine live through made-up worlds full of trouble, each made from its seed, and"
            + " checks everything it does against a model of the contract. Needs no network and no"
            + " disk.",
    footer = {
      "",
      "Examples:",
      "  ./holdfast simulate                      1,000 new worlds",
      "  ./holdfast simulate --seeds 10000        more of them",
      "  ./holdfast simulate --seed 42            one world, with its trace",
      "  ./holdfast simulate --week               a week, 1,000 endpoints, an event a second",
      "  ./holdfast simulate --mutants            whether it would find bugs",
      "",
      "Exit codes: 0 the contract was kept, 1 it was broken (with --mutants: a bug was not found),",
      "2 wrong usage."
    })
public final class Simulate implements Callable<Integer> {
  private static final int MOST_FAILURES = 5;
  private static final long WORLDS = 1_000;
  private static final long MOST_NEW_SEED = 1_000_000_000_000L;
  private static final long WORLDS_FOR_A_MUTANT = 20_000;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "how many worlds (default: 1000; with --mutants 20000, most need few)")
  private @Nullable Long seeds;

  @Option(
      names = "--from",
      paramLabel = "SEED",
      description =
          "the first seed; the others follow it; from 1099511627776 on subscriptions change in the"
              + " worlds (default: a quarter of each kind, new ones each time; with --mutants 0)")
  private @Nullable Long from;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "worlds at the same time (default: one for each processor)")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--seed",
      paramLabel = "SEED",
      description = "run this world, and print its trace")
  private @Nullable Long seed;

  @Option(
      names = "--keep",
      paramLabel = "N,…",
      split = ",",
      description = "with --seed: leave out all actions of the world but these")
  private @Nullable List<Integer> keep;

  @Option(names = "--week", description = "run a week with 1,000 endpoints and an event a second")
  private boolean week;

  @Option(
      names = "--mutants",
      description =
          "put known bugs into the engine, one at a time, and count the worlds that each"
              + " needs to be found")
  private boolean mutants;

  @Option(
      names = "--only",
      paramLabel = "NAME,…",
      split = ",",
      description = "with --mutants: only these")
  private @Nullable List<String> only;

  /** For picocli. */
  public Simulate() {}

  @Override
  public Integer call() throws InterruptedException {
    if ((seeds != null && seeds < 1) || threads < 1) {
      throw wrong("--seeds and --threads have to be at least 1.");
    }
    if (keep != null && seed == null) {
      throw wrong("--keep says what is left of one world: give its --seed too.");
    }
    if (seed != null) {
      return replay(WorldMaker.make(seed));
    }
    if (week) {
      return liveThroughAWeek();
    }
    return mutants ? findMutants() : search();
  }

  private PrintWriter out() {
    return known().commandLine().getOut();
  }

  private CommandSpec known() {
    return Objects.requireNonNull(spec, "picocli sets it");
  }

  private ParameterException wrong(String message) {
    return new ParameterException(known().commandLine(), message);
  }

  private int search() throws InterruptedException {
    long first = from != null ? from : ThreadLocalRandom.current().nextLong(MOST_NEW_SEED);
    long worlds = seeds == null ? WORLDS : seeds;
    // Whoever does not say where to begin gets worlds of each kind.
    long ofEachKind = from != null ? 0 : worlds / 4;
    ProgressBar bar = new ProgressBar(worlds);
    Campaign campaign = new Campaign(MOST_FAILURES);
    long started = System.nanoTime();
    long plain = worlds - 3 * ofEachKind;
    run(campaign, first, plain, bar::show);
    if (ofEachKind > 0) {
      run(campaign, WorldMaker.CHANGING + first, ofEachKind, done -> bar.show(plain + done));
      run(
          campaign,
          WorldMaker.NEWCOMERS_FROM + first,
          ofEachKind,
          done -> bar.show(plain + ofEachKind + done));
      run(
          campaign,
          WorldMaker.VERSIONS_FROM + first,
          ofEachKind,
          done -> bar.show(plain + 2 * ofEachKind + done));
    }
    Duration took = Duration.ofNanos(System.nanoTime() - started);
    bar.end();
    out().println(campaign.totals().describe(took));
    List<Result> failures = campaign.failures();
    if (failures.isEmpty()) {
      return 0;
    }
    out().println();
    failures.forEach(
        failure -> out().println("FAILED seed " + failure.world().seed() + ": " + rule(failure)));
    out().println();
    explain(failures.getFirst().world(), rule(failures.getFirst()));
    return 1;
  }

  private void run(Campaign campaign, long first, long worlds, LongConsumer progress)
      throws InterruptedException {
    out().printf("Seeds %d to %d.%n", first, first + worlds - 1);
    campaign.run(first, worlds, threads, progress);
  }

  private static String rule(Result failure) {
    return Optional.ofNullable(failure.violation()).map(Violation::rule).orElse("");
  }

  /** Prints the shortest trace that shows the failure, and how to see it again. */
  private void explain(World failing, String rule) {
    out().println("Looking for a shorter world that fails in the same way…");
    World shortest = Shrinker.shrink(failing, rule);
    Result result = Simulation.run(shortest, Trace.on());
    out().print(result.trace());
    out().println();
    out()
        .printf(
            "%d of its %d actions are enough. To see this again:%n  ./holdfast simulate --seed %d"
                + " --keep %s%n",
            shortest.script().size(),
            failing.script().size(),
            failing.seed(),
            kept(failing, shortest));
  }

  private static String kept(World whole, World shortest) {
    List<Integer> places = new ArrayList<>();
    int from = 0;
    for (Action action : shortest.script()) {
      while (!whole.script().get(from).equals(action)) {
        from++;
      }
      places.add(from++);
    }
    return places.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private int replay(World whole) {
    World world = keep == null ? whole : whole.with(chosen(whole, keep));
    Result result = Simulation.run(world, Trace.on());
    out().print(result.trace());
    if (result.violation() == null) {
      out().printf("Seed %d keeps the contract.%n", world.seed());
      return 0;
    }
    out().printf("Seed %d does not keep the contract.%n", world.seed());
    return 1;
  }

  private List<Action> chosen(World world, List<Integer> places) {
    List<Action> chosen = new ArrayList<>();
    for (int place : places) {
      if (place < 0 || place >= world.script().size()) {
        throw wrong(
            "--keep: this world's actions have the numbers 0 to "
                + (world.script().size() - 1)
                + ", not "
                + place
                + ".");
      }
      chosen.add(world.script().get(place));
    }
    return chosen;
  }

  private int liveThroughAWeek() {
    out().println("A week of 1,000 endpoints, with an event a second.");
    long started = System.nanoTime();
    Result result = Simulation.run(Week.make(from == null ? 1 : from), Trace.off());
    Totals totals = new Totals();
    totals.add(result);
    out().println(totals.describe(Duration.ofNanos(System.nanoTime() - started)));
    if (result.violation() == null) {
      return 0;
    }
    out().println("FAILED: " + result.violation().getMessage());
    return 1;
  }

  private int findMutants() throws InterruptedException {
    List<Mutant> chosen =
        only == null
            ? Mutant.all()
            : Mutant.all().stream().filter(mutant -> only.contains(mutant.name())).toList();
    if (chosen.isEmpty()) {
      throw wrong(
          "--only: there is no such mutant. There are "
              + Mutant.all().stream().map(Mutant::name).collect(Collectors.joining(", "))
              + ".");
    }
    long worlds = seeds == null ? WORLDS_FOR_A_MUTANT : seeds;
    out().printf("%d bugs, each looked for in up to %d worlds.%n", chosen.size(), worlds);
    List<Finding> findings =
        new MutantSuite(from == null ? 0 : from, worlds).run(chosen, threads, this::show);
    List<String> missed =
        findings.stream()
            .filter(finding -> !finding.isFound())
            .map(finding -> finding.mutant().name())
            .toList();
    out().printf("%d of %d found.%n", findings.size() - missed.size(), findings.size());
    if (!missed.isEmpty()) {
      out().println("NOT FOUND: " + String.join(", ", missed));
    }
    return missed.isEmpty() ? 0 : 1;
  }

  private void show(Finding finding) {
    Mutant mutant = finding.mutant();
    out()
        .printf(
            "%-32s %6s  %s%n",
            mutant.name(),
            finding.isFound() ? Long.toString(finding.needed()) : "-",
            finding.isFound() ? finding.rule() : "NOT FOUND: " + mutant.what());
  }
}
