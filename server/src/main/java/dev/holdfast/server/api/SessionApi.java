package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.server.api.Authentication.Known;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * Signs browsers in and out.
 *
 * <p>Whoever has a key gets a cookie for it, which is good for every call. No other site can make a
 * browser sign in as somebody else: the body must be JSON, which browsers send for nobody but the
 * site's own pages.
 */
final class SessionApi {
  private static final Logger log = LoggerFactory.getLogger(SessionApi.class);

  private static final String PATH = "/v1/session";
  private static final JsonBody JSON = new JsonBody(1);
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Problem WRONG_KEY =
      Problem.of(
          Kind.UNAUTHENTICATED,
          "key",
          "The key is not valid. Check that all of it was given, or ask an admin for one.");

  private final Engine engine;
  private final Authentication authentication;
  private final SignedIn signedIn;
  private final ApiServer.Dashboard dashboard;

  /** By the hash of a valid key, in the minute that runs. Lives on the event loop. */
  private final Map<ByteBuffer, Integer> signIns = new HashMap<>();

  private long since = Connections.now();

  SessionApi(
      Engine engine,
      Authentication authentication,
      SignedIn signedIn,
      ApiServer.Dashboard dashboard) {
    this.engine = engine;
    this.authentication = authentication;
    this.signedIn = signedIn;
    this.dashboard = dashboard;
  }

  List<Route> routes() {
    return List.of(
        Route.postJson(PATH, Access.OPEN, ApiLimits.KEY_REQUEST_BYTES, this::begin),
        Route.get(PATH, Access.LOOK, Set.of(), this::show),
        Route.delete(PATH, Access.LOOK, this::end));
  }

  private void begin(Exchange exchange, byte[] body) {
    String key = JSON.read(body, SessionApi::key);
    Authentication.Search search = authentication.searchKey(key);
    if (search == null) {
      begin(exchange, key);
      return;
    }
    exchange.then(
        engine
            .context()
            .executeBlocking(
                () -> {
                  search.run();
                  return true;
                },
                false),
        _ -> begin(exchange, key));
  }

  private static String key(JsonParser parser) {
    String key = null;
    FieldNames names = new FieldNames(parser);
    for (String field = names.next(); field != null; field = names.next()) {
      if (!field.equals("key")) {
        throw JsonBody.unknownField(field, "key");
      }
      key = JsonBody.text(parser, field);
    }
    if (key == null) {
      throw JsonBody.missing("key");
    }
    return key;
  }

  private void begin(Exchange exchange, String key) {
    Principal principal = authentication.ofKey(exchange.request(), key, WRONG_KEY);
    if (!Access.LOOK.allows(principal.role())) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "key",
          "A key with the role "
              + Json.kebab(principal.role())
              + " can look at nothing. Sign in with one that has a role out of: "
              + Access.LOOK.roles()
              + ".");
    }
    byte[] keyHash = authentication.hash(key);
    count(keyHash);
    exchange.then(
        engine.context().executeBlocking(() -> signedIn.begin(keyHash), true),
        begun -> {
          log.info(
              "session.begun key={} role={} tenant={}",
              idOf(principal),
              Json.kebab(principal.role()),
              tenantOf(principal));
          exchange.answerWithCookie(
              201,
              SessionCookie.given(exchange.request(), begun.cookie(), signedIn.length()),
              document(principal, begun.session()));
        });
  }

  /** Each sign-in is written to disk, so a page that tries again and again is made to wait. */
  private void count(byte[] keyHash) {
    long now = Connections.now();
    if (now - since >= MINUTE_NANOS) {
      since = now;
      signIns.clear();
    }
    if (signIns.merge(ByteBuffer.wrap(keyHash), 1, Integer::sum) > ApiLimits.SIGN_INS) {
      long left = Duration.ofNanos(since + MINUTE_NANOS - now).plusMillis(999).toSeconds();
      throw new Refusal(
          Problem.of(
                  Kind.OVERLOADED,
                  "The key has signed in more than %d times within a minute. Use a session that there is, or try again after the time in Retry-After."
                      .formatted(ApiLimits.SIGN_INS))
              .retryAfter((int) Math.max(1, left)));
    }
  }

  private void show(Exchange exchange, byte[] body) {
    Known known = authentication.known(exchange.request(), Route.Credential.BEARER);
    exchange.answer(200, document(known.principal(), known.session()));
  }

  private void end(Exchange exchange, byte[] body) {
    Known known = authentication.known(exchange.request(), Route.Credential.BEARER);
    SignedIn.Open session = known.session();
    if (session == null) {
      throw Refusal.of(
          Kind.NOT_FOUND,
          "There is no session: the request came with a key. Leave the key out, and send the"
              + " cookie.");
    }
    exchange.then(
        engine
            .context()
            .executeBlocking(
                () -> {
                  signedIn.end(session);
                  return true;
                },
                true),
        _ -> {
          log.info(
              "session.ended key={} role={} tenant={}",
              idOf(known.principal()),
              Json.kebab(known.principal().role()),
              tenantOf(known.principal()));
          exchange.answerWithCookie(204, SessionCookie.taken(exchange.request()), null);
        });
  }

  /** For the log: the key that is set has no id, but a name of ours. */
  private static String idOf(Principal principal) {
    Actor actor = principal.actor();
    return actor.id() == null ? actor.name() : actor.id();
  }

  private static String tenantOf(Principal principal) {
    return principal.tenant() == null ? "all" : principal.tenant();
  }

  private Buffer document(Principal principal, SignedIn.@Nullable Open session) {
    return Json.write(out -> write(out, principal, session));
  }

  private void write(JsonGenerator out, Principal principal, SignedIn.@Nullable Open session) {
    out.writeStartObject();
    Json.text(out, "tenant", principal.tenant());
    Json.constant(out, "role", principal.role());
    Json.text(out, "key", principal.actor().id());
    Json.text(out, "csrf", session == null ? null : session.csrf());
    Json.time(out, "expiresAt", session == null ? null : session.expiresAt());
    out.writeArrayPropertyStart("may");
    Arrays.stream(Access.values())
        .filter(access -> access != Access.OPEN && access.allows(principal.role()))
        .filter(access -> principal.tenant() == null || !access.isWide())
        .forEach(access -> out.writeString(Json.kebab(access)));
    out.writeEndArray();
    out.writeStringProperty("version", dashboard.version());
    out.writeNumberProperty("speed", dashboard.speed());
    out.writeEndObject();
  }
}
