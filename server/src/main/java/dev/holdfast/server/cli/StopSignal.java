package dev.holdfast.server.cli;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits until somebody asks the process to end.
 *
 * <p>The first SIGTERM or SIGINT asks; a second one ends the process at once. Java's own shutdown
 * hooks would do neither: they cannot choose the exit code and do not see a second signal.
 */
final class StopSignal {
  private final CountDownLatch asked = new CountDownLatch(1);

  /** Listens to the signals of this process. */
  static StopSignal install() {
    StopSignal stop = new StopSignal();
    stop.handle("TERM");
    stop.handle("INT");
    return stop;
  }

  /** Asks to end; asked again, ends the process. */
  void ask() {
    synchronized (asked) {
      if (asked.getCount() == 0) {
        Runtime.getRuntime().halt(ExitCode.FAILED);
      }
      asked.countDown();
    }
  }

  void await() {
    try {
      asked.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for a while, and says whether somebody asked. */
  boolean askedWithin(Duration time) {
    try {
      return asked.await(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Waits for a while, whoever asks meanwhile. */
  static void pause(Duration time) {
    try {
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** By reflection, since the compiler warns of the class whatever it is told. */
  private void handle(String name) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object ask =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  ask();
                }
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), ask);
    } catch (ReflectiveOperationException e) {
      // Not this kind of Java, or told to leave signals alone: the process ends as Java likes.
      return;
    }
  }
}
