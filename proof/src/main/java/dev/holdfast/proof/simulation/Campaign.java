package dev.holdfast.proof.simulation;

import dev.holdfast.proof.simulation.Simulation.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Lives through many worlds, each on one thread, until one of them breaks the contract. */
final class Campaign {
  private final Totals totals = new Totals();
  private final List<Result> failures = new ArrayList<>();
  private final int mostFailures;

  /**
   * A campaign.
   *
   * @param mostFailures it ends early when so many worlds have failed
   */
  Campaign(int mostFailures) {
    this.mostFailures = mostFailures;
  }

  /**
   * Runs the worlds of {@code seeds} seeds that follow each other.
   *
   * @param progress hears how many have been run
   */
  void run(long from, long seeds, int threads, LongConsumer progress) throws InterruptedException {
    AtomicLong next = new AtomicLong(from);
    AtomicLong done = new AtomicLong();
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        workers.add(
            pool.submit(
                () -> {
                  for (long seed = next.getAndIncrement();
                      seed < from + seeds && !isOver();
                      seed = next.getAndIncrement()) {
                    note(Simulation.run(WorldMaker.make(seed), Trace.off()));
                    progress.accept(done.incrementAndGet());
                  }
                }));
      }
      for (Future<?> worker : workers) {
        try {
          worker.get();
        } catch (ExecutionException e) {
          throw new IllegalStateException("the simulation itself broke", e.getCause());
        }
      }
    }
  }

  private synchronized boolean isOver() {
    return failures.size() >= mostFailures;
  }

  private synchronized void note(Result result) {
    totals.add(result);
    if (result.violation() != null) {
      failures.add(result);
    }
  }

  synchronized Totals totals() {
    return totals;
  }

  /** The worlds that failed, in the order of their seeds. */
  synchronized List<Result> failures() {
    return failures.stream()
        .sorted((one, other) -> Long.compare(one.world().seed(), other.world().seed()))
        .toList();
  }
}
