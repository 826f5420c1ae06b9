package dev.holdfast.proof.simulation;

import dev.holdfast.proof.model.Model.Counts;
import dev.holdfast.proof.simulation.Simulation.Result;
import java.time.Duration;
import java.util.Locale;

/** What happened in all worlds together. */
final class Totals {
  private long worlds;
  private long failed;
  private long steps;
  private Duration lived = Duration.ZERO;
  private final Counts counts = new Counts();

  void add(Result result) {
    worlds++;
    failed += result.violation() == null ? 0 : 1;
    steps += result.steps();
    lived = lived.plus(result.lived());
    counts.add(result.counts());
  }

  long failed() {
    return failed;
  }

  Counts counts() {
    return counts;
  }

  /** A few lines for people. */
  String describe(Duration took) {
    double seconds = Math.max(0.001, took.toNanos() / 1e9);
    return String.format(
        Locale.ROOT,
        """
        worlds      %,d in %.1f s, %,d failed
        simulated   %,d hours (%.1f years), %,.0f hours a second, %,d steps
        life        %,d starts, %,d deaths, %,d commits failed, %,d entries refused, %,d reads failed
        events      %,d accepted, %,d attempts, %,d probes
        messages    %,d delivered, %,d of them again after a lost record
        dropped     %,d exhausted, %,d expired, %,d unsubscribed; lost %s
        endpoints   %,d changes of state, %,d attempts in recovery, %,d announced
        changes     %,d of subscriptions, %,d messages moved or released, %,d held back
        later       %,d steps of events that many want, %,d messages replayed, %,d newcomers
        versions    %,d changes, %,d messages in one of both""",
        worlds,
        seconds,
        failed,
        lived.toHours(),
        lived.toHours() / 24.0 / 365.25,
        lived.toSeconds() / 3_600.0 / seconds,
        steps,
        counts.starts,
        counts.deaths,
        counts.failedCommits,
        counts.refusedWrites,
        counts.failedReads,
        counts.accepted,
        counts.attempts,
        counts.probes,
        counts.delivered,
        counts.repeated,
        counts.exhausted,
        counts.expired,
        counts.unsubscribed,
        failed == 0 ? "0" : "unknown: see the failures",
        counts.stateChanges,
        counts.recoveries,
        counts.announced,
        counts.changes,
        counts.moves,
        counts.pauses,
        counts.steps,
        counts.replayed,
        counts.newcomers,
        counts.versionChanges,
        counts.inBothVersions);
  }
}
