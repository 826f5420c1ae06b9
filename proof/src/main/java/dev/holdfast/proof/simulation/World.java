package dev.holdfast.proof.simulation;

import dev.holdfast.core.path.Limits;
import dev.holdfast.proof.model.Contract;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What a seed has made.
 *
 * @param seed decides what the script leaves open: how long each thing takes, what each receiver
 *     answers
 * @param backlogRows how many messages one read of a backlog looks at
 * @param commitTime the most that a commit takes while the store is well
 * @param readTime the most that a read takes while the store is well
 * @param script what happens, in the order of time
 * @param staysPaused whether what is paused when all faults end stays so
 * @param end when all faults end; from then on everything has to come to its end
 */
record World(
    long seed,
    Contract contract,
    Limits limits,
    int backlogRows,
    Duration commitTime,
    Duration readTime,
    List<Action> script,
    boolean staysPaused,
    Instant end) {

  static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  World {
    script = List.copyOf(script);
  }

  World with(List<Action> shorter) {
    return new World(
        seed, contract, limits, backlogRows, commitTime, readTime, shorter, staysPaused, end);
  }

  World with(Limits other) {
    return new World(
        seed, contract, other, backlogRows, commitTime, readTime, script, staysPaused, end);
  }
}
