package dev.holdfast.engine;

import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.Upkept;
import dev.holdfast.engine.store.Upkept.Removed;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes: a batch, a transaction, an fsync.
 *
 * <p>In the embedded store, between two batches it does a step of the store's upkeep, when one is
 * due. A step takes a few milliseconds and is followed by a pause, so batches never wait for long;
 * and since the thread takes turns by time, a step comes even when batches never end. A shared
 * store does it beside: it is only told here that it is time.
 */
final class Committer {
  private static final Logger log = LoggerFactory.getLogger(Committer.class);

  /** From one step of upkeep to the next while there is more to do. */
  private static final Duration SHORT_PAUSE = Duration.ofMillis(10);

  /** From one step of upkeep to the next while there is nothing to do. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** The same in a store that is asked over a network, by several. */
  private static final Duration SHARED_PAUSE = Duration.ofSeconds(1);

  /** After a step that failed. */
  private static final Duration LONG_PAUSE = Duration.ofSeconds(10);

  private final Store store;
  private final UpkeepStep upkeep;
  private volatile Consumer<Removed> whenRemoved = _ -> {};
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name("holdfast-committer").factory());
  private final Duration pause;
  private final Map<DropReason, LongAdder> dropped = new EnumMap<>(DropReason.class);

  /** A little work of the store for itself. */
  interface UpkeepStep {
    Upkept run() throws StoreException;
  }

  Committer(Store store, UpkeepStep upkeep) {
    this(store, upkeep, false);
  }

  /**
   * @param shared whether the store is asked over a network, by several
   */
  Committer(Store store, UpkeepStep upkeep, boolean shared) {
    this.store = store;
    this.upkeep = upkeep;
    this.pause = shared ? SHARED_PAUSE : PAUSE;
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    for (DropReason reason : DropReason.values()) {
      dropped.put(reason, new LongAdder());
    }
  }

  /**
   * Begins with the store's upkeep.
   *
   * @param toTell told what retention has removed, on the thread that writes
   */
  void startUpkeep(Consumer<Removed> toTell) {
    whenRemoved = toTell;
    upkeepAfter(pause);
  }

  /** Hears what became of a batch. */
  @FunctionalInterface
  interface Ended {
    void ended(Batch batch, Input result, long nanos);
  }

  /**
   * Writes a batch; {@code ended} is told on the committer's thread. After the end nothing is
   * written: what the loop may still find out is found again after the next start.
   */
  void write(Batch batch, Ended ended) {
    try {
      thread.execute(
          () -> {
            long started = System.nanoTime();
            Input result = write(batch);
            ended.ended(batch, result, System.nanoTime() - started);
          });
    } catch (RejectedExecutionException e) {
      // The committer is closed.
    }
  }

  private Input write(Batch batch) {
    try {
      Input committed = new Input.Committed(batch, store.write(batch));
      countDropped(batch);
      return committed;
    } catch (StoreException e) {
      return new Input.CommitFailed(batch, e.kind(), String.valueOf(e.getMessage()), e.tenants());
    } catch (RuntimeException | Error e) {
      // Whether the batch is on disk is not known: the process has to end and look.
      return new Input.CommitFailed(batch, StoreException.Kind.BROKEN, e.toString());
    }
  }

  private void upkeepAfter(Duration time) {
    try {
      var _ = thread.schedule(this::doUpkeep, time.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The committer is being closed: what is left is done after the next start.
    }
  }

  /** If the store is broken, the next batch finds out and ends the process. */
  private void doUpkeep() {
    Duration until = LONG_PAUSE;
    try {
      Upkept done = upkeep.run();
      if (!done.removed().isNothing()) {
        whenRemoved.accept(done.removed());
      }
      until = done.isMore() ? SHORT_PAUSE : pause;
    } catch (StoreException | RuntimeException e) {
      log.warn("store.upkeep-failed next=\"tried again in {} s\"", LONG_PAUSE.toSeconds(), e);
    } finally {
      upkeepAfter(until);
    }
  }

  private void countDropped(Batch batch) {
    for (Write write : batch.writes()) {
      if (write instanceof Write.Drop drop) {
        LongAdder count = dropped.get(drop.reason());
        if (count != null) {
          count.increment();
        }
      }
    }
  }

  /** Messages given up since the start, on disk. */
  Map<DropReason, Long> dropped() {
    Map<DropReason, Long> counts = new EnumMap<>(DropReason.class);
    dropped.forEach((reason, count) -> counts.put(reason, count.sum()));
    return counts;
  }

  /** Runs something after all that is to be written now. */
  void run(Runnable task) {
    try {
      thread.execute(task);
    } catch (RejectedExecutionException e) {
      task.run();
    }
  }

  void close() {
    thread.close();
  }
}
