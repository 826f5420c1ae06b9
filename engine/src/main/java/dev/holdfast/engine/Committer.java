package dev.holdfast.engine;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** The one thread that writes: a batch, a transaction, an fsync. */
public final class Committer {
  private final Store store;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("holdfast-committer").factory());
  private final LongAdder commits = new LongAdder();
  private final LongAdder writes = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  Committer(Store store) {
    this.store = store;
  }

  /** Commits since the start, what was in them, and how long they took together. */
  public record Totals(long commits, long writes, long nanos) {}

  void write(Batch batch, Consumer<Input> ended) {
    thread.execute(() -> ended.accept(write(batch)));
  }

  private Input write(Batch batch) {
    long started = System.nanoTime();
    try {
      return new Input.Committed(batch, store.write(batch));
    } catch (StoreException e) {
      return new Input.CommitFailed(batch, e.kind(), String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      // Whether the batch is on disk is not known: the process has to end and look.
      return new Input.CommitFailed(batch, StoreException.Kind.BROKEN, e.toString());
    } finally {
      commits.increment();
      writes.add(batch.writes().size());
      nanos.add(System.nanoTime() - started);
    }
  }

  Totals totals() {
    return new Totals(commits.sum(), writes.sum(), nanos.sum());
  }

  void close() {
    thread.close();
  }
}
