package dev.holdfast.server.tracing;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Spans, sent to a collector by OTLP over HTTP.
 *
 * <p>Whoever makes a span only puts it into a queue. A thread of its own sends batches, and
 * whatever it cannot send is dropped and counted: a collector that is slow, down or gone costs
 * spans and nothing else.
 */
public final class Tracing implements AutoCloseable {
  private static final String INSTRUMENTATION = "dev.holdfast";
  private static final Duration SEND_TIME = Duration.ofSeconds(5);
  private static final Duration CONNECT_TIME = Duration.ofSeconds(2);
  private static final Duration LAST_SEND_TIME = Duration.ofSeconds(3);
  private static final int LONGEST_VALUE = 512;
  private static final int NANOS_PER_SECOND = 1_000_000_000;
  private static final double MILLIONTH = 1e-6;

  /**
   * OpenTelemetry's own complaints, which would go to the terminal past the log: {@link SpanQueue}
   * says the same once a minute. Held here, since a level is forgotten with its logger.
   */
  private static final Logger LIBRARY = Logger.getLogger("io.opentelemetry");

  private final SpanQueue queue;
  private final SdkTracerProvider provider;

  /**
   * Where spans go and which.
   *
   * @param endpoint the collector's address for traces
   * @param sampleMillionths the share of the traces beginning here that is kept; a trace that comes
   *     with an event is kept when whoever began it keeps it
   * @param serviceName what the collector shows as the service
   */
  public record Options(URI endpoint, int sampleMillionths, String serviceName, String version) {}

  private Tracing(SpanQueue queue, SdkTracerProvider provider) {
    this.queue = queue;
    this.provider = provider;
  }

  /** Makes spans from now on; does not wait for the collector. */
  public static Tracing start(Options options, InstantSource clock) {
    LIBRARY.setLevel(Level.OFF);
    OtlpHttpSpanExporter exporter =
        OtlpHttpSpanExporter.builder()
            .setComponentLoader(new OurSender())
            .setEndpoint(options.endpoint().toString())
            .setTimeout(SEND_TIME)
            .setConnectTimeout(CONNECT_TIME)
            .build();
    SpanQueue queue = new SpanQueue(exporter);
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setClock(new OurClock(clock))
            .setResource(
                Resource.create(
                    Attributes.builder()
                        .put("service.name", options.serviceName())
                        .put("service.version", options.version())
                        .put("telemetry.sdk.name", "opentelemetry")
                        .put("telemetry.sdk.language", "java")
                        .build()))
            .setSpanLimits(SpanLimits.builder().setMaxAttributeValueLength(LONGEST_VALUE).build())
            .setSampler(
                Sampler.parentBased(
                    Sampler.traceIdRatioBased(options.sampleMillionths() * MILLIONTH)))
            .addSpanProcessor(queue)
            .build();
    return new Tracing(queue, provider);
  }

  /** Makes spans. */
  public Tracer tracer() {
    return provider.get(INSTRUMENTATION);
  }

  /** Spans that the collector has taken. */
  public long exported() {
    return queue.exported();
  }

  /** Spans that were lost because the queue was full or the collector did not take them. */
  public long dropped() {
    return queue.dropped();
  }

  /** Sends what is left, for a few seconds. Blocking. */
  @Override
  public void close() {
    var _ = provider.shutdown().join(LAST_SEND_TIME.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The program's clock, as OpenTelemetry asks for it. */
  private record OurClock(InstantSource source) implements Clock {
    @Override
    public long now() {
      Instant now = source.instant();
      return now.getEpochSecond() * NANOS_PER_SECOND + now.getNano();
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }
  }

  /** Gives the exporter our sender, and nothing that may be lying on the class path. */
  private record OurSender() implements ComponentLoader {
    @Override
    public <T> Iterable<T> load(Class<T> type) {
      HttpSenderProvider sender = CollectorSender::new;
      return type.isInstance(sender) ? List.of(type.cast(sender)) : List.of();
    }
  }
}
