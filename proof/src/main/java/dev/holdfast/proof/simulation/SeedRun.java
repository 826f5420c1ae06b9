package dev.holdfast.proof.simulation;

import dev.holdfast.proof.model.Violation;
import java.util.Optional;
import java.util.function.LongFunction;

/** Runs the world of a seed: gives the rule that was broken, or an empty text. */
public final class SeedRun implements LongFunction<String> {

  /** For whoever loads it. */
  public SeedRun() {}

  @Override
  public String apply(long seed) {
    return Optional.ofNullable(Simulation.run(WorldMaker.make(seed), Trace.off()).violation())
        .map(Violation::rule)
        .orElse("");
  }
}
