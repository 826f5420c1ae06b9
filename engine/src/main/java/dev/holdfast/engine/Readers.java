package dev.holdfast.engine;

import dev.holdfast.core.port.StoreException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Threads that read from the store. They are platform threads: the store's driver is native code
 * and would pin a virtual one.
 */
final class Readers {
  private final ThreadPoolExecutor threads;

  Readers(String name, int count) {
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name(name + "-", 1).factory());
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

  /** How many reads wait for their turn. */
  int waiting() {
    return threads.getQueue().size();
  }

  /** Runs nothing that waits for its turn; nobody is told. */
  void forgetWaiting() {
    threads.getQueue().clear();
  }

  void close() {
    threads.close();
  }
}
