package dev.holdfast.engine;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks now and then how much is free on the store's disk, beside everything else: asking the
 * system may take its time, and nothing on the path of a message waits for it.
 */
final class SpaceWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SpaceWatch.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  private final Path directory;
  private final LongConsumer told;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread =
      Thread.ofPlatform().name("holdfast-space").daemon().unstarted(this::run);
  private @Nullable FileStore disk;
  private long last = -1;
  private boolean complained;

  /**
   * A watch over the disk that has a directory.
   *
   * @param told how many bytes are free, whenever that is another number than before
   */
  SpaceWatch(Path directory, LongConsumer told) {
    this.directory = directory;
    this.told = told;
  }

  /** Looks once and then goes on. */
  void start() {
    look();
    thread.start();
  }

  private void run() {
    try {
      while (!closing.await(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        look();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    try {
      if (disk == null) {
        disk = Files.getFileStore(directory);
      }
      long free = disk.getUsableSpace();
      if (free != last) {
        last = free;
        told.accept(free);
      }
    } catch (IOException e) {
      disk = null;
      if (!complained) {
        complained = true;
        log.warn(
            "store.space-unknown next=\"looking again; a full disk is noticed when it is written"
                + " to\"",
            e);
      }
    }
  }

  @Override
  public void close() {
    closing.countDown();
  }
}
