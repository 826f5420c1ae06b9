package dev.holdfast.server.api;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.View;
import dev.holdfast.engine.Masked;
import dev.holdfast.engine.egress.MaskedUrl;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A subscription to one kind of event of one kind of object, as Adobe Workfront's event
 * subscriptions show theirs: times without a zone, and names in two manners.
 */
record WorkfrontShown(Subscription subscription, ObjectEvent event, Endpoint endpoint) {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** How the names of fields are written. */
  private enum Manner {
    CAMEL_CASE {
      @Override
      String name(String name) {
        return name;
      }
    },
    SNAKE_CASE {
      @Override
      String name(String name) {
        StringBuilder snake = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
          char c = name.charAt(i);
          if (c >= 'A' && c <= 'Z') {
            snake.append('_').append((char) (c - 'A' + 'a'));
          } else {
            snake.append(c);
          }
        }
        return snake.toString();
      }
    };

    abstract String name(String name);
  }

  static WorkfrontShown of(View view, Subscription subscription) {
    return new WorkfrontShown(
        subscription,
        ObjectEvent.of(subscription)
            .orElseThrow(() -> new IllegalArgumentException("it cannot be said in these words")),
        ShownSubscription.of(view, subscription).endpoint());
  }

  void write(JsonGenerator out) {
    out.writeStartObject();
    writeFields(out, Manner.CAMEL_CASE);
    time(out, "date_created", subscription.createdAt());
    time(out, "date_modified", subscription.changedAt());
    writeEndpoint(out);
    out.writeEndObject();
  }

  /** As it stands in the list that comes whole. */
  void writeOld(JsonGenerator out) {
    out.writeStartObject();
    writeFields(out, Manner.SNAKE_CASE);
    writeEndpoint(out);
    out.writeEndObject();
  }

  private void writeFields(JsonGenerator out, Manner manner) {
    Form form = subscription.form();
    Filters filters = subscription.filters();
    Json.id(out, "id", Id.SUBSCRIPTION, subscription.id());
    time(out, manner.name("dateCreated"), subscription.createdAt());
    time(out, manner.name("dateModified"), subscription.changedAt());
    Json.constant(out, "version", form.version());
    time(out, manner.name("dateVersionUpdated"), form.edition().changedAt());
    out.writeStringProperty(manner.name("customerId"), subscription.tenant());
    Json.text(out, manner.name("objId"), subscription.subject());
    out.writeStringProperty(manner.name("objCode"), event.objCode());
    out.writeStringProperty("url", url());
    out.writeStringProperty(manner.name("eventType"), event.kind().name());
    Json.text(out, manner.name("authToken"), Masked.of(form.authToken()));
    out.writeBooleanProperty(manner.name("base64Encoding"), form.base64());
    out.writeName("filters");
    out.writeRawValue(filters.json());
    out.writeStringProperty(manner.name("filterConnector"), filters.connector().name());
  }

  /** As its owner has written it, which may look for it by that; without what its query says. */
  private String url() {
    String written = subscription.writtenUrl();
    return MaskedUrl.of(written == null ? endpoint.url() : written);
  }

  private void writeEndpoint(JsonGenerator out) {
    Health health = endpoint.health();
    out.writeObjectPropertyStart("subscription_url");
    out.writeStringProperty("url", url());
    time(out, "date_created", health.createdAt());
    out.writeNumberProperty("successes", health.successes());
    out.writeNumberProperty("failures", health.failures());
    time(out, "disabled_at", health.state() == Health.State.DISABLED ? health.since() : null);
    time(out, "frozen_at", health.state() == Health.State.FROZEN ? health.since() : null);
    out.writeEndObject();
  }

  private static void time(JsonGenerator out, String name, @Nullable Instant value) {
    Json.text(out, name, value == null ? null : TIME.format(value));
  }
}
