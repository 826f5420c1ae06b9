package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Request;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.server.api.SubscriptionReader.Asked;
import dev.holdfast.server.api.SubscriptionReader.AskedImport;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** Takes in many subscriptions at once, all or none. */
final class ImportApi {
  private final Engine engine;
  private final SubscriptionReader reader;
  private final Destinations destinations;

  ImportApi(Engine engine, SubscriptionReader reader, Destinations destinations) {
    this.engine = engine;
    this.reader = reader;
    this.destinations = destinations;
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(
            SubscriptionsApi.PATH + "/import",
            Access.MANAGE,
            ApiLimits.IMPORT_BYTES,
            this::takeIn));
  }

  private void takeIn(Exchange exchange, byte[] body) {
    exchange.readApart(
        () -> read(body),
        read ->
            destinations.check(exchange, read.destinations(), () -> ask(exchange, read.asked())));
  }

  /** What was asked, and what has to be looked up before it is done. */
  private record Read(AskedImport asked, Destinations.Named destinations) {}

  private Read read(byte[] body) {
    AskedImport asked = reader.readImport(body);
    return new Read(
        asked,
        destinations.named(asked.subscriptions().stream().map(one -> one.wish().url()).toList()));
  }

  private void ask(Exchange exchange, AskedImport asked) {
    exchange.ask(
        engine,
        new Request.Import(
            exchange.tenant(),
            asked.subscriptions().stream()
                .map(one -> new Request.Imported(one.wish(), one.hasMadeSecret()))
                .toList(),
            asked.dryRun()),
        Answer.Imported.class,
        imported -> exchange.answerItems(imported.items().size(), () -> json(asked, imported)));
  }

  private static Buffer json(AskedImport asked, Answer.Imported imported) {
    return Json.write(
        out -> {
          out.writeStartObject();
          out.writeBooleanProperty("dryRun", asked.dryRun());
          for (Result result : Result.values()) {
            long count = imported.items().stream().filter(item -> item.result() == result).count();
            out.writeNumberProperty(Json.kebab(result), count);
          }
          out.writeArrayPropertyStart("subscriptions");
          for (int i = 0; i < imported.items().size(); i++) {
            write(out, asked.subscriptions().get(i), imported.items().get(i), asked.dryRun());
          }
          out.writeEndArray();
          out.writeEndObject();
        });
  }

  private static void write(JsonGenerator out, Asked asked, Item item, boolean dryRun) {
    boolean isNew = item.result() == Result.CREATED;
    out.writeStartObject();
    Json.constant(out, "result", item.result());
    if (isNew && dryRun) {
      out.writeNullProperty("id");
    } else {
      Json.id(out, "id", Id.SUBSCRIPTION, item.subscription().id());
    }
    out.writeStringProperty("url", MaskedUrl.of(item.endpoint().url()));
    if (isNew && asked.hasMadeSecret() && !dryRun) {
      ShownSubscription.writeSecret(out, item.subscription());
    }
    out.writeEndObject();
  }
}
