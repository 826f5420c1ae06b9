package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/**
 * Notices what is not given back between its making and {@link #assertNone}: buffers of Netty, each
 * of which is watched, and file descriptors, which sockets are too.
 */
final class Leaks implements AutoCloseable {

  /** Descriptors that the Java platform opens by itself now and then. */
  private static final long SLACK = 16;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Logger logger = (Logger) LoggerFactory.getLogger(ResourceLeakDetector.class);
  private final ResourceLeakDetector.Level usual = ResourceLeakDetector.getLevel();
  private final List<String> reports = new CopyOnWriteArrayList<>();
  private final long descriptors;

  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          reports.add(event.getFormattedMessage());
        }
      };

  Leaks() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    appender.start();
    logger.addAppender(appender);
    logger.setAdditive(false);
    descriptors = openDescriptors();
  }

  /** To be called when all that was opened has been closed. */
  void assertNone() throws InterruptedException {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (openDescriptors() > descriptors + SLACK && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    assertThat(openDescriptors())
        .as("open file descriptors, %d before", descriptors)
        .isLessThanOrEqualTo(descriptors + SLACK);
    assertThat(reports()).isEmpty();
  }

  /** What Netty has found: it looks for buffers that were collected without being released. */
  List<String> reports() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      collectGarbage();
      PooledByteBufAllocator.DEFAULT.directBuffer(1).release();
    }
    return reports;
  }

  private static void collectGarbage() throws InterruptedException {
    WeakReference<Object> gone = new WeakReference<>(new Object());
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (gone.get() != null && System.nanoTime() < until) {
      System.gc();
      Thread.sleep(20);
    }
  }

  private static long openDescriptors() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getOpenFileDescriptorCount()
        : 0;
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    ResourceLeakDetector.setLevel(usual);
  }
}
