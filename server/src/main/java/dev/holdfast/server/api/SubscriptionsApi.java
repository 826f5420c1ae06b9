package dev.holdfast.server.api;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.View;
import dev.holdfast.server.api.SubscriptionReader.Asked;
import dev.holdfast.server.api.SubscriptionReader.Rotation;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Creates, shows, changes and ends subscriptions. */
final class SubscriptionsApi {
  static final String PATH = "/v1/subscriptions";

  private final Engine engine;
  private final SubscriptionReader reader;
  private final Destinations destinations;
  private final InstantSource clock;

  SubscriptionsApi(
      Engine engine, SubscriptionReader reader, Destinations destinations, InstantSource clock) {
    this.engine = engine;
    this.reader = reader;
    this.destinations = destinations;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(PATH, Access.MANAGE, ApiLimits.SUBSCRIPTION_BYTES, this::create),
        Route.get(PATH, Access.LOOK, Set.of("endpoint", "cursor", "limit"), this::list),
        Route.get(PATH + "/{id}", Access.LOOK, Set.of(), this::get),
        Route.patch(PATH + "/{id}", Access.MANAGE, ApiLimits.SUBSCRIPTION_BYTES, this::change),
        Route.delete(PATH + "/{id}", Access.MANAGE, this::delete),
        pausing("pause", true),
        pausing("resume", false),
        Route.postOptional(
            PATH + "/{id}/rotate", Access.MANAGE, ApiLimits.ACTION_BYTES, this::rotate));
  }

  private void create(Exchange exchange, byte[] body) {
    exchange.readSettings(
        body,
        () -> reader.read(body),
        asked -> destinations.check(exchange, asked.wish().url(), () -> create(exchange, asked)));
  }

  private void create(Exchange exchange, Asked asked) {
    exchange.ask(
        engine,
        new Request.Subscribe(exchange.tenant(), asked.wish(), asked.since()),
        Answer.Subscribed.class,
        subscribed ->
            exchange.answerCreated(
                PATH + "/" + Id.text(Id.SUBSCRIPTION, subscribed.subscription().id()),
                created(subscribed, asked.hasMadeSecret())));
  }

  private Buffer created(Answer.Subscribed subscribed, boolean hasMadeSecret) {
    return new ShownSubscription(subscribed.subscription(), subscribed.endpoint())
        .json(
            clock.instant(),
            out -> {
              if (hasMadeSecret) {
                ShownSubscription.writeSecret(out, subscribed.subscription());
              }
              if (subscribed.history() == null) {
                out.writeNullProperty("history");
              } else {
                Json.id(out, "history", Id.REPLAY, subscribed.history().id());
              }
            });
  }

  private void change(Exchange exchange, byte[] body) {
    exchange.readSettings(
        body,
        () -> reader.readPatch(body),
        patch -> destinations.check(exchange, patch.url(), () -> update(exchange, patch, false)));
  }

  private Route pausing(String verb, boolean paused) {
    return Route.post(
        PATH + "/{id}/" + verb,
        Access.MANAGE,
        (exchange, _) -> update(exchange, Patch.toPaused(paused), false));
  }

  private void rotate(Exchange exchange, byte[] body) {
    exchange.readSettings(
        body, () -> reader.readRotation(body), rotation -> rotate(exchange, rotation));
  }

  private void rotate(Exchange exchange, Rotation rotation) {
    Form.Change change = Form.Change.to(rotation.secret());
    update(exchange, Patch.of(change), rotation.isMade());
  }

  private void update(Exchange exchange, Patch patch, boolean showsSecret) {
    exchange.ask(
        engine,
        new Request.Update(exchange.tenant(), id(exchange), patch),
        Answer.Updated.class,
        updated ->
            exchange.answer(
                200,
                new ShownSubscription(updated.subscription(), updated.endpoint())
                    .json(
                        clock.instant(),
                        out -> {
                          if (showsSecret) {
                            ShownSubscription.writeSecret(out, updated.subscription());
                          }
                        })));
  }

  private void list(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit();
    long before = exchange.parameters().before(Cursor.List.SUBSCRIPTIONS);
    Long endpoint = exchange.parameters().id("endpoint", Id.ENDPOINT);
    String tenant = exchange.tenant();
    Instant now = clock.instant();
    exchange.then(
        engine.look(view -> page(view, tenant, endpoint, before, limit)),
        page ->
            exchange.answerLargeList(
                page, SubscriptionsApi::cursorAfter, (out, shown) -> shown.write(out, now)));
  }

  /**
   * The next subscriptions, or those of one endpoint. Looks at no more than a fixed number: it does
   * so on the event loop, and there may be very many of others.
   */
  private static Page<ShownSubscription> page(
      View view, String tenant, @Nullable Long endpoint, long before, int limit) {
    if (endpoint == null) {
      return Page.of(
          view.subscriptions(tenant, before, limit + 1).stream()
              .map(subscription -> ShownSubscription.of(view, subscription))
              .toList(),
          limit,
          SubscriptionsApi::cursorAfter);
    }
    List<ShownSubscription> found = new ArrayList<>();
    List<Subscription> looked = view.subscriptions(tenant, before, ApiLimits.LIST_ROWS);
    for (Subscription subscription : looked) {
      if (subscription.endpoint() == endpoint) {
        found.add(ShownSubscription.of(view, subscription));
        if (found.size() > limit) {
          return Page.of(found, limit, SubscriptionsApi::cursorAfter);
        }
      }
    }
    return new Page<>(
        found,
        looked.size() < ApiLimits.LIST_ROWS
            ? null
            : Cursor.text(Cursor.List.SUBSCRIPTIONS, looked.getLast().id()));
  }

  private static String cursorAfter(ShownSubscription last) {
    return Cursor.text(Cursor.List.SUBSCRIPTIONS, last.subscription().id());
  }

  private void get(Exchange exchange, byte[] body) {
    long id = id(exchange);
    String tenant = exchange.tenant();
    exchange.then(
        engine.look(
            view -> view.subscription(tenant, id).map(found -> ShownSubscription.of(view, found))),
        found ->
            found.ifPresentOrElse(
                shown -> exchange.answer(200, shown.json(clock.instant())),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void delete(Exchange exchange, byte[] body) {
    exchange.ask(
        engine,
        new Request.Unsubscribe(exchange.tenant(), id(exchange)),
        Answer.Unsubscribed.class,
        _ -> exchange.answerNoContent());
  }

  static long id(Exchange exchange) {
    OptionalLong id = Id.parse(Id.SUBSCRIPTION, exchange.variable());
    return id.orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
  }
}
