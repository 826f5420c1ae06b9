package dev.holdfast.server.api;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.port.History.AttemptMark;
import dev.holdfast.core.port.History.AttemptPage;
import dev.holdfast.core.port.History.AttemptPosition;
import dev.holdfast.core.port.History.AttemptQuery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Shows the attempts that were made to endpoints, whichever messages they were of. */
final class AttemptsApi {
  private static final String PATH = "/v1/endpoints";

  private final Engine engine;

  /** How long after a message was made it may be tried, and as long again for what waits. */
  private final Duration life;

  private final InstantSource clock;

  /** What was asked for just now, the earliest first. Lives on the event loop. */
  private final LinkedHashMap<Asked, Future<Buffer>> answers = new LinkedHashMap<>();

  AttemptsApi(Engine engine, RetrySchedule schedule, InstantSource clock) {
    this.engine = engine;
    this.clock = clock;
    this.life = Duration.between(Instant.EPOCH, schedule.deadline(Instant.EPOCH)).multipliedBy(2);
  }

  List<Route> routes() {
    return List.of(
        Route.get(PATH + "/recent", Access.LOOK, Set.of("ids"), this::recent),
        Route.get(
            PATH + "/{id}/attempts",
            Access.LOOK,
            Set.of("since", "until", "cursor", "limit"),
            this::list));
  }

  private void list(Exchange exchange, byte[] body) {
    long id =
        Id.parse(Id.ENDPOINT, exchange.variable())
            .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
    Parameters parameters = exchange.parameters();
    Instant since = parameters.time("since");
    AttemptQuery query =
        new AttemptQuery(
            exchange.tenant(),
            id,
            since,
            parameters.time("until"),
            since == null ? null : since.minus(life),
            position(parameters.one("cursor")),
            parameters.limit());
    Future<Buffer> answer =
        engine
            .look(view -> view.endpoint(query.tenant(), id).isPresent())
            .compose(
                known ->
                    known
                        ? engine.read(history -> page(history.attempts(query)))
                        : Future.failedFuture(new Refusal(Problem.UNKNOWN_ID)));
    exchange.then(answer, json -> exchange.answer(200, json));
  }

  private static AttemptPosition position(@Nullable String cursor) {
    if (cursor == null) {
      return AttemptPosition.START;
    }
    Cursor.Place place = Cursor.place(Cursor.List.ATTEMPTS, cursor);
    return new AttemptPosition(place.first(), Math.clamp(place.second(), 0, Integer.MAX_VALUE));
  }

  private static Buffer page(AttemptPage page) {
    AttemptPosition next = page.next();
    return Json.list(
        page.items(),
        AttemptsApi::write,
        next == null
            ? null
            : Cursor.text(Cursor.List.ATTEMPTS, new Cursor.Place(next.message(), next.number())));
  }

  private static void write(JsonGenerator out, Attempt attempt) {
    out.writeStartObject();
    Json.id(out, "message", Id.MESSAGE, attempt.message());
    MessagesApi.writeAttemptHead(out, attempt);
    MessagesApi.writeEnding(out, attempt.outcome());
    out.writeEndObject();
  }

  private void recent(Exchange exchange, byte[] body) {
    List<Long> ids =
        exchange.parameters().many("ids").stream().map(AttemptsApi::endpoint).distinct().toList();
    if (ids.isEmpty() || ids.size() > ApiLimits.RECENT_ENDPOINTS) {
      throw refused();
    }
    exchange.then(
        recent(new Asked(exchange.tenant(), ids)), json -> exchange.answer(200, json.copy()));
  }

  /** Somebody's question for the latest attempts. */
  private record Asked(String tenant, List<Long> ids) {}

  /** Many pages ask for the same, every few seconds. */
  private Future<Buffer> recent(Asked asked) {
    Future<Buffer> known = answers.get(asked);
    if (known != null && !known.failed()) {
      return known;
    }
    Future<Buffer> answer = read(asked);
    answers.put(asked, answer);
    if (answers.size() > ApiLimits.RECENT_ANSWERS) {
      answers.pollFirstEntry();
    }
    engine
        .context()
        .owner()
        .setTimer(
            ApiLimits.RECENT_TIME.toMillis(),
            _ -> engine.context().runOnContext(_ -> answers.remove(asked, answer)));
    return answer;
  }

  private Future<Buffer> read(Asked asked) {
    String tenant = asked.tenant();
    Instant since = clock.instant().minus(ApiLimits.RECENT_AGE);
    return engine
        .look(
            view ->
                asked.ids().stream()
                    .flatMap(id -> view.endpoint(tenant, id).stream())
                    .map(EndpointNow::endpoint)
                    .toList())
        .compose(
            known ->
                engine.read(
                    history ->
                        json(
                            known,
                            history.latestAttempts(
                                tenant,
                                known.stream().map(Endpoint::id).toList(),
                                since,
                                ApiLimits.RECENT_ATTEMPTS))));
  }

  private static long endpoint(String text) {
    return Id.parse(Id.ENDPOINT, text).orElseThrow(AttemptsApi::refused);
  }

  private static Refusal refused() {
    return Refusal.of(
        Kind.INVALID_PARAMETER,
        "ids",
        "Give the ids of 1 to "
            + ApiLimits.RECENT_ENDPOINTS
            + " endpoints, separated by commas; each begins with ep_.");
  }

  /** Endpoints that the tenant does not have are left out. */
  private static Buffer json(List<Endpoint> endpoints, Map<Long, List<AttemptMark>> latest) {
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeArrayPropertyStart("items");
          for (Endpoint endpoint : endpoints) {
            out.writeStartObject();
            Json.id(out, "endpoint", Id.ENDPOINT, endpoint.id());
            out.writeStringProperty("url", MaskedUrl.of(endpoint.url()));
            out.writeArrayPropertyStart("attempts");
            for (AttemptMark attempt : latest.getOrDefault(endpoint.id(), List.of())) {
              out.writeStartObject();
              Json.time(out, "at", attempt.at());
              out.writeNumberProperty("durationMillis", attempt.durationMillis());
              out.writeStringProperty("outcome", attempt.isSuccess() ? "success" : "failure");
              out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
          }
          out.writeEndArray();
          out.writeEndObject();
        });
  }
}
