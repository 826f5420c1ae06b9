package dev.holdfast.server.api;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.path.View;
import dev.holdfast.server.api.Problem.Kind;
import dev.holdfast.server.api.WorkfrontReader.AskedVersions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/**
 * Subscriptions and events in the words of Adobe Workfront's event subscriptions, so that programs
 * that were written for those need another host and key, and nothing else.
 *
 * <p>They are the same subscriptions and events as everywhere. Those that cannot be said in these
 * words ({@link ObjectEvent}) do not exist here. Lives on the event loop.
 */
final class WorkfrontApi {
  static final String PATH = "/attask/eventsubscription/api/v1";

  private static final String SUBSCRIPTIONS = PATH + "/subscriptions";
  private static final String EVENTS = PATH + "/events";
  private static final String PAGES = "GET " + SUBSCRIPTIONS + "?page=1&limit=100";
  private static final String SHORT_PAGES =
      "GET " + SUBSCRIPTIONS + "?page=1&limit=" + ApiLimits.SHORT_LIST_ITEMS;

  private final Engine engine;
  private final ApiLimits limits;
  private final WorkfrontReader reader;
  private final Destinations destinations;
  private final EventsApi events;
  private int longLists;

  WorkfrontApi(
      Engine engine,
      ApiLimits limits,
      WorkfrontReader reader,
      Destinations destinations,
      EventsApi events) {
    this.engine = engine;
    this.limits = limits;
    this.reader = reader;
    this.destinations = destinations;
    this.events = events;
  }

  List<Route> routes() {
    Access access = Access.ADMINISTER;
    return Stream.of(
            Route.postJson(SUBSCRIPTIONS, access, ApiLimits.SUBSCRIPTION_BYTES, this::create),
            Route.get(SUBSCRIPTIONS, access, Set.of("page", "limit"), this::list),
            Route.get(SUBSCRIPTIONS + "/list", access, Set.of(), this::listAll),
            Route.get(SUBSCRIPTIONS + "/{id}", access, Set.of(), this::get),
            Route.delete(SUBSCRIPTIONS + "/{id}", access, this::delete),
            Route.putJson(
                SUBSCRIPTIONS + "/{id}/version",
                access,
                ApiLimits.ACTION_BYTES,
                this::changeVersion),
            Route.putJson(
                SUBSCRIPTIONS + "/version",
                access,
                ApiLimits.VERSION_CHANGES_BYTES,
                this::changeVersions),
            Route.postJson(EVENTS, Access.PUBLISH, limits.eventRequestBytes(), this::submit))
        .map(Route::bySessionId)
        .toList();
  }

  private void create(Exchange exchange, byte[] body) {
    Wish wish = reader.wish(body);
    destinations.check(exchange, wish.url(), () -> create(exchange, wish));
  }

  private void create(Exchange exchange, Wish wish) {
    exchange.ask(
        engine,
        new Request.Subscribe(exchange.tenant(), wish, null, true),
        Answer.Subscribed.class,
        subscribed -> {
          long id = subscribed.subscription().id();
          String path = SUBSCRIPTIONS + "/" + Id.text(Id.SUBSCRIPTION, id);
          exchange.answerCreated(
              Origin.of(exchange.request().headers(), exchange.request().isSSL()) + path,
              versionOf(id, subscribed.subscription().form().version()));
        });
  }

  private static Buffer versionOf(long id, Version version) {
    return Json.write(
        out -> {
          out.writeStartObject();
          Json.id(out, "id", Id.SUBSCRIPTION, id);
          Json.constant(out, "version", version);
          out.writeEndObject();
        });
  }

  /**
   * Some of a tenant's subscriptions.
   *
   * @param total how many there are
   */
  private record Found(int total, List<WorkfrontShown> items) {
    static Found in(View view, String tenant, long skipped, int limit) {
      View.Numbered numbered = view.objectSubscriptions(tenant, skipped, limit);
      return new Found(
          numbered.total(),
          numbered.items().stream().map(one -> WorkfrontShown.of(view, one)).toList());
    }
  }

  private void list(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit();
    int page = exchange.parameters().page();
    String tenant = exchange.tenant();
    exchange.then(
        engine.look(view -> Found.in(view, tenant, (page - 1L) * limit, limit)),
        found -> answer(exchange, found.items().size(), () -> json(found, page, limit)));
  }

  private static Buffer json(Found found, int page, int limit) {
    return Json.write(
        ApiLimits.WHOLE_LIST_BYTES,
        Problem.of(
            Kind.INVALID_PARAMETER,
            "limit",
            "The page has more than "
                + ApiLimits.WHOLE_LIST_BYTES
                + " bytes. Ask for fewer subscriptions at once."),
        out -> {
          out.writeStartObject();
          out.writeArrayPropertyStart("subscriptions");
          found.items().forEach(shown -> shown.write(out));
          out.writeEndArray();
          out.writeObjectPropertyStart("meta");
          out.writeNumberProperty("page", page);
          out.writeNumberProperty("limit", limit);
          out.writeNumberProperty("page_count", Math.ceilDiv(found.total(), limit));
          out.writeNumberProperty("total_count", found.total());
          out.writeEndObject();
          out.writeEndObject();
        });
  }

  private void listAll(Exchange exchange, byte[] body) {
    String tenant = exchange.tenant();
    exchange.then(
        engine.look(view -> all(view, tenant)),
        found -> answer(exchange, found.size(), () -> json(found)));
  }

  /**
   * Answers with a list. A long one is held in memory from here until its caller has taken it, so
   * there are only a few of them at once. A short one is not written on the event loop either:
   * subscriptions can have many filters.
   */
  private void answer(Exchange exchange, int count, Supplier<Buffer> writing) {
    if (count <= ApiLimits.SHORT_LIST_ITEMS) {
      Future<Void> _ = exchange.answerLarge(writing);
      return;
    }
    if (longLists >= ApiLimits.LONG_LISTS) {
      throw new Refusal(
          Problem.of(
                  Kind.OVERLOADED,
                  "Many long lists are under way. Send this request again, or ask page by page for"
                      + " at most %d subscriptions at once: %s."
                          .formatted(ApiLimits.SHORT_LIST_ITEMS, SHORT_PAGES))
              .retryAfter(1));
    }
    longLists++;
    exchange.answerLarge(writing).onComplete(_ -> longLists--);
  }

  private static List<WorkfrontShown> all(View view, String tenant) {
    int total = view.objectSubscriptions(tenant, 0, 0).total();
    if (total > ApiLimits.WHOLE_LIST_ITEMS) {
      throw new Refusal(
          tooLong(
              "There are " + total + " subscriptions, more than " + ApiLimits.WHOLE_LIST_ITEMS));
    }
    return Found.in(view, tenant, 0, total).items();
  }

  private static Problem tooLong(String why) {
    return Problem.of(Kind.LIST_TOO_LONG, why + ". Ask for them page by page: " + PAGES + ".");
  }

  private static Buffer json(List<WorkfrontShown> all) {
    return Json.write(
        ApiLimits.WHOLE_LIST_BYTES,
        tooLong("All together have more than " + ApiLimits.WHOLE_LIST_BYTES + " bytes"),
        out -> {
          out.writeStartArray();
          all.forEach(shown -> shown.writeOld(out));
          out.writeEndArray();
        });
  }

  /** The subscription that the path names, if it is the tenant's and can be shown here. */
  private Future<Optional<WorkfrontShown>> find(Exchange exchange) {
    long id = SubscriptionsApi.id(exchange);
    String tenant = exchange.tenant();
    return engine.look(
        view ->
            view.subscription(tenant, id)
                .filter(found -> ObjectEvent.of(found).isPresent())
                .map(found -> WorkfrontShown.of(view, found)));
  }

  private void get(Exchange exchange, byte[] body) {
    exchange.then(
        find(exchange),
        found ->
            found.ifPresentOrElse(
                shown -> exchange.answer(200, Json.write(shown::write)),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void delete(Exchange exchange, byte[] body) {
    exchange.then(
        find(exchange),
        found ->
            found.ifPresentOrElse(
                shown -> unsubscribe(exchange, shown.subscription().id()),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void unsubscribe(Exchange exchange, long id) {
    exchange.ask(
        engine,
        new Request.Unsubscribe(exchange.tenant(), id),
        Answer.Unsubscribed.class,
        _ -> exchange.answerEmpty(200));
  }

  private void changeVersion(Exchange exchange, byte[] body) {
    Version version = reader.version(body);
    exchange.then(
        find(exchange),
        found ->
            found.ifPresentOrElse(
                shown -> change(exchange, shown.subscription().id(), version),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private void change(Exchange exchange, long id, Version version) {
    exchange.ask(
        engine,
        new Request.Update(exchange.tenant(), id, Patch.of(Form.Change.to(version))),
        Answer.Updated.class,
        _ -> exchange.answer(200, versionOf(id, version)),
        () -> exchange.refuse(Problem.UNKNOWN_ID),
        _ -> exchange.refuse(Problem.UNKNOWN_ID));
  }

  private void changeVersions(Exchange exchange, byte[] body) {
    exchange.read(body, () -> reader.versions(body), asked -> change(exchange, asked));
  }

  private void change(Exchange exchange, AskedVersions asked) {
    exchange.ask(
        engine,
        new Request.ChangeVersion(exchange.tenant(), asked.subscriptions(), asked.version()),
        Answer.Imported.class,
        imported ->
            exchange.answerItems(
                imported.items().size(),
                () -> Json.write(out -> write(out, imported.items(), asked.version()))));
  }

  private static void write(JsonGenerator out, List<Item> items, Version version) {
    out.writeStartObject();
    out.writeArrayPropertyStart("subscription_ids");
    for (Item item : items) {
      out.writeString(Id.text(Id.SUBSCRIPTION, item.subscription().id()));
    }
    out.writeEndArray();
    Json.constant(out, "version", version);
    out.writeEndObject();
  }

  private void submit(Exchange exchange, byte[] body) {
    events.submit(exchange, EVENTS, body, reader::event);
  }
}
