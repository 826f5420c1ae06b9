package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.server.api.FailedKeys.Reason;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who sends a request, and for which tenant.
 *
 * <p>Only the hash of a key leaves this class, and no key is kept. Lives on the event loop.
 */
final class Authentication {
  private static final CharSequence TENANT_HEADER = HttpHeaders.createOptimized("holdfast-tenant");
  private static final CharSequence SESSION_ID = HttpHeaders.createOptimized("sessionid");
  private static final String SCHEME = "Bearer ";
  private static final String DEFAULT_TENANT = "default";

  private final Authenticator authenticator;
  private final InstantSource clock;
  private final FailedKeys failedKeys;
  private final MessageDigest sha256;

  Authentication(Authenticator authenticator, InstantSource clock, FailedKeys failedKeys) {
    this.authenticator = authenticator;
    this.clock = clock;
    this.failedKeys = failedKeys;
    try {
      this.sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Who sends the request, if the key allows the call. */
  Caller caller(HttpServerRequest request, Route route) {
    Principal principal = principal(request, route.credential());
    Access access = route.access();
    if (!access.allows(principal.role())) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "A key with the role "
              + Json.kebab(principal.role())
              + " may not do this. Use one with a role out of: "
              + access.roles()
              + ".");
    }
    if (access.isWide() && principal.tenant() != null) {
      throw Refusal.of(
          Kind.NOT_ALLOWED, "This is about all tenants together. Use a key for all tenants.");
    }
    return caller(principal, request.headers().get(TENANT_HEADER));
  }

  private Principal principal(HttpServerRequest request, Route.Credential credential) {
    String key = key(request, credential);
    if (key == null) {
      throw new Refusal(unauthenticated(credential));
    }
    return switch (recognise(key)) {
      case Authenticator.Valid valid -> valid.principal();
      case Authenticator.Expired expired ->
          throw failed(request, Reason.EXPIRED, Problem.expired(expired.at()));
      case Authenticator.Unknown _ ->
          throw failed(request, Reason.UNKNOWN, unauthenticated(credential));
    };
  }

  /**
   * Whether the key of a request that goes on being answered still opens what it did. Says nothing
   * to anybody if not, and counts as no try.
   */
  boolean stillOpens(HttpServerRequest request, Route route) {
    String key = key(request, route.credential());
    return key != null
        && recognise(key) instanceof Authenticator.Valid valid
        && route.access().allows(valid.principal().role());
  }

  private static @Nullable String key(HttpServerRequest request, Route.Credential credential) {
    MultiMap headers = request.headers();
    return switch (credential) {
      case BEARER -> afterScheme(headers.get(HttpHeaders.AUTHORIZATION));
      case SESSION_ID -> headers.get(SESSION_ID);
    };
  }

  /** The hash of the key of a request, if it is one to be looked for first. */
  byte @Nullable [] keyToLookFor(HttpServerRequest request) {
    String bearer = afterScheme(request.headers().get(HttpHeaders.AUTHORIZATION));
    String key = bearer == null ? request.headers().get(SESSION_ID) : bearer;
    if (key == null || key.length() > ApiLimits.KEY_CHARS) {
      return null;
    }
    byte[] hash = hash(key);
    return authenticator.mayBeNew(hash) ? hash : null;
  }

  /** Looks for it. Blocking, on any thread. */
  void lookFor(byte[] hash) throws StoreException {
    authenticator.lookFor(hash);
  }

  private byte[] hash(String key) {
    return sha256.digest(key.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static Problem unauthenticated(Route.Credential credential) {
    return Problem.of(Kind.UNAUTHENTICATED, credential.remedy);
  }

  private Authenticator.Recognition recognise(String key) {
    if (key.length() > ApiLimits.KEY_CHARS) {
      return Authenticator.UNKNOWN;
    }
    return authenticator.authenticate(hash(key), clock.instant());
  }

  private Refusal failed(HttpServerRequest request, Reason reason, Problem problem) {
    SocketAddress address = request.remoteAddress();
    int wait =
        failedKeys.refused(
            address == null ? null : address.hostAddress(), reason, Connections.now());
    return new Refusal(wait == 0 ? problem : Problem.tooManyFailedKeys(wait));
  }

  private static @Nullable String afterScheme(@Nullable String header) {
    return header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? header.substring(SCHEME.length())
        : null;
  }

  private static Caller caller(Principal principal, @Nullable String named) {
    String own = principal.tenant();
    if (named == null) {
      return new Caller(own == null ? DEFAULT_TENANT : own, own, principal.actor());
    }
    if (!TenantName.isValid(named)) {
      throw Refusal.of(Kind.INVALID_PARAMETER, "Holdfast-Tenant", TenantName.RULE);
    }
    if (own != null && !own.equals(named)) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "The key belongs to another tenant. Leave the header Holdfast-Tenant out.");
    }
    return new Caller(named, named, principal.actor());
  }
}
