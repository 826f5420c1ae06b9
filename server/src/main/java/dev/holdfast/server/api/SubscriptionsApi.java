package dev.holdfast.server.api;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** Creates, shows and ends subscriptions. */
final class SubscriptionsApi {
  private static final String PATH = "/v1/subscriptions";

  private final Engine engine;
  private final SubscriptionReader reader;

  SubscriptionsApi(Engine engine, EndpointUrls urls) {
    this.engine = engine;
    this.reader = new SubscriptionReader(urls);
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(PATH, Access.MANAGE, ApiLimits.SUBSCRIPTION_BYTES, this::create),
        Route.get(PATH, Access.LOOK, Set.of("cursor", "limit"), this::list),
        Route.get(PATH + "/{id}", Access.LOOK, Set.of(), this::get),
        Route.patch(PATH + "/{id}", Access.MANAGE, ApiLimits.SUBSCRIPTION_BYTES, this::change),
        Route.delete(PATH + "/{id}", Access.MANAGE, this::delete),
        pausing("pause", true),
        pausing("resume", false));
  }

  private void create(Exchange exchange, byte[] body) {
    SubscriptionReader.Wish wish = reader.read(body);
    exchange.ask(
        engine,
        new Request.Subscribe(
            exchange.tenant(),
            new Request.Wish(
                wish.url(),
                new Interest(wish.types(), wish.subject(), Filters.NONE),
                Form.PLAIN,
                wish.rateLimit()),
            null),
        Answer.Subscribed.class,
        subscribed ->
            exchange.answerCreated(
                PATH + "/" + Id.text(Id.SUBSCRIPTION, subscribed.subscription().id()),
                json(new Shown(subscribed.subscription(), subscribed.endpoint()))));
  }

  private void change(Exchange exchange, byte[] body) {
    update(exchange, reader.readPatch(body));
  }

  private Route pausing(String verb, boolean paused) {
    return Route.post(
        PATH + "/{id}/" + verb,
        Access.MANAGE,
        (exchange, _) -> update(exchange, Patch.toPaused(paused)));
  }

  private void update(Exchange exchange, Patch patch) {
    exchange.ask(
        engine,
        new Request.Update(exchange.tenant(), id(exchange), patch),
        Answer.Updated.class,
        updated ->
            exchange.answer(200, json(new Shown(updated.subscription(), updated.endpoint()))));
  }

  private void list(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit();
    long before = exchange.parameters().before(Cursor.List.SUBSCRIPTIONS);
    String tenant = exchange.tenant();
    exchange.then(
        engine.look(
            view ->
                view.subscriptions(tenant, before, limit + 1).stream()
                    .map(subscription -> shown(view, subscription))
                    .toList()),
        found ->
            exchange.answerList(
                Page.of(
                    found,
                    limit,
                    last -> Cursor.text(Cursor.List.SUBSCRIPTIONS, last.subscription().id())),
                SubscriptionsApi::write));
  }

  private void get(Exchange exchange, byte[] body) {
    long id = id(exchange);
    String tenant = exchange.tenant();
    exchange.then(
        engine.look(view -> view.subscription(tenant, id).map(found -> shown(view, found))),
        found ->
            found.ifPresentOrElse(
                shown -> exchange.answer(200, json(shown)),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void delete(Exchange exchange, byte[] body) {
    exchange.ask(
        engine,
        new Request.Unsubscribe(exchange.tenant(), id(exchange)),
        Answer.Unsubscribed.class,
        _ -> exchange.answerNoContent());
  }

  private static long id(Exchange exchange) {
    OptionalLong id = Id.parse(Id.SUBSCRIPTION, exchange.variable());
    return id.orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
  }

  /** A subscription as people see it: with what its endpoint is. */
  private record Shown(Subscription subscription, Endpoint endpoint) {}

  private static Shown shown(View view, Subscription subscription) {
    Endpoint endpoint =
        view.endpoint(subscription.tenant(), subscription.endpoint())
            .map(EndpointNow::endpoint)
            .orElseThrow(() -> new IllegalStateException("a subscription without its endpoint"));
    return new Shown(subscription, endpoint);
  }

  private static Buffer json(Shown shown) {
    return Json.write(out -> write(out, shown));
  }

  private static void write(JsonGenerator out, Shown shown) {
    Subscription subscription = shown.subscription();
    out.writeStartObject();
    Json.id(out, "id", Id.SUBSCRIPTION, subscription.id());
    out.writeStringProperty("url", shown.endpoint().url());
    out.writeArrayPropertyStart("types");
    for (TypePattern type : subscription.types()) {
      out.writeString(type.text());
    }
    out.writeEndArray();
    Json.text(out, "subject", subscription.subject());
    out.writeStringProperty("format", SubscriptionReader.FORMAT);
    Json.id(out, "endpoint", Id.ENDPOINT, subscription.endpoint());
    out.writeBooleanProperty("paused", subscription.paused());
    RateLimits.write(out, shown.endpoint().rateLimit());
    Json.time(out, "goneAt", shown.endpoint().goneAt());
    Json.time(out, "createdAt", subscription.createdAt());
    out.writeEndObject();
  }
}
