package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Deed;
import dev.holdfast.engine.Masked;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.engine.http.TlsMaterial;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Puts what somebody did into words: which action on what, and what is otherwise since then. */
public final class Acts {

  private Acts() {}

  public static Act of(Deed deed) {
    return switch (deed.what()) {
      case Deed.Subscribed done -> {
        Facts after = facts(done.after(), done.endpoint());
        if (done.history() != null) {
          after.time("since", done.history().selection().since());
        }
        yield act(deed, "subscription.created", subscription(done.after()), null, after);
      }
      case Deed.Updated done -> {
        Facts before = facts(done.before(), done.from());
        Facts after = facts(done.after(), done.to());
        Facts changed = after.without(before);
        yield act(
            deed,
            "subscription." + change(changed, done.after()),
            subscription(done.after()),
            before.without(after),
            changed);
      }
      case Deed.Unsubscribed done ->
          act(
              deed,
              "subscription.deleted",
              subscription(done.before()),
              facts(done.before(), done.endpoint()),
              null);
      case Deed.Configured done -> {
        Facts before = settings(done.before());
        Facts after = settings(done.after());
        yield act(
            deed,
            "endpoint.changed",
            endpoint(done.after()),
            before.without(after),
            after.without(before));
      }
      case Deed.Operated done ->
          act(
              deed,
              "endpoint." + Facts.kebab(done.after().health().state()),
              endpoint(done.after()),
              state(done.before()),
              state(done.after()));
      case Deed.Replayed done ->
          act(
              deed,
              "replay.started",
              Id.text(Id.REPLAY, done.replay().id()),
              null,
              facts(done.replay().selection()));
      case Deed.Cancelled done ->
          act(
              deed,
              "replay.cancelled",
              Id.text(Id.REPLAY, done.replay().id()),
              progress(done.replay()),
              progress(done.replay().as(Replay.State.CANCELLED)));
      case Deed.Retried done ->
          act(deed, "message.retried", Id.text(Id.MESSAGE, done.message()), null, null);
    };
  }

  private static Act act(
      Deed deed, String action, String target, @Nullable Facts before, @Nullable Facts after) {
    return new Act(deed.by(), deed.at(), deed.tenant(), action, target, before, after);
  }

  private static String subscription(Subscription subscription) {
    return Id.text(Id.SUBSCRIPTION, subscription.id());
  }

  private static String endpoint(Endpoint endpoint) {
    return Id.text(Id.ENDPOINT, endpoint.id());
  }

  private static String change(Facts changed, Subscription after) {
    if (changed.isOnly("paused")) {
      return after.paused() ? "paused" : "resumed";
    }
    return changed.isOnly("secrets") ? "secret-rotated" : "changed";
  }

  private static Facts facts(Subscription subscription, Endpoint endpoint) {
    Form form = subscription.form();
    return new Facts()
        .masked("url", endpoint.url(), MaskedUrl.of(endpoint.url()))
        .text("endpoint", endpoint(endpoint))
        .json(
            "types",
            subscription.types().stream()
                .map(TypePattern::text)
                .map(Facts::quoted)
                .collect(Collectors.joining(",", "[", "]")))
        .text("subject", subscription.subject())
        .json("filters", subscription.filters().json())
        .text("filterConnector", subscription.filters().connector().name())
        .constant("format", form.format())
        .constant("version", form.format() == Format.WORKFRONT ? form.version() : null)
        .truth("base64Encoding", form.base64())
        .masked("authToken", form.authToken(), Masked.of(form.authToken()))
        .put("headers", headers(form), form.headers())
        .put("secrets", secrets(form), form.secrets())
        .truth("paused", subscription.paused());
  }

  private static String headers(Form form) {
    return form.headers().entrySet().stream()
        .map(
            header ->
                Facts.quoted(header.getKey())
                    + ":"
                    + Facts.quoted(Objects.requireNonNull(Masked.of(header.getValue()))))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String secrets(Form form) {
    return form.secrets().stream().map(Acts::json).collect(Collectors.joining(",", "[", "]"));
  }

  private static String json(Secret secret) {
    return new Facts()
        .constant("signature", secret.signature())
        .time("createdAt", secret.createdAt())
        .time("validUntil", secret.validUntil())
        .json();
  }

  private static Facts settings(Endpoint endpoint) {
    RateLimit limit = endpoint.rateLimit();
    EndpointTls tls = endpoint.tls();
    return new Facts()
        .json("rateLimit", limit == null ? "null" : Double.toString(limit.perSecond()))
        .put("tls", tls == null ? "null" : json(tls), tls);
  }

  /**
   * Certificates can be read by everybody, but are long, so they are told by their fingerprints, as
   * everywhere; the key is told by nothing at all.
   */
  private static String json(EndpointTls tls) {
    return new Facts()
        .json("certificates", fingerprints(tls.certificates()))
        .json("roots", fingerprints(tls.roots()))
        .json();
  }

  private static String fingerprints(@Nullable String pem) {
    return TlsMaterial.fingerprints(pem).stream()
        .map(Facts::quoted)
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static Facts state(Endpoint endpoint) {
    return new Facts()
        .constant("state", endpoint.health().state())
        .constant("reason", endpoint.health().reason())
        .time("since", endpoint.health().since());
  }

  private static Facts facts(Selection selection) {
    Long endpoint = selection.endpoint();
    Long subscription = selection.subscription();
    return new Facts()
        .text("endpoint", endpoint == null ? null : Id.text(Id.ENDPOINT, endpoint))
        .text("subscription", subscription == null ? null : Id.text(Id.SUBSCRIPTION, subscription))
        .json(
            "status",
            selection.endings().stream()
                .map(Facts::kebab)
                .sorted()
                .map(Facts::quoted)
                .collect(Collectors.joining(",", "[", "]")))
        .time("since", selection.since())
        .time("until", selection.until())
        .truth("again", selection.again());
  }

  private static Facts progress(Replay replay) {
    return new Facts().constant("state", replay.state()).number("done", replay.done());
  }
}
