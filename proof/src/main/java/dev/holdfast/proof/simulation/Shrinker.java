package dev.holdfast.proof.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Looks for the shortest script that still breaks the same rule: leaves out ever smaller parts, and
 * keeps out what is not needed.
 */
final class Shrinker {
  /** Worlds lived through for one failure; enough for a script of a few hundred actions. */
  private static final int MOST_TRIES = 1_500;

  private final String rule;
  private int tries;

  private Shrinker(String rule) {
    this.rule = rule;
  }

  /** A world that breaks the rule and has no action that could be left out alone. */
  static World shrink(World failing, String rule) {
    return new Shrinker(rule).shrink(failing);
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
    Simulation.Result result = Simulation.run(world, Trace.off());
    return result.violation() != null && result.violation().rule().equals(rule);
  }
}
