package dev.holdfast.server.api;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.port.History.Change;
import dev.holdfast.engine.Holdfast.Tested;
import dev.holdfast.engine.TooManyTests;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.engine.store.EndpointReads.EndpointPage;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Future;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** Shows endpoints and their health, and lets people change their state. */
final class EndpointsApi {
  private static final String PATH = "/v1/endpoints";
  private static final JsonBody JSON = new JsonBody(1);
  private static final Set<String> LIST = Set.of("state", "q", "sort", "cursor", "limit");

  private final Engine engine;
  private final InstantSource clock;
  private final SortedEndpoints sorted;

  EndpointsApi(Engine engine, InstantSource clock) {
    this.engine = engine;
    this.clock = clock;
    this.sorted = new SortedEndpoints(engine);
  }

  List<Route> routes() {
    return List.of(
        Route.get(PATH, Access.LOOK, LIST, this::list),
        Route.get(PATH + "/{id}", Access.LOOK, Set.of(), this::get),
        Route.get(PATH + "/{id}/changes", Access.LOOK, Set.of("limit"), this::changes),
        Route.patchJson(PATH + "/{id}", Access.MANAGE, ApiLimits.ENDPOINT_BYTES, this::change),
        operation("enable", Operation.ENABLE),
        operation("disable", Operation.DISABLE),
        operation("freeze", Operation.FREEZE),
        Route.post(PATH + "/{id}/test", Access.MANAGE, this::test));
  }

  private Route operation(String verb, Operation operation) {
    return Route.post(
        PATH + "/{id}/" + verb,
        Access.MANAGE,
        (exchange, _) ->
            exchange.ask(
                engine,
                new Request.Operate(exchange.tenant(), id(exchange), operation),
                Answer.EndpointIs.class,
                is -> show(exchange, is)));
  }

  private static void show(Exchange exchange, Answer.EndpointIs is) {
    EndpointNow now = new EndpointNow(is.endpoint(), is.unfinished());
    exchange.answer(200, Json.write(out -> write(out, now)));
  }

  private void change(Exchange exchange, byte[] body) {
    long id = id(exchange);
    exchange.readSettings(
        body, () -> JSON.read(body, this::change), wanted -> change(exchange, id, wanted));
  }

  private void change(Exchange exchange, long id, Wish wanted) {
    if (wanted.rateLimit() == null && wanted.tls() == null) {
      get(exchange, id);
      return;
    }
    exchange.ask(
        engine,
        new Request.Configure(exchange.tenant(), id, wanted.rateLimit(), wanted.tls()),
        Answer.EndpointIs.class,
        is -> show(exchange, is));
  }

  /** What is to be changed of an endpoint; what is absent stays. */
  private record Wish(@Nullable NewRateLimit rateLimit, EndpointTls.@Nullable Change tls) {}

  private Wish change(JsonParser parser) {
    NewRateLimit rateLimit = null;
    EndpointTls.Change tls = null;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case RateLimits.FIELD -> rateLimit = new NewRateLimit(RateLimits.read(parser));
        case TlsFields.FIELD -> tls = TlsFields.read(parser, clock.instant(), true);
        default ->
            throw JsonBody.unknownField(name, String.join(", ", RateLimits.FIELD, TlsFields.FIELD));
      }
    }
    return new Wish(rateLimit, tls);
  }

  private void list(Exchange exchange, byte[] body) {
    Parameters parameters = exchange.parameters();
    int limit = parameters.limit();
    Health.State state = state(parameters.one("state"));
    EndpointSort sort = EndpointSort.of(parameters.one("sort"));
    String part = parameters.text("q", ApiLimits.SEARCH_CHARS);
    String tenant = exchange.tenant();
    if (part != null || sort != EndpointSort.NEWEST) {
      SortedEndpoints.Wish wish =
          new SortedEndpoints.Wish(
              sort,
              part == null ? null : part.toLowerCase(Locale.ROOT),
              state,
              sort.place(parameters.one("cursor")),
              limit);
      exchange.then(sorted.page(tenant, wish), page -> answer(exchange, page));
      return;
    }
    long before = parameters.before(Cursor.List.ENDPOINTS);
    exchange.then(
        engine
            .endpoints(tenant, state, before, limit)
            .map(found -> found.map(EndpointsApi::page))
            .orElseGet(() -> engine.look(view -> page(view, tenant, state, before, limit))),
        page -> answer(exchange, page));
  }

  private static void answer(Exchange exchange, Page<EndpointNow> page) {
    boolean takesLong =
        page.items().stream().anyMatch(now -> TlsFields.isUnread(now.endpoint().tls()));
    exchange.answerList(page, takesLong, EndpointsApi::write);
  }

  private static Page<EndpointNow> page(EndpointPage found) {
    Long next = found.next();
    return new Page<>(
        found.endpoints().stream()
            .map(one -> new EndpointNow(one.endpoint(), one.unfinished()))
            .toList(),
        next == null ? null : Cursor.text(Cursor.List.ENDPOINTS, next));
  }

  /**
   * The next endpoints in {@code state}, or in any. Looks at no more than a fixed number: it does
   * so on the event loop, and there may be very many in other states.
   */
  private static Page<EndpointNow> page(
      View view, String tenant, Health.@Nullable State state, long before, int limit) {
    List<EndpointNow> found = new ArrayList<>();
    long last = before;
    int step = state == null ? limit + 1 : ApiLimits.LIST_ITEMS;
    for (int looked = 0; looked < ApiLimits.LIST_ROWS; looked += step) {
      List<EndpointNow> some = view.endpoints(tenant, last, step);
      for (EndpointNow now : some) {
        if (found.size() == limit) {
          return new Page<>(found, Cursor.text(Cursor.List.ENDPOINTS, last));
        }
        if (state == null || now.endpoint().health().state() == state) {
          found.add(now);
        }
        last = now.endpoint().id();
      }
      if (some.size() < step) {
        return new Page<>(found, null);
      }
    }
    return new Page<>(found, Cursor.text(Cursor.List.ENDPOINTS, last));
  }

  private static Health.@Nullable State state(@Nullable String given) {
    if (given == null) {
      return null;
    }
    for (Health.State state : Health.State.values()) {
      if (Json.kebab(state).equals(given)) {
        return state;
      }
    }
    throw Refusal.of(Kind.INVALID_PARAMETER, "state", "Give one of: enabled, disabled, frozen.");
  }

  private void get(Exchange exchange, byte[] body) {
    get(exchange, id(exchange));
  }

  private void get(Exchange exchange, long id) {
    String tenant = exchange.tenant();
    exchange.then(
        engine.endpoint(tenant, id),
        found ->
            found.ifPresentOrElse(
                now -> exchange.answer(200, Json.write(out -> write(out, now))),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void changes(Exchange exchange, byte[] body) {
    long id = id(exchange);
    int limit = exchange.parameters().limit();
    String tenant = exchange.tenant();
    Future<List<Change>> changes =
        engine
            .look(view -> view.endpoint(tenant, id).isPresent())
            .compose(
                known ->
                    known
                        ? engine.read(history -> history.changes(id, limit))
                        : Future.failedFuture(new Refusal(Problem.UNKNOWN_ID)));
    exchange.then(
        changes, found -> exchange.answerList(new Page<>(found, null), EndpointsApi::writeChange));
  }

  private void test(Exchange exchange, byte[] body) {
    exchange.then(
        engine.test(exchange.tenant(), id(exchange)).recover(EndpointsApi::refuseTooMany),
        found ->
            found.ifPresentOrElse(
                tested -> exchange.answer(200, Json.write(out -> write(out, tested))),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private static Future<Optional<Tested>> refuseTooMany(Throwable failure) {
    return Future.failedFuture(
        failure instanceof TooManyTests
            ? new Refusal(
                Problem.of(
                        Kind.OVERLOADED,
                        "Many test messages are under way. Send this request again.")
                    .retryAfter(1))
            : failure);
  }

  private static void write(JsonGenerator out, Tested tested) {
    out.writeStartObject();
    MessagesApi.writeOutcome(out, tested.outcome());
    out.writeNumberProperty("durationMillis", tested.durationMillis());
    out.writeEndObject();
  }

  private static long id(Exchange exchange) {
    return Id.parse(Id.ENDPOINT, exchange.variable())
        .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
  }

  private static void write(JsonGenerator out, EndpointNow now) {
    Endpoint endpoint = now.endpoint();
    Health health = endpoint.health();
    out.writeStartObject();
    Json.id(out, "id", Id.ENDPOINT, endpoint.id());
    out.writeStringProperty("url", MaskedUrl.of(endpoint.url()));
    Json.constant(out, "state", health.state());
    Json.time(out, "since", health.since());
    Json.constant(out, "reason", health.reason());
    out.writeNumberProperty("successes", health.successes());
    out.writeNumberProperty("failures", health.failures());
    out.writeObjectPropertyStart("sinceEnabled");
    out.writeNumberProperty("attempts", health.sinceEnabled().attempts());
    out.writeNumberProperty("failures", health.sinceEnabled().failures());
    out.writeEndObject();
    out.writeNumberProperty("consecutiveFailures", health.consecutiveFailures());
    Json.time(out, "lastSuccessAt", health.lastSuccessAt());
    Json.time(out, "nextProbeAt", health.nextProbeAt());
    RateLimits.write(out, endpoint.rateLimit());
    TlsFields.write(out, endpoint.tls());
    Json.time(out, "goneAt", endpoint.goneAt());
    out.writeNumberProperty("pending", now.unfinished().pending());
    out.writeNumberProperty("waiting", now.unfinished().waiting());
    out.writeNumberProperty("parked", now.unfinished().parked() + now.unfinished().paused());
    out.writeEndObject();
  }

  private static void writeChange(JsonGenerator out, Change change) {
    out.writeStartObject();
    Json.time(out, "at", change.at());
    Json.constant(out, "state", change.state());
    Json.constant(out, "reason", change.reason());
    out.writeEndObject();
  }
}
