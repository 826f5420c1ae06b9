package dev.holdfast.engine.http;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for what takes longer than the event loop has. They end when there is nothing to do. */
final class SideThreads {

  /** An attempt has one piece of work at a time, so this is one for each attempt and many more. */
  private static final int MOST_WAITING = 32_768;

  private static final int IDLE_SECONDS = 10;

  private SideThreads() {}

  /** Half as many as there are processors, within these bounds. */
  static ThreadPoolExecutor halfOfAll(int fewest, int most, String name) {
    return make(Math.clamp(Runtime.getRuntime().availableProcessors() / 2, fewest, most), name);
  }

  static ThreadPoolExecutor make(int count, String name) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Thread.ofPlatform().daemon().name(name, 1).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }
}
