package dev.holdfast.server.api;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.engine.Masked;
import dev.holdfast.engine.egress.MaskedUrl;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/**
 * A subscription as people see it: with what its endpoint is, and without what only its receiver
 * should know.
 */
record ShownSubscription(Subscription subscription, Endpoint endpoint) {

  static ShownSubscription of(View view, Subscription subscription) {
    Endpoint endpoint =
        view.endpoint(subscription.tenant(), subscription.endpoint())
            .map(EndpointNow::endpoint)
            .orElseThrow(() -> new IllegalStateException("a subscription without its endpoint"));
    return new ShownSubscription(subscription, endpoint);
  }

  Buffer json(Instant now) {
    return json(now, _ -> {});
  }

  /** With more fields at its end. */
  Buffer json(Instant now, Consumer<JsonGenerator> more) {
    return Json.write(
        out -> {
          out.writeStartObject();
          writeFields(out, now);
          more.accept(out);
          out.writeEndObject();
        });
  }

  void write(JsonGenerator out, Instant now) {
    out.writeStartObject();
    writeFields(out, now);
    out.writeEndObject();
  }

  private void writeFields(JsonGenerator out, Instant now) {
    Json.id(out, "id", Id.SUBSCRIPTION, subscription.id());
    out.writeStringProperty("url", MaskedUrl.of(endpoint.url()));
    out.writeArrayPropertyStart("types");
    for (TypePattern type : subscription.types()) {
      out.writeString(type.text());
    }
    out.writeEndArray();
    Json.text(out, "subject", subscription.subject());
    Filters filters = subscription.interest().filters();
    out.writeName("filters");
    out.writeRawValue(filters.json());
    out.writeStringProperty("filterConnector", filters.connector().name());
    writeForm(out, subscription.form(), now);
    Json.id(out, "endpoint", Id.ENDPOINT, subscription.endpoint());
    out.writeBooleanProperty("paused", subscription.paused());
    RateLimits.write(out, endpoint.rateLimit());
    TlsFields.write(out, endpoint.tls());
    Json.time(out, "goneAt", endpoint.goneAt());
    Json.time(out, "createdAt", subscription.createdAt());
    Json.time(out, "changedAt", subscription.changedAt());
  }

  private static void writeForm(JsonGenerator out, Form form, Instant now) {
    Json.constant(out, "format", form.format());
    Json.constant(out, "version", form.format() == Format.WORKFRONT ? form.version() : null);
    out.writeBooleanProperty("base64Encoding", form.base64());
    Json.text(out, "authToken", Masked.of(form.authToken()));
    out.writeObjectPropertyStart(OwnHeaders.FIELD);
    form.headers().forEach((name, value) -> Json.text(out, name, Masked.of(value)));
    out.writeEndObject();
    out.writeArrayPropertyStart("secrets");
    for (Secret secret : form.secretsAt(now)) {
      out.writeStartObject();
      Json.constant(out, "signature", secret.signature());
      secret.publicKey().ifPresent(key -> out.writeStringProperty("publicKey", key));
      Json.time(out, "createdAt", secret.createdAt());
      Json.time(out, "validUntil", secret.validUntil());
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  /**
   * What the newest secret is verified with, for its owner, who does not know it yet: the secret
   * itself, or its public key, and then nobody needs the secret.
   */
  static void writeSecret(JsonGenerator out, Subscription subscription) {
    Secret newest = subscription.form().secrets().getFirst();
    newest
        .publicKey()
        .ifPresentOrElse(
            key -> out.writeStringProperty("publicKey", key),
            () -> out.writeStringProperty("secret", newest.text()));
  }
}
