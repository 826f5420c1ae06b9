package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
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
  private final MessageDigest sha256;

  Authentication(Authenticator authenticator, InstantSource clock) {
    this.authenticator = authenticator;
    this.clock = clock;
    try {
      this.sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Who sends the request, if the key allows the call. */
  Caller caller(HttpServerRequest request, Route route) {
    Principal principal = principal(request.headers(), route.credential());
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

  private Principal principal(MultiMap headers, Route.Credential credential) {
    String key =
        switch (credential) {
          case BEARER -> afterScheme(headers.get(HttpHeaders.AUTHORIZATION));
          case SESSION_ID -> headers.get(SESSION_ID);
        };
    return switch (recognise(key)) {
      case Authenticator.Valid valid -> valid.principal();
      case Authenticator.Expired expired -> throw new Refusal(Problem.expired(expired.at()));
      case Authenticator.Unknown _ -> throw Refusal.of(Kind.UNAUTHENTICATED, credential.remedy);
    };
  }

  private Authenticator.Recognition recognise(@Nullable String key) {
    if (key == null || key.length() > ApiLimits.KEY_CHARS) {
      return Authenticator.UNKNOWN;
    }
    byte[] bytes = key.strip().getBytes(StandardCharsets.UTF_8);
    return authenticator.authenticate(sha256.digest(bytes), clock.instant());
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
