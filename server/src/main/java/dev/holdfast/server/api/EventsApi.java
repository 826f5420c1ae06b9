package dev.holdfast.server.api;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.History.EventDetail;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.RetrySchedule;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Takes events in, one by one or in batches, and shows them. */
final class EventsApi {
  private static final CharSequence TRACEPARENT = HttpHeaders.createOptimized("traceparent");
  private static final String EVENTS = "/v1/events";
  private static final String BATCH = "/v1/events/batch";
  private static final String OWN_PREFIX = Id.EVENT + "_";

  private final Engine engine;
  private final ApiLimits limits;
  private final EventReader reader;
  private final RetrySchedule schedule;
  private final @Nullable AcceptSpans spans;

  /**
   * @param tracer absent when nobody wants to see requests as spans
   */
  EventsApi(Engine engine, ApiLimits limits, RetrySchedule schedule, @Nullable Tracer tracer) {
    this.engine = engine;
    this.limits = limits;
    this.reader = new EventReader(limits.messageBytes());
    this.schedule = schedule;
    this.spans = tracer == null ? null : new AcceptSpans(tracer);
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(EVENTS, Access.PUBLISH, limits.eventRequestBytes(), this::submit),
        Route.postJson(BATCH, Access.PUBLISH, ApiLimits.BATCH_BYTES, this::submitBatch),
        Route.get("/v1/events/{id}", Access.LOOK, Set.of(), this::get));
  }

  private void submit(Exchange exchange, byte[] body) {
    submit(exchange, EVENTS, body, reader::event);
  }

  /** Takes in the one event that a body has. */
  void submit(Exchange exchange, String route, byte[] body, Reading reading) {
    String traceparent = traceparent(exchange, route);
    exchange.read(
        body,
        () -> reading.event(body, traceparent),
        event -> ask(exchange, List.of(event), false));
  }

  /** How an event stands in a body. */
  @FunctionalInterface
  interface Reading {
    NewEvent event(byte[] body, @Nullable String traceparent);
  }

  private void submitBatch(Exchange exchange, byte[] body) {
    String traceparent = traceparent(exchange, BATCH);
    exchange.read(
        body, () -> reader.batch(body, traceparent), events -> ask(exchange, events, true));
  }

  /** The trace context that the events are kept with: as it came, or under our own span. */
  private @Nullable String traceparent(Exchange exchange, String route) {
    String came = Traceparent.valid(exchange.request().headers().get(TRACEPARENT));
    return spans == null ? came : spans.start(exchange, route, came);
  }

  private void ask(Exchange exchange, List<NewEvent> events, boolean batch) {
    exchange.ask(
        engine,
        new Request.Submit(exchange.tenant(), events),
        answer -> answer(exchange, answer, batch));
  }

  private static void answer(Exchange exchange, Answer answer, boolean batch) {
    switch (answer) {
      case Answer.Accepted(List<Receipt> receipts) ->
          exchange.answerEvent(
              isAllRepeated(receipts) ? 200 : 202,
              batch ? batchReceipt(receipts) : receipt(receipts.getFirst()));
      case Answer.Conflict(int index) -> exchange.refuse(Problem.conflict(index, batch));
      case Answer.Refused refused -> exchange.refuse(Problem.of(refused));
      case Answer.OfSubscriptions _,
          Answer.ReplayIs _,
          Answer.EndpointIs _,
          Answer.RetryStarted _,
          Answer.NotRetryable _,
          Answer.NotFound _,
          Answer.NotOurs _ ->
          exchange.unexpected(answer);
    }
  }

  private static boolean isAllRepeated(List<Receipt> receipts) {
    for (Receipt receipt : receipts) {
      if (!receipt.repeat()) {
        return false;
      }
    }
    return true;
  }

  private static Buffer receipt(Receipt receipt) {
    StringBuilder json = new StringBuilder(64);
    append(json, receipt);
    return Buffer.buffer(json.toString());
  }

  private static Buffer batchReceipt(List<Receipt> receipts) {
    StringBuilder json = new StringBuilder(16 + 48 * receipts.size()).append("{\"events\":[");
    for (int i = 0; i < receipts.size(); i++) {
      if (i > 0) {
        json.append(',');
      }
      append(json, receipts.get(i));
    }
    return Buffer.buffer(json.append("]}").toString());
  }

  /** By hand, since it is done for every event. Ids are visible ASCII: two need escaping. */
  private static void append(StringBuilder json, Receipt receipt) {
    String id = receipt.publicId();
    json.append("{\"id\":\"");
    for (int i = 0; i < id.length(); i++) {
      char c = id.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\');
      }
      json.append(c);
    }
    json.append("\",\"messages\":").append(receipt.messages()).append('}');
  }

  private void get(Exchange exchange, byte[] body) {
    EventKey key = key(exchange.variable()).orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
    String tenant = exchange.tenant();
    exchange.then(
        engine.read(history -> history.event(tenant, key).map(this::json)),
        found ->
            found.ifPresentOrElse(
                json -> exchange.answer(200, json), () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  /** Empty for what cannot be an event's id. */
  static Optional<EventKey> key(String text) {
    if (text.startsWith(OWN_PREFIX)) {
      OptionalLong id = Id.parse(Id.EVENT, text);
      return id.isPresent() ? Optional.of(new EventKey.Own(id.getAsLong())) : Optional.empty();
    }
    boolean possible =
        !text.isEmpty()
            && text.length() <= ApiLimits.ID_CHARS
            && text.chars().allMatch(c -> c > ' ' && c < 0x7f);
    return possible ? Optional.of(new EventKey.Callers(text)) : Optional.empty();
  }

  private Buffer json(EventDetail detail) {
    Event event = detail.event();
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeStringProperty("id", event.publicId());
          out.writeStringProperty("type", event.type());
          Json.text(out, "subject", event.subject());
          Json.time(out, "occurredAt", event.occurredAt());
          Json.time(out, "acceptedAt", event.acceptedAt());
          carried(out, "data", event.data());
          byte[] previous = event.previous();
          if (previous != null) {
            carried(out, "previous", previous);
          }
          out.writeArrayPropertyStart("messages");
          for (MessageSummary message : detail.messages()) {
            MessagesApi.write(out, message, schedule);
          }
          out.writeEndArray();
          out.writeEndObject();
        });
  }

  private static void carried(JsonGenerator out, String name, byte[] json) {
    out.writeName(name);
    out.writeRawValue(new String(json, StandardCharsets.UTF_8));
  }
}
