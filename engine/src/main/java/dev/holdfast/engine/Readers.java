package dev.holdfast.engine;

import dev.holdfast.core.port.StoreException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Threads that read from the store. They are platform threads: the store's driver is native code
 * and would pin a virtual one.
 */
final class Readers {
  private final ExecutorService threads;

  Readers(String name, int count) {
    threads =
        Executors.newFixedThreadPool(count, Thread.ofPlatform().name(name + "-", 1).factory());
  }

  /** A read of the store. */
  @FunctionalInterface
  interface Read<T> {
    T run() throws StoreException;
  }

  /** Runs a read; exactly one of the two is told, on a reader's thread. */
  <T> void read(Read<T> read, Consumer<T> done, Consumer<Throwable> failed) {
    try {
      threads.execute(
          () -> {
            T result;
            try {
              result = read.run();
            } catch (StoreException | RuntimeException e) {
              failed.accept(e);
              return;
            }
            done.accept(result);
          });
    } catch (RejectedExecutionException e) {
      failed.accept(e);
    }
  }

  void close() {
    threads.close();
  }
}
