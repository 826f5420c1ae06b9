package dev.holdfast.server.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.http.TraceContext;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.net.URI;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TracingTest {
  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-03-04T05:06:07Z"));
  private static final String SAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final String UNSAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

  @Test
  void spans_are_posted_to_the_collector_by_the_end_at_the_latest() throws Exception {
    try (Collector collector = new Collector()) {
      Tracing tracing = start(collector.url() + "/v1/traces", 1_000_000);
      tracing.tracer().spanBuilder("one").startSpan().end();
      tracing.tracer().spanBuilder("two").startSpan().end();
      tracing.close();

      assertThat(collector.requests()).containsExactly("POST /v1/traces application/x-protobuf");
      assertThat(collector.spans()).extracting(Collector.Span::name).containsExactly("one", "two");
      assertThat(collector.spans().getFirst().resource())
          .containsEntry("service.name", "shop")
          .containsEntry("service.version", "1.2.3");
      assertThat(tracing.exported()).isEqualTo(2);
      assertThat(tracing.dropped()).isZero();
    }
  }

  @Test
  void the_one_who_began_a_trace_decides_whether_it_is_kept() throws Exception {
    try (Collector collector = new Collector()) {
      Tracing none = start(collector.url(), 0);
      span(none.tracer(), SAMPLED);
      span(none.tracer(), UNSAMPLED);
      none.tracer().spanBuilder("beginning here").startSpan().end();
      none.close();
      assertThat(collector.spans())
          .extracting(Collector.Span::parentId)
          .containsExactly("00f067aa0ba902b7");

      Tracing all = start(collector.url(), 1_000_000);
      span(all.tracer(), UNSAMPLED);
      all.close();
      assertThat(collector.spans()).hasSize(1);
    }
  }

  @Test
  void a_share_of_the_traces_that_begin_here_is_kept() throws Exception {
    try (Collector collector = new Collector()) {
      Tracing some = start(collector.url(), 100_000);
      for (int i = 0; i < 4_000; i++) {
        some.tracer().spanBuilder("beginning here").startSpan().end();
      }
      some.close();
      assertThat(collector.spans()).hasSizeBetween(200, 700);
    }
  }

  @Test
  void what_a_collector_does_not_take_is_dropped_and_counted() throws Exception {
    try (Collector collector = new Collector()) {
      collector.status = 500;
      Tracing tracing = start(collector.url(), 1_000_000);
      tracing.tracer().spanBuilder("lost").startSpan().end();
      tracing.close();
      assertThat(tracing.dropped()).isEqualTo(1);
      assertThat(tracing.exported()).isZero();
    }
  }

  @Test
  void a_collector_that_is_not_there_costs_spans_only() {
    Tracing tracing = start("http://127.0.0.1:1", 1_000_000);
    tracing.tracer().spanBuilder("lost").startSpan().end();
    tracing.close();
    assertThat(tracing.dropped()).isEqualTo(1);
  }

  @Test
  void a_collector_that_hangs_neither_blocks_nor_makes_more_wait_than_there_is_room_for()
      throws Exception {
    try (Collector collector = new Collector()) {
      collector.gate = new CountDownLatch(1);
      Tracing tracing = start(collector.url(), 1_000_000);
      Tracer tracer = tracing.tracer();
      int made = 2 * SpanQueue.MOST_QUEUED;
      for (int i = 0; i < made; i++) {
        tracer.spanBuilder("waiting").startSpan().end();
      }
      assertThat(tracing.dropped()).isBetween(made / 2L - 1_024, made / 2L);

      collector.gate.countDown();
      tracing.close();
      assertThat(tracing.exported() + tracing.dropped()).isEqualTo(made);
      assertThat(collector.spans()).hasSize((int) tracing.exported());
    }
  }

  private static void span(Tracer tracer, String parent) {
    Span span = tracer.spanBuilder("s").setParent(TraceContext.parent(parent)).startSpan();
    span.end();
  }

  private static Tracing start(String endpoint, int sampleMillionths) {
    return Tracing.start(
        new Tracing.Options(URI.create(endpoint), sampleMillionths, "shop", "1.2.3"), CLOCK);
  }
}
