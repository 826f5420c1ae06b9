package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.History.Change;
import dev.holdfast.core.port.History.ChangePosition;
import dev.holdfast.core.port.History.ChangeQuery;
import dev.holdfast.core.port.History.EndpointChange;
import dev.holdfast.engine.egress.MaskedUrl;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Shows what all endpoints of a tenant have gone through. */
final class ChangesApi {
  private final Engine engine;

  ChangesApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/v1/changes", Access.LOOK, Set.of("since", "until", "cursor", "limit"), this::list));
  }

  /** A change, with the URL of its endpoint. */
  private record Shown(EndpointChange change, String url) {}

  private void list(Exchange exchange, byte[] body) {
    Parameters parameters = exchange.parameters();
    int limit = parameters.limit();
    String tenant = exchange.tenant();
    ChangeQuery query =
        new ChangeQuery(
            tenant,
            parameters.time("since"),
            parameters.time("until"),
            position(parameters.one("cursor")),
            limit + 1);
    exchange.then(
        engine
            .read(history -> history.changes(query))
            .map(found -> Page.of(found, limit, ChangesApi::cursor))
            .compose(page -> engine.look(view -> shown(view, tenant, page))),
        page -> exchange.answerList(page, ChangesApi::write));
  }

  private static @Nullable ChangePosition position(@Nullable String cursor) {
    if (cursor == null) {
      return null;
    }
    Cursor.Place pair = Cursor.place(Cursor.List.CHANGES, cursor);
    return new ChangePosition(Instant.EPOCH.plus(pair.first(), ChronoUnit.MICROS), pair.second());
  }

  private static String cursor(EndpointChange last) {
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, last.change().at());
    return Cursor.text(Cursor.List.CHANGES, new Cursor.Place(micros, last.id()));
  }

  /** With the URLs that the endpoints have; nothing of an endpoint that is not the tenant's. */
  private static Page<Shown> shown(View view, String tenant, Page<EndpointChange> page) {
    List<Shown> shown = new ArrayList<>(page.items().size());
    for (EndpointChange change : page.items()) {
      view.endpoint(tenant, change.endpoint())
          .ifPresent(now -> shown.add(new Shown(change, MaskedUrl.of(now.endpoint().url()))));
    }
    return new Page<>(shown, page.next());
  }

  private static void write(JsonGenerator out, Shown shown) {
    Change change = shown.change().change();
    out.writeStartObject();
    Json.time(out, "at", change.at());
    Json.id(out, "endpoint", Id.ENDPOINT, shown.change().endpoint());
    out.writeStringProperty("url", shown.url());
    Json.constant(out, "state", change.state());
    Json.constant(out, "reason", change.reason());
    out.writeEndObject();
  }
}
