package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Comparison;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Runs scenarios with the servers of two builds in turns, and says which differences are real.
 *
 * <p>Load generator and receiver are always this build's, so that only the server differs. Every
 * other round begins with the other build, so that neither gains from being first. How figures are
 * compared is told in {@link Comparison}.
 */
final class Compare {
  /** What is compared when nothing is chosen. */
  static final List<String> SCENARIOS = List.of(ThroughputScenario.BATCH, "single", "latency");

  /** Those that start no server, so that there is nothing to compare. */
  static final Set<String> WITHOUT_SERVER = Set.of(Reference.NAME, "match");

  static final int ROUNDS = 5;
  static final int QUICK_ROUNDS = 3;

  private final Rig rig;
  private final BaseBuild base;
  private final int rounds;
  private final Report report;

  Compare(Rig rig, BaseBuild base, int rounds) {
    this.rig = rig;
    this.base = base;
    this.rounds = rounds;
    this.report = rig.report();
  }

  void run(List<Scenario> scenarios) throws IOException {
    for (Scenario scenario : scenarios) {
      Pairs pairs = new Pairs();
      for (int round = 1; round <= rounds; round++) {
        boolean baseFirst = round % 2 == 1;
        Report first = run(scenario, round, baseFirst);
        Report second = run(scenario, round, !baseFirst);
        // What a server does fast and wrong is not compared.
        if (!first.hasFailures() && !second.hasFailures()) {
          pairs.add(baseFirst ? first : second, baseFirst ? second : first);
        }
      }
      pairs.compare().forEach(report::compare);
    }
    report.note(
        "compared with %s; rounds of both builds in turns: %d".formatted(base.name(), rounds));
    report.note(
        rounds < Comparison.FEWEST_PAIRS
            ? "with fewer than %d rounds nothing can be shown".formatted(Comparison.FEWEST_PAIRS)
            : "each interval holds the true ratio in 95 of 100 cases; where nothing differs, one in"
                + " twenty shows a difference by chance");
  }

  /** One build's turn, with a report of its own. */
  private Report run(Scenario scenario, int round, boolean isBase) throws IOException {
    String turn = "round %d of %d, %s".formatted(round, rounds, isBase ? "base" : "this build");
    Report own = report.empty();
    rig.progress().scenario(scenario.name());
    rig.progress().step(turn);
    rig.reportTo(own);
    rig.serveFrom(isBase ? base.classPath() : Rig.OWN_CLASS_PATH);
    try {
      Bench.run(scenario, rig);
    } finally {
      rig.reportTo(report);
      rig.serveFrom(Rig.OWN_CLASS_PATH);
    }
    own.notes().forEach(note -> report.note(turn + ": " + note));
    own.failures().forEach(failure -> report.fail(turn + ": " + failure));
    return own;
  }
}
