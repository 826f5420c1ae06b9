package dev.holdfast.engine.http;

import dev.holdfast.engine.format.Body;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes signatures that take longer than the event loop has: those of Ed25519, on threads of this
 * class. An attempt waits for its own before it begins.
 *
 * <p>How many wait is limited by how many attempts there may be at once. What would be too many all
 * the same, or comes when the threads have ended, is made on the event loop.
 */
final class SlowSignatures {
  private static final int FEWEST_THREADS = 1;
  private static final int MOST_THREADS = 8;
  private static final int MOST_WAITING = 32_768;
  private static final int THREAD_LIVES_SECONDS = 10;

  private final EventLoop eventLoop;
  private final ThreadPoolExecutor threads = threads();
  private final ThreadLocal<Signer> signers = ThreadLocal.withInitial(Signer::new);

  SlowSignatures(EventLoop eventLoop) {
    this.eventLoop = eventLoop;
  }

  private static ThreadPoolExecutor threads() {
    int count =
        Math.clamp(Runtime.getRuntime().availableProcessors() / 2, FEWEST_THREADS, MOST_THREADS);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            THREAD_LIVES_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Thread.ofPlatform().daemon().name("holdfast-signatures-", 1).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Signs an attempt.
   *
   * @param told called on the event loop, later than now, with what went wrong if something did
   */
  void make(Sending sending, Consumer<@Nullable Throwable> told) {
    Runnable work = () -> sign(sending, told);
    try {
      threads.execute(work);
    } catch (RejectedExecutionException _) {
      work.run();
    }
  }

  private void sign(Sending sending, Consumer<@Nullable Throwable> told) {
    try {
      Signer signer = signers.get();
      signer.sign(
          sending.letterhead,
          sending.delivery.startedAt(),
          sending.id(),
          sending.timestamp(),
          Body.of(sending.delivery));
      byte[] signatures = Arrays.copyOf(signer.text, signer.length);
      eventLoop.execute(
          () -> {
            sending.signatures = signatures;
            told.accept(null);
          });
    } catch (RuntimeException | Error e) {
      eventLoop.execute(() -> told.accept(e));
    }
  }

  /** Ends the threads when what they have is done. */
  void close() {
    threads.shutdown();
  }
}
