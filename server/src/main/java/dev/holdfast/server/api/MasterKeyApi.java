package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.vault.KeysRefused;
import dev.holdfast.server.api.Problem.Kind;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;

/**
 * Shows which master key secrets are sealed under, and puts another into use. For keys for all
 * tenants only. The key itself is never shown.
 */
final class MasterKeyApi {
  private static final String PATH = "/v1/master-key";

  private final Engine engine;
  private final InstantSource clock;

  MasterKeyApi(Engine engine, InstantSource clock) {
    this.engine = engine;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(
        Route.get(PATH, Access.ADMINISTER, Set.of(), this::show),
        Route.post(PATH + "/rotate", Access.ADMINISTER, this::rotate));
  }

  private void show(Exchange exchange, byte[] body) {
    checkForAll(exchange);
    exchange.then(
        engine.context().executeBlocking(() -> engine.vault().shown(), true),
        shown ->
            exchange.answer(
                200,
                Json.write(
                    out -> {
                      out.writeStartObject();
                      out.writeStringProperty("id", shown.id());
                      Json.time(out, "since", shown.since());
                      out.writeNumberProperty("dataKeys", shown.dataKeys());
                      out.writeStringProperty("source", Text.whole(shown.source()));
                      out.writeEndObject();
                    })));
  }

  private void rotate(Exchange exchange, byte[] body) {
    checkForAll(exchange);
    exchange.then(
        engine.context().executeBlocking(() -> rotated(exchange.caller().actor()), true),
        rotated ->
            exchange.answer(
                200,
                Json.write(
                    out -> {
                      out.writeStartObject();
                      out.writeStringProperty("from", rotated.from());
                      out.writeStringProperty("to", rotated.to());
                      out.writeNumberProperty("dataKeys", rotated.dataKeys());
                      out.writeEndObject();
                    })));
  }

  private StoreVault.Rotated rotated(Actor by) throws Exception {
    try {
      return engine
          .vault()
          .rotate(by, clock.instant())
          .orElseThrow(
              () ->
                  Refusal.of(
                      Kind.MASTER_KEY_NOT_ROTATED,
                      "The master key is given by the setting secrets.key, so only a start can"
                          + " change it. Start the server again with the new key, a comma and the"
                          + " old one in it; once it runs, the old one can be left out."));
    } catch (KeysRefused e) {
      throw Refusal.of(Kind.MASTER_KEY_NOT_ROTATED, String.valueOf(e.getMessage()));
    }
  }

  private static void checkForAll(Exchange exchange) {
    if (exchange.caller().only() != null) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "The master key is that of all tenants. Use a key for all tenants, without the header"
              + " Holdfast-Tenant.");
    }
  }
}
