package dev.holdfast.engine;

import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.Upkept;
import dev.holdfast.engine.store.Upkept.Left;
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
 * the pause is longer when batches take much of the time, unless upkeep has fallen behind. Since
 * the thread takes turns by time, a step comes even when batches never end. A shared store does it
 * beside: it is only told here that it is time.
 */
final class Committer {
  private static final Logger log = LoggerFactory.getLogger(Committer.class);

  /** From one step of upkeep to the next while there is more to do. */
  private static final Duration SHORT_PAUSE = Duration.ofMillis(10);

  /** When batches need the thread, upkeep has one part of it and they have so many. */
  private static final int SHARE_OF_BATCHES = 7;

  /** Batches need the thread when they took one part of so many of the time since the last step. */
  private static final int BUSY_FROM = 4;

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

  /** When the last step of upkeep ended, and how long batches have taken since. */
  private long steppedNanos;

  private long batchNanos;

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
    steppedNanos = System.nanoTime();
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
            long took = System.nanoTime() - started;
            batchNanos += took;
            ended.ended(batch, result, took);
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
      long began = System.nanoTime();
      boolean isBusy = BUSY_FROM * batchNanos > began - steppedNanos;
      Upkept done = upkeep.run();
      if (!done.removed().isNothing()) {
        whenRemoved.accept(done.removed());
      }
      steppedNanos = System.nanoTime();
      batchNanos = 0;
      until = pauseAfter(done.left(), Duration.ofNanos(steppedNanos - began), isBusy, pause);
    } catch (StoreException | RuntimeException e) {
      log.warn("store.upkeep-failed next=\"tried again in {} s\"", LONG_PAUSE.toSeconds(), e);
    } finally {
      upkeepAfter(until);
    }
  }

  /**
   * How long batches have the thread to themselves after a step of upkeep.
   *
   * @param took how long the step has kept them waiting
   * @param isBusy whether they took much of the time before it
   * @param usual the pause when there is nothing to do
   */
  static Duration pauseAfter(Left left, Duration took, boolean isBusy, Duration usual) {
    Duration share = took.multipliedBy(SHARE_OF_BATCHES);
    return switch (left) {
      case NOTHING -> usual;
      case SOME -> isBusy && share.compareTo(SHORT_PAUSE) > 0 ? share : SHORT_PAUSE;
      case TOO_MUCH -> took.compareTo(SHORT_PAUSE) < 0 ? took : SHORT_PAUSE;
    };
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
