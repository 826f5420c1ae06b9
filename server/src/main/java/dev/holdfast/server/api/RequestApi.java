package dev.holdfast.server.api;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.http.ShownRequest;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/** Shows the request that an attempt of a message sends, and how to send the like by hand. */
final class RequestApi {
  private static final Problem NOTHING_SENT =
      Problem.of(
          Kind.NOT_FOUND,
          "Nothing is sent for this message any more: its event or its subscription is gone, or its"
              + " URL cannot be sent to.");

  /** Headers that curl makes itself. */
  private static final Set<String> OF_CURL = Set.of("host", "content-length");

  private final Engine engine;
  private final InstantSource clock;

  RequestApi(Engine engine, InstantSource clock) {
    this.engine = engine;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/messages/{id}/request", Access.LOOK, Set.of(), this::request));
  }

  /** A message and its event. */
  private record Found(MessageSummary message, Event event) {}

  private void request(Exchange exchange, byte[] body) {
    long id =
        Id.parse(Id.MESSAGE, exchange.variable())
            .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
    String tenant = exchange.tenant();
    Future<Buffer> answer =
        engine
            .read(history -> found(history, tenant, id))
            .compose(found -> engine.look(view -> delivery(view, tenant, found, clock.instant())))
            .compose(
                delivery ->
                    engine
                        .context()
                        .executeBlocking(() -> json(delivery), false)
                        .map(Objects::requireNonNull));
    exchange.then(answer, json -> exchange.answer(200, json));
  }

  private static Found found(History history, String tenant, long id) throws StoreException {
    MessageSummary message =
        history.message(tenant, id).orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID)).message();
    History.EventKey key =
        EventsApi.key(message.event()).orElseThrow(() -> new Refusal(NOTHING_SENT));
    return new Found(
        message, history.eventAlone(tenant, key).orElseThrow(() -> new Refusal(NOTHING_SENT)));
  }

  private static Delivery delivery(View view, String tenant, Found found, Instant now) {
    MessageSummary message = found.message();
    Subscription subscription =
        view.subscription(tenant, message.subscription())
            .orElseThrow(() -> new Refusal(NOTHING_SENT));
    String url =
        view.endpoint(tenant, message.endpoint())
            .orElseThrow(() -> new Refusal(NOTHING_SENT))
            .endpoint()
            .url();
    return new Delivery(
        Message.pending(
            message.id(),
            found.event().id(),
            subscription.id(),
            message.endpoint(),
            found.event().size(),
            message.version()),
        found.event(),
        subscription,
        url,
        now);
  }

  private Buffer json(Delivery delivery) {
    ShownRequest request = engine.shown(delivery).orElseThrow(() -> new Refusal(NOTHING_SENT));
    boolean isCut = request.body().length > ApiLimits.SHOWN_BODY_BYTES;
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeStringProperty("method", "POST");
          out.writeStringProperty("url", request.url());
          out.writeArrayPropertyStart("headers");
          for (ShownRequest.Header header : request.headers()) {
            out.writeStartObject();
            out.writeStringProperty("name", header.name());
            out.writeStringProperty("value", header.value());
            out.writeEndObject();
          }
          out.writeEndArray();
          out.writeStringProperty("body", text(request.body()));
          out.writeNumberProperty("bodyBytes", request.body().length);
          out.writeBooleanProperty("bodyCut", isCut);
          out.writeStringProperty("curl", curl(request));
          out.writeEndObject();
        });
  }

  /** As much of a body as is shown, cut between two characters. */
  private static String text(byte[] body) {
    int end = Math.min(body.length, ApiLimits.SHOWN_BODY_BYTES);
    while (end < body.length && end > 0 && (body[end] & 0xc0) == 0x80) {
      end--;
    }
    return new String(body, 0, end, StandardCharsets.UTF_8);
  }

  /**
   * A command that sends the same. A long body has to be in a file: what an argument may have is
   * limited.
   */
  static String curl(ShownRequest request) {
    StringBuilder line = new StringBuilder("curl --globoff -X POST ").append(quoted(request.url()));
    for (ShownRequest.Header header : request.headers()) {
      if (!OF_CURL.contains(header.name().toLowerCase(Locale.ROOT))) {
        line.append(" -H ").append(quoted(header.name() + ": " + header.value()));
      }
    }
    if (request.body().length > ApiLimits.CURL_BODY_BYTES) {
      line.append(" --data-binary @body.json");
    } else {
      line.append(" --data-raw ")
          .append(quoted(new String(request.body(), StandardCharsets.UTF_8)));
    }
    return line.toString();
  }

  /** One word of a POSIX shell: inside single quotes nothing but these has a meaning. */
  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
