package dev.holdfast.server.api;

import dev.holdfast.engine.store.Audit;
import dev.holdfast.server.api.Problem.Kind;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Shows what people and keys have changed. Each entry comes as the very text that was hashed, so
 * that whoever reads it can follow the chain.
 */
final class AuditApi {
  private final Engine engine;

  AuditApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/v1/audit",
            Access.ADMINISTER,
            Set.of("since", "until", "action", "target", "actor", "cursor", "limit"),
            this::list));
  }

  private void list(Exchange exchange, byte[] body) {
    Parameters given = exchange.parameters();
    String chain = exchange.caller().only();
    Cursor.List list = chain == null ? Cursor.List.AUDIT : Cursor.List.AUDIT_CHAIN;
    Audit.Query query =
        new Audit.Query(
            chain,
            given.time("since"),
            given.time("until"),
            text(given, "action"),
            text(given, "target"),
            text(given, "actor"),
            given.before(list),
            given.limit());
    exchange.then(
        engine.audit(query),
        found -> {
          Long next = found.next();
          exchange.answerLargeList(
              new Page<>(found.entries(), next == null ? null : Cursor.text(list, next)),
              entry -> Cursor.text(list, entry.place()),
              AuditApi::write);
        });
  }

  private static @Nullable String text(Parameters given, String name) {
    String text = given.one(name);
    if (text != null && (text.isEmpty() || text.length() > ApiLimits.AUDIT_WORD_CHARS)) {
      throw Refusal.of(
          Kind.INVALID_PARAMETER,
          name,
          "Give 1 to " + ApiLimits.AUDIT_WORD_CHARS + " characters, or leave it out.");
    }
    return text;
  }

  private static void write(JsonGenerator out, Audit.Entry entry) {
    out.writeStartObject();
    out.writeStringProperty("hash", entry.hash());
    out.writeStringProperty("previous", entry.previous());
    out.writeStringProperty("chain", entry.chain());
    out.writeName("entry");
    out.writeRawValue(entry.json());
    out.writeEndObject();
  }
}
