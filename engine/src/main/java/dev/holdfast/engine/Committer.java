package dev.holdfast.engine;

import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/** The one thread that writes: a batch, a transaction, an fsync. */
final class Committer {
  private final Store store;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("holdfast-committer").factory());
  private final Map<DropReason, LongAdder> dropped = new EnumMap<>(DropReason.class);

  Committer(Store store) {
    this.store = store;
    for (DropReason reason : DropReason.values()) {
      dropped.put(reason, new LongAdder());
    }
  }

  /** Hears what became of a batch. */
  @FunctionalInterface
  interface Ended {
    void ended(Batch batch, Input result, long nanos);
  }

  /** Writes a batch; {@code ended} is told on the committer's thread. */
  void write(Batch batch, Ended ended) {
    thread.execute(
        () -> {
          long started = System.nanoTime();
          Input result = write(batch);
          ended.ended(batch, result, System.nanoTime() - started);
        });
  }

  private Input write(Batch batch) {
    try {
      Input committed = new Input.Committed(batch, store.write(batch));
      countDropped(batch);
      return committed;
    } catch (StoreException e) {
      return new Input.CommitFailed(batch, e.kind(), String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      // Whether the batch is on disk is not known: the process has to end and look.
      return new Input.CommitFailed(batch, StoreException.Kind.BROKEN, e.toString());
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

  void close() {
    thread.close();
  }
}
