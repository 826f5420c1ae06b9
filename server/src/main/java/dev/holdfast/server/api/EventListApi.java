package dev.holdfast.server.api;

import dev.holdfast.core.filter.Payload;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventDetail;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.EventPage;
import dev.holdfast.core.port.History.EventQuery;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Lists events, and says which subscriptions one of them matches.
 *
 * <p>An event can be large, and filters may ask for all its fields; so nothing is compared on the
 * event loop, and only a few at once. Lives on the event loop.
 */
final class EventListApi {
  private static final String PATH = "/v1/events";

  private final Engine engine;
  private int underWay;

  EventListApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            PATH,
            Access.LOOK,
            Set.of("type", "subject", "since", "until", "cursor", "limit"),
            this::list),
        Route.get(PATH + "/{id}/matches", Access.LOOK, Set.of("cursor", "limit"), this::matches));
  }

  private void list(Exchange exchange, byte[] body) {
    Parameters parameters = exchange.parameters();
    EventQuery query =
        new EventQuery(
            exchange.tenant(),
            parameters.about(),
            parameters.time("since"),
            parameters.time("until"),
            parameters.before(Cursor.List.EVENTS),
            parameters.limit());
    exchange.then(
        engine.read(history -> page(history.events(query))), json -> exchange.answer(200, json));
  }

  private static Buffer page(EventPage page) {
    Long next = page.next();
    return Json.list(
        page.items(),
        EventListApi::write,
        next == null ? null : Cursor.text(Cursor.List.EVENTS, next));
  }

  private static void write(JsonGenerator out, EventSummary event) {
    out.writeStartObject();
    out.writeStringProperty("id", event.publicId());
    out.writeStringProperty("type", event.type());
    Json.text(out, "subject", event.subject());
    Json.time(out, "occurredAt", event.occurredAt());
    Json.time(out, "acceptedAt", Id.time(event.id()));
    out.writeNumberProperty("bytes", event.bytes());
    out.writeObjectPropertyStart("messages");
    for (History.Status status : History.Status.values()) {
      out.writeNumberProperty(Json.kebab(status), event.messages().getOrDefault(status, 0));
    }
    out.writeEndObject();
    out.writeEndObject();
  }

  // ---- what an event matches

  private void matches(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit(ApiLimits.MATCHES);
    long before = exchange.parameters().before(Cursor.List.MATCHES);
    EventKey key =
        EventsApi.key(exchange.variable()).orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
    if (underWay >= ApiLimits.PREVIEWS) {
      throw new Refusal(
          Problem.of(Kind.OVERLOADED, "Many such comparisons are under way. Send this again.")
              .retryAfter(1));
    }
    underWay++;
    String tenant = exchange.tenant();
    Future<Buffer> answer =
        engine
            .read(
                history ->
                    history.event(tenant, key).orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID)))
            .compose(
                event ->
                    engine
                        .look(view -> candidates(view, tenant, before, limit))
                        .compose(candidates -> compared(event, candidates)))
            .onComplete(_ -> underWay--);
    exchange.then(answer, json -> exchange.answer(200, json));
  }

  /** A subscription and where its messages go. */
  private record Candidate(Subscription subscription, String url) {}

  private static Page<Candidate> candidates(View view, String tenant, long before, int limit) {
    List<Candidate> found =
        view.subscriptions(tenant, before, limit + 1).stream()
            .map(
                subscription ->
                    new Candidate(
                        subscription,
                        view.endpoint(tenant, subscription.endpoint())
                            .map(now -> MaskedUrl.of(now.endpoint().url()))
                            .orElse("")))
            .toList();
    return Page.of(
        found, limit, last -> Cursor.text(Cursor.List.MATCHES, last.subscription().id()));
  }

  private Future<Buffer> compared(EventDetail event, Page<Candidate> candidates) {
    return engine
        .context()
        .executeBlocking(() -> json(event, candidates), false)
        .map(Objects::requireNonNull);
  }

  private static Buffer json(EventDetail detail, Page<Candidate> candidates) {
    Event event = detail.event();
    Payload payload = new Payload(event.data(), event.previous());
    Map<Long, Long> messages = messages(detail.messages());
    return Json.list(
        candidates.items(),
        (out, candidate) -> {
          Subscription subscription = candidate.subscription();
          Obstacle obstacle = obstacle(subscription, event, payload);
          Long message = messages.get(subscription.id());
          out.writeStartObject();
          Json.id(out, "subscription", Id.SUBSCRIPTION, subscription.id());
          out.writeStringProperty("url", candidate.url());
          out.writeBooleanProperty("matched", obstacle == null);
          Json.text(out, "why", why(subscription, obstacle));
          Json.text(out, "message", message == null ? null : Id.text(Id.MESSAGE, message));
          out.writeEndObject();
        },
        candidates.next());
  }

  /** The message of each subscription; of several the first, which no replay has made. */
  private static Map<Long, Long> messages(List<MessageSummary> all) {
    Map<Long, Long> bySubscription = new HashMap<>();
    for (MessageSummary message : all) {
      bySubscription.putIfAbsent(message.subscription(), message.id());
    }
    return bySubscription;
  }

  /** What of a subscription says no to an event, in the order in which it is asked. */
  private enum Obstacle {
    TYPE,
    SUBJECT,
    FILTERS
  }

  private static @Nullable Obstacle obstacle(
      Subscription subscription, Event event, Payload payload) {
    if (subscription.types().stream().noneMatch(pattern -> pattern.matches(event.type()))) {
      return Obstacle.TYPE;
    }
    if (!subscription.interest().covers(event.type(), event.subject())) {
      return Obstacle.SUBJECT;
    }
    return subscription.filters().hold(payload) ? null : Obstacle.FILTERS;
  }

  /** What a paused subscription wants is held back, and that is worth a word. */
  private static @Nullable String why(Subscription subscription, @Nullable Obstacle obstacle) {
    if (obstacle != null) {
      return Json.kebab(obstacle);
    }
    return subscription.paused() ? "paused" : null;
  }
}
