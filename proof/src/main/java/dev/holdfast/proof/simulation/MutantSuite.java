package dev.holdfast.proof.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/** Puts bugs into the engine, one at a time, and counts the worlds that each needs to be found. */
final class MutantSuite {
  /** A world that takes longer than this does not come to its end. */
  private static final int MOST_SECONDS = 60;

  private static final String HANGS = "the loop gets somewhere";

  private final long from;
  private final long seeds;

  /**
   * A suite.
   *
   * @param from the first seed, or how far it is behind the first in which subscriptions change
   * @param seeds how many worlds a bug may need
   */
  MutantSuite(long from, long seeds) {
    this.from = from;
    this.seeds = seeds;
  }

  /**
   * What became of a bug.
   *
   * @param needed how many worlds it took to find it; 0 when it was not found
   * @param rule the rule that it broke
   */
  record Finding(Mutant mutant, long needed, String rule) {
    boolean isFound() {
      return needed > 0;
    }
  }

  /**
   * Looks for all of them.
   *
   * @param told hears of each as it is found, or not
   */
  List<Finding> run(List<Mutant> mutants, int threads, Consumer<Finding> told)
      throws InterruptedException {
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<Finding>> futures = new ArrayList<>();
      for (Mutant mutant : mutants) {
        futures.add(
            pool.submit(
                () -> {
                  Finding finding = find(mutant);
                  told.accept(finding);
                  return finding;
                }));
      }
      List<Finding> findings = new ArrayList<>();
      for (Future<Finding> future : futures) {
        findings.add(get(future));
      }
      return findings;
    }
  }

  private static <T> T get(Future<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the simulation itself broke", e.getCause());
    }
  }

  private Finding find(Mutant mutant) throws InterruptedException {
    LongFunction<String> world = MutantLoader.load(mutant);
    long first = from + mutant.worlds();
    for (long seed = first; seed < first + seeds; seed++) {
      String rule = run(world, seed);
      if (!rule.isEmpty()) {
        return new Finding(mutant, seed - first + 1, rule);
      }
    }
    return new Finding(mutant, 0, "");
  }

  /** A bug may make the engine turn for ever within one step, so that only a clock ends it. */
  private static String run(LongFunction<String> world, long seed) throws InterruptedException {
    ExecutorService one = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    try {
      Callable<String> run = () -> world.apply(seed);
      Future<String> rule = one.submit(run);
      return rule.get(MOST_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      return HANGS;
    } catch (ExecutionException e) {
      throw new IllegalStateException("seed " + seed + " broke the simulation", e.getCause());
    } finally {
      one.shutdownNow();
    }
  }
}
