package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.port.History;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Starts replays of finished messages, shows how far they and those of what was before a
 * subscription are, and ends them.
 */
final class ReplaysApi {
  private static final String PATH = "/v1/replays";

  private final Engine engine;

  ReplaysApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(PATH, Access.MANAGE, ApiLimits.REPLAY_BYTES, this::start),
        Route.get(PATH, Access.LOOK, Set.of("cursor", "limit"), this::list),
        Route.get(PATH + "/{id}", Access.LOOK, Set.of(), this::get),
        Route.post(PATH + "/{id}/cancel", Access.MANAGE, this::cancel));
  }

  private void start(Exchange exchange, byte[] body) {
    Selection selection = ReplayReader.read(body);
    exchange.ask(
        engine,
        new Request.Replay(exchange.tenant(), selection),
        Answer.ReplayIs.class,
        is -> exchange.answer(202, json(is.replay())));
  }

  private void list(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit();
    long before = exchange.parameters().before(Cursor.List.REPLAYS);
    String tenant = exchange.tenant();
    exchange.then(
        engine.read(history -> history.replays(tenant, before, limit + 1)),
        found ->
            exchange.answerList(
                Page.of(found, limit, last -> Cursor.text(Cursor.List.REPLAYS, last.id())),
                ReplaysApi::write));
  }

  private void get(Exchange exchange, byte[] body) {
    show(exchange, id(exchange));
  }

  private void show(Exchange exchange, long id) {
    String tenant = exchange.tenant();
    exchange.then(
        engine.read((History history) -> history.replay(tenant, id)),
        found ->
            found.ifPresentOrElse(
                replay -> exchange.answer(200, json(replay)),
                () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  /** The engine only knows replays that are under way; one that it does not know may have ended. */
  private void cancel(Exchange exchange, byte[] body) {
    long id = id(exchange);
    exchange.ask(
        engine,
        new Request.CancelReplay(exchange.tenant(), id),
        Answer.ReplayIs.class,
        is -> exchange.answer(200, json(is.replay())),
        () -> show(exchange, id));
  }

  private static long id(Exchange exchange) {
    return Id.parse(Id.REPLAY, exchange.variable())
        .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
  }

  private static Buffer json(Replay replay) {
    return Json.write(out -> write(out, replay));
  }

  private static void write(JsonGenerator out, Replay replay) {
    Selection selection = replay.selection();
    out.writeStartObject();
    Json.id(out, "id", Id.REPLAY, replay.id());
    out.writeStringProperty("kind", selection.isHistory() ? "history" : "messages");
    Json.constant(out, "state", replay.state());
    if (replay.total() == null) {
      out.writeNullProperty("total");
    } else {
      out.writeNumberProperty("total", replay.total());
    }
    out.writeNumberProperty("done", replay.done());
    out.writeNumberProperty("skipped", replay.skipped());
    Json.time(out, "createdAt", replay.createdAt());
    id(out, "endpoint", Id.ENDPOINT, selection.endpoint());
    id(out, "subscription", Id.SUBSCRIPTION, selection.subscription());
    out.writeArrayPropertyStart("status");
    for (Ending ending : Ending.values()) {
      if (selection.endings().contains(ending)) {
        out.writeString(Json.kebab(ending));
      }
    }
    out.writeEndArray();
    Json.time(out, "since", selection.since());
    Json.time(out, "until", selection.until());
    out.writeBooleanProperty("again", selection.again());
    out.writeEndObject();
  }

  private static void id(JsonGenerator out, String name, String prefix, @Nullable Long id) {
    Json.text(out, name, id == null ? null : Id.text(prefix, id));
  }
}
