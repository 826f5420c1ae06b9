package dev.holdfast.proof.simulation;

import dev.holdfast.proof.model.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Looks for the shortest script that still breaks the same rule: leaves out ever smaller parts, and
 * keeps out what is not needed.
 */
final class Shrinker {
  /** Worlds lived through for one failure; enough for a script of a few hundred actions. */
  private static final int MOST_TRIES = 1_500;

  private final Predicate<World> fails;
  private int tries;

  private Shrinker(Predicate<World> fails) {
    this.fails = fails;
  }

  /** A world that breaks the same rule and has no action that could be left out alone. */
  static World shrink(World failing, String rule) {
    return shrink(
        failing,
        world -> {
          Violation violation = Simulation.run(world, Trace.off()).violation();
          return violation != null && violation.rule().equals(rule);
        });
  }

  static World shrink(World failing, Predicate<World> fails) {
    return new Shrinker(fails).shrink(failing);
  }

  private World shrink(World failing) {
    List<Action> script = failing.script();
    int part = Math.max(1, script.size() / 2);
    while (true) {
      boolean shorter = false;
      for (int from = 0; from < script.size() && tries < MOST_TRIES; ) {
        List<Action> without = without(script, from, Math.min(script.size(), from + part));
        if (fails(failing.with(without))) {
          script = without;
          shorter = true;
        } else {
          from += part;
        }
      }
      if (tries >= MOST_TRIES || (part == 1 && !shorter)) {
        return failing.with(script);
      }
      part = Math.max(1, part / 2);
    }
  }

  private static List<Action> without(List<Action> script, int from, int to) {
    List<Action> rest = new ArrayList<>(script.subList(0, from));
    rest.addAll(script.subList(to, script.size()));
    return rest;
  }

  private boolean fails(World world) {
    tries++;
    return fails.test(world);
  }
}
