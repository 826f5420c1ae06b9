package dev.holdfast.server.tracing;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spans that have ended and wait to be sent.
 *
 * <p>OpenTelemetry's batches would drop silently what they have no room for. So the room is kept
 * here: a span gets in only while fewer than {@link #MOST_QUEUED} are between their end and the
 * exporter, which is what the batches have room for.
 */
final class SpanQueue implements SpanProcessor {
  private static final Logger log = LoggerFactory.getLogger(SpanQueue.class);

  static final int MOST_QUEUED = 16_384;
  private static final int BATCH = 512;
  private static final Duration BATCH_DELAY = Duration.ofSeconds(1);
  private static final long LOG_EVERY_NANOS = Duration.ofMinutes(1).toNanos();

  private final BatchSpanProcessor batches;
  private final AtomicInteger queued = new AtomicInteger();
  private final LongAdder exported = new LongAdder();
  private final LongAdder dropped = new LongAdder();

  /** Both are used by the sending thread alone. */
  private long toldDropped;

  private long toldNanos = System.nanoTime() - LOG_EVERY_NANOS;

  SpanQueue(SpanExporter exporter) {
    batches =
        BatchSpanProcessor.builder(new Counting(exporter))
            .setMaxQueueSize(MOST_QUEUED)
            .setMaxExportBatchSize(BATCH)
            .setScheduleDelay(BATCH_DELAY)
            .build();
  }

  long exported() {
    return exported.sum();
  }

  long dropped() {
    return dropped.sum();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {}

  @Override
  public boolean isStartRequired() {
    return false;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (!span.getSpanContext().isSampled()) {
      return;
    }
    if (queued.incrementAndGet() > MOST_QUEUED) {
      queued.decrementAndGet();
      dropped.increment();
    } else {
      batches.onEnd(span);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  @Override
  public CompletableResultCode shutdown() {
    return batches.shutdown();
  }

  @Override
  public CompletableResultCode forceFlush() {
    return batches.forceFlush();
  }

  /** Called by the thread that sends, whatever became of a batch. */
  private void sent(int spans, CompletableResultCode result) {
    if (result.isSuccess()) {
      exported.add(spans);
    } else {
      dropped.add(spans);
    }
    long nowNanos = System.nanoTime();
    long all = dropped.sum();
    if (all > toldDropped && nowNanos - toldNanos >= LOG_EVERY_NANOS) {
      log.warn(
          "tracing.dropping spans={} total={} next=\"deliveries go on; the collector is tried with"
              + " every batch\"",
          all - toldDropped,
          all);
      toldDropped = all;
      toldNanos = nowNanos;
    }
  }

  /** Makes room when a batch leaves the queue, and counts what becomes of it. */
  private final class Counting implements SpanExporter {
    private final SpanExporter to;

    Counting(SpanExporter to) {
      this.to = to;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      // OpenTelemetry's thread has no class loader, and what logs may look for classes through it.
      Thread.currentThread().setContextClassLoader(SpanQueue.class.getClassLoader());
      int count = spans.size();
      queued.addAndGet(-count);
      CompletableResultCode result = to.export(spans);
      return result.whenComplete(() -> sent(count, result));
    }

    @Override
    public CompletableResultCode flush() {
      return to.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return to.shutdown();
    }
  }
}
