package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/**
 * Makes, lists and revokes keys.
 *
 * <p>The store is written on a thread that does one thing after the other, so that of two wishes to
 * revoke the last two admin keys only one is granted.
 */
final class KeysApi {
  private static final String PATH = "/v1/keys";
  private static final JsonBody JSON = new JsonBody(1);

  /** Somebody has to revoke a key first. */
  private static final int FULL_RETRY_SECONDS = 60;

  private final Engine engine;
  private final Keyring keyring;
  private final InstantSource clock;

  KeysApi(Engine engine, Keyring keyring, InstantSource clock) {
    this.engine = engine;
    this.keyring = keyring;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(PATH, Access.ADMINISTER, ApiLimits.KEY_REQUEST_BYTES, this::create),
        Route.get(PATH, Access.ADMINISTER, Set.of("cursor", "limit"), this::list),
        Route.delete(PATH + "/{id}", Access.ADMINISTER, this::revoke));
  }

  private void create(Exchange exchange, byte[] body) {
    Wish wish = JSON.read(body, parser -> wish(parser, exchange.caller(), clock.instant()));
    Caller caller = exchange.caller();
    exchange.then(
        engine.context().executeBlocking(() -> create(wish, caller), true),
        created ->
            exchange.answerCreated(
                PATH + "/" + Keyring.idText(created.key().id()), Buffer.buffer(created.json())));
  }

  private Keyring.Created create(Wish wish, Caller caller) throws StoreException {
    List<Keyring.Key> all = keyring.all();
    String tenant = wish.tenant();
    if (tenant != null
        && all.stream().filter(key -> tenant.equals(key.tenant())).count()
            >= ApiLimits.TENANT_KEYS) {
      throw tooMany(
          "The tenant %s has %,d keys, and no more are kept. Revoke some first, such as those that have expired."
              .formatted(tenant, ApiLimits.TENANT_KEYS));
    }
    if (all.size() >= ApiLimits.KEYS) {
      throw tooMany(
          caller.only() == null
              ? "There are %,d keys, and no more are kept. Revoke some first, such as those that have expired."
                  .formatted(ApiLimits.KEYS)
              : "No more keys can be kept now. Use one that there is, or ask whoever runs the"
                  + " server.");
    }
    return keyring.create(wish.name(), wish.role(), tenant, wish.expiresAt(), caller.actor());
  }

  private static Refusal tooMany(String detail) {
    return new Refusal(Problem.of(Kind.OVERLOADED, detail).retryAfter(FULL_RETRY_SECONDS));
  }

  private record Wish(
      @Nullable String name, Role role, @Nullable String tenant, @Nullable Instant expiresAt) {}

  /** A key for all tenants has to be asked for with a null: it is not what one gets by omission. */
  private static Wish wish(JsonParser parser, Caller caller, Instant now) {
    String name = null;
    Role role = null;
    Instant expiresAt = null;
    Instant expiresIn = null;
    String tenant = caller.tenant();
    FieldNames names = new FieldNames(parser);
    for (String field = names.next(); field != null; field = names.next()) {
      switch (field) {
        case "name" -> {
          String given = JsonBody.optionalText(parser, field);
          name = given == null ? null : Text.clean(given, field, ApiLimits.KEY_NAME_CHARS);
        }
        case "role" -> role = role(JsonBody.text(parser, field));
        case "tenant" -> tenant = tenant(JsonBody.optionalText(parser, field), caller);
        case "expiresAt" -> expiresAt = end(JsonBody.optionalText(parser, field), now);
        case "expiresIn" -> expiresIn = endAfter(JsonBody.optionalText(parser, field), now);
        default -> throw JsonBody.unknownField(field, "name, role, tenant, expiresAt, expiresIn");
      }
    }
    if (role == null) {
      throw JsonBody.missing("role");
    }
    if (expiresAt != null && expiresIn != null) {
      throw Refusal.of(Kind.INVALID_FIELD, "expiresIn", "Give expiresAt or expiresIn, not both.");
    }
    return new Wish(name, role, tenant, expiresAt == null ? expiresIn : expiresAt);
  }

  private static @Nullable Instant end(@Nullable String given, Instant now) {
    if (given == null) {
      return null;
    }
    return Rfc3339.parse(given)
        .filter(end -> end.isAfter(now))
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_FIELD,
                    "expiresAt",
                    "Give a time to come such as \"2030-01-31T12:00:00Z\", or null for a key that"
                        + " does not end."));
  }

  private static @Nullable Instant endAfter(@Nullable String given, Instant now) {
    if (given == null) {
      return null;
    }
    return DurationText.parse(given)
        .filter(time -> !time.isZero() && time.compareTo(ApiLimits.KEY_TIME) <= 0)
        .map(now::plus)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_FIELD,
                    "expiresIn",
                    "Give a whole number and ms, s, m, h or d, such as \"90d\", at most "
                        + ApiLimits.KEY_TIME.toDays()
                        + "d; or null for a key that does not end."));
  }

  private static Role role(String given) {
    for (Role role : Role.values()) {
      if (Json.kebab(role).equals(given)) {
        return role;
      }
    }
    throw Refusal.of(
        Kind.INVALID_FIELD,
        "role",
        "Give one of: "
            + Arrays.stream(Role.values()).map(Json::kebab).collect(Collectors.joining(", "))
            + ".");
  }

  private static @Nullable String tenant(@Nullable String given, Caller caller) {
    if (given != null && !TenantName.isValid(given)) {
      throw Refusal.of(Kind.INVALID_FIELD, "tenant", TenantName.RULE);
    }
    if (caller.only() != null && !caller.only().equals(given)) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "tenant",
          "This request can only make keys for the tenant "
              + caller.only()
              + ". Leave tenant out; or, for another tenant or all of them, use a key for all"
              + " tenants without the header Holdfast-Tenant.");
    }
    return given;
  }

  private void list(Exchange exchange, byte[] body) {
    int limit = exchange.parameters().limit();
    long before = exchange.parameters().before(Cursor.List.KEYS);
    String only = exchange.caller().only();
    List<Keyring.Key> found =
        keyring.all().stream()
            .filter(key -> key.id() < before)
            .filter(key -> only == null || only.equals(key.tenant()))
            .limit(limit + 1L)
            .toList();
    exchange.answerList(
        Page.of(found, limit, last -> Cursor.text(Cursor.List.KEYS, last.id())),
        (out, key) -> out.writeRawValue(key.json()));
  }

  private void revoke(Exchange exchange, byte[] body) {
    long id =
        Id.parse(Keyring.ID_PREFIX, exchange.variable())
            .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
    String only = exchange.caller().only();
    exchange.then(
        engine
            .context()
            .executeBlocking(() -> keyring.revoke(only, id, exchange.caller().actor()), true),
        revoked -> {
          switch (Objects.requireNonNull(revoked)) {
            case DONE -> exchange.answerNoContent();
            case NOT_FOUND -> exchange.refuse(Problem.UNKNOWN_ID);
            case IS_LAST_ADMIN ->
                exchange.refuse(
                    Problem.of(
                        Kind.LAST_ADMIN_KEY,
                        "It is the last stored key with the role admin for all tenants. Make"
                            + " another one first, then revoke this one."));
          }
        });
  }
}
