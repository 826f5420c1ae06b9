package dev.holdfast.server.api;

import dev.holdfast.core.filter.Decision;
import dev.holdfast.core.filter.Payload;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * Says which events a subscription would get and why, without changing anything.
 *
 * <p>Events can be large, and all their fields may be asked for; so nothing is decided on the event
 * loop, and only a few at once. Lives on the event loop.
 */
final class PreviewApi {
  private static final JsonBody JSON = new JsonBody(2);

  private final Engine engine;
  private final ApiLimits limits;
  private final SubscriptionReader subscriptions;
  private final EventReader events;
  private int underWay;

  PreviewApi(Engine engine, ApiLimits limits, SubscriptionReader subscriptions) {
    this.engine = engine;
    this.limits = limits;
    this.subscriptions = subscriptions;
    this.events = new EventReader(limits.messageBytes());
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(
            SubscriptionsApi.PATH + "/preview",
            Access.LOOK,
            limits.previewRequestBytes(),
            this::preview));
  }

  /**
   * What is to be looked at.
   *
   * @param interest absent if it is that of a subscription that is there
   * @param subscription that one, if there is no other interest
   * @param event absent if it is those that are stored
   */
  private record Asked(
      @Nullable Interest interest, @Nullable Long subscription, @Nullable NewEvent event) {}

  private void preview(Exchange exchange, byte[] body) {
    if (underWay >= ApiLimits.PREVIEWS) {
      throw new Refusal(
          Problem.of(Kind.OVERLOADED, "Many previews are under way. Send this request again.")
              .retryAfter(1));
    }
    underWay++;
    String tenant = exchange.tenant();
    Future<Buffer> answer =
        onWorker(() -> read(body))
            .compose(
                asked ->
                    interest(tenant, asked)
                        .compose(interest -> decided(tenant, interest, asked.event())))
            .onComplete(_ -> underWay--);
    exchange.then(answer, json -> exchange.answer(200, json));
  }

  private <T> Future<T> onWorker(Callable<T> work) {
    return engine.context().executeBlocking(work, false).map(Objects::requireNonNull);
  }

  private Future<Interest> interest(String tenant, Asked asked) {
    Interest given = asked.interest();
    if (given != null) {
      return Future.succeededFuture(given);
    }
    Long id = asked.subscription();
    if (id == null) {
      return Future.failedFuture(JsonBody.missing("subscription"));
    }
    return engine.look(
        view ->
            view.subscription(tenant, id)
                .map(Subscription::interest)
                .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID)));
  }

  /** Stored events are only read by the reader: its transaction would stay open meanwhile. */
  private Future<Buffer> decided(String tenant, Interest interest, @Nullable NewEvent event) {
    if (event != null) {
      return onWorker(() -> json(interest, event));
    }
    return engine
        .read(history -> history.latestEvents(tenant, ApiLimits.PREVIEW_EVENTS))
        .compose(events -> onWorker(() -> json(interest, events)));
  }

  // ---- what is asked

  private Asked read(byte[] body) {
    return JSON.read(body, parser -> asked(parser, body));
  }

  private Asked asked(JsonParser parser, byte[] body) {
    Interest interest = null;
    Long subscription = null;
    NewEvent event = null;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "subscription" -> {
          switch (parser.nextToken()) {
            case START_OBJECT -> interest = within(name, () -> subscriptions.interest(parser));
            case VALUE_STRING -> subscription = id(parser.getString(), name);
            default -> throw JsonBody.wrongType(parser, name, "a subscription or its id");
          }
        }
        case "event" -> {
          switch (parser.nextToken()) {
            case START_OBJECT -> event = within(name, () -> events.event(parser, body, null));
            case VALUE_NULL -> {
              // the same as none
            }
            default -> throw JsonBody.wrongType(parser, name, "an event");
          }
        }
        default -> throw JsonBody.unknownField(name, "subscription, event");
      }
    }
    return new Asked(interest, subscription, event);
  }

  private static long id(String given, String field) {
    return Id.parse(Id.SUBSCRIPTION, given)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_FIELD,
                    field,
                    "Give a subscription, or the id of one as it came in an answer."));
  }

  /** Reads something whose fields are told with where it stands. */
  private static <T> T within(String place, Supplier<T> part) {
    try {
      return part.get();
    } catch (Refusal refusal) {
      throw new Refusal(refusal.problem().at(place));
    }
  }

  // ---- what is answered

  /**
   * Whether an event is wanted.
   *
   * @param decidedBy what decided; absent if it took all there is
   */
  private record Verdict(boolean matches, @Nullable String decidedBy) {

    /**
     * Types decide first, then the subject, then the filters.
     *
     * @param filters what the filters say, asked only if it comes to that
     */
    static Verdict of(
        Interest interest, String type, @Nullable String subject, Supplier<Decision> filters) {
      if (interest.types().stream().noneMatch(pattern -> pattern.matches(type))) {
        return new Verdict(false, "types");
      }
      if (!interest.covers(type, subject)) {
        return new Verdict(false, "subject");
      }
      Decision decision = filters.get();
      return new Verdict(decision.hold(), decision.decidedBy());
    }

    void write(JsonGenerator out) {
      out.writeBooleanProperty("matches", matches);
      Json.text(out, "decidedBy", decidedBy);
    }
  }

  private static Buffer json(Interest interest, NewEvent event) {
    Decision decision = interest.filters().decide(new Payload(event.data(), event.previous()));
    Verdict verdict = Verdict.of(interest, event.type(), event.subject(), () -> decision);
    return Json.write(
        out -> {
          out.writeStartObject();
          verdict.write(out);
          out.writeArrayPropertyStart("filters");
          decision
              .each()
              .forEach(
                  (place, holds) -> {
                    out.writeStartObject();
                    out.writeStringProperty("filter", place);
                    out.writeBooleanProperty("holds", holds);
                    out.writeEndObject();
                  });
          out.writeEndArray();
          out.writeEndObject();
        });
  }

  private static Buffer json(Interest interest, List<Event> events) {
    List<Verdict> verdicts =
        events.stream()
            .map(
                event ->
                    Verdict.of(
                        interest,
                        event.type(),
                        event.subject(),
                        () ->
                            interest.filters().decide(new Payload(event.data(), event.previous()))))
            .toList();
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeNumberProperty("looked", events.size());
          out.writeNumberProperty("matching", verdicts.stream().filter(Verdict::matches).count());
          out.writeArrayPropertyStart("items");
          for (int i = 0; i < events.size(); i++) {
            Event event = events.get(i);
            out.writeStartObject();
            out.writeStringProperty("event", event.publicId());
            out.writeStringProperty("type", event.type());
            Json.text(out, "subject", event.subject());
            Json.time(out, "acceptedAt", event.acceptedAt());
            verdicts.get(i).write(out);
            out.writeEndObject();
          }
          out.writeEndArray();
          out.writeEndObject();
        });
  }
}
