package dev.holdfast.server.api;

import io.netty.channel.SingleThreadEventLoop;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets nobody in before there is somebody to serve them.
 *
 * <p>Vert.x takes connections from the moment that the port is bound, on a thread that does nothing
 * else, and decides only after that who serves them: a connection that comes in between is reset.
 * So the thread is held between the two. Connections wait for it in the system's backlog.
 */
final class Doorkeeper {

  /** For when something else happens on the thread: nobody waits for longer. */
  private static final Duration LONGEST = Duration.ofSeconds(1);

  private static final Duration PAUSE = Duration.ofNanos(100_000);

  private final SingleThreadEventLoop acceptor;
  private final int doorsBefore;
  private final CountDownLatch served = new CountDownLatch(1);

  private Doorkeeper(SingleThreadEventLoop acceptor, int doorsBefore) {
    this.acceptor = acceptor;
    this.doorsBefore = doorsBefore;
  }

  /** To be called before the server listens. Blocks for a moment. */
  static Doorkeeper stand(Vertx vertx) throws IOException {
    SingleThreadEventLoop acceptor =
        (SingleThreadEventLoop) ((VertxInternal) vertx).acceptorEventLoopGroup().next();
    try {
      Doorkeeper keeper =
          new Doorkeeper(acceptor, acceptor.submit(acceptor::registeredChannels).get());
      acceptor.execute(keeper::watch);
      return keeper;
    } catch (ExecutionException e) {
      throw new IOException("cannot take connections", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while starting to listen", e);
    }
  }

  /** The server listens, or never will. */
  void leave() {
    served.countDown();
  }

  /**
   * Runs again and again until the server's socket is there. Its binding is then the next task of
   * the thread, and whatever is added now comes right after it, before any connection is taken.
   */
  private void watch() {
    if (acceptor.registeredChannels() > doorsBefore) {
      acceptor.execute(this::hold);
    } else if (served.getCount() > 0) {
      LockSupport.parkNanos(PAUSE.toNanos());
      acceptor.execute(this::watch);
    }
  }

  private void hold() {
    try {
      boolean _ = served.await(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
