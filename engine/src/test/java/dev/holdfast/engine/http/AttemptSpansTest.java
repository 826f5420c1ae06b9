package dev.holdfast.engine.http;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.port.Delivery;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AttemptSpansTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  private static final String BUSY =
      "HTTP/1.1 503 Busy\r\nContent-Length: 6\r\nX-Secret: hidden\r\n\r\nhidden";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SAMPLED = "00-" + TRACE + "-00f067aa0ba902b7-01";
  private static final String UNSAMPLED = "00-" + TRACE + "-00f067aa0ba902b7-00";

  private final Kept kept = new Kept();
  private final SdkTracerProvider provider =
      SdkTracerProvider.builder()
          .setSampler(Sampler.parentBased(Sampler.alwaysOn()))
          .addSpanProcessor(SimpleSpanProcessor.create(kept))
          .build();

  @AfterEach
  void end() {
    provider.close();
  }

  @Test
  void an_attempt_is_a_span_under_the_trace_that_its_event_came_with() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = traced()) {
      senders.send(attempt(receiver.url(), 0, SAMPLED));

      SpanData span = kept.only();
      assertThat(span.getName()).isEqualTo("POST");
      assertThat(span.getKind()).isEqualTo(SpanKind.CLIENT);
      assertThat(span.getTraceId()).isEqualTo(TRACE);
      assertThat(span.getParentSpanId()).isEqualTo("00f067aa0ba902b7");
      assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
      assertThat(span.getStartEpochNanos())
          .isEqualTo(Senders.STARTED_AT.toEpochMilli() * 1_000_000);
      assertThat(span.getEndEpochNanos()).isGreaterThan(span.getStartEpochNanos());
      assertThat(span.getAttributes().asMap())
          .isEqualTo(
              Attributes.builder()
                  .put("http.request.method", "POST")
                  .put("http.response.status_code", 200)
                  .put("network.protocol.version", "1.1")
                  .put("server.address", "127.0.0.1")
                  .put("server.port", receiver.port())
                  .put("url.scheme", "http")
                  .put("holdfast.tenant", "default")
                  .put("holdfast.message.id", Id.text(Id.MESSAGE, 42))
                  .put("holdfast.event.id", "order-7")
                  .put("holdfast.event.type", "order.paid")
                  .put("holdfast.endpoint.id", Id.text(Id.ENDPOINT, 1))
                  .put("holdfast.subscription.id", Id.text(Id.SUBSCRIPTION, 1))
                  .put("holdfast.attempt.number", 1)
                  .put("holdfast.attempt.outcome", "success")
                  .build()
                  .asMap());
      assertThat(span.toString()).doesNotContain("hidden");
    }
  }

  @Test
  void an_attempt_over_http_2_says_so(@TempDir Path directory) throws Exception {
    HookCertificate certificate = new HookCertificate(directory);
    try (Http2Receiver receiver =
            Http2Receiver.start(certificate, request -> request.answer(204, ""));
        Senders senders =
            Senders.with().tls(certificate.trusting).tracer(provider.get("test")).build()) {
      senders.send(attempt(receiver.url(), 0, SAMPLED));

      assertThat(kept.only().getAttributes().get(stringKey("network.protocol.version")))
          .isEqualTo("2");
    }
  }

  @Test
  void the_request_carries_the_attempt_s_own_span() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = traced()) {
      senders.send(attempt(receiver.url(), 0, SAMPLED));

      assertThat(receiver.seen().headers("traceparent"))
          .containsExactly("00-" + TRACE + "-" + kept.only().getSpanId() + "-01");
    }
  }

  @Test
  void an_event_without_a_trace_begins_one() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = traced()) {
      senders.send(attempt(receiver.url(), 0, null));

      SpanData span = kept.only();
      assertThat(span.getParentSpanContext().isValid()).isFalse();
      assertThat(receiver.seen().headers("traceparent"))
          .containsExactly(
              "00-"
                  + span.getTraceId()
                  + "-"
                  + span.getSpanId()
                  + "-"
                  + span.getSpanContext().getTraceFlags().asHex());
    }
  }

  @Test
  void a_trace_that_is_not_sampled_stays_so() throws Exception {
    try (Receiver receiver = Receiver.answering(OK);
        Senders senders = traced()) {
      senders.send(attempt(receiver.url(), 0, UNSAMPLED));

      assertThat(kept.spans).isEmpty();
      assertThat(receiver.seen().header("traceparent")).startsWith("00-" + TRACE).endsWith("-00");
    }
  }

  @Test
  void a_failure_says_its_kind_and_number_and_nothing_of_url_headers_or_bodies() throws Exception {
    try (Receiver receiver = Receiver.answering(BUSY);
        Senders senders = traced()) {
      senders.send(attempt(receiver.url() + "/hooks/hidden?token=hidden", 3, SAMPLED));

      SpanData span = kept.only();
      assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      assertThat(span.getAttributes().get(stringKey("error.type"))).isEqualTo("503");
      assertThat(span.getAttributes().get(stringKey("holdfast.attempt.error"))).isEqualTo("status");
      assertThat(span.getAttributes().get(longKey("holdfast.attempt.number"))).isEqualTo(4);
      assertThat(span.getAttributes().get(longKey("http.request.resend_count"))).isEqualTo(3);
      assertThat(span.toString()).doesNotContain("hidden");
    }
  }

  @Test
  void an_attempt_that_never_gets_an_answer_is_a_span_too() {
    try (Senders senders = traced()) {
      senders.send(attempt("http://10.0.0.1/hidden", 0, null));
      senders.send(attempt("no url", 0, null));

      assertThat(kept.spans)
          .extracting(span -> span.getAttributes().get(stringKey("error.type")))
          .containsExactly("forbidden", "forbidden");
    }
  }

  @Test
  void a_header_that_is_no_trace_context_begins_a_trace() {
    for (String wrong : List.of("", "00", SAMPLED.replace("01", "zz"), SAMPLED.replace('4', 'X'))) {
      assertThat(TraceContext.parent(wrong))
          .as(wrong)
          .isEqualTo(io.opentelemetry.context.Context.root());
    }
  }

  private Senders traced() {
    return Senders.with().tracer(provider.get("test")).build();
  }

  private static Delivery attempt(String url, int attemptsBefore, @Nullable String traceparent) {
    Event event =
        new Event(
            7,
            "default",
            "order.paid",
            null,
            null,
            "\"hidden\"".getBytes(UTF_8),
            null,
            "order-7",
            traceparent);
    Delivery first = Senders.delivery(url, event);
    Message message = first.message();
    Message tried =
        new Message(
            message.id(),
            message.event(),
            message.subscription(),
            message.endpoint(),
            Message.Status.WAITING,
            attemptsBefore,
            attemptsBefore,
            Senders.STARTED_AT,
            Senders.STARTED_AT,
            null,
            null,
            message.size(),
            null);
    Form form =
        new Form(
            Form.Format.HOLDFAST,
            false,
            "hidden",
            new TreeMap<>(Map.of("x-token", "hidden")),
            List.of(new Secret("whsec_hidden++", Senders.STARTED_AT, null)));
    return new Delivery(tried, event, Senders.subscription(1, form), url, Senders.STARTED_AT);
  }

  /** Keeps what was exported. */
  private static final class Kept implements SpanExporter {
    final List<SpanData> spans = new CopyOnWriteArrayList<>();

    SpanData only() {
      assertThat(spans).hasSize(1);
      return spans.getFirst();
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> exported) {
      spans.addAll(exported);
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
