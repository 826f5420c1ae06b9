package dev.holdfast.engine.http;

import dev.holdfast.engine.format.Body;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes signatures that take longer than the event loop has: those of Ed25519, on threads of this
 * class. An attempt waits for its own before it begins, and so do those behind it: attempts to one
 * endpoint begin in the order in which they were asked for.
 *
 * <p>How many wait is limited by how many attempts there may be at once. What would be too many all
 * the same, or comes when the threads have ended, is made on the event loop.
 */
final class SlowSignatures {
  private static final int FEWEST_THREADS = 1;
  private static final int MOST_THREADS = 8;

  private final EventLoop eventLoop;
  private final Consumer<Sending> next;
  private final ThreadPoolExecutor threads =
      SideThreads.halfOfAll(FEWEST_THREADS, MOST_THREADS, "holdfast-signatures-");
  private final ThreadLocal<Signer> signers = ThreadLocal.withInitial(Signer::new);

  /**
   * @param next called on the event loop with each attempt that can begin, or that cannot be signed
   */
  SlowSignatures(EventLoop eventLoop, Consumer<Sending> next) {
    this.eventLoop = eventLoop;
    this.next = next;
  }

  /**
   * Signs an attempt, if that takes long, and lets it begin behind those to its endpoint that were
   * asked for before it.
   */
  void make(Sending sending) {
    ArrayDeque<Sending> line = sending.target.unsigned;
    if (line == null) {
      line = new ArrayDeque<>();
      sending.target.unsigned = line;
    }
    line.add(sending);
    if (!sending.letterhead.isSlowAt(sending.delivery.startedAt())) {
      sending.isSigned = true;
      return;
    }
    Runnable work = () -> sign(sending);
    try {
      threads.execute(work);
    } catch (RejectedExecutionException _) {
      work.run();
    }
  }

  private void sign(Sending sending) {
    try {
      Signer signer = signers.get();
      signer.sign(
          sending.letterhead,
          sending.delivery.startedAt(),
          sending.id(),
          sending.timestamp(),
          Body.of(sending.delivery));
      byte[] signatures = Arrays.copyOf(signer.text, signer.length);
      eventLoop.execute(() -> signed(sending, signatures, null));
    } catch (RuntimeException | Error e) {
      eventLoop.execute(() -> signed(sending, null, e));
    }
  }

  private void signed(
      Sending sending, byte @Nullable [] signatures, @Nullable Throwable unsignable) {
    sending.signatures = signatures;
    sending.unsignable = unsignable;
    sending.isSigned = true;
    Target target = sending.target;
    ArrayDeque<Sending> line = Objects.requireNonNull(target.unsigned);
    for (Sending first = line.peek(); first != null && first.isSigned; first = line.peek()) {
      line.remove();
      next.accept(first);
    }
    if (line.isEmpty()) {
      target.unsigned = null;
    }
  }

  /** Ends the threads when what they have is done. */
  void close() {
    threads.shutdown();
  }
}
